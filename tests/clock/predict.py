#!/usr/bin/env python3
"""predict.py [--ladder=PROGRAM]: what the clock predicts of figures that its table was not fitted to, beside them.

Main loops: our mainloop.cu runs on the emulator as each row of figures/held_mainloop.csv says, and the replay of its
log is the prediction. The ladder: PROGRAM takes the name of a kernel of learn-cuda's 02e_matmul_sm100 and a size, and
launches it; ladder/README.md says how to build it. Without PROGRAM the cycles in results/ladder.csv and the spans in
results/trace.csv stand. The steps: our own programs. Tables go to stdout and to docs/performance.md, between its
marks."""
import csv, os, statistics, subprocess, sys
from math import log2
sys.dont_write_bytecode = True
import reduce, rows

RESULTS = os.path.join(rows.HERE, "results")
DOC = os.path.join(rows.ROOT, "docs", "performance.md")
PEAK = rows.cost("sms") * 8192 * rows.GHZ / 1000  # TFLOPS
STEPS = (("02_simple_umma", 2048), ("03_tma_multicast", 2048), ("04_pair_umma", 2048), ("05_persistent_warpspec", 2048),
         ("05_persistent_warpspec", 4096))


def mean(errors):
    errors = [abs(e) for e in errors]
    return sum(errors) / len(errors) if errors else float("nan")


def percent(x):
    return f"{100 * x:.1f} %"


# ---------------------------------------------------------------- main loops

def width(row):
    """Bytes of a tile along K: by these a row of FP8 is like one of BF16."""
    return row["tile_k"] * (2 if row["type"] == "bf16" else 1)


def interpolation(fit, power):
    """The figures that may be used, interpolated without a model: by TILE_N along straight lines, then by STAGES, as a
    power of it or along a line in 1 / STAGES. Cycles of a tile; a tile of FP8 is taken for one of BF16 as wide."""
    known = {(r["tile_m"], width(r), r["tile_n"], r["stages"]): r["cycles"] * r["tile_k"] / r["k"] for r in fit}

    def by_n(m, w, n, stages):
        at = sorted(k[2] for k in known if k[0] == m and k[1] == w and k[3] == stages)
        if n in at:
            return known[m, w, n, stages]
        if len(at) < 2:
            return None
        above = next((i for i, a in enumerate(at) if a > n), len(at) - 1)
        a, b = at[max(above - 1, 0)], at[max(above, 1)]
        ca, cb = known[m, w, a, stages], known[m, w, b, stages]
        return ca + (cb - ca) * (n - a) / (b - a)

    def cycles(row):
        m, w, n, s = row["tile_m"], width(row), row["tile_n"], row["stages"]
        two, four = by_n(m, w, n, 2), by_n(m, w, n, 4)
        if s in (2, 4):
            tile = two if s == 2 else four
        elif two and four and power:
            tile = two * (four / two) ** log2(s / 2)
        elif two and four:
            tile = four + (two - four) * (1 / s - 1 / 4) / (1 / 2 - 1 / 4)
        else:
            tile = None
        return tile and tile * row["k"] / row["tile_k"]

    return cycles


def bf16(row, fitted_n):
    return row["type"] == "bf16" and (row["tile_n"] in (16, 64, 192)) == fitted_n


GROUPS = (
    ("BF16, other TILE_N, 2 or 4 stages", lambda r: bf16(r, False) and r["stages"] in (2, 4)),
    ("BF16, TILE_N of the fit, odd stages", lambda r: bf16(r, True) and r["stages"] % 2),
    ("BF16, TILE_N of the fit, 6 or 8 stages", lambda r: bf16(r, True) and r["stages"] in (6, 8)),
    ("BF16, other TILE_N, other stages", lambda r: bf16(r, False) and r["stages"] not in (2, 4)),
    ("FP8", lambda r: r["type"] == "e4m3"),
    ("all", lambda r: True),
)


