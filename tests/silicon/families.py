#!/usr/bin/env python3
"""families.py [--update | --count]: the table of docs/conformance.md by families of instructions, counted from what the tests compare.

Every case of tests/silicon/h200/*.txt and tests/silicon/published/*.txt is one of a family of emulator/ptx/families.def,
by the opcode that its name begins with or by FAMILIES below; what is neither is an error. An opcode is

  on silicon     where it is in the PTX of a program whose cases an H200 has answered (what Hopper lacks is not);
  models         where published models of a B200 have answered;
  known-good     where tests/silicon/known_good.txt has a form of it: public kernels that run to their right result;
  text alone     otherwise: what it does here is what the ISA's text says, and our own tests of that.

Without --update the table must be the one in docs/conformance.md: exit code 1 where it is not.
"""

import argparse
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs/conformance.md")
BEGIN, END = "<!-- table of tests/silicon/families.py -->\n", "<!-- end of the table -->\n"

# program, what a case's name begins with, its family; the first that fits. Cases of vectors are named by their opcodes.
FAMILIES = (
    ("vectors", "constants guard lane_registers thread_registers cluster_registers", "move"),
    ("vectors", "generic/ local/", "memory"),
    ("vectors", "loop/", "control"),
    ("vectors", "mbarrier/", "mbarrier"),
    ("vectors", "cluster/atom cluster/red", "atomic"),
    ("vectors", "cluster/ranks cluster/u32", "address"),
    ("vectors", "cluster/mbarrier cluster/arrive", "mbarrier"),
    ("vectors", "cluster/", "memory"),
    ("tma", "replace", "tensormap"),
    ("tma", "", "tensor_copy"),
    ("patched", "", "tensor_copy"),
    ("replace", "", "tensormap"),
    ("bulk", "", "bulk_copy"),
    ("mbarrier", "", "mbarrier"),
    ("cluster", "address shape", "address"),
    ("cluster", "atom red together", "atomic"),
    ("cluster", "barrier", "cluster_barrier"),
    ("cluster", "bulk", "bulk_copy"),
    ("cluster", "mbarrier", "mbarrier"),
    ("cluster", "", "memory"),
    ("umma", "", "tcgen05_mma"),
    ("layouts", "", "tcgen05_mma"),
)
HOST = ("host", "encode")  # programs whose cases are calls, not instructions
NOT_ON_HOPPER = ("tcgen05.", "clusterlaunchcontrol.")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def opcodes():
    """{opcode: family} of what the emulator executes, in the order of families.def."""
    table = re.findall(r'^OP\(\w+,\s*"([^"]+)",\s*"[^"]*",\s*(\w+),\s*"([^"]*)', read("emulator/ptx/opcodes.def"), re.M)
    return {name: family for name, family, operands in table if family != "none" and operands != "-"}


def families():
    return re.findall(r"^FAMILY\((\w+)\)", read("emulator/ptx/families.def"), re.M)


def opcode_of(form, table):
    """The longest opcode with which a form begins, or None."""
    words = re.split(r"(?=[./:])", form)
    for n in range(len(words), 0, -1):
        if "".join(words[:n]) in table:
            return "".join(words[:n])
    return None


def cases(folder):
    """(program, name, outputs) of every recorded case."""
    for file in sorted(os.listdir(os.path.join(HERE, folder))):
        if not file.endswith(".txt"):
            continue
        for line in read(HERE, folder, file).splitlines():
            if not line or line.startswith("#"):
                continue
            words = line.split()
            whole = len(words) > 2 and words[1].isdigit() and re.fullmatch("[0-9a-f]{16}|~", words[2])
            outputs = int(words[1]) if whole else len(words) - 1 if file == "patched.txt" else 1
            yield file[:-4], words[0], outputs


def family_of(program, name, table):
    if program == "vectors" and ".cc" in name.split("/")[0]:
        return "carry"
    if program == "vectors" and opcode_of(name, table):
        return table[opcode_of(name, table)]
    for of, starts, family in FAMILIES:
        if of == program and (not starts or name.startswith(tuple(starts.split()))):
            return family
    sys.exit(f"families.py: {program}: no family for the case {name}")


