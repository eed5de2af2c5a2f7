#!/usr/bin/env python3
"""check.py: the clock still says what docs/performance.md has of it: some held-out main loops take the cycles that
results/mainloop.csv says, to a thousandth, some of the fit what was published, to 5 %; what costs cite of an H200
(tests/silicon/latencies.cu) is what its record says; and step 05's replay says what there is to doubt."""
import csv, os, subprocess, sys, tempfile
sys.dont_write_bytecode = True
import rows

HELD = (("bf16", "128", "128", "64", "3"), ("e4m3", "64", "256", "128", "2"), ("bf16", "64", "32", "256", "3"))
SILICON = {"l1": 0.02, "shared": 0.02, "bar_sync": 0.02, "hop_own": 0.03, "hop_remote_relaxed": 0.02,
           "cta_to_cta": 0.02, "bulk_1x4096 store_read": 0.05, "bulk_4x4096 store_read": 0.05,
           "bulk_16x4096 store_read": 0.05}
FIT = ((128, 64, 64, 4), (64, 192, 128, 2))


def cycles(row, folder):
    path = os.path.join(folder, "log")
    rows.mainloop_log(row, path)
    return rows.replay([path], [rows.LOOPS_CLOCK], "--launches=2")[0][0]


def named(lines):
    """{name: figures} of lines of tests/silicon/latencies.cu."""
    found = {}
    for words in (line.split() for line in lines if line[0] != "#"):
        found.update({words[0]: float(words[1])} if len(words) == 2 else
                     {f"{words[0]} {name}": float(value) for name, value in zip(words[1::2], words[2::2])})
    return found


def silicon():
    """How many figures that costs cite differ from those of an H200."""
    with open(os.path.join(rows.ROOT, "tests/silicon/latencies.txt")) as f:
        chip = named(f)
    words = ["--check=off", "--schedule=model", os.path.join(rows.BUILD, "tests/silicon/latencies")]
    here = named(subprocess.run([os.path.join(rows.PRODUCTS, "sm100emu"), *words], check=True, capture_output=True,
                                text=True).stdout.splitlines())
    wrong = [name for name, margin in SILICON.items() if not abs(here[name] / chip[name] - 1) <= margin]
    for name in wrong:
        print(f"{name}: {here[name]} cycles, an H200 {chip[name]}")
    return len(wrong)


def main():
    failed = silicon()
    with open(os.path.join(rows.HERE, "results/mainloop.csv")) as f:
        results = {tuple(r[k] for k in ("type", "tile_m", "tile_n", "tile_k", "stages")): float(r["predicted"])
                   for r in csv.DictReader(f)}
    with tempfile.TemporaryDirectory() as folder:
        for key in HELD:
            row = {"type": key[0], "tile_m": key[1], "tile_n": key[2], "tile_k": key[3], "stages": key[4], "k": 131072}
            got, want = cycles(row, folder), results[key]
            if abs(got / want - 1) > 0.001:
                failed += 1
                print(f"{key}: {got:.0f} cycles, results/mainloop.csv has {want:.0f}: run make clock")
        for row in rows.mainloop_rows("fit_mainloop.csv"):
            if (row["tile_m"], row["tile_n"], row["tile_k"], row["stages"]) in FIT:
                got = cycles(row, folder)
                if abs(got / row["cycles"] - 1) > 0.05:
                    failed += 1
                    print(f"{row}: {got:.0f} cycles")
        log = os.path.join(folder, "step")
        step = os.path.join(rows.BUILD, "05_persistent_warpspec")
        subprocess.run([os.path.join(rows.PRODUCTS, "sm100emu"), "--trace=" + log, step, "--m", "512", "--n", "512",
                        "--k", "512"], check=True, stdout=subprocess.DEVNULL)
        said = subprocess.run([os.path.join(rows.PRODUCTS, "tests/clock/replay"), log], check=True,
                              capture_output=True, text=True).stdout
        if "would differ; use --schedule=model" not in said:
            failed += 1
            print("of step 05 nothing is doubted: " + said)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
