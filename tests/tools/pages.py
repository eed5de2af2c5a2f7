"""pages.py EMULATOR LAUNCH_PTX [SEEDS [FIRST]]: accesses of global memory are judged the same in each form they are kept in.

The checks keep few accesses of a page as runs, and those of a region without conflicts as lists; otherwise they keep
marks for each sector (emulator/check/shadow/pages.h). Each seed makes a kernel of random accesses, fences and barriers.
Each CTA begins with a strong access, after which its page has marks. The kernel runs twice: with that access elsewhere,
and in the pages of the others, at bytes which these do not touch. Both runs must give as many findings of each rule
at each line. If an access conflicts with several others, any of them may be named. The findings of every seed that
differs are printed, and the exit code is 1.
"""

import collections
import re
import subprocess
import sys
import tempfile

import epochs

REGION = 2 << 20
START = 2048  # the accesses are in the middle of two pages
OPERATIONS = ("ld", "ld", "ld", "ld", "st", "st", "st", "st", "atom", "red", "red.cta", "ld.volatile", "st.volatile",
              "st.relaxed.cta", "ld.relaxed.gpu", "ld.nc")
WEAK = ("ld", "ld", "st")  # after a strong access the page has marks
PLACES = ("own", "own", "own", "tid", "next", "pair", "one", "far", "lane", "back", "gap", "row")
WHO = ("all", "all", "all", "all", "warp", "lane", "half", "thread", "cta")
KINDS = {1: ("u8", "%h"), 2: ("u16", "%h"), 4: ("u32", "%v0"), 8: ("v2.u32", "{%v0, %v1}"),
         16: ("v4.u32", "{%v0, %v1, %v2, %v3}"),
         32: ("v8.u32", "{%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}")}


