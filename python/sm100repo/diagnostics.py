"""Every diagnostic of the emulator, its page docs/diagnostics.md, and the tests that expect it.

    diagnostics.py RULES check                      says what is wrong; exit 1 if anything is
    diagnostics.py RULES list                       lists all
    diagnostics.py RULES programs                   the programs of kernels that `write` needs, under the build folder
    diagnostics.py RULES write EMULATOR PROGRAMS    writes the page, and says what is wrong

It runs at the root of the repository. RULES is the program sm100emu-rules: what it prints is all there is. A kernel
expects an id with `// EXPECT: ... \\[id\\]`. A unit test does so with "[id]", with "id" if the id has a hyphen, or by
comparing a field `id` with "id". `// NEVER:` expects nothing, but what it names must exist. Tests have CTest's names.

An entry's sample message is what the first of its kernels printed when `write` ran it (a .ptx rather than a .cu, which
needs nvcc). tests/negative/run.sh, which runs every kernel, fails if the page shows another message. What `masked`
replaces depends on the host and on nvcc: a page with other addresses is as good.
"""

import concurrent.futures
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile

from sm100repo import read, sources, write

PAGE = "docs/diagnostics.md"
MOST_KERNELS = 4  # of an entry; `make rules` lists all
MEND = "run make rules, and commit " + PAGE
HEADER = """# Diagnostics

The emulator reports these rules about a kernel. The first line of a report ends with the id of its rule. `make rules`
writes this page from the sources and from the output of the kernels, so do not edit it.

| class | what it says | what happens |
| --- | --- | --- |
| **error** | the hardware traps, every allowed order is wrong, or the emulator cannot continue | the kernel stops |
| **warning** | some allowed order changes a result | reported, and the kernel goes on; with `--check=error` it stops |
| **strict** | the ISA forbids it, but no known chip or toolchain shows it, or well-kept kernels rely on it | \
the emulator does what the chip does. With `--check=strict`, or if the program fails, it reports it as a `warning`; \
otherwise one line at the end counts it |

`--check=off` reports only errors. A report prints one fix: if an entry has several, the one for its cause. Numbers of
sections are those of the PTX ISA.
"""
IN_KERNEL = re.compile(r"\\\[([a-z][a-z0-9-]*)\\\]")
IN_UNIT = re.compile(r'"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"|"\[([a-z][a-z0-9-]*)\]"|[>.]id, "([a-z0-9]+)"')
UNLISTED = re.compile(r"^\s*(?:static |const )*struct diag \w+(?:\[\w*\])? = [{(]", re.MULTILINE)


class Rule:
    """All definitions of one id, and the tests that expect it."""

    def __init__(self, name):
        self.name, self.definitions, self.tests, self.kernels = name, [], [], []
        self.message = None

    def all(self, field):
        return list(dict.fromkeys(d[field] for d in self.definitions if d.get(field)))

    def place(self):
        return "%(file)s:%(line)d" % self.definitions[0]


def named_in(path):
    """(line, id, is expected, is a report's first line) of each id that a test names."""
    for at, text in enumerate(read(path).split("\n"), 1):
        if path.endswith((".c", ".h")):
            for match in IN_UNIT.finditer(text):
                yield at, match.group(match.lastindex), True, False
        elif text.startswith(("// EXPECT:", "// NEVER:")):
            headline = re.match(r"// EXPECT: *\^?(error|warning): ", text)
            for match in IN_KERNEL.finditer(text):
                yield at, match.group(1), text[3] == "E", bool(headline)


def test_name(path):
    path = path[len("tests/"):]
    return path if path.endswith(".h") else re.sub(r"\.[a-z]+$", "", path.replace("/", ".").replace(".test_", "."))


def gather(program):
    """The rules by id in order, and what is wrong with them."""
    rules, wrong = {}, []
    given = json.loads(subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.decode())
    for d in sorted(given, key=lambda d: (d["id"], d["file"], d["line"])):
        rules.setdefault(d["id"], Rule(d["id"])).definitions.append(d)
    for path in sources(".", "tests", r"\.(cu|ptx|c|h)"):
        if path.endswith((".c", ".h")) and not path.startswith("tests/unit/"):
            continue
        for at, name, expected, headline in named_in(path):
            rule = rules.get(name)
            if not rule:
                wrong.append("%s:%d: [%s] is no diagnostic of the emulator" % (path, at, name))
                continue
            if expected and test_name(path) not in rule.tests:
                rule.tests.append(test_name(path))
            if expected and not path.startswith("tests/unit/") and (path, headline) not in rule.kernels:
                rule.kernels.append((path, headline))
    for rule in rules.values():
        if not re.match(r"[a-z0-9]+(-[a-z0-9]+)*$", rule.name):
            wrong.append("%s: [%s]: an id is of words-like-these" % (rule.place(), rule.name))
        if not rule.tests:
            wrong.append("%s: [%s] is expected by no test" % (rule.place(), rule.name))
        for field in "class", "reason":
            if len(rule.all(field)) != 1:
                wrong.append("%s: [%s] has %d texts of .%s: all of its definitions need one between them"
                             % (rule.place(), rule.name, len(rule.all(field)), field))
    for path in sources(".", "emulator", r"\.[ch]"):
        text = read(path)
        for match in UNLISTED.finditer(text):
            if ".id" in text[match.end():text.find("}", match.end())]:
                wrong.append("%s:%d: define it as DIAG(name) = {...}, so that the list of all has it"
                             % (path, text.count("\n", 0, match.end()) + 1))
    return rules, wrong


