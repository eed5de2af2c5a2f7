"""bench_emulator.py BUILD STEP...: the emulator's speed beside OpenBLAS and plain C in the same run, on this CPU.

  products         BUILD/tests/bench_emulator, one core: the tensor core by type and inner loop, beside sgemm;
                   --umma=b200 beside exact; the interpreter
  forms            BUILD/tests/bench_forms, one core: ns a warp instruction by form
  plain kernels    tests/bench/plain.cu, one core: the median launch of 5 by level of checks, beside a plain C loop
  steps, whole     with their defaults
  steps            at SIZE cubed (default 2048) on all cores: the kernel from launch to synchronise, and step 05 as a
                   whole program with a sampled check, beside sgemm of that size on all cores, run right before each
  threads          step 05 at SIZE cubed by level of checks, on 1, 2, 4 ... threads up to the number of CPUs

A figure of the last two is the median of RUNS runs (default 3), with the least and the most; fewer if they take more
than 10 s in all, and the line says how many. SIZE=2048 RUNS=3 take about three minutes on two cores; at 4096 step 02
alone takes 7 s a run there.

    CSV=file    all of it as a table, a row a figure: table, row, column, value
    MEMORY=1    step 05 at 8192 cubed too, for the memory that it takes: minutes
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

SIZE, RUNS, BUDGET = int(os.environ.get("SIZE") or 2048), int(os.environ.get("RUNS") or 3), 10
PROGRAMS = os.environ.get("PROGRAMS") or "build"
KERNEL = re.compile(r"^sm100emu: .* (\S+) s, (\d+) warp instructions, ", re.M)
LEVELS = {"off": "off", "default": "warn", "strict": "strict"}
PLAIN = "alu naive_sgemm tiled_sgemm reduction softmax fp8 half2 histogram".split()
CUBE = f"--m {SIZE} --n {SIZE} --k {SIZE}".split()


@dataclass
class Run:
    """Of a program: the seconds of its launches, their warp instructions, its own seconds and MiB, what it printed."""

    launches: list
    instructions: int
    seconds: float
    mib: float
    text: str

    @property
    def kernel(self):
        return sum(self.launches)


def median(values):
    return sorted(values)[(len(values) - 1) // 2]


def spread(values, form, unit):
    return f"{median(values):{form}}{unit} ({min(values):.2f}-{max(values):.2f})"


class Bench:
    def __init__(self, build):
        self.build, self.host, self.rows = build, os.path.join(build, "tests", "bench_host"), []

    def note(self, table, row, **columns):
        self.rows += [[table, row, column, f"{value:.5g}"] for column, value in columns.items()]

    def part(self, table, program, *words):
        """A program that prints a table, and writes it to the file that is its last word."""
        with tempfile.NamedTemporaryFile("r", suffix=".csv") as file:
            subprocess.run([os.path.join(self.build, "tests", program), *words, file.name], check=True)
            for row in csv.DictReader(file):
                name, *columns = row.items()
                self.rows += [[table, name[1], column, value] for column, value in columns if value]

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
        *text, last = done.stdout.splitlines()
        launches, instructions = [float(s) for s, _ in found], sum(int(n) for _, n in found)
        return Run(launches, instructions, *map(float, last.split()), "\n".join(text))

    def runs(self, program, words, options=(), beside=lambda: None):
        """RUNS runs, or as many as begin within BUDGET seconds, each right behind beside(): [(run, what that gave)]."""
        done, begin = [], time.monotonic()
        while len(done) < RUNS and (not done or time.monotonic() - begin < BUDGET):
            other = beside()
            done.append((self.run(program, words, options), other))
        return done

    # ------------------------------------------------------------------------------------------------------- parts

    def plain(self):
        print("plain kernels, one core, checks off, by default and strict; the same as a plain C loop", flush=True)
        for kernel in PLAIN:
            ms, loops = {}, []
            for name, level in LEVELS.items():
                run = self.run("tests/bench/plain", [kernel, "5"], ["--threads=1", f"--check={level}"])
                ms[name] = 1e3 * median(run.launches)
                loops.append(float(run.text.split()[-2]))
            loop = median(loops)
            line = "".join(f" {value:9.2f} ms" for value in ms.values())
            times = ", ".join(f"{value / loop:.1f}" for value in ms.values())
            print(f"  {kernel:<12}{line}   loop {loop:8.3f} ms: {times} times", flush=True)
            self.note("plain kernels", kernel, **{f"{name}_ms": value for name, value in ms.items()}, loop_ms=loop)

    def whole(self, steps):
        print("steps, whole programs with their defaults", flush=True)
        for step in steps:
            run = self.run(step, [])
            print(f"  {step:<42} {run.seconds:7.2f} s {run.mib:7.1f} MiB at most", flush=True)
            self.note("steps, whole", step, seconds=run.seconds, mib=run.mib)

    def step(self, program, name, words, whole=False):
        """A line beside sgemm."""
        done = self.runs(program, CUBE + words, (), lambda: (self.sgemm(SIZE) or [0])[0])
        times = [run.seconds if whole else run.kernel for run, _ in done]
        blas = [float(seconds) for _, seconds in done]
        row = f"{program} {name}"
        line = f"  {row:<42} {spread(times, '7.2f', ' s')}"
        if whole:
            line += f" {max(run.mib for run, _ in done):34.0f} MiB at most"
        else:
            line += f" {2e-9 * SIZE**3 / median(times):7.1f} GFLOP/s {done[0][0].instructions / 1e6:7.1f} M warp instr."
        self.note("steps", row, seconds=median(times), least=min(times), most=max(times), runs=len(done))
        if all(blas):
            ratios = [mine / other for mine, other in zip(times, blas)]
            line += f"   sgemm {spread(blas, '.2f', ' s')}: {spread(ratios, '.2f', ' times')}"
            self.note("steps", row, sgemm=median(blas), ratio=median(ratios))
        print(line + (f", {len(done)} runs" if len(done) < RUNS else ""), flush=True)

    def threads(self, program, cpus):
        counts = [1 << i for i in range(cpus.bit_length()) if 1 << i < cpus] + [cpus]
        print(f"threads, {program} at {SIZE} cubed: seconds on " + ", ".join(map(str, counts)), flush=True)
        for name, level in LEVELS.items():
            line = f"  {name:<42}"
            for count in counts:
                options = [f"--threads={count}", f"--check={level}"]
                times = [run.kernel for run, _ in self.runs(program, [*CUBE, "--verify", "none"], options)]
                line += f" {median(times):7.2f}"
                self.note("threads", f"{program} {name}", **{f"on_{count}": median(times)})
                first = median(times) if count == 1 else first
            print(f"{line}   {first / median(times):.1f} times as fast on {counts[-1]}", flush=True)


def main(build, *steps):
    bench, cpus = Bench(build), len(os.sched_getaffinity(0))
    bench.part("products", "bench_emulator")
    bench.part("forms", "bench_forms", "tests/silicon/known_good.txt")
    bench.plain()
    bench.whole(steps)
    blas = bench.sgemm(64)
    beside = f"beside OpenBLAS {blas[-1]}, {blas[1]} threads" if blas else "OpenBLAS is not installed"
    print(f"steps at {SIZE} cubed on all {cpus} cores, medians of {RUNS}; {beside}", flush=True)
    for step in steps:
        if not step.startswith("01_"):
            bench.step(step, "f16, kernel", ["--verify", "none"])
    last = steps[-1]
    if last.startswith("05_"):
        bench.step(last, "bf16, kernel", ["--type", "bf16", "--verify", "none"])
        bench.step(last, "f16, program", ["--verify", "sampled"], whole=True)
        bench.threads(last, cpus)
        if os.environ.get("MEMORY"):
            run = bench.run(last, "--m 8192 --n 8192 --k 8192 --verify sampled".split())
            print(f"  {last + ' f16, program':<42} {run.seconds:7.2f} s {run.mib:7.0f} MiB at most, all of 8192 cubed")
            bench.note("8192 cubed", last, seconds=run.seconds, mib=run.mib)
    if os.environ.get("CSV"):
        with open(os.environ["CSV"], "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["table", "row", "column", "value"], *bench.rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