def name_of(row):
    return "{type} {tile_m}x{tile_n}x{tile_k}, {stages} stages".format(**row)


def predict_mainloops():
    held = rows.mainloop_rows("held_mainloop.csv")
    path = os.path.join(rows.BUILD, "clock", "held.log")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for row in held:
        rows.mainloop_log(row, path)
        row["predicted"] = rows.replay([path], [rows.LOOPS_CLOCK], "--launches=2")[0][0]
    os.remove(path)
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, "mainloop.csv"), "w") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["type", "tile_m", "tile_n", "tile_k", "stages", "published", "predicted"])
        for r in held:
            w.writerow([r["type"], r["tile_m"], r["tile_n"], r["tile_k"], r["stages"], round(r["cycles"]),
                        round(r["predicted"])])
    return held


def mainloop_table(held):
    fit = rows.mainloop_rows("fit_mainloop.csv")
    ways = [interpolation(fit, power) for power in (True, False)]
    lines = ["| rows | how many | mean absolute error | worst | interpolation, on the rows where there is one"
             " | the clock on these |",
             "|---|---|---|---|---|---|"]
    for name, keep in GROUPS:
        group = [r for r in held if keep(r)]
        errors = [r["predicted"] / r["cycles"] - 1 for r in group]
        worst = max(group, key=lambda r: abs(r["predicted"] / r["cycles"] - 1))
        some = [r for r in group if ways[0](r)]
        other = min(mean(way(r) / r["cycles"] - 1 for r in some) for way in ways) if some else None
        lines.append(f"| {name} | {len(group)} | **{percent(mean(errors))}** | {name_of(worst)}: "
                     f"{100 * (worst['predicted'] / worst['cycles'] - 1):+.0f} % | "
                     + (f"{percent(other)} of {len(some)} |"
                        f" {percent(mean(r['predicted'] / r['cycles'] - 1 for r in some))} |" if some else "none | |"))
    return lines


# ---------------------------------------------------------------- the ladder

def replay_one(words, path):
    """Cycles, the share of the tensor cores of all SMs that was busy, doubts."""
    subprocess.run([os.path.join(rows.PRODUCTS, "sm100emu"), "--check=off", "--trace=" + path, *words], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    out = subprocess.run([os.path.join(rows.PRODUCTS, "tests/clock/replay"), path], check=True, capture_output=True,
                         text=True).stdout
    os.remove(path)
    last = out.strip().splitlines()[-1]
    cycles, busy = float(last.split(": ")[1].split()[0]), float(last.split("busy ")[1].split()[0]) / 100
    return cycles, busy, last.split("; ", 1)[1] if "; " in last else ""


def load_ghz(busy, how="load_sustained"):
    """emulator/clock/load.c: the clock while this share of the tensor cores works."""
    return rows.GHZ * (1 - rows.cost(how) * busy)


def ladder_rows():
    return [dict(r, fit=fit) for fit in (True, False)
            for r in rows.figures("fit_ladder.csv" if fit else "held_ladder.csv")]


def predict_ladder(program):
    path = os.path.join(rows.BUILD, "clock", "ladder.log")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, "ladder.csv"), "w") as f:
        f.write("# by the clock, of learn-cuda's kernels: cycles, and the share of the tensor cores of all SMs that was"
                " busy; made by predict.py --ladder\n")
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["kernel", "size", "cycles", "busy"])
        for r in ladder_rows():
            cycles, busy, doubts = replay_one([program, r["kernel"], r["size"]], path)
            w.writerow([r["kernel"], r["size"], round(cycles), round(busy, 4)])
            print(r["kernel"], r["size"], round(cycles), busy, doubts, flush=True)


def made(name):
    with open(os.path.join(RESULTS, name)) as f:
        return list(csv.DictReader(line for line in f if line[0] != "#"))


