"""sass.py [--hold] FIGURES PROGRAM...: what the loops of the programs' kernels are made of, in machine code.

PROGRAM is a program that nvcc built, or a cubin. A line for each loop that a role of a GEMM goes round, per K tile, per
subtile or per item of work: its instructions, how many the shortest way round has, and of all of them how many are
UMMAs, copies by the TMA, loads of tensor memory, tests of a barrier, and what orders memory far and dearly. What runs
only after a test that said no is not counted. FIGURES holds such lines of somebody else's kernel and is printed below.
--hold: exit 1 where a loop of any kind has MEMBAR.ALL.GPU (writes visible on the whole GPU), CCTL.IVALL (the L1 cache
cleared) or ERRBAR in it.

cuobjdump and nvdisasm are taken from the PATH; scripts/toolkit.sh disassembler says where they are.
"""

import os
import re
import subprocess
import sys
import tempfile

from sm100repo import read

DEAR = r"MEMBAR\.(ALL\.(GPU|SYS)|SC)|CCTL\.IVALL|ERRBAR"
TEST = r"SYNCS\.PHASECHK"
UMMA = r"UTC\w*MMA"
# Around a test that is made again: moves and the jump.
AROUND = TEST + r"|\bBRA\b|\bNOP|NANOSLEEP|YIELD|MOV|R2UR|SHF|LEA"
# A role, an instruction of its loop, and whether that loop tests barriers; it is the innermost one that has both.
ROLES = [
    ("mma", UMMA, True),
    ("load", r"UTMALDG\.\S*(2CTA|MULTICAST)", True),
    ("load C", r"UTMALDG\.\dD ", True),
    ("epilogue", r"LDTM", False),
    ("schedule", r"UGETNEXTWORKID", True),
]
COLUMNS = [
    ("UMMA", UMMA),
    ("TMA", r"UTMA(LDG|STG)"),
    ("LDTM", r"LDTM"),
    ("test", TEST),
    ("MEMBAR.CTA", r"MEMBAR\.\S*CTA"),
    ("MEMBAR.GPU", r"MEMBAR\.(ALL\.(GPU|SYS)|SC)"),
    ("CCTL", r"CCTL\.IVALL"),
    ("ERRBAR", r"\bERRBAR"),
]


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def cubins(program, folder):
    if program.endswith(".cubin"):
        return [os.path.abspath(program)]
    run("cuobjdump", "-xelf", "all", os.path.abspath(program), cwd=folder)
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


