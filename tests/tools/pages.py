"""pages.py EMULATOR LAUNCH_PTX [SEEDS [FIRST]]: accesses of global memory are judged the same in each form of keeping
them.

The checks keep few accesses of a page as runs, and those of a region without conflicts as lists; otherwise they keep
marks for each sector (emulator/check/shadow/pages.h). Each seed makes a kernel of random accesses, fences and barriers.
Each CTA begins with a strong access, after which its page has marks. The kernel runs three times: with that access
elsewhere; in the pages of the others, at bytes which these do not touch; and with all other accesses in one page
instead of two. All runs must give as many findings of each rule at each line. If an access conflicts with several
others, any of them may be named, so relaxed-handover counts as global-race. The findings of every seed that differs are
printed, and the exit code is 1.
"""

import collections
import json
import sys
import tempfile

import drawn

REGION, PAGE = 2 << 20, 4096
OPERATIONS = ("ld", "ld", "ld", "ld", "st", "st", "st", "st", "atom", "red", "red.cta", "ld.volatile", "st.volatile",
              "st.relaxed.cta", "ld.relaxed.gpu", "ld.nc")
WEAK = ("ld", "ld", "st")  # after a strong access the page has marks
PLACES = ("own", "own", "own", "tid", "next", "pair", "one", "far", "lane", "back", "gap", "row")


class Kernel(drawn.Kernel):
    who = ("all", *drawn.WHO, "cta")

    def __init__(self, seed):
        super().__init__(seed, (1, 1, 2, 3), PLACES, (1, 2, 4, 4, 4, 8, 16, 32), (0, 0, 0, 32, 1024, 2016))
        self.ctas = self.draw.choice((1, 2, 2, 3))
        self.cluster = self.draw.choice((1, 1, self.ctas))
        if self.cluster > 1:
            self.directives = ".explicitcluster .reqnctapercluster %d" % self.cluster
        self.operations = self.draw.choice((OPERATIONS, WEAK, WEAK))

    def address(self, size):
        """Sets %a to an address that is a multiple of `size`, in a page's bytes from %s on."""
        of = {"own": "mov.u32 %x, %own;", "tid": "mov.u32 %x, %thread;",
              "next": "xor.b32 %x, %thread, 1;", "pair": "shr.u32 %x, %thread, 1;", "one": "mov.u32 %x, 3;",
              "far": "xor.b32 %x, %thread, 32;", "lane": "mov.u32 %x, %lane;", "back": "sub.u32 %x, 95, %thread;",
              "gap": "shl.b32 %x, %thread, 1;", "row": "mad.lo.u32 %x, %warp, 40, %lane;"}
        self.add(of[self.draw.choice(self.places)],
                 "mad.lo.u32 %%x, %%x, %d, %d;" % (size, self.draw.choice(self.offsets)), "and.b32 %x, %x, 4095;",
                 "cvt.u64.u32 %a, %x;", "add.u64 %a, %a, %s;")

    def access(self):
        operation = self.draw.choice(self.operations)
        word = operation.startswith(("atom", "red"))
        size = 4 if word else self.draw.choice(self.sizes)
        size = 4 if "relaxed" in operation else 16 if size == 32 and "." in operation else size
        self.address(size)
        guard = self.guard()
        if word:
            scope = ".cta" if operation == "red.cta" else ".gpu"
            self.add(guard + ("atom.relaxed%s.global.add.u32 %%v0, [%%a], 1;" if operation == "atom" else
                              "red.relaxed%s.global.add.u32 [%%a], 1;") % scope)
        else:
            self.move(operation, "global", size, guard)

    def barrier(self):
        if self.draw.random() < 0.25:
            self.add(self.draw.choice(("fence.acq_rel.gpu;", "fence.acq_rel.cluster;", "fence.acq_rel.cta;",
                                       "membar.gl;")))
        elif self.cluster > 1 and self.draw.random() < 0.5:
            self.add("barrier.cluster.arrive%s;" % self.draw.choice(("", ".relaxed")), "barrier.cluster.wait;")
        else:
            super().barrier()

    def text(self):
        barriers, self.arrivals = self.draw.uniform(0.1, 0.6), 2
        self.fill(30, barriers)
        return self.written(".param .u64 memory, .param .u64 first, .param .u64 start",
                            [".reg .b64 %a, %s, %f;", "ld.param.u64 %s, [memory];", "ld.param.u64 %f, [first];",
                             "add.u64 %f, %f, %s;", "mad.wide.u32 %f, %cta, 4, %f;", "ld.param.u64 %a, [start];",
                             "add.u64 %s, %s, %a;",
                             "setp.eq.u32 %p, %thread, 0;", "@%p red.relaxed.cta.global.add.u32 [%f], 1;",
                             "@%p red.relaxed.cta.global.add.u32 [%f+8000], 1;", "bar.sync 0;"], ["ret;"])


def findings(emulator, launch, seed, level, places):
    """The number of findings by rule and line. places: of the first accesses, and of the others."""
    kernel = Kernel(seed)
    count = collections.Counter()
    with tempfile.NamedTemporaryFile() as f:
        drawn.report(["--check-json=" + f.name], emulator, launch, kernel.text(), kernel, seed, level,
                     "buf:%d" % (3 * REGION), *("u64:%d" % place for place in places))
        with open(f.name) as log:  # the text leaves findings out, if there are many
            found = json.load(log)["runs"][0]["results"]
    for of in found:
        rule = of["ruleId"].replace("relaxed-handover", "global-race")
        count[rule, of["properties"]["ptxLine"]] += of["occurrenceCount"]
    return "".join("%d of %s at line %d\n" % (count[of], *of) for of in sorted(count))


if __name__ == "__main__":
    sys.exit(drawn.compare(findings, {"at first runs and lists": (2 * REGION, PAGE // 2), "marks alone": (0, PAGE // 2),
                                       "in one page": (2 * REGION, PAGE)}, *sys.argv[1:]))
