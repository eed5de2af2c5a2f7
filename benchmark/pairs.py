"""pairs.py - the files of pairs/: labels, and the two forms of a kernel. README.md says how a file is written.

  python3 -ISB python/sm100repo benchmark/pairs.py FILE     prints the mended form

    // MENDED: instruction    a line of the mended form only
    instruction // BUG        a line of the broken form only

A line has the same number in both forms. A legal kernel may have no such lines: then it has one form, the mended one.
"""

import fnmatch
import os
import re
import sys

from sm100repo import ROOT, read

FOLDER = os.path.join(ROOT, "benchmark", "pairs")
TEXTS = ["Mistake", "Not a mistake", "Reported", "Rule", "Mostly works"]
LABELS = ["ARGS", "MECHANISM", "EDGE", "ENGINE", "KIND", "SM90", "RULES", "CLASS"]
KINDS = ["race", "deadlock", "misuse", "uninitialised", "lifetime"]
CLASSES = ["error", "warning", "strict", "legal"]


class Pair:
    """name; text: the broken form, as the file has it; fields: {field: value}, lines that belong together joined."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path).rsplit(".", 1)[0]
        self.text = read(path)
        self.fields = header(self.text)

    def __getattr__(self, label):
        """pair.kind is the field KIND."""
        try:
            return self.fields[label.upper()]
        except KeyError:
            raise AttributeError(label) from None

    @property
    def legal(self):
        return self.fields.get("CLASS") == "legal"

    def words(self):
        """What the launch program gets: the kernel's name and its words."""
        return self.fields["ARGS"].split()

    def ids(self):
        """The diagnostics of the emulator any of which finds the bug."""
        return [] if self.legal else self.fields["RULES"].split()

    def forms(self):
        """{form: PTX}."""
        mended = mend(self.text)
        return {"mended": mended} if mended == self.text else {"broken": self.text, "mended": mended}


def mend(text):
    text = re.sub(r"^( *)// MENDED: ", r"\1", text, flags=re.M)
    return re.sub(r"^(.* // BUG)$", r"// \1", text, flags=re.M)


def header(text):
    """{field: value} of the comment that a file begins with."""
    fields, last = {}, None
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        found = re.match(r"// (%s|[A-Z][A-Z0-9]*)(?: [^:.]*)?: +(.*)$" % "|".join(TEXTS), line)
        if found:
            last = found[1]
            fields[last] = found[2]
        elif last in TEXTS and line != "//":
            fields[last] += line[2:]
        elif line == "//":
            last = None
    return fields


def load(patterns=(), folder=FOLDER):
    """The pairs with a name, mechanism, kind or class that matches one of the patterns, all without patterns."""
    found = [Pair(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".ptx")]
    if not patterns:
        return found

    def wanted(pair):
        names = [pair.name, *(pair.fields.get(label, "") for label in ("MECHANISM", "KIND", "CLASS"))]
        return any(fnmatch.fnmatch(name, pattern) for name in names for pattern in patterns)

    return [pair for pair in found if wanted(pair)]


if __name__ == "__main__":
    print(mend(read(sys.argv[1])), end="")