def order(rungs, of):
    """Pairs of one size that lie 3 % or more apart; how many of them `of` has the wrong way round."""
    pairs = wrong = 0
    for i, a in enumerate(rungs):
        for b in rungs[i + 1:]:
            low, high = sorted((a["published"], b["published"]))
            if a["size"] == b["size"] and high / low > 1.03:
                pairs += 1
                wrong += (a["published"] > b["published"]) != (of(a) > of(b))
    return pairs, wrong


def decile(values, n):
    """The n-th decile, by straight lines between the values."""
    return statistics.quantiles(values, n=10, method="inclusive")[n - 1]


def timed_ladder():
    """The rows with their predictions, TFLOPS."""
    known = {(r["kernel"], r["size"]): r for r in made("ladder.csv")}
    rungs = ladder_rows()
    for r in rungs:
        of, size = known[r["kernel"], r["size"]], int(r["size"])
        cycles, busy = int(of["cycles"]), float(of["busy"])
        flop = 2 * size ** 3 / 1000
        r.update(published=float(r["TFLOPS"]), predicted=flop / (cycles / load_ghz(busy)),
                 boost=flop / (cycles / rows.GHZ), peak=PEAK, ghz=load_ghz(busy))
    return rungs


def ladder_table():
    rungs = timed_ladder()
    held = [r for r in rungs if not r["fit"]]
    error = lambda r, how="predicted": r[how] / r["published"] - 1
    lines = ["| kernel | size | published | predicted, TFLOPS | at GHz | error | without load, error | peak, error |",
             "|---|---|---|---|---|---|---|---|"]
    for r in rungs:
        lines.append(f"| {r['kernel']}{', in sample' if r['fit'] else ''} | {r['size']} | {r['published']:.0f} |"
                     f" {r['predicted']:.0f} | {r['ghz']:.2f} | {100 * error(r):+.0f} % |"
                     f" {100 * error(r, 'boost'):+.0f} % | {100 * error(r, 'peak'):+.0f} % |")
    worst = max(held, key=lambda r: abs(error(r)))
    pairs, wrong = order(rungs, lambda r: r["predicted"])
    took = [r["predicted"] / r["published"] for r in held]  # published over predicted time
    low, high = decile(took, 1), decile(took, 9)
    inside = 0
    for kernel in {r["kernel"] for r in held}:
        others = [r["predicted"] / r["published"] for r in held if r["kernel"] != kernel]
        a, b = decile(others, 1), decile(others, 9)
        inside += sum(a <= r["predicted"] / r["published"] <= b for r in held if r["kernel"] == kernel)
    lines += ["", f"Held out, {len(held)} figures: mean absolute error {percent(mean(error(r) for r in held))}, worst"
              f" {worst['kernel']} at {worst['size']}, {100 * error(worst):+.0f} %. Without the load, at"
              f" {rows.GHZ} GHz: {percent(mean(error(r, 'boost') for r in held))}. The peak at that clock for every"
              f" kernel: {percent(mean(error(r, 'peak') for r in held))}. Pairs of one size that differ by 3 % or more:"
              f" {pairs}, of which {wrong} are in the wrong order.",
              f"The published time is {low:.2f} to {high:.2f} of the predicted one in eight of ten of these. A band"
              f" made without a kernel's own figures holds {inside} of the {len(held)}."]
    return lines


# ---------------------------------------------------------------- traces

def trace_rows(kernel):
    return rows.figures({"v5": "fit_trace_v5.csv", "v6": "held_trace_v6.csv"}[kernel])


