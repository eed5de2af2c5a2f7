"""inject.py BUILD SECONDS FOLDER [PROGRAM]...: every PROGRAM ("path arguments") on the emulator of BUILD, again and
again, each time with another of the emulator's allocations failing (tests/fuzz/inject.c): the first 2,000 of them and
2,000 spread over the rest, two runs at a time, until SECONDS have passed (0: all). Without PROGRAM: the steps and the
sample programs of build/. A run is

  right     exit 0 and the output of a run in which nothing fails: it was survived
  told      another exit code, and a sentence on stderr that names memory
  silent    another exit code without one                                  (a finding, like all that follow)
  wrong     exit 0 with other output
  killed    by a signal
  broken    the emulator asks to be reported
  hung      not ended after 10 times as long as without a failure, at least 2 seconds

FOLDER/outcomes and FOLDER/findings have a line for each: outcome, allocation, program. The stderr of a finding is in
FOLDER/OUTCOME.NUMBER... Prints the counts and how much of the plan was done; exit 1 on findings, 2 where a program
fails by itself.
INJECT_RUNS: at most so many of each program. PRELOAD: what must be loaded before the injector (a sanitizer's library).
"""

import collections
import concurrent.futures
import glob
import itertools
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

from sm100repo import ROOT, read, write

OUTCOMES = "right told silent wrong killed broken hung".split()
FIRST, REST = 2000, 2000  # allocations that are all tried, and how many of those behind them


def programs():
    """The steps, and the sample programs of tests/steps that a quick case runs to a result."""
    found = [path for path in sorted(glob.glob("build/[0-9][0-9]_*[a-z]")) if "." not in path]
    quick = re.findall(r"^quick 1 (\w+)", read("tests/steps/cases.txt"), re.M)
    names = [os.path.basename(path)[:-3] for path in sorted(glob.glob("tests/steps/*.cu"))]
    return found + [path for path in (f"build/tests/steps/{name}" for name in names if name not in quick)
                    if os.access(path, os.X_OK)]


def plan(total, limit):
    """Which allocations are to fail, in an order in which every part of the plan is an even sample of all."""
    rest = max(0, total - FIRST)
    found = [*range(1, min(total, FIRST) + 1)]
    found += [FIRST + 1 + int(i * max(1, rest / REST)) for i in range(min(REST, rest))]
    stride = int(len(found) * 0.618) + 1
    while math.gcd(stride, len(found)) > 1:
        stride += 1
    return [found[i * stride % len(found)] for i in range(min(len(found), limit or len(found)))]


class Program:
    """A command line on the emulator: how long it takes, what it prints, and how many allocations it makes."""

    def __init__(self, build, words, folder):
        self.words, self.folder = words, folder
        self.command = [os.path.join(build, "sm100emu"), *shlex.split(words)]
        self.limit, begun, count = None, time.monotonic(), os.path.join(folder, "count")
        code, self.right, err = self.run(INJECT_COUNT=count)
        if code:
            print(f"inject: {words} fails by itself:\n{err}")
            sys.exit(2)
        self.limit, self.total = max(2.0, 10 * (time.monotonic() - begun)), int(read(count))
        print(f"inject: {words}: {self.total} allocations, a limit of {self.limit:.1f} s", flush=True)

    def run(self, **environment):
        """(exit code, or None where its time was over; what it prints, but for its times; stderr)."""
        load = [os.environ.get("PRELOAD"), os.path.join(self.folder, "inject.so")]
        environment = {**os.environ, **environment, "LD_PRELOAD": ":".join(filter(None, load))}
        try:
            done = subprocess.run(self.command, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=self.limit)
        except subprocess.TimeoutExpired as late:
            return None, "", (late.stderr or b"").decode(errors="replace")
        printed = [line for line in done.stdout.splitlines() if not line.startswith(b"TIME")]
        return done.returncode, printed, done.stderr.decode(errors="replace")

    def outcome(self, n):
        """What becomes of it where allocation n fails."""
        code, printed, err = self.run(INJECT_AT=str(n))
        found = "silent"
        if "please report it" in err:
            found = "broken"
        elif code is None:
            found = "hung"
        elif code < 0 or code > 128:
            found = "killed"
        elif code == 0:
            found = "right" if printed == self.right else "wrong"
        elif re.search(r"memory|cudaErrorMemoryAllocation|error 2\b", err, re.I):
            found = "told"
        if found not in ("right", "told"):
            tag = re.sub("[^a-z0-9_]", "", self.words)
            write(os.path.join(self.folder, f"{found}.{n}.{tag}"), err)
        return found


def main(build, seconds, folder, *words):
    os.chdir(ROOT)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    flags = ["-O1", "-g", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-shared", "-fPIC"]
    subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), *flags, "tests/fuzz/inject.c", "-o",
                    os.path.join(folder, "inject.so"), "-ldl"], check=True)
    found = [Program(build, line, folder) for line in words or programs()]
    plans = [[(program, n) for n in plan(program.total, int(os.environ.get("INJECT_RUNS") or 0))] for program in found]
    runs = [run for turn in itertools.zip_longest(*plans) for run in turn if run]  # by turns of the programs
    end = time.monotonic() + int(seconds)

    def one(run):
        return None if int(seconds) and time.monotonic() > end else run[0].outcome(run[1])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = [(program, n, outcome) for (program, n), outcome in zip(runs, pool.map(one, runs)) if outcome]
    outcomes = sorted(f"{outcome} {n} {program.words}" for program, n, outcome in done)
    findings = [line for line in outcomes if not line.startswith(("right ", "told "))]
    for name, lines in (("outcomes", outcomes), ("findings", findings)):
        write(os.path.join(folder, name), "".join(line + "\n" for line in lines))
    counts = collections.Counter((program, outcome) for program, _, outcome in done)
    head = f"inject: {len(done)} of {len(runs)} runs"
    print(f"{head:<36}" + "".join(f"{outcome:>8}" for outcome in OUTCOMES))
    for program in found:
        name = os.path.basename(program.words.split()[0])
        print(f"{name:<36}" + "".join(f"{counts[program, outcome]:8d}" for outcome in OUTCOMES))
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