class Kernel:
    """code: its instructions; after, before: where control can go from each, and come from; a number stands for one."""

    def __init__(self, name):
        self.name, self.code, self.labels = name, [], {}

    def link(self):
        self.after = [self.successors(i) for i in range(len(self.code))]
        self.before = [set() for _ in self.code]
        self.reached = self.reach()
        for i in self.reached:
            for n in self.after[i]:
                self.before[n].add(i)
        for i in set(range(len(self.code))) - self.reached:
            if re.search(DEAR + "|SYNCS|UTMA|" + UMMA, self.code[i]):
                raise ValueError(f"{self.name}: how does control come to `{self.code[i]}`?")

    def successors(self, i):
        """A predicate, or an operand in front of its target, makes a branch conditional."""
        following = {i + 1} & set(range(len(self.code)))
        guard, text = re.match(r"(@\S+\s+)?(.*)", self.code[i]).groups()
        if targets := re.search(r'BRANCH_TARGETS ([^"]*)"', text):
            return {self.labels[name] for name in targets[1].split(",")}
        if branch := re.match(r"BRA\S*\s+(.*?)`\((\.L_\S+)\)", text):
            return {self.labels[branch[2]]} | (following if guard or branch[1] else set())
        if re.match(r"(EXIT|RET|BPT|KILL)\b", text):
            return following if guard else set()
        return following

    def reach(self, but=None):
        """What control comes to from the first instruction, by no way through one of them."""
        seen, work = {but}, [0]
        while work:
            at = work.pop()
            if at not in seen:
                seen.add(at)
                work += self.after[at]
        return seen - {but}

    def has(self, body, pattern):
        return any(re.search(pattern, self.code[i]) for i in body)

    def loops(self):
        """The natural loops: {first instruction: all of them}."""
        found = {}
        for head in sorted(self.reached.intersection(self.labels.values())):
            work = list(self.before[head] - self.reach(but=head))  # from where a jump leads back to what it came by
            body = {head} if work else set()
            while work:
                at = work.pop()
                if at not in body:
                    body.add(at)
                    work += self.before[at]
            if body:
                found[head] = body
        return found

    def retries(self, loops):
        """What runs only after a test that said no: a loop that tests again and does nothing else, entered from a
        branch, with the moves and the jump around it. A first test that is such a loop is none."""
        found = set()
        for body in loops.values():
            if not self.has(body, TEST) or not all(re.search(AROUND, self.code[i]) for i in body):
                continue
            idle, entries = set(body), [i for n in body for i in self.before[n] - body]
            while entries and all(re.search(AROUND, self.code[i]) and self.after[i] <= idle for i in entries):
                idle |= set(entries)
                entries = [i for n in idle for i in self.before[n] - idle]
            if all("BRA" in self.code[i] for i in entries):
                found |= idle
                found |= {n for i in idle for n in self.after[i] if self.before[n] <= idle and "BRA " in self.code[n]}
        return found

    def shortest_round(self, head, body):
        length, edge = 1, self.after[head] & body
        seen = set(edge)
        while edge and head not in edge:
            length += 1
            edge = {n for i in edge for n in self.after[i] & body} - seen
            seen |= edge
        return length

    def roles(self):
        """(role, first instruction, loop) in the order of the roles and of the code."""
        loops = self.loops()
        retries = self.retries(loops)
        kept = {head: body - retries for head, body in loops.items() if head not in retries}
        for role, mark, tests in ROLES:
            having = {h: b for h, b in kept.items() if self.has(b, mark) and (not tests or self.has(b, TEST))}
            for head, body in sorted(having.items()):
                innermost = not any(other < body for other in having.values())
                if innermost and (role == "mma" or not self.has(body, UMMA)):
                    yield role, head, body


def kernels(cubin):
    found = []
    for line in run("nvdisasm", "-c", cubin).splitlines():
        if section := re.match(r"\.text\.(\S+):", line):
            found.append(Kernel(section[1]))
        elif label := re.match(r"(\.L_\S+):", line):
            found[-1].labels[label[1]] = len(found[-1].code)
        elif instruction := re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;", line):
            found[-1].code.append(instruction[1])
    return found


def row(name, role, *counts):
    titles = ["instructions", "round"] + [title for title, _ in COLUMNS] + ["registers"]
    return f"{name:<24}{role:<9}" + "".join(f"{n:>{max(5, len(t) + 1)}}" for n, t in zip(counts or titles, titles))


def report(program):
    """The rows of a program, equal ones once, and what is dear in its loops."""
    rows, dear = [], []
    name = re.sub(r"\.cubin$", "", os.path.basename(program))
    with tempfile.TemporaryDirectory() as folder:
        for cubin in cubins(program, folder):
            usage = run("cuobjdump", "-res-usage", cubin, stderr=subprocess.STDOUT)
            for kernel in kernels(cubin):
                kernel.link()
                registers = re.search(re.escape(kernel.name) + r":\s*REG:(\d+)", usage)[1]
                for role, head, body in kernel.roles():
                    counts = [sum(bool(re.search(p, kernel.code[i])) for i in body) for _, p in COLUMNS]
                    least = kernel.shortest_round(head, body)
                    rows.append(row(name, role, len(body), least, *counts, registers))
                inside = set().union(*kernel.loops().values())
                dear += [f"{name}: {kernel.code[i]}" for i in sorted(inside) if re.search(DEAR, kernel.code[i])]
    return list(dict.fromkeys(rows)), dear


def main(arguments):
    hold = arguments[:1] == ["--hold"]
    figures, *programs = arguments[hold:]
    failed = []
    print(row("", "loop"))
    for program in programs:
        rows, dear = report(program)
        print("\n".join(rows))
        failed += [f"in a loop of {text}" for text in dear]
        if not any(re.search(r" mma ", text) for text in rows):
            failed.append(f"{program}: no loop with a UMMA in it")
    print(re.sub("^#.*\n", "", read(figures), flags=re.M), end="")
    if hold and failed:
        print("\n".join("FAILED: " + text for text in failed))
    return 1 if hold and failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