def predict_traces(program):
    """The profiled v5 and v6 within execution: their own %globaltimer says what a span takes."""
    path = os.path.join(rows.BUILD, "clock", "spans")
    with open(os.path.join(RESULTS, "trace.csv"), "w") as f:
        f.write("# spans of learn-cuda's profiled kernels by the clock, in ns at the clock without load, but grouped: at"
                " that with load, by a timer\n# that counts in 32 ns; made by predict.py --ladder\n")
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["kernel", "span", "pairs", "count", "p10", "median", "grouped", "p90", "mean"])
        for kernel, warps in (("v5", 4), ("v6", 6)):
            subprocess.run([os.path.join(rows.PRODUCTS, "sm100emu"), "--check=off", "--schedule=model",
                            program, kernel, "4096", path], check=True, stdout=subprocess.DEVNULL)
            with open(path) as spans:
                found = [[int(x) for x in line.split()] for line in spans]
            events = [{"pid": 0, "tid": t, "name": reduce.TAGS[tag], "ts": ts, "dur": took} for t, tag, ts, took in found]
            own = {(r["span"], int(r["pairs"])): float(r["own"]) for r in trace_rows(kernel)}
            slower = lambda name, n: rows.GHZ / load_ghz(own.get((name, n), 1), "load_burst")
            w.writerows([kernel, *row[:-1]] for row in reduce.spans(events, warps, (34, 74), slower))
        os.remove(path)


def trace_table():
    known = {(r["kernel"], r["span"], int(r["pairs"])): r for r in made("trace.csv")}
    lines = ["| trace | span | pairs at work | of the same GPC | published, ns | predicted, ns | error"
             " | of the means |",
             "|---|---|---|---|---|---|---|---|"]
    for kernel in ("v5, in sample", "v6"):
        for r in trace_rows(kernel[:2]):
            of = known.get((kernel[:2], r["span"], int(r["pairs"])))
            if not of or r["span"].startswith("WAIT"):
                continue
            slower = rows.GHZ / load_ghz(float(r["own"]), "load_burst")
            tile = r["span"] == "K_TILE"
            got, want = (float(of["mean"]) * slower, float(r["mean"])) if tile else (float(of["grouped"]), float(r["grouped"]))
            means = float(of["mean"]) * slower / float(r["mean"])
            lines.append(f"| {kernel} | {r['span']} | {r['pairs']} | {100 * float(r['own']):.0f} % | {want:.0f} |"
                         f" {got:.0f} | {100 * (got / want - 1):+.0f} % | {100 * (means - 1):+.0f} % |")
    return lines


# ---------------------------------------------------------------- the steps

def steps_table():
    path = os.path.join(rows.BUILD, "clock", "step.log")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    lines = ["| step | M = N = K | cycles | at GHz, sustained | TFLOPS | of the peak | what there is to doubt |",
             "|---|---|---|---|---|---|---|"]
    for step, size in STEPS:
        words = [os.path.join(rows.BUILD, step)]
        for option in ("m", "n", "k"):
            words += ["--" + option, str(size)]
        cycles, busy, doubts = replay_one(words, path)
        ghz = load_ghz(busy)
        tflops = 2 * size ** 3 / (cycles / ghz) / 1000
        lines.append(f"| {step} | {size} | {cycles:.0f} | {ghz:.2f} | {tflops:.0f} | {100 * tflops / PEAK:.0f} % |"
                     f" {doubts.split(';')[0]} |")
    return lines


# ---------------------------------------------------------------- all

def write(mark, lines):
    begin, end = f"<!-- {mark}: make clock -->", f"<!-- {mark}: end -->"
    print("\n".join(lines), flush=True)
    text = open(DOC).read()
    if begin in text:
        text = text.split(begin)[0] + begin + "\n" + "\n".join(lines) + "\n" + end + text.split(end)[1]
        open(DOC, "w").write(text)


def main(args):
    for a in args:
        if not a.startswith("--ladder="):
            sys.exit(__doc__)
        predict_ladder(os.path.abspath(a.split("=", 1)[1]))
        predict_traces(os.path.abspath(a.split("=", 1)[1]))
    write("main loops", mainloop_table(predict_mainloops()))
    write("ladder", ladder_table())
    write("traces", trace_table())
    write("steps", steps_table())


if __name__ == "__main__":
    main(sys.argv[1:])
