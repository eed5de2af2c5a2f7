#!/usr/bin/env python3
"""fit.py [ROUNDS [NAME=VALUE]...] | burst: fits the costs that emulator/clock/table.def has from [2] to
figures/fit_mainloop.csv and fit_tma_throughput.csv.

Our kernels mainloop.cu and tma.cu stand for the rows. A log of the first is replayed twice in a row, so that the second
launch finds in L2 what the first left there, as in the benchmark; of the second two logs tell what 16 boxes more take.
Each source has its own clock. With `free` main loops have an unknown one, which is fitted, too; else it is the one that
their source states. With `loops` boxes are left out. Least squares of the logarithms, by Gauss and Newton; the intervals are those of the linearised
model, 95 %, with what the rows leave over as their noise. ROUNDS 0 shows the rows as the table has them. No other rows
are read. NAME=VALUE holds a cost at that value.

`burst` fits load_burst to the two K tiles of figures/fit_trace_v5.csv, which take 512 cycles."""
import math, os, sys
sys.dont_write_bytecode = True
import rows

START = {"alu": 1, "tma_issue": 20, "tma_box": 20, "tma_line": 0.8, "tma_port": 120, "l2_latency": 205,
         "hbm_latency": 240, "hbm_line": 2}
FEW, MANY = 8, 24 # boxes a thread
LOOPS = "loops' GHz"
BOX = 1 / 3  # the weight of an error of boxes: they leave over three times what main loops do
SMALL = 1e-3  # what is less has no effect, and is left alone


def make(path, log, *args, **options):
    if not os.path.exists(path):
        log(*args, path, **options)
    return path


def load():
    """Names of the rows, their published nanoseconds of main loops and cycles of boxes, and logs."""
    loops, boxes = rows.mainloop_rows("fit_mainloop.csv"), rows.figures("fit_tma_throughput.csv")
    folder = os.path.join(rows.BUILD, "clock")
    os.makedirs(folder, exist_ok=True)
    names, right, paths = [], [], []
    for i, row in enumerate(loops):
        names.append("{tile_m}x{tile_n}x{tile_k}, {stages} stages".format(**row))
        right.append(row["ns"])
        paths.append(make(os.path.join(folder, f"fit{i}.log"), rows.mainloop_log, row))
    for i, row in enumerate(boxes):
        names.append("boxes of {SmemHeight} rows, {NumStages} stages".format(**row))
        right.append(float(row["CyclesPerTMA"]) * (MANY - FEW))
        for rounds in (FEW, MANY):
            paths.append(make(os.path.join(folder, f"tma{i}-{rounds}.log"), rows.tma_log, rounds=rounds,
                              rows=row["SmemHeight"], stages=row["NumStages"]))
    return names, right, paths, len(loops)


def residuals(tables, right, paths, loops):
    """Of each table: the logarithm of predicted over published, row by row."""
    def words(table, ghz):
        return f"clock={ghz} " + " ".join(f"{k}={v:.6g}" for k, v in table.items() if k != LOOPS)
    ghz = [t.get(LOOPS, rows.LOOPS_GHZ) for t in tables]
    loop = rows.replay(paths[:loops], [words(t, g) for t, g in zip(tables, ghz)], "--launches=2")
    box = rows.replay(paths[loops:], [words(t, rows.GHZ) for t in tables]) if paths[loops:] else [[]] * len(tables)
    for cycles, g, boxes in zip(loop, ghz, box):
        predicted = [c / g for c in cycles] + [many - few for few, many in zip(boxes[::2], boxes[1::2])]
        errors = [math.log(p / r) for p, r in zip(predicted, right)]
        yield errors[:loops] + [BOX * e for e in errors[loops:]]


