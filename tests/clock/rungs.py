#!/usr/bin/env python3
"""rungs.py [--check | --check-all]: what the clock says of the ladder of step 05, rung by rung.

Every rung and the main program run on the emulator; results/rungs.csv gets the cycles of each run, lesson 05 a table of
them between its marks. --check makes the smallest of these runs again, --check-all all of them, and changes nothing:
each takes the cycles that the file has, to a thousandth, and the table is what the file gives."""
import csv, json, os, subprocess, sys, tempfile
sys.dont_write_bytecode = True
import rows

FILE = os.path.join(rows.HERE, "results", "rungs.csv")
STEP = os.path.join(rows.ROOT, "05_persistent_warpspec")
LESSON = os.path.join(STEP, "further.md")
MAIN = "05_persistent_warpspec"
COLUMNS = ("program", "m", "n", "k", "beta", "cycles", "tflops")
SMALL = (1024, 512)  # M = N, K: also made by --check
SIZES = ((4096, 4096), (4096, 1024))
PERSISTENT = "3"  # the first rung that takes --clusters


def programs():
    names = sorted(f[:-3] for f in os.listdir(os.path.join(STEP, "ladder")) if f.endswith(".cu"))
    return ["ladder/" + name for name in names] + [MAIN]


def cycles(program, size, k, beta):
    """Of a launch on as many clusters as the GPU takes; and its time in a row of launches, ns."""
    words = [os.path.join(os.environ.get("PROGRAMS", rows.BUILD), program), "--verify", "none", "--beta", beta]
    for option, value in (("m", size), ("n", size), ("k", k)):
        words += ["--" + option, str(value)]
    if program == MAIN or os.path.basename(program) >= PERSISTENT:
        words += ["--clusters", "0"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats")
        subprocess.run([os.path.join(rows.PRODUCTS, "sm100emu"), "--check=off", "--stats-json=" + path, *words],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(path) as f:
            model = json.load(f)["launches"][0]["model"]
    if model["why_not"]:
        sys.exit(f"{program}: {model['why_not']}")
    return model["cycles"], model["ns"]


def runs(sizes):
    for size, k in sizes:
        for program in programs():
            for beta in ("0.5", "0"):
                yield program, size, k, beta


def make():
    found = []
    for program, size, k, beta in runs(SIZES + (SMALL,)):
        took, ns = cycles(program, size, k, beta)
        tflops = 2 * size * size * k / ns / 1000
        found.append(dict(zip(COLUMNS, (os.path.basename(program), size, size, k, beta, round(took), round(tflops)))))
        print(*found[-1].values(), flush=True)
    with open(FILE, "w") as f:
        f.write("# of the ladder's rungs by the clock: cycles, and TFLOPS of launches in a row; made by rungs.py\n")
        w = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        w.writeheader()
        w.writerows(found)


def kept():
    with open(FILE) as f:
        return list(csv.DictReader(line for line in f if line[0] != "#"))


# ---------------------------------------------------------------- the lesson's table

def table():
    tflops = {(r["program"], int(r["m"]), int(r["k"]), r["beta"]): r["tflops"] for r in kept()}
    lines = ["| rung | 4096 x 4096 x 4096 | the same, beta 0 | 4096 x 4096 x 1024 | the same, beta 0 |",
             "|---|---|---|---|---|"]
    for program in (os.path.basename(p) for p in programs()):
        name = "the main program" if program == MAIN else f"[`{program}`](ladder/{program}.cu)"
        cells = [tflops[program, size, k, beta] for size, k in SIZES for beta in ("0.5", "0")]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return lines


BEGIN, END = "<!-- ladder: make clock -->", "<!-- ladder: end -->"


def write():
    with open(LESSON) as f:
        text = f.read()
    with open(LESSON, "w") as f:
        f.write(text.split(BEGIN)[0] + BEGIN + "\n" + "\n".join(table()) + "\n" + END + text.split(END)[1])
    print("\n".join(table()))


def check(sizes):
    failed = 0
    have = {(r["program"], int(r["m"]), int(r["k"]), r["beta"]): int(r["cycles"]) for r in kept()}
    for program, size, k, beta in runs(sizes):
        got, want = cycles(program, size, k, beta)[0], have.get((os.path.basename(program), size, k, beta), 0)
        if abs(got - want) > 0.001 * want:
            failed = 1
            print(f"{program} {size} {size} {k}, beta {beta}: {got:.0f} cycles, results/rungs.csv has {want}:"
                  " run make clock")
    with open(LESSON) as f:
        if "\n".join([BEGIN, *table(), END]) not in f.read():
            failed = 1
            print("the table of lesson 05 is not that of results/rungs.csv: run make clock")
    return failed


def main(args):
    if args == ["--check"]:
        return check((SMALL,))
    if args == ["--check-all"]:
        return check(SIZES + (SMALL,))
    if args:
        sys.exit(__doc__)
    make()
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
