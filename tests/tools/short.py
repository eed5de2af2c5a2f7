"""short.py EMULATOR LAUNCH_PTX [SEEDS [FIRST]]: rows of shared memory are judged the same in their short form.

If the checks listen alone, they take most accesses of whole warps in a short form (enum event_halves and event_matrix in
emulator/machine/events.h). If others listen, too, they get each access as an event. Each seed makes a kernel whose warps
mostly access rows, again and again, some of them the same ones. It runs alone, and beside --stats-json. Both must give
the same findings, counts and order included. The findings of every seed that differs are printed, and the exit code is 1.
"""

import sys
import tempfile

import drawn
import epochs

ROWS = ("thread", "thread", "thread", "lane", "other", "back", "one", "halves", "swizzled")


class Kernel(epochs.Kernel):
    who = ("all",) * 12 + drawn.WHO

    def __init__(self, seed):
        drawn.Kernel.__init__(self, seed, (1, 2, 2, 3), ROWS, (1, 2, 4, 4, 4, 8, 16), (0, 0, 128, 1024, 64, 16, 960))
        self.sizes = self.some((1, 2, 4, 4, 4, 8, 16), 3)
        self.operations = self.some(("ld", "ld", "st", "st", "ld", "st", "red", "ld.volatile", "ldmatrix", "ldmatrix",
                                     "stmatrix", "stmatrix"), 4)
        self.exits = False

    def address(self, size):
        of = {"thread": "mov.u32 %x, %thread;", "lane": "mov.u32 %x, %lane;", "other": "xor.b32 %x, %thread, 32;",
              "back": "sub.u32 %x, 95, %thread;", "one": "mov.u32 %x, 3;", "halves": "and.b32 %x, %thread, 112;",
              "swizzled": "shr.u32 %x, %thread, 3; xor.b32 %x, %x, %thread;"}
        self.add(of[self.draw.choice(self.places)], "mul.lo.u32 %%x, %%x, %d;" % size,
                 "add.u32 %a, %s, %x;", "add.u32 %%a, %%a, %d;" % self.draw.choice(self.offsets))

    def halves(self):
        pass

    def text(self, plain):
        rounds = self.draw.choice((1, 1, 3, 20))
        self.arrivals = 2 if rounds == 1 else 15
        self.fill(24, self.draw.choice((0.1, 0.3, 0.5)))
        return self.written("", [".reg .b32 %a, %s;", ".shared .align 1024 .b8 mem[4096];", "mov.u32 %s, mem;",
                                 "mov.u32 %%n, %d;" % rounds, "AGAIN:"],
                            ["sub.u32 %n, %n, 1;", "setp.ne.u32 %p, %n, 0;", "@%p bra AGAIN;", "ret;",
                             *([] if plain else ["mbarrier.inval.shared.b64 [%s];"])])


def findings(emulator, launch, seed, level, options):
    kernel = Kernel(seed)
    return drawn.report(options, emulator, launch, kernel.text(seed % 3 == 0), kernel, seed, level)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        ways = {"alone": [], "beside statistics": ["--stats-json=%s/stats.json" % folder]}
        sys.exit(drawn.compare(findings, ways, *sys.argv[1:]))