class Kernel(epochs.Kernel):
    def __init__(self, seed):
        super().__init__(seed)
        self.warps = self.draw.choice((1, 1, 2, 3))
        self.threads = 32 * self.warps - self.draw.choice((0, 0, 0, 5))
        self.ctas = self.draw.choice((1, 2, 2, 3))
        self.operations = self.draw.choice((OPERATIONS, WEAK, WEAK))

    def guard(self):
        who = self.draw.choice(WHO)
        if who != "cta":
            return super().guard()
        self.add("setp.eq.u32 %%p, %%cta, %d;" % self.draw.randrange(self.ctas))
        return "@%p "

    def address(self, size):
        """Sets %a to an address that is a multiple of `size`, in 4096 bytes from %s on."""
        of = {"own": "mad.lo.u32 %%x, %%cta, %d, %%thread;" % self.threads, "tid": "mov.u32 %x, %thread;",
              "next": "xor.b32 %x, %thread, 1;", "pair": "shr.u32 %x, %thread, 1;", "one": "mov.u32 %x, 3;",
              "far": "xor.b32 %x, %thread, 32;", "lane": "mov.u32 %x, %lane;", "back": "sub.u32 %x, 95, %thread;",
              "gap": "shl.b32 %x, %thread, 1;", "row": "mad.lo.u32 %x, %warp, 40, %lane;"}
        self.add(of[self.draw.choice(PLACES)], "mad.lo.u32 %%x, %%x, %d, %d;" % (size, self.draw.choice((0, 0, 0, 32, 1024, 2016))),
                 "and.b32 %x, %x, 4095;", "cvt.u64.u32 %a, %x;", "add.u64 %a, %a, %s;")

    def access(self):
        operation = self.draw.choice(self.operations)
        word = operation.startswith(("atom", "red"))
        size = 4 if word else self.draw.choice((1, 2, 4, 4, 4, 8, 16, 32))
        size = 4 if "relaxed" in operation else 16 if size == 32 and "." in operation else size
        self.address(size)
        guard = self.guard()
        if word:
            scope = ".cta" if operation == "red.cta" else ".gpu"
            self.add(guard + ("atom.relaxed%s.global.add.u32 %%v0, [%%a], 1;" if operation == "atom" else
                              "red.relaxed%s.global.add.u32 [%%a], 1;") % scope)
            return
        loads = operation.startswith("ld")
        kind, register = KINDS[size]
        if not loads:
            value = self.draw.choice(("%thread", "%thread", "7"))
            self.add(*("mov.u32 %%v%d, %s;" % (i, value) for i in range(8)), "cvt.u16.u32 %h, %v0;")
        words = operation.split(".", 1)
        order = [] if len(words) == 1 or words[1] == "nc" else [words[1]]
        name = ".".join([words[0]] + order + ["global"] + (["nc"] if operation == "ld.nc" else []) + [kind])
        self.add("%s%s %s;" % (guard, name, register + ", [%a]" if loads else "[%a], " + register))

    def barrier(self):
        if self.draw.random() < 0.25:
            self.add(self.draw.choice(("fence.acq_rel.gpu;", "fence.acq_rel.cta;", "membar.gl;")))
        else:
            super().barrier()

    def text(self):
        barriers, self.arrivals = self.draw.uniform(0.1, 0.6), 2
        for _ in range(self.draw.randrange(3, 30)):
            if self.draw.random() < barriers:
                self.barrier()
            elif self.exits and self.draw.random() < 0.1:
                self.exit()
            else:
                self.access()
        return "\n".join([".version 8.8", ".target sm_100a", ".address_size 64",
                          ".visible .entry k(.param .u64 memory, .param .u64 first) {", ".reg .pred %p;", ".reg .b16 %h;",
                          ".reg .b32 %v<8>;", ".reg .b32 %thread, %warp, %lane, %cta, %x;", ".reg .b64 %a, %s, %f;",
                          "mov.u32 %thread, %tid.x;", "shr.u32 %warp, %thread, 5;", "and.b32 %lane, %thread, 31;",
                          "mov.u32 %cta, %ctaid.x;", "ld.param.u64 %s, [memory];", "ld.param.u64 %f, [first];",
                          "add.u64 %f, %f, %s;", "mad.wide.u32 %f, %cta, 4, %f;", "add.u64 %%s, %%s, %d;" % START, "setp.eq.u32 %p, %thread, 0;",
                          "@%p red.relaxed.cta.global.add.u32 [%f], 1;", "@%p red.relaxed.cta.global.add.u32 [%f+8000], 1;",
                          "bar.sync 0;"] + self.lines + ["ret;", "}", ""])


def findings(emulator, launch, path, seed, level, first):
    """The number of findings by rule and line."""
    kernel = Kernel(seed)
    schedule = "default" if seed % 2 else "random:%d" % seed
    command = [emulator, "--check=" + level, "--schedule=" + schedule, launch, path, "k", "grid=%d" % kernel.ctas,
               "block=%d" % kernel.threads, "buf:%d" % (3 * REGION), "u64:%d" % first]
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if p.returncode not in (0, 3):
        sys.exit("seed %d: exit code %d\n%s" % (seed, p.returncode, p.stdout))
    count = collections.Counter()
    for rule, line in re.findall(r"^warning: .* (\[.*\])\n  --> .*:(\d+) in k$", p.stdout, re.M):
        count[rule, int(line)] += 1
    for more, rule, line in re.findall(r"note: (\d+) more of (\[.*\]) at .*:(\d+),", p.stdout):
        count[rule, int(line)] += int(more)
    return "".join("%d of %s at line %d\n" % (count[of], *of) for of in sorted(count))


def main(emulator, launch, seeds="40", first="1"):
    different = found = 0
    for seed in range(int(first), int(first) + int(seeds)):
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
            f.write(Kernel(seed).text())
            f.flush()
            for level in ("warn", "strict"):
                kept = [findings(emulator, launch, f.name, seed, level, at) for at in (2 * REGION, 0)]
                found += "race" in kept[0]
                if kept[0] != kept[1]:
                    different += 1
                    print("seed %d, --check=%s: at first runs and lists, then marks alone\n%s\n---\n%s" % (seed, level, *kept))
    print("%s seeds, %d runs with a race, %d differ" % (seeds, found, different))
    return 1 if different or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
