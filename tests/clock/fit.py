#!/usr/bin/env python3
"""fit.py [ROUNDS]: fits the costs marked [2] in emulator/clock/table.def to figures/fit_mainloop.csv.

Our kernel mainloop.cu stands for the rows; each log is replayed twice in a row, so that the second launch finds in L2
what the first left there, as in the benchmark. Costs are changed one by one by a factor, as long as that makes the mean
of the absolute errors smaller; ROUNDS 0 shows the rows as the table has them. Nothing but the fit's own rows is read."""
import os, sys
import rows

START = {"alu": 2, "l2_latency": 480, "tma_box": 27, "tma_line": 1.3, "tma_port": 108, "hbm_latency": 350, "hbm_line": 1}


def main(rounds):
    fit = rows.mainloop_rows("fit_mainloop.csv")
    folder = os.path.join(rows.BUILD, "clock")
    os.makedirs(folder, exist_ok=True)
    paths = []
    for i, row in enumerate(fit):
        paths.append(os.path.join(folder, f"fit{i}.log"))
        if not os.path.exists(paths[-1]):
            rows.mainloop_log(row, paths[-1])

    def errors(tables):
        lines = [" ".join(f"{k}={v:.6g}" for k, v in t.items()) for t in tables]
        return [[c / row["cycles"] - 1 for c, row in zip(cycles, fit)] for cycles in rows.replay(paths, lines, "--launches=2")]

    def score(error):
        return sum(abs(e) for e in error) / len(error)

    costs = dict(START) if rounds else {}
    best = errors([costs])[0]
    step = 1.3
    for n in range(rounds):
        moved = False
        for name in START:
            tries = [dict(costs, **{name: costs[name] * f}) for f in (step, 1 / step)]
            for table, error in zip(tries, errors(tries)):
                if score(error) < score(best) - 1e-5:
                    best, costs, moved = error, table, True
        print(f"round {n}: {100 * score(best):.2f} %, step {step:.3f}", {k: round(v, 3) for k, v in costs.items()}, flush=True)
        if not moved:
            step = 1 + (step - 1) / 2
            if step < 1.01:
                break
    for row, error in zip(fit, best):
        print("{tile_m}x{tile_n}x{tile_k} stages {stages}: {cycles:.0f} cycles".format(**row), f"{100 * error:+.1f} %")
    print(f"mean absolute error {100 * score(best):.2f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