def candidates(rule):
    """The kernels that print a report with the id, those first that need no nvcc."""
    return sorted({path for path, headline in rule.kernels if headline}, key=lambda p: (p.endswith(".cu"), p))


def program_of(kernel):
    if kernel.endswith(".cu"):
        return kernel[:-3]
    named = re.search(r"^// PROGRAM: (\w+)$", read(kernel), re.M)
    return "tests/negative/" + (named.group(1) if named else "launch_ptx")


def page(rules):
    out = [HEADER]
    for rule in rules.values():
        out.append("\n## %s\n\n**%s**: %s\n\n" % (rule.name, rule.all("class")[0], " ".join(rule.all("reason"))))
        fixes = {}  # of each rule
        for d in rule.definitions:
            where = d.get("section")
            where = " (%s)" % re.sub(r"^PTX ISA (?=[0-9])", "", where) if where else ""
            of = fixes.setdefault("- Rule: %s%s\n" % (d.get("rule", "-"), where), {})
            of.update({"- Fix: %s\n" % d["hint"]: None} if d.get("hint") else {})
        out += [line for text, hints in fixes.items() for line in (text, *hints)]
        kernels = [rule.message[1]] if rule.message else []
        kernels += [path for path, _ in rule.kernels if path not in kernels]
        if rule.message:
            out.append("- Message: `%s`\n" % rule.message[0])
        if kernels:
            kernels = list(dict.fromkeys(kernels))
            links = ["[%s](../%s)" % (os.path.basename(k), k) for k in kernels[:MOST_KERNELS]]
            more = ["%d more" % (len(kernels) - MOST_KERNELS)] if len(kernels) > MOST_KERNELS else []
            out.append("- Kernel: %s\n" % ", ".join(links + more))
        else:
            out.append("- Tests: %s\n" % ", ".join(rule.tests))
    return "".join(out)


def shown():
    """What the page shows of each id: its message, and the kernel that printed it."""
    entry = re.compile(r"^## (.*)\n(?:(?!## ).*\n)*?- Message: `(.*)`\n- Kernel: \[.*?\]\(\.\./(.*?)\)", re.MULTILINE)
    return {m.group(1): m.group(2, 3) for m in entry.finditer(read(PAGE) if os.path.exists(PAGE) else "")}


def masked(message):
    return re.sub(r"0x[0-9a-f]+|[0-9]{4,}|matrix [AB]", "#", message)  # as in tests/negative/run.sh


def run(kernel, emulator, programs):
    """The messages that it prints, each with its id."""
    command = ["sh", "tests/negative/run.sh", kernel, emulator, os.path.join(programs, program_of(kernel))]
    command += [os.path.abspath(kernel)] if kernel.endswith(".ptx") else []
    with tempfile.NamedTemporaryFile() as said:
        subprocess.run(command, env=dict(os.environ, SAID=said.name), stdout=subprocess.DEVNULL)
        return re.findall(r"^((?:error|warning): .*?) +\[([a-z0-9-]+)\]$", read(said.name), re.MULTILINE)


def sample(rules, emulator, programs):
    """Runs kernels until each rule has a message, or has none left."""
    before, said, waiting = shown(), {}, list(rules.values())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for turn in range(max(len(candidates(r)) for r in waiting)):
            waiting = [r for r in waiting if not r.message and len(candidates(r)) > turn]
            new = {candidates(r)[turn] for r in waiting} - said.keys()
            said.update(zip(new, pool.map(lambda k: run(k, emulator, programs), new)))
            for rule in waiting:
                kernel = candidates(rule)[turn]
                message = next((text for text, name in said[kernel] if name == rule.name), None)
                old = before.get(rule.name, ("", ""))
                if message:
                    rule.message = old if masked(message) == masked(old[0]) and kernel == old[1] else (message, kernel)


def stale(rules):
    """What is wrong with the page, by its text and its messages."""
    for rule in rules.values():
        message = shown().get(rule.name)
        rule.message = message if message and message[1] in candidates(rule) else None
        if candidates(rule) and not rule.message:
            yield "%s: [%s] has a kernel, and no message of it here" % (PAGE, rule.name)
    texts = read(PAGE).split("\n"), page(rules).split("\n")
    yield from difflib.unified_diff(*texts, PAGE, "as it would be", n=0, lineterm="")


def table(rules):
    rows = [("id", "class", "PTX ISA", "defined", "tests")]
    for rule in rules.values():
        for i, d in enumerate(rule.definitions):
            rows.append((rule.name, d["class"], re.sub("^PTX ISA ", "", d.get("section", "-")),
                         "%(file)s:%(line)d" % d, "as above" if i else " ".join(rule.tests) or "none"))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]))


def main(arguments):
    rules, wrong = gather(arguments[0])
    if not rules:
        wrong.append("no diagnostic found: is this the root of the repository?")
    if arguments[1] == "programs":
        print(*sorted({program_of(path) for rule in rules.values() for path in candidates(rule)[:1]}))
        return 0
    if arguments[1] == "list":
        table(rules)
        return 0
    if arguments[1] == "write":
        sample(rules, *arguments[2:])
        text = page(rules)
        if not os.path.exists(PAGE) or read(PAGE) != text:
            write(PAGE, text)
            print("diagnostics: %s is new" % PAGE)
    else:
        drift = list(stale(rules))
        wrong += drift + ["%s is stale: %s" % (PAGE, MEND)] * bool(drift)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print("diagnostics: %d, each expected by a test and on %s" % (len(rules), PAGE) if not wrong else
          "diagnostics: %d wrong" % len(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
