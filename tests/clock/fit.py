#!/usr/bin/env python3
"""fit.py [ROUNDS]: fits the costs that emulator/clock/table.def has from [2] to figures/fit_mainloop.csv and
fit_tma_throughput.csv.

Our kernels mainloop.cu and tma.cu stand for the rows. A log of the first is replayed twice in a row, so that the second
launch finds in L2 what the first left there, as in the benchmark; of the second two logs tell what 16 boxes more take.
Costs are changed one by one by a factor, as long as that makes the mean
of the absolute errors smaller; ROUNDS 0 shows the rows as the table has them. No other rows are read."""
import os, sys
sys.dont_write_bytecode = True
import rows

START = {"alu": 1.96, "l2_latency": 480, "tma_box": 31, "tma_row": 0.3, "tma_line": 0.97, "tma_port": 128,
         "hbm_latency": 317, "hbm_row": 1.82, "umma_sharing": 0.74}
FEW, MANY = 8, 24 # boxes a thread


def make(path, log, *args, **options):
    if not os.path.exists(path):
        log(*args, path, **options)
    return path


def main(rounds):
    loops, boxes = rows.mainloop_rows("fit_mainloop.csv"), rows.figures("fit_tma_throughput.csv")
    folder = os.path.join(rows.BUILD, "clock")
    os.makedirs(folder, exist_ok=True)
    names, right, paths = [], [], []
    for i, row in enumerate(loops):
        names.append("{tile_m}x{tile_n}x{tile_k}, {stages} stages".format(**row))
        right.append(row["cycles"])
        paths.append(make(os.path.join(folder, f"fit{i}.log"), rows.mainloop_log, row))
    for i, row in enumerate(boxes):
        names.append("boxes of {SmemHeight} rows, {NumStages} stages".format(**row))
        right.append(float(row["CyclesPerTMA"]) * (MANY - FEW))
        for rounds_ in (FEW, MANY):
            paths.append(make(os.path.join(folder, f"tma{i}-{rounds_}.log"), rows.tma_log, rounds=rounds_,
                              rows=row["SmemHeight"], stages=row["NumStages"]))

    def errors(tables):
        lines = [" ".join(f"{k}={v:.6g}" for k, v in t.items()) for t in tables]
        result = []
        timed = rows.replay(paths[:len(loops)], lines, "--launches=2"), rows.replay(paths[len(loops):], lines)
        for loop, box in zip(*timed):
            predicted = loop + [many - few for few, many in zip(box[::2], box[1::2])]
            result.append([p / r - 1 for p, r in zip(predicted, right)])
        return result

    def score(error):
        return sum(abs(e) for e in error) / len(error)

    costs = dict(START) if rounds else {}
    best = errors([costs])[0]
    step = 1.1
    for n in range(rounds):
        moved = False
        for name in START:
            tries = [dict(costs, **{name: costs[name] * f}) for f in (step, 1 / step)]
            for table, error in zip(tries, errors(tries)):
                if score(error) < score(best) - 1e-5:
                    best, costs, moved = error, table, True
        print(f"round {n}: {100 * score(best):.2f} %, step {step:.3f}", {k: round(v, 3) for k, v in costs.items()},
              flush=True)
        if not moved:
            step = 1 + (step - 1) / 2
            if step < 1.01:
                break
    for name, cycles, error in zip(names, right, best):
        print(f"{name}: {cycles:.0f} cycles {100 * error:+.1f} %")
    print(f"mean absolute error {100 * score(best[:len(loops)]):.2f} % of main loops,"
          f" {100 * score(best[len(loops):]):.2f} % of boxes")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
