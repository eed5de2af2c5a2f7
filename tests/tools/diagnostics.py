"""diagnostics.py ROOT: python/sm100repo/diagnostics.py in a small tree: it takes an id's message from its kernel, finds
every form in which a test names an id, and says what is wrong; tests/negative/run.sh finds a page with another message.
"""

import json
import os
import re
import shutil
import sys
import tempfile

from sm100repo import PYTHON, read, write
from sm100repo.toolkit import timed

ROOT = os.path.abspath(sys.argv[1])
RULES = [
    {"id": "rule-one", "class": "warning", "rule": 'a "rule"', "section": "PTX ISA 1.2", "hint": "mend it",
     "reason": "it may happen.", "file": "emulator/room/a.c", "line": 3},
    {"id": "hang", "class": "error", "rule": "first", "reason": "it is.", "file": "emulator/room/a.c", "line": 9},
    {"id": "hang", "class": "error", "rule": "second", "hint": "so", "file": "emulator/room/b.c", "line": 1},
    {"id": "by-hand", "class": "strict", "reason": "yes.", "file": "emulator/room/b.c", "line": 7},
]
ENTRIES = """
## by-hand

**strict**: yes.

- Rule: -
- Tests: unit.room.a

## hang

**error**: it is.

- Rule: first
- Rule: second
- Fix: so
- Tests: unit/room/a.h, unit.room.a

## rule-one

**warning**: it may happen.

- Rule: a "rule" (1.2)
- Fix: mend it
- Message: `warning: it's at 0x1f of a.ptx:2`
- Kernel: [a.ptx](../tests/negative/a.ptx)
"""
FILES = {
    "emulator/room/a.c": "DIAG(one) = {.id = \"rule-one\"};\nvoid f(struct diag d) { struct diag e = *d; }\n",
    "tests/unit/room/test_a.c": 'faults("by-hand"); CHECK_HAS(log, "[hang]"); CHECK_HAS(log, "any text");\n',
    "tests/unit/room/a.h": 'CHECK_STR(d->id, "hang");\n',
    "tests/negative/a.ptx":
        "// EXPECT: ^warning: it.s at 0x[0-9a-f]+ of a.ptx.* +\\[rule-one\\]$\n// NEVER: \\[hang\\]\n",
    "sm100emu": "#!/bin/sh\necho \"warning: it's at 0x1f of a.ptx:2      [rule-one]\"\nexit 3\n",
}
bad = 0


def tree(rules=None, **changed):
    write("rules", "#!/bin/sh\ncat <<'END'\n%s\nEND\n" % json.dumps(RULES if rules is None else rules))
    for name, text in {**FILES, **changed}.items():
        write(name, text)
    os.chmod("rules", 0o755)
    os.chmod("sm100emu", 0o755)
    shutil.copy(ROOT + "/tests/negative/run.sh", "tests/negative")


def expect(what, code, text, command):
    global bad
    got, out = timed(command, None)
    if got != code or text not in re.sub(" +", " ", out):
        print("FAILED: %s: expected %d and `%s', not %s: %s" % (what, code, text, got, out))
        bad = 1


def script(*arguments):
    return [*PYTHON, "diagnostics", "./rules", *arguments]


def breach(what, text, rules=None, **changed):
    tree(rules, **changed)
    expect(what, 1, text, script("check"))


def other(at, **changed):
    return [{**d, **changed} if i == at else d for i, d in enumerate(RULES)]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run = ["sh", "tests/negative/run.sh", "tests/negative/a.ptx", "./sm100emu", "./tests/negative/launch_ptx"]
    tree()
    os.mkdir("docs")
    expect("its programs", 0, "tests/negative/launch_ptx\n", script("programs"))
    expect("the list", 0, "rule-one warning 1.2 emulator/room/a.c:3 negative.a", script("list"))
    expect("writing", 0, "docs/diagnostics.md is new", script("write", "./sm100emu", "."))
    page = read("docs/diagnostics.md")
    if not page.endswith("PTX ISA.\n" + ENTRIES):
        print("FAILED: the page's entries:\n" + page)
        bad = 1
    expect("the page", 0, "diagnostics: 3, each expected by a test", script("check"))
    write("sm100emu", FILES["sm100emu"].replace("0x1f", "0x2f0"))
    expect("another address", 0, "", run)
    expect("another address, written", 0, "3, each expected", script("write", "./sm100emu", "."))
    expect("the page has the old one", 0, page[-60:], ["tail", "-n", "4", "docs/diagnostics.md"])
    write("sm100emu", FILES["sm100emu"].replace("ptx:2", "ptx:3"))
    expect("another line, of another nvcc", 0, "", run)
    write("toolkit.env", "NVCC_VERSION='13.0'\n")
    for was, new in ("ptx:2", "ptx:3"), ("it's", "that is"), ("ptx:2", "ptx:2, too"):
        write("sm100emu", FILES["sm100emu"].replace(was, new))
        expect("another message", 1, "not what this prints: run make rules", run)
    write("tests/negative/a.ptx", FILES["tests/negative/a.ptx"].replace("it.s", "he's"))
    expect("what rewords a kernel", 1, "make mend EXPECT=tests/negative/a.ptx", run)

    breach("a page without the rule", "-- Rule: second\n+- Rule: third", other(2, rule="third"))
    breach("what mends it", "is stale: run make rules, and commit docs/diagnostics.md", other(2, rule="third"))
    breach("all that is stale", "+**strict**: no.\n", other(2, rule="third")[:3] + [{**RULES[3], "reason": "no."}])
    breach("an untested id", "a.c:3: [untold] is expected by no test", [{**RULES[0], "id": "untold"}, *RULES])
    breach("two classes", "a.c:9: [hang] has 2 texts of .class", other(2, **{"class": "strict"}))
    breach("two reasons", "a.c:9: [hang] has 2 texts of .reason", other(2, reason="it is so."))
    breach("no reason", "b.c:7: [by-hand] has 0 texts of .reason", other(3, reason=None))
    breach("no words", "[Not Words]: an id is of words-like-these", other(3, id="Not Words"))
    breach("nothing", "no diagnostic found", [])
    breach("a kernel without a message", "[hang] has a kernel, and no message",
           **{"tests/negative/b.ptx": "// EXPECT: ^error: .*\\[hang\\]"})
    os.remove("tests/negative/b.ptx")
    for name, text in FILES.items():
        ghosts = [g for g in ("// EXPECT: \\[a-ghost\\]", "// NEVER: \\[a-ghost\\]") if name.endswith(".ptx")]
        ghosts += ['faults("a-ghost");'] if "unit" in name else []
        for ghost in ghosts:
            breach(ghost, "%s:%d: [a-ghost] is no diagnostic" % (name, text.count("\n") + 1), **{name: text + ghost})
    for form in 'static const struct diag x = {.id = "rule-one"};', 'struct diag y[2] = {{.rule = "", .id = "x"}};':
        breach(form, "a.c:3: define it as DIAG(name)", **{"emulator/room/a.c": FILES["emulator/room/a.c"] + form})
sys.exit(bad)
