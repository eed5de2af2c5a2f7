"""drawn.py - random kernels of accesses, guards and barriers, and the comparison of what the checks report of each in
two ways: what epochs.py, pages.py and short.py share.
"""

import random
import subprocess
import sys
import tempfile

WHO = ("all", "all", "all", "warp", "lane", "half", "thread")
VALUES = ("%own", "%own", "%thread", "%lane", "%warp", "%cta", "7")  # of many threads the same, or of few, or of none
KINDS = {1: ("u8", "%h"), 2: ("u16", "%h"), 4: ("u32", "%v0"), 8: ("v2.u32", "{%v0, %v1}"),
         16: ("v4.u32", "{%v0, %v1, %v2, %v3}"),
         32: ("v8.u32", "{%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}")}


class Kernel:
    """Of `ctas` CTAs with `warps` warps each. text() writes it; what it draws depends only on the seed."""

    who, ctas, directives = WHO, 1, ""

    def __init__(self, seed, warps, places, sizes, offsets):
        self.draw = random.Random(seed)
        self.warps = self.draw.choice(warps)
        self.threads = 32 * self.warps - self.draw.choice((0, 0, 0, 5))
        self.exits = self.draw.random() < 0.1
        # a kernel has a few of all threads, places and forms, so that its accesses often share bytes
        self.few = [self.draw.choice((0, self.draw.randrange(self.threads))) for _ in range(2)]
        self.places, self.sizes, self.offsets = self.some(places, 3), self.some(sizes, 2), self.some(offsets, 2)
        self.lines, self.labels, self.arrivals = [], 0, 0

    def some(self, of, most):
        return [self.draw.choice(of) for _ in range(most)]

    def add(self, *lines):
        self.lines.extend(lines)

    def label(self):
        self.labels += 1
        return "L%d" % self.labels

    def guard(self):
        """Sets %p to the threads that take part; returns the guard."""
        who = self.draw.choice(self.who)
        if who == "all":
            return ""
        if who == "warp":
            self.add("setp.eq.u32 %%p, %%warp, %d;" % self.draw.randrange(self.warps))
        elif who == "lane":
            self.add("setp.eq.u32 %%p, %%lane, %d;" % (self.draw.choice(self.few) % 32))
        elif who == "half":
            self.add("setp.lt.u32 %%p, %%thread, %d;" % (self.threads // 2))
        elif who == "cta":
            self.add("setp.eq.u32 %%p, %%cta, %d;" % self.draw.randrange(self.ctas))
        else:
            self.add("setp.eq.u32 %%p, %%thread, %d;" % self.draw.choice(self.few))
        return "@%p "

    def move(self, operation, space, size, guard):
        """A load or a store at %a: `operation` without its space and type."""
        kind, register = KINDS[size]
        loads = operation.startswith("ld")
        if not loads:
            value = self.draw.choice(VALUES)
            self.add(*("mov.u32 %%v%d, %s;" % (i, value) for i in range(8)), "cvt.u16.u32 %h, %v0;")
        name = "ld.%s.nc" % space if operation == "ld.nc" else operation + "." + space
        self.add("%s%s.%s %s;" % (guard, name, kind, register + ", [%a]" if loads else "[%a], " + register))

    def split(self, first, second, predicate):
        """Two branches; what they hold is given."""
        other, end = self.label(), self.label()
        self.add(predicate, "@%%p bra %s;" % other, *first)
        self.add("bra %s;" % end, other + ":", *second)
        self.add(end + ":")

    def barrier(self):
        kind = self.draw.choice(("all", "all", "all", "one", "warp", "arms", "half", "half", "arrive", "arrive"))
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
        elif kind == "arms":  # one barrier, at which lanes of a warp arrive in two places
            one = self.draw.choice((["barrier.sync 0;"], ["bar.warp.sync -1;"]))
            self.split(one, one, "setp.lt.u32 %%p, %%lane, %d;" % self.draw.randrange(1, 32))
        else:
            self.add("bar.sync %d;" % (kind == "one"))

    def exit(self):
        self.add("setp.eq.u32 %p, " + self.draw.choice(("%warp, 0;", "%lane, 3;", "%thread, 40;")), "@%p exit;")

    def fill(self, most, barriers):
        """Adds 3 to `most` accesses and barriers."""
        for _ in range(self.draw.randrange(3, most)):
            if self.draw.random() < barriers:
                self.barrier()
            elif self.exits and self.draw.random() < 0.1:
                self.exit()
            else:
                self.access()

    def written(self, parameters, first, last=()):
        """The PTX, with `first` before and `last` after the accesses and barriers."""
        return "\n".join([".version 8.8", ".target sm_100a", ".address_size 64",
                          ".visible .entry k(%s) %s {" % (parameters, self.directives),
                          ".reg .pred %p;", ".reg .b16 %h;", ".reg .b32 %v<8>;",
                          ".reg .b32 %thread, %warp, %lane, %cta, %own, %x, %n;", "mov.u32 %thread, %tid.x;",
                          "shr.u32 %warp, %thread, 5;", "and.b32 %lane, %thread, 31;", "mov.u32 %cta, %ctaid.x;",
                          "mad.lo.u32 %%own, %%cta, %d, %%thread;" % self.threads, *first, *self.lines, *last, "}", ""])


def report(options, emulator, launch, text, kernel, seed, level, *words):
    """What the emulator, with `options`, reports of PTX `text`."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(text)
        f.flush()
        schedule = "default" if seed % 2 else "random:%d" % seed
        command = [emulator, "--check=" + level, "--schedule=" + schedule, *options, launch, f.name, "k",
                   "grid=%d" % kernel.ctas, "block=%d" % kernel.threads, *words]
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if p.returncode not in (0, 3):
        sys.exit("seed %d: exit code %d\n%s" % (seed, p.returncode, p.stdout))
    return p.stdout.replace(f.name, "k.ptx")


def compare(findings, ways, emulator, launch, seeds="40", first="1"):
    """The exit code of a test: 1 if for some seed findings(emulator, launch, seed, level, way) are not the same for
    all `ways`, or if no seed has a race. `ways`: {name: way}.
    """
    different = found = 0
    for seed in range(int(first), int(first) + int(seeds)):
        for level in ("warn", "strict"):
            told = [findings(emulator, launch, seed, level, way) for way in ways.values()]
            found += "race" in told[0]
            if len(set(told)) > 1:
                different += 1
                print("seed %d, --check=%s: %s\n%s" % (seed, level, ", then ".join(ways), "---\n".join(told)))
    print("%s seeds, %d runs with a race, %d differ" % (seeds, found, different))
    return 1 if different or not found else 0
