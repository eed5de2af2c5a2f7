"""bench_emulator.py BUILD STEP...: the emulator's speed beside OpenBLAS in the same run, on the CPU that is here.

  BUILD/tests/bench_emulator   on one core: the tensor core by shape and type, the interpreter
  BUILD/tests/bench_forms      on one core: ns a warp instruction by form; CSV=file: the same as a table
  steps, whole programs        with their defaults
  steps at SIZE cubed          (default 4096) on all cores: the kernel from launch to synchronise, and step 05 as a
                               whole program with a sampled check, against sgemm of that size on all cores, which is run
                               right before each. RUNS times (default 3), medians, the least and the most in brackets
  step 05                      the same in bf16, in f16 with the emulator's --umma=fast, in four types with --umma=b200
  MEMORY=1                     step 05 at 8192 cubed too, for the memory that it takes: minutes
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass

SIZE, RUNS = int(os.environ.get("SIZE") or 4096), int(os.environ.get("RUNS") or 3)
PROGRAMS = os.environ.get("PROGRAMS") or "build"
KERNEL = re.compile(r"^sm100emu: .* (\S+) s, (\d+) warp instructions, ", re.M)


@dataclass
class Run:
    """Of a program: its kernels' seconds and warp instructions, its own seconds and MiB, sgemm's seconds (0: none)."""

    kernel: float
    instructions: int
    seconds: float
    mib: float
    blas: float = 0


class Bench:
    def __init__(self, build):
        self.build, self.host = build, os.path.join(build, "tests", "bench_host")

    def sgemm(self, size):
        """[seconds, threads, the CPU's name], or nothing without OpenBLAS."""
        done = subprocess.run([self.host, "sgemm", str(size)], capture_output=True, text=True)
        return done.stdout.split() if done.returncode == 0 else []

    def run(self, program, words, options=()):
        path = os.path.join(PROGRAMS, program)
        emulator = [os.path.join(self.build, "sm100emu"), "--time", *options]
        done = subprocess.run([self.host, "run", *emulator, path, *words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"  {path} failed:\n" + "\n".join(done.stderr.splitlines()[-5:]))
        found = KERNEL.findall(done.stderr)
        return Run(sum(float(s) for s, _ in found), sum(int(n) for _, n in found), *map(float, done.stdout.split()))

    def row(self, program, name, words, options=(), whole=False):
        """A line: RUNS runs, each right behind sgemm."""
        runs = []
        for _ in range(RUNS):
            blas = self.sgemm(SIZE)
            runs.append(self.run(program, [*f"--m {SIZE} --n {SIZE} --k {SIZE}".split(), *words], options))
            runs[-1].blas = float(blas[0]) if blas else 0
        times = sorted(run.seconds if whole else run.kernel for run in runs)
        line = f"  {program + ' ' + name:<42} " + spread(times, "7.2f", " s")
        if whole:
            line += f" {max(run.mib for run in runs):34.0f} MiB at most"
        else:
            line += f" {2e-9 * SIZE**3 / middle(times):7.1f} GFLOP/s {runs[-1].instructions / 1e6:7.1f} M warp instr."
        if all(run.blas for run in runs):
            ratios = sorted((run.seconds if whole else run.kernel) / run.blas for run in runs)
            blas = spread(sorted(run.blas for run in runs), ".2f", " s")
            line += f"   sgemm {blas}: {spread(ratios, '.2f', ' times')}"
        print(line, flush=True)


def middle(values):
    return values[(len(values) - 1) // 2]


def spread(values, form, unit):
    return f"{middle(values):{form}}{unit} ({values[0]:.2f}-{values[-1]:.2f})"


def main(build, *steps):
    bench = Bench(build)
    subprocess.run([os.path.join(build, "tests", "bench_emulator")], check=True)
    forms = [os.path.join(build, "tests", "bench_forms"), "tests/silicon/known_good.txt", os.environ.get("CSV") or ""]
    subprocess.run(forms, check=True)
    print("steps, whole programs with their defaults", flush=True)
    for step in steps:
        run = bench.run(step, [])
        print(f"  {step:<42} {run.seconds:7.2f} s {run.mib:7.1f} MiB at most", flush=True)
    blas = bench.sgemm(64)
    beside = f"beside OpenBLAS {blas[-1]}, {blas[1]} threads" if blas else "OpenBLAS is not installed"
    print(f"steps at {SIZE} cubed on all {len(os.sched_getaffinity(0))} cores, medians of {RUNS}; {beside}", flush=True)
    for step in steps:
        if not step.startswith("01_"):
            bench.row(step, "f16, kernel", ["--verify", "none"])
    last = steps[-1]
    if not last.startswith("05_"):
        return
    bench.row(last, "bf16, kernel", ["--type", "bf16", "--verify", "none"])
    bench.row(last, "f16, fast, kernel", ["--verify", "none"], ["--umma=fast"])  # without AMX the same again
    for kind in ("f16", "bf16", "tf32", "e4m3"):
        bench.row(last, f"{kind}, b200, kernel", ["--type", kind, "--verify", "none"], ["--umma=b200"])
    bench.row(last, "f16, program", ["--verify", "sampled"], whole=True)
    if os.environ.get("MEMORY"):
        run = bench.run(last, "--m 8192 --n 8192 --k 8192 --verify sampled".split())
        print(f"  {last + ' f16, program':<42} {run.seconds:7.2f} s {run.mib:7.0f} MiB at most, all of 8192 cubed")


if __name__ == "__main__":
    main(*sys.argv[1:])
