"""mend.py - after a change of the sources: brings up to date all that quotes them and all that shows what they print.

  mend.py [--build DIR] [--rename 'OLD NEW'] [--expect 'FILE ...'] [--pages 'PAGE ...']     `make mend` runs it

--rename   writes NEW for the name OLD in every file of the repository, then puts the code in its format
--expect   writes into the `// EXPECT:` of these tests/negative/* what their messages say now
--pages    runs these pages alone, with what is slow in them; else all, with what is slow in those that differ

Every line that is printed is something written, or something that is left for people; `git diff` shows the rest. Exit
code: 0; 1 where something is left; 2 where a rename cannot be done.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import compare
from sm100repo import PYTHON, ROOT, diagnostics, read, write

CODE = (".c", ".h", ".cu", ".cuh", ".def", ".ptx")
NAME = r"[A-Za-z_][\w-]*"


def rename(words):
    """Writes the second of two names wherever the first stands; returns the files of code that have it now. A name that
    is another's already would make one of two: SystemExit."""
    if not re.fullmatch(f"{NAME} {NAME}", words):
        sys.exit("mend: RENAME='OLD NEW' are two names")
    old, new = words.split()
    ends = r"[\w-]" if "-" in old else r"\w"
    named = {name: re.compile(rf"(?<!{ends}){name}(?!{ends})") for name in (old, new)}
    listed = subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout.decode()
    texts = {}
    for path in listed.split("\0"):
        try:
            texts[path] = read(path)
        except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
            pass
    found = [path for path, text in texts.items() if named[old].search(text)]
    both = [path for path in found if path.endswith(CODE) and named[new].search(texts[path])]
    if both or not found:
        sys.exit(f"mend: {both[0]} has {old} and {new}" if both else f"mend: no file has {old}")
    for path in found:
        text, count = named[old].subn(new, texts[path])
        write(path, text)
        print(f"{path}: {new}, {count} times")
    return [path for path in texts if path.endswith(CODE[:4]) and (path in found or named[new].search(texts[path]))]


def in_format(paths):
    """clang-format 14's format, as `make format` gives it."""
    tool = shutil.which("clang-format")
    if paths and tool and b" 14." in subprocess.run([tool, "--version"], stdout=subprocess.PIPE).stdout:
        subprocess.run([tool, "-i", *paths], check=True)
    elif paths:
        print("clang-format 14 is not here: run make format where it is")


def reworded(regex, line):
    """The regex with the words of the line wherever its own do not match, or None if that does not match either."""
    words = ["..." if word == ".*" else word for word in regex.strip("^$").replace(".*\\[", ".* \\[").split()]

    def same(word, there):
        return re.fullmatch(re.sub("@[A-Z0-9_]+@", r"\\d+", word), there)

    taken = {word: re.sub(r"([][.*+?(){}|^$\\])", r"\\\1", word) for word in line.split()}
    made = [{"...": ".*"}.get(word, word if word in words else taken.get(word, word))
            for word in compare.merged(words, line.split(), same)]
    made = "^" * regex.startswith("^") + " ".join(made).replace(".* \\[", ".*\\[") + "$" * regex.endswith("$")
    return made if re.search(re.sub("@[A-Z0-9_]+@", r"\\d+", made), line) else None


def expect(kernel, build):
    """Rewrites the kernel's `// EXPECT:` of messages that it words in another way now; whether none is left."""
    with tempfile.NamedTemporaryFile() as kept:
        program = os.path.join(build, diagnostics.program_of(kernel))
        command = ["sh", "tests/negative/run.sh", kernel, os.path.join(build, "sm100emu"), program]
        subprocess.run(command + [os.path.abspath(kernel)] * kernel.endswith(".ptx"), stdout=subprocess.DEVNULL,
                       env={**os.environ, "SAID": kept.name})
        said = read(kept.name).splitlines()
    lines, left = read(kernel).split("\n"), False
    for i, text in enumerate(lines):
        regex = text[len("// EXPECT: ") :]
        name = re.search(r"\\\[([a-z0-9-]+)\\\]\$?$", regex)
        if not text.startswith("// EXPECT: ") or not name or any(re.search(regex, line) for line in said):
            continue
        printed = [" ".join(line.split()) for line in said if line.endswith(f"[{name[1]}]")]
        new = reworded(regex, printed[0]) if len(printed) == 1 else None
        print(f"{kernel}:{i + 1}: {new or f'{len(printed)} messages end so: {regex}'}")
        lines[i] = f"// EXPECT: {new}" if new else text
        left = left or not new
    write(kernel, "\n".join(lines))
    return not left


def run(*command, shows=True):
    """Whether a command ends well; its output goes on, or its complaints alone. make gives it jobs by open files."""
    return subprocess.run(command, stdout=None if shows else subprocess.DEVNULL, close_fds=False).returncode == 0


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--build", default="build")
    for option in ("--rename", "--expect", "--pages"):
        p.add_argument(option, default="")
    o = p.parse_args()
    os.chdir(ROOT)
    make = os.environ.get("MAKE") or "make"
    short = os.environ.get("MAKEFLAGS", "").split(" ")[0]
    if "n" in short and not short.startswith("-"):  # make -n runs what is given make's own jobs
        return 0
    if o.rename:
        in_format(rename(o.rename))
        sys.stdout.flush()
    kernels, slow = o.expect.split(), ["--slow"] * bool(o.pages)
    programs = [os.path.join(o.build, diagnostics.program_of(kernel)) for kernel in kernels]
    if not run(make, "-s", "all", *programs):
        return 1
    well = [expect(kernel, o.build) for kernel in kernels]
    sys.stdout.flush()
    well += [] if o.pages else [run(make, "-s", diagnostics.PAGE), run(make, "-s", "docs")]
    well += [run(*PYTHON, "tests/lessons/lessons.py", "--update", *slow, *o.pages.split()),
             run(*PYTHON, "tests/silicon/families.py", "--update"),
             run(*PYTHON, "tests/lessons/rules.py", "--update"),
             run(*PYTHON, "tests/mutants/mutants.py", "--build", o.build, "--list", shows=False),
             run(*PYTHON, "course.exercise", "--list", shows=False)]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
