"""epochs.py EMULATOR LAUNCH_PTX [SEEDS [FIRST]]: accesses of shared memory are judged the same with epochs and without.

The checks compare accesses of a kernel without asynchronous operations by epochs (emulator/check/shadow/epochs.c), and
those of other kernels word by word. Each seed makes a kernel of random accesses and barriers. It runs as it is, and
with an mbarrier operation after its end, which no thread reaches, but which makes it another kernel. Both must give the
same findings, counts included; of readers that are not ordered, either may be named. The findings of every seed
that differs are printed, and the exit code is 1.
"""

import random
import re
import subprocess
import sys
import tempfile

BYTES = 2048
OPERATIONS = ("ld", "ld", "ld", "st", "st", "st", "atom", "red", "ld.volatile", "st.volatile", "st.relaxed.cta",
              "ldmatrix", "stmatrix")
PLACES = ("tid", "next", "pair", "one", "far", "lane", "back")
WHO = ("all", "all", "all", "warp", "lane", "half", "thread")


class Kernel:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.warps = self.draw.choice((1, 2, 3, 4))
        self.threads = 32 * self.warps - self.draw.choice((0, 0, 0, 5))
        self.exits = self.draw.random() < 0.1
        self.lines, self.labels, self.arrivals = [], 0, 0

    def add(self, *lines):
        self.lines.extend(lines)

    def label(self):
        self.labels += 1
        return "L%d" % self.labels

    def guard(self):
        """Sets %p to the threads that take part; returns the guard."""
        who = self.draw.choice(WHO)
        if who == "all":
            return ""
        if who == "warp":
            self.add("setp.eq.u32 %%p, %%warp, %d;" % self.draw.randrange(self.warps))
        elif who == "lane":
            self.add("setp.eq.u32 %%p, %%lane, %d;" % self.draw.randrange(32))
        elif who == "half":
            self.add("setp.lt.u32 %%p, %%thread, %d;" % (self.threads // 2))
        else:
            self.add("setp.eq.u32 %%p, %%thread, %d;" % self.draw.randrange(self.threads))
        return "@%p "

    def address(self, size):
        """Sets %a to an address that is a multiple of `size`."""
        place = self.draw.choice(PLACES)
        of = {"tid": "mov.u32 %x, %thread;", "next": "xor.b32 %x, %thread, 1;", "pair": "shr.u32 %x, %thread, 1;",
              "one": "mov.u32 %x, 3;", "far": "xor.b32 %x, %thread, 32;", "lane": "mov.u32 %x, %lane;",
              "back": "sub.u32 %x, 127, %thread;"}
        self.add(of[place], "mul.lo.u32 %%x, %%x, %d;" % size,
                 "add.u32 %a, %s, %x;", "add.u32 %%a, %%a, %d;" % self.draw.choice((0, 0, 0, 32, 256)))

    def matrix(self, operation):
        """ldmatrix or stmatrix, by whole warps."""
        if self.threads % 32 or self.exits:
            return
        self.address(16)
        name = operation + ".sync.aligned.m8n8.x4" + self.draw.choice(("", ".trans")) + ".shared.b16 "
        registers = "{%v0, %v1, %v2, %v3}"
        self.add(name + (registers + ", [%a];" if operation == "ldmatrix" else "[%a], " + registers + ";"))

    def access(self):
        operation = self.draw.choice(OPERATIONS)
        if operation.endswith("matrix"):
            self.matrix(operation)
            return
        size = 4 if operation in ("atom", "red") else self.draw.choice((1, 2, 4, 4, 4, 8, 16))
        self.address(size)
        guard = self.guard()
        if operation == "atom":
            self.add(guard + "atom.shared.add.u32 %v0, [%a], %thread;")
        elif operation == "red":
            self.add(guard + "red.shared.add.u32 [%a], 1;")
        else:
            loads = operation.startswith("ld")
            kind, register = {1: ("u8", "%h"), 2: ("u16", "%h"), 4: ("u32", "%v0"), 8: ("v2.u32", "{%v0, %v1}"),
                              16: ("v4.u32", "{%v0, %v1, %v2, %v3}")}[size]
            if not loads:
                value = self.draw.choice(("%thread", "7"))
                self.add(*("mov.u32 %%v%d, %s;" % (i, value) for i in range(4)), "cvt.u16.u32 %h, %v0;")
            words = operation.split(".", 1)
            name = ".".join([words[0]] + words[1:] + ["shared", kind])
            self.add("%s%s %s;" % (guard, name, register + ", [%a]" if loads else "[%a], " + register))

    def split(self, first, second, predicate):
        """Two branches; what they hold is given."""
        other, end = self.label(), self.label()
        self.add(predicate, "@%%p bra %s;" % other, *first)
        self.add("bra %s;" % end, other + ":", *second)
        self.add(end + ":")

    def barrier(self):
        kind = self.draw.choice(("all", "all", "all", "one", "warp", "half", "half", "arrive", "arrive"))
        half, whole = self.warps // 2, self.threads % 32 == 0 and not self.exits
        lower = "setp.lt.u32 %%p, %%warp, %d;" % half
        if kind == "half" and half and whole:
            number = self.draw.choice((0, 2))
            self.split([], ["bar.sync %d, %d;" % (number, 32 * half)], lower)
            if number == 0:  # else the others could come to the next one of all threads meanwhile
                self.add("bar.sync 1;")
        elif kind == "arrive" and half and whole and self.arrivals < 15:
            self.arrivals += 1  # a barrier once: nothing would keep those that do not wait from arriving twice
            self.split(["bar.sync %d;" % self.arrivals], ["bar.arrive %d, %d;" % (self.arrivals, self.threads)], lower)
        elif kind == "warp":
            self.add("bar.warp.sync -1;")
        else:
            self.add("bar.sync %d;" % (kind == "one"))

    def exit(self):
        self.add("setp.eq.u32 %p, " + self.draw.choice(("%warp, 0;", "%lane, 3;", "%thread, 40;")), "@%p exit;")

    def text(self, plain):
        rounds = self.draw.choice((1, 1, 1, 20)) # 20 fill the log of accesses
        self.arrivals = 2 if rounds == 1 else 15
        barriers = self.draw.uniform(0.2, 0.8)
        for _ in range(self.draw.randrange(3, 40)):
            if self.draw.random() < barriers:
                self.barrier()
            elif self.exits and self.draw.random() < 0.1:
                self.exit()
            else:
                self.access()
        tail = [] if plain else ["mbarrier.inval.shared.b64 [%s];"]
        return "\n".join([".version 8.7", ".target sm_100a", ".address_size 64", ".visible .entry k()", "{",
                          ".reg .pred %p;", ".reg .b16 %h;", ".reg .b32 %v<4>;",
                          ".reg .b32 %thread, %warp, %lane, %a, %x, %s, %n;", ".shared .align 16 .b8 mem[%d];" % (2 * BYTES),
                          "mov.u32 %thread, %tid.x;", "shr.u32 %warp, %thread, 5;", "and.b32 %lane, %thread, 31;",
                          "mov.u32 %s, mem;", "mov.u32 %%n, %d;" % rounds, "AGAIN:"] + self.lines +
                         ["sub.u32 %n, %n, 1;", "setp.ne.u32 %p, %n, 0;", "@%p bra AGAIN;", "ret;"] + tail + ["}", ""])


def findings(emulator, launch, path, seed, level):
    """What the run reports, without the place of an earlier reader and the hint, which depends on it."""
    kernel = Kernel(seed)
    schedule = "default" if seed % 2 else "random:%d" % seed
    command = [emulator, "--check=" + level, "--schedule=" + schedule, launch, path, "k", "block=%d" % kernel.threads]
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if p.returncode not in (0, 3):
        sys.exit("seed %d: exit code %d\n%s" % (seed, p.returncode, p.stdout))
    return re.sub(r"(and: .*, which reads it\n)(?:  -->.*\n| +ptx:.*\n| +by:.*\n)+( +rule:.*\n) +hint:.*\n", r"\1\2", p.stdout)


def main(emulator, launch, seeds="40", first="1"):
    different = found = 0
    for seed in range(int(first), int(first) + int(seeds)):
        for level in ("warn", "strict"):
            outputs = []
            for plain in (True, False):
                with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
                    f.write(Kernel(seed).text(plain))
                    f.flush()
                    outputs.append(findings(emulator, launch, f.name, seed, level).replace(f.name, "k.ptx"))
            found += "race" in outputs[0]
            if outputs[0] != outputs[1]:
                different += 1
                print("seed %d, --check=%s: with epochs, then without\n%s\n---\n%s" % (seed, level, *outputs))
    print("%s seeds, %d runs with a race, %d differ" % (seeds, found, different))
    return 1 if different or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
