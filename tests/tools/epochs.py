"""epochs.py EMULATOR LAUNCH_PTX [SEEDS [FIRST]]: accesses of shared memory are judged the same with epochs and without.

The checks compare accesses of a kernel without asynchronous operations by epochs (emulator/check/shadow/epochs.c), and
those of other kernels word by word. Each seed makes a kernel of random accesses and barriers. It runs as it is, and
with an mbarrier operation after its end, which no thread reaches, but which makes it another kernel. Both must give the
same findings, counts included; of readers that are not ordered, either may be named. The findings of every seed
that differs are printed, and the exit code is 1.
"""

import re
import sys

import drawn

BYTES = 2048
OPERATIONS = ("ld", "ld", "ld", "st", "st", "st", "atom", "red", "ld.volatile", "st.volatile", "st.relaxed.cta",
              "ldmatrix", "stmatrix")
PLACES = ("tid", "next", "pair", "one", "one", "one", "far", "lane", "back")


class Kernel(drawn.Kernel):
    def __init__(self, seed):
        super().__init__(seed, (1, 1, 2, 3, 4), PLACES, (1, 2, 4, 4, 4, 8, 16), (0, 0, 0, 32, 256))
        self.operations = self.some(OPERATIONS, 4)

    def address(self, size):
        """Sets %a to an address that is a multiple of `size`."""
        of = {"tid": "mov.u32 %x, %thread;", "next": "xor.b32 %x, %thread, 1;", "pair": "shr.u32 %x, %thread, 1;",
              "one": "mov.u32 %x, 3;", "far": "xor.b32 %x, %thread, 32;", "lane": "mov.u32 %x, %lane;",
              "back": "sub.u32 %x, 127, %thread;"}
        self.add(of[self.draw.choice(self.places)], "mul.lo.u32 %%x, %%x, %d;" % size,
                 "add.u32 %a, %s, %x;", "add.u32 %%a, %%a, %d;" % self.draw.choice(self.offsets))

    def matrix(self, operation):
        """ldmatrix or stmatrix, by whole warps."""
        if self.threads % 32 or self.exits:
            return
        self.address(16)
        name = operation + ".sync.aligned.m8n8.x4" + self.draw.choice(("", ".trans")) + ".shared.b16 "
        registers = "{%v0, %v1, %v2, %v3}"
        self.add(name + (registers + ", [%a];" if operation == "ldmatrix" else "[%a], " + registers + ";"))

    def halves(self):
        """The halves of a warp read the same words, or one word each. Then lanes write some of them."""
        self.add(self.draw.choice(("and.b32 %x, %thread, 15;", "shr.u32 %x, %thread, 4;")), "shl.b32 %x, %x, 2;",
                 "add.u32 %a, %s, %x;", "ld.shared.u32 %v0, [%a];", "shl.b32 %x, %thread, 2;", "add.u32 %a, %s, %x;",
                 self.guard() + "st.shared.u32 [%a], 7;")

    def access(self):
        if self.draw.random() < 0.1:
            self.halves()
            return
        operation = self.draw.choice(self.operations)
        if operation.endswith("matrix"):
            self.matrix(operation)
            return
        size = 4 if operation in ("atom", "red") else self.draw.choice(self.sizes)
        self.address(size)
        guard = self.guard()
        if operation == "atom":
            self.add(guard + "atom.shared.add.u32 %v0, [%a], %thread;")
        elif operation == "red":
            self.add(guard + "red.shared.add.u32 [%a], 1;")
        else:
            self.move(operation, "shared", size, guard)

    def long(self):
        """An access, and then many of one kind at other bytes, all without a conflict: they fill the log of accesses."""
        size = self.draw.choice((1, 2, 4, 4, 8, 16))
        factor = self.draw.choice((size, size, 16))
        self.add("mul.lo.u32 %%x, %%thread, %d;" % factor, "add.u32 %a, %s, %x;")
        self.move(self.draw.choice(("ld", "st")), "shared", size, "")
        self.add("add.u32 %%a, %%a, %d;" % BYTES, "mov.u32 %x, 900;", "LONG:")
        if self.draw.random() < 0.4:
            self.add("and.b32 %a, %a, -4;", "red.shared.add.u32 [%a], 1;")
        else:
            self.move(self.draw.choice(("ld", "st")), "shared", size, "")
        self.add("sub.u32 %x, %x, 1;", "setp.ne.u32 %p, %x, 0;", "@%p bra LONG;")

    def text(self, plain):
        rounds = self.draw.choice((1, 1, 1, 20))
        if rounds == 1 and self.draw.random() < 0.2:
            self.long()
        self.arrivals = 2 if rounds == 1 else 15
        self.fill(40, self.draw.uniform(0.2, 0.8))
        return self.written("", [".reg .b32 %a, %s;", ".shared .align 16 .b8 mem[%d];" % (2 * BYTES),
                                 "mov.u32 %s, mem;", "mov.u32 %%n, %d;" % rounds, "AGAIN:"],
                            ["sub.u32 %n, %n, 1;", "setp.ne.u32 %p, %n, 0;", "@%p bra AGAIN;", "ret;",
                             *([] if plain else ["mbarrier.inval.shared.b64 [%s];"])])


def findings(emulator, launch, seed, level, plain):
    """What the run reports, without the place of an earlier reader and the hint, which depends on it."""
    kernel = Kernel(seed)
    said = drawn.report([], emulator, launch, kernel.text(plain), kernel, seed, level)
    return re.sub(r"(and: .*, which reads it\n)(?:  -->.*\n| +ptx:.*\n| +by:.*\n)+( +rule:.*\n) +hint:.*\n", r"\1\2",
                  said)


if __name__ == "__main__":
    sys.exit(drawn.compare(findings, {"with epochs": True, "without": False}, *sys.argv[1:]))