def executed(program):
    """The text of a program of this folder with the headers that it includes, and of the forms that it runs."""
    seen, todo, text = set(), [f"{program}.c"], ""
    while todo:
        name = todo.pop()
        if name in seen or not os.path.exists(os.path.join(HERE, name)):
            continue
        seen.add(name)
        text += read(HERE, name)
        todo += re.findall(r'^#include "([^"/]+)"', text, re.M)
    return text + (read(HERE, "forms.txt") if program == "vectors" else "")


def on_silicon(programs, table):
    """The opcodes in the PTX of programs."""
    found = set()
    for program in programs:
        for word in re.findall(r"[a-z][a-z0-9_]*(?:[.:]+[a-z0-9_]+)*", executed(program)):
            opcode = opcode_of(word, table)
            if opcode and not opcode.startswith(NOT_ON_HOPPER):
                found.add(opcode)
    return found


def known_good(table):
    """{opcode: forms}"""
    count = collections.Counter()
    for line in read(HERE, "known_good.txt").splitlines():
        if line and not line.startswith("#"):
            count[opcode_of(line.split()[0], table)] += 1
    if None in count:
        sys.exit("families.py: known_good.txt has a form of an opcode that the emulator refuses")
    return count


def amount(number, outputs):
    return f"{number:,} ({outputs:,})" if number else ""


def make_table():
    table = opcodes()
    silicon, models = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    programs, calls = set(), 0
    for program, name, outputs in cases("h200"):
        if program in HOST:
            calls += 1
            continue
        programs.add(program)
        entry = silicon[family_of(program, name, table)]
        entry[0] += 1
        entry[1] += outputs
    for _, _, outputs in cases("published"):
        models["tcgen05_mma"][0] += 1
        models["tcgen05_mma"][1] += outputs
    tried, good = on_silicon(programs, table), known_good(table)
    rows = ["| family | opcodes | on silicon | cases (outputs) | published models: cases (outputs) | "
            "known-good kernels: forms | text alone |",
            "| --- | ---: | ---: | ---: | ---: | ---: | --- |"]
    total = collections.Counter()
    for family in families():
        mine = [name for name, of in table.items() if of == family]
        seen = [name for name in mine if name in tried]
        models_of = mine if models[family][0] else []
        alone = [name for name in mine if name not in tried and not good[name] and name not in models_of]
        forms = sum(good[name] for name in mine)
        rows.append(f"| `{family}` | {len(mine)} | {len(seen) or ''} | {amount(*silicon[family])} | "
                    f"{amount(*models[family])} | {forms or ''} | {', '.join(f'`{name}`' for name in alone)} |")
        total.update(opcodes=len(mine), seen=len(seen), cases=silicon[family][0], outputs=silicon[family][1],
                     models=models[family][0], model_outputs=models[family][1], forms=forms, alone=len(alone))
    rows.append(f"| all | {total['opcodes']} | {total['seen']} | {amount(total['cases'], total['outputs'])} | "
                f"{amount(total['models'], total['model_outputs'])} | {total['forms']} | {total['alone']} opcodes |")
    rows.append(f"| calls of the host | | | {calls:,} | | | |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description="the table of docs/conformance.md by families of instructions")
    parser.add_argument("--update", action="store_true", help="write it")
    parser.add_argument("--count", action="store_true", help="print how many cases and calls an H200 has answered")
    arguments = parser.parse_args()
    if arguments.count:
        of = [program for program, _, _ in cases("h200")]
        calls = sum(program in HOST for program in of)
        print(len(of) - calls, calls)
        return
    page, table = read(PAGE), make_table()
    before, _, rest = page.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not end:
        sys.exit("families.py: docs/conformance.md has no place for the table")
    if arguments.update:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(before + BEGIN + table + END + after)
    elif old != table:
        sys.exit("docs/conformance.md: its table is not what the records hold: "
                 "python3 -ISB python/sm100repo tests/silicon/families.py --update")


if __name__ == "__main__":
    main()