def solve(a, b):
    """x of a x = b; a is symmetric and positive."""
    n = len(b)
    a = [row[:] + [v] for row, v in zip(a, b)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for r in range(n):
            if r != i:
                f = a[r][i] / a[i][i]
                a[r] = [x - f * y for x, y in zip(a[r], a[i])]
    return [a[i][n] / a[i][i] for i in range(n)]


def normal(costs, names, at, data, step=0.02):
    """The normal equations at these costs, whose parameters are logarithms."""
    tries = [dict(costs, **{n: costs[n] * (1 + step)}) for n in names]
    slopes = [[(x - y) / math.log(1 + step) for x, y in zip(error, at)] for error in residuals(tries, *data)]
    a = [[sum(x * y for x, y in zip(s, t)) for t in slopes] for s in slopes]
    return a, [-sum(x * y for x, y in zip(s, at)) for s in slopes]


def square(error):
    return sum(e * e for e in error)


def fit(costs, names, data, rounds):
    best = next(iter(residuals([costs], *data)))
    damp = 0.01
    for n in range(rounds):
        moving = [x for x in names if costs[x] > SMALL]
        a, b = normal(costs, moving, best, data)
        tries = []
        for d in (damp / 10, damp, damp * 10, damp * 100):
            more = solve([[v * (1 + d) + (1e-6 if i == j else 0) if i == j else v for j, v in enumerate(row)]
                          for i, row in enumerate(a)], b)
            tries.append(dict(costs, **{x: costs[x] * math.exp(max(-0.7, min(0.7, m))) for x, m in zip(moving, more)}))
        found = list(residuals(tries, *data))
        at = min(range(len(tries)), key=lambda i: square(found[i]))
        gain = square(best) - square(found[at])
        if gain > 0:
            best, costs = found[at], tries[at]
        damp = min(10, max(1e-4, damp * 10 ** (at - 1))) if gain > 0 else damp * 100
        print(f"round {n}: {square(best):.4f}", {k: float(f"{v:.4g}") for k, v in costs.items()}, flush=True)
        if gain < 1e-4 * square(best) and damp > 1:
            break
    return costs, best


def intervals(costs, names, best, data):
    moving = [x for x in names if costs[x] > SMALL]
    a, _ = normal(costs, moving, best, data)
    noise = square(best) / (len(best) - len(moving))
    for i, name in enumerate(moving):
        unit = [float(i == k) for k in range(len(moving))]
        try:
            spread = 1.99 * math.sqrt(max(0, noise * solve(a, unit)[i]))
        except ZeroDivisionError:
            spread = math.inf
        low, high = costs[name] * math.exp(-spread), costs[name] * math.exp(min(spread, 50))
        print(f"{name}: {costs[name]:.4g}, {low:.4g} to {high:.4g}")


def burst():
    """The fall of a GPC's clock with all of its tensor cores at work: least squares, each tile once."""
    tiles = [[float(r[k]) for k in ("own", "mean", "count")] for r in rows.figures("fit_trace_v5.csv")
             if r["span"] == "K_TILE"]
    left = lambda fall: sum(n * (512 / rows.GHZ / (1 - fall * own) - ns) ** 2 for own, ns, n in tiles)
    return min((n / 1000 for n in range(1000)), key=left)


def main(args):
    if args == ["burst"]:
        return print(burst())
    rounds = int(args[0]) if args else 25
    held = {k: float(v) for k, v in (w.split("=") for w in args[1:] if "=" in w)}
    names, right, paths, loops = load()
    if "loops" in args:
        names, right, paths = names[:loops], right[:loops], paths[:loops]
    data = right, paths, loops
    costs = {**START, **held} if rounds else {}
    if "free" in args:
        costs[LOOPS] = rows.LOOPS_GHZ
    free = [k for k in costs if k not in held]
    if rounds:
        costs, best = fit(costs, free, data, rounds)
        intervals(costs, free, best, data)
    else:
        best = next(iter(residuals([costs], *data)))
    best = [math.exp(e if i < loops else e / BOX) - 1 for i, e in enumerate(best)]
    for name, value, error in zip(names, right, best):
        print(f"{name}: {value:.0f} {100 * error:+.1f} %")
    mean = lambda errors: 100 * sum(abs(e) for e in errors) / len(errors)
    print(f"mean absolute error {mean(best[:loops]):.2f} % of main loops"
          + (f", {mean(best[loops:]):.2f} % of boxes" if best[loops:] else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
