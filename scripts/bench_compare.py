"""bench_compare.py BUILD PROGRAMS BASE: what a change does to the emulator's speed on tests/bench/plain.cu.

BASE is a commit. Its emulator is built in BUILD/compare/, from a copy of its sources; the newer one is BUILD's. Both
run the same programs in turn, BENCH_RUNS times (default 3), on one thread, with checks off and by default, each program
with and without --use_fast_math. A line is a kernel. The rate of a run is that of its fastest launch, which neighbours
disturb least: million warp instructions a second. The line gives the medians of both, and the ratio of new to base as
the median of the pairs, with the least and the most. A kernel is called slower if each pair is below 1 and the median
below 0.95: on a shared machine a few of 32 kernels fall below 1 three times by chance. SM100EMU_ variables of the
caller do not reach either side.

    KERNELS='alu fp8'      those alone
    LEVELS='off strict'    other levels (default: off warn)
    NEW_OPTIONS, BASE_OPTIONS   further options of each emulator: NEW_OPTIONS=--host-vectors=avx2
    CSV=file               the same as a table

Exit code: 0, also where something is slower; 1 where a run fails; 2 for wrong use.
"""

import csv
import os
import re
import subprocess
import sys

ROUNDS = {
    "alu": 60,
    "naive_sgemm": 6,
    "tiled_sgemm": 6,
    "reduction": 60,
    "softmax": 8,
    "fp8": 20,
    "half2": 10,
    "histogram": 10,
}
CALLER = {name: value for name, value in os.environ.items() if not name.startswith("SM100EMU_")}
LAUNCH = re.compile(r"^sm100emu: .* (\S+) s, (\d+) warp instructions", re.M)


def stop(code, text):
    print(f"bench_compare.py: {text}", file=sys.stderr)
    sys.exit(code)


def words(name, default=""):
    return (os.environ.get(name) or default).split()


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True)


def built(build, base):
    """The launcher of that commit, built if it is not."""
    found = git("rev-parse", "--verify", "--quiet", base + "^{commit}")
    if found.returncode:
        stop(2, f"BASE={base}: no commit of this repository")
    commit = found.stdout.strip()
    folder = os.path.join(build, "compare", commit[:12])
    launcher, whole = os.path.join(folder, "build", "sm100emu"), os.path.join(folder, "build", "whole")
    if not os.path.exists(whole):
        print(f"  building {commit[:12]} in {folder}", file=sys.stderr, flush=True)
        os.makedirs(folder, exist_ok=True)
        copy = subprocess.Popen(["git", "archive", commit], stdout=subprocess.PIPE)
        unpacked = subprocess.run(["tar", "-x", "-C", folder], stdin=copy.stdout)
        if copy.wait() or unpacked.returncode:
            stop(1, f"{commit[:12]}: its sources cannot be copied to {folder}")
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        done = subprocess.run(["make", "-C", folder, jobs, "emulator"], env=clean, capture_output=True, text=True)
        if done.returncode or not os.path.exists(launcher):
            stop(1, f"{commit[:12]} does not build:\n" + "\n".join((done.stdout + done.stderr).splitlines()[-15:]))
        open(whole, "w", encoding="utf-8").close()
    return launcher


def rate(launcher, options, check, program, kernel):
    """Million warp instructions a second in the fastest launch."""
    command = [launcher, "--time", "--threads=1", f"--check={check}", *options, program, kernel, str(ROUNDS[kernel])]
    done = subprocess.run(command, capture_output=True, text=True, env=CALLER)
    launches = LAUNCH.findall(done.stderr)
    if done.returncode or not launches:
        stop(1, f"{' '.join(command)} ends with {done.returncode}:\n" + "\n".join(done.stderr.splitlines()[-8:]))
    return max(int(n) / float(s) for s, n in launches) / 1e6


def middle(values):
    return sorted(values)[(len(values) - 1) // 2]


def compare(sides, runs, check, program, kernel):
    """Rates of the base, rates of the new one: in turn, each first every other time."""
    rates = ([], [])
    for i in range(runs):
        for side in (0, 1) if i % 2 == 0 else (1, 0):
            rates[side].append(rate(*sides[side], check, program, kernel))
    return rates


def main(build, programs, base):
    runs, kernels, checks = words("RUNS", "3"), words("KERNELS", " ".join(ROUNDS)), words("LEVELS", "off warn")
    if not runs[0].isdigit() or int(runs[0]) < 1:
        stop(2, f"BENCH_RUNS={runs[0]}: a number of at least 1")
    for unknown in set(kernels) - set(ROUNDS):
        stop(2, f"KERNELS={unknown}: no kernel of tests/bench/plain.cu; there are {' '.join(ROUNDS)}")
    new = os.path.join(build, "sm100emu")
    sides = ((built(build, base), words("BASE_OPTIONS")), (new, words("NEW_OPTIONS")))
    rows, slower = [], []
    changed = " with uncommitted changes" if git("status", "--porcelain", "-uno").stdout else ""
    print(f"base: {base}; new: {git('describe', '--always').stdout.strip()}{changed}")
    print(f"million warp instructions a second, medians of {runs[0]}; ratio: median (least-most) of the pairs")
    print(f"{'kernel':<24}{'check':<8}{'base':>8}{'new':>8}  ratio", flush=True)
    for check in checks:
        for name, program in (("", "plain"), (", fast math", "plain_fast")):
            for kernel in kernels:
                old, now = compare(sides, int(runs[0]), check, os.path.join(programs, "tests/bench", program), kernel)
                ratios = sorted(b / a for a, b in zip(old, now))
                rows.append([kernel + name, check, middle(old), middle(now), middle(ratios), ratios[0], ratios[-1]])
                spread = f"{middle(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
                print(f"{kernel + name:<24}{check:<8}{middle(old):8.2f}{middle(now):8.2f}  {spread}", flush=True)
                if ratios[-1] < 1 and middle(ratios) < 0.95:
                    slower.append(f"{kernel + name}, --check={check}: {spread}")
    print("slower: " + ("; ".join(slower) or "nothing"))
    if os.environ.get("CSV"):
        with open(os.environ["CSV"], "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow("kernel check base new ratio least most".split())
            table.writerows([*row[:2], *(f"{value:.4g}" for value in row[2:])] for row in rows)


if __name__ == "__main__":
    if len(sys.argv) != 4 or not sys.argv[3]:
        stop(2, "make bench-compare BASE=commit")
    main(*sys.argv[1:])
