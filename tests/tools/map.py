"""map.py ROOT: emulator/README.md is a true map. Each of its links leads to a file; its table has every room of
emulator/ and no other; the names in backquotes right behind a link are declared or defined in that file, and any
other name with an underscore occurs in emulator/. A breach is one line, and exit 1. First, each breach is seen in a
small tree.
"""

import os
import re
import sys
import tempfile

from sm100repo import read, sources, write

NAMES = re.compile(r"\]\(([^)]*)\)((?:(?: |, | and ) *`\w+`)*)|`([A-Za-z]+_\w+)`")
# At file level, as a macro, as an entry of a table or as an enumerator.
DECLARED = r"^[A-Za-z_].*\b{0}(\(|\[|;| =| \{{)|^#define {0}\b|^[A-Z]+\({0}[,)]|^{0}:|^ +{0}(,| = )"


def named(text):
    """(file, names behind the link to it), or (None, [a name that no link is in front of])."""
    for found in NAMES.finditer(re.sub(r"\s*\n", " ", text)):
        yield (None, [found[3]]) if found[3] else (found[1], re.findall(r"`(\w+)`", found[2]))


def wrong(root):
    """What the map says and is not so."""
    top = os.path.join(root, "emulator")
    files = sources(root, "emulator", "")
    text = read(os.path.join(top, "README.md"))
    code = "\n".join(read(os.path.join(root, path)) for path in files if re.search(r"\.([ch]|def)$", path))
    for file, names in named(text):
        path = os.path.join(top, file or "")
        if file and not os.path.isfile(path):
            yield f"there is no file {file}"
            continue
        for name in names:
            if not file and not re.search(rf"\b{name}\b", code):
                yield f"there is no {name} in emulator/"
            if file and not re.search(DECLARED.format(name), read(path), re.M):
                yield f"{file} does not declare {name}"
    if not any(file for file, _ in named(text)):
        yield "no link found"
    rooms = {path.split("/")[1] for path in files if path.count("/") > 1}
    told = set(re.findall(r"^\| `([^`]*)/` \|", text, re.M))
    yield from (f"the table lacks {room}/" for room in sorted(rooms - told))
    yield from (f"{room}/ is no room" for room in sorted(told - rooms))


TREE = {
    "README.md": """# A map
| room | what |
|---|---|
| `num/` | numbers, [`op.def`](ptx/op.def) |
| `ptx/` | text |
See [`num/num.c`](num/num.c)
`num_add`, `NUM_RN` and `NUM_BITS`, then `sum_all`; [op](ptx/op.def) `mov`.
""",
    "num/num.c": """#define NUM_BITS 8
enum {
    NUM_RN, /* nearest */
};
int num_add(int a) {
    return sum_all(a);
}
""",
    "ptx/op.def": 'OP(mov, "mov")\n'}
BREACHES = [
    ("README.md", "", "", []),
    ("README.md", r"num/num\.c\)\n.*`NUM_BITS`", "num/sum.c)", ["there is no file num/sum.c"]),
    ("README.md", "`num_add`", "`sum_all`", ["num/num.c does not declare sum_all"]),
    ("num/num.c", "num_add", "num_sub", ["num/num.c does not declare num_add"]),
    ("num/num.c", "NUM_RN", "NUM_RZ", ["num/num.c does not declare NUM_RN"]),
    ("README.md", "NUM_BITS`", "NUM_BYTES`", ["num/num.c does not declare NUM_BYTES"]),
    ("README.md", "`mov`", "`add`", ["ptx/op.def does not declare add"]),
    ("README.md", "then `sum_all`", "then `sum_none`", ["there is no sum_none in emulator/"]),
    ("README.md", r"\| `ptx.*\n", "", ["the table lacks ptx/"]),
    ("README.md", r"\| `ptx", "| `isa/` | |\n| `ptx", ["isa/ is no room"]),
    ("README.md", r"\[[^]]*\]\([^)]*\)\s?|`num_add.*", "", ["no link found"])]


def seen(path, old, new):
    """What is said of the small tree with one file changed."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in TREE.items():
            write(os.path.join(root, "emulator", name), re.sub(old, new, text) if name == path else text)
        return list(wrong(root))


def main(root):
    bad = [f"FAILED: {path}, {old} to {new}: {seen(path, old, new)}"
           for path, old, new, wanted in BREACHES if seen(path, old, new) != wanted]
    bad += [f"FAILED: emulator/README.md says what is not so: {said}" for said in wrong(root)]
    print("".join(line + "\n" for line in bad), end="")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
