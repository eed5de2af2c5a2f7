#!/usr/bin/env python3
"""reduce.py MICROBENCH LEARN_CUDA: makes figures/*.csv of what others have published.

Both are git directories, of SemiAnalysisAI/microbench-blackwell and gau-nernst/learn-cuda. Each file says at its head
where its rows come from. What the table of costs may be fitted to is in files named fit_*, what it is held to in files
named held_*; the rules of the split are `is_fit` and `LADDER_FIT`, and the README says them in words."""
import collections, csv, gzip, io, json, os, re, statistics, subprocess, sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures")
COMMITS = {"SemiAnalysisAI/microbench-blackwell": "9a068d8", "gau-nernst/learn-cuda": "1454f8b"}


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout


def show(folder, commit, path):
    return git(folder, "show", f"{commit}:{path}")


def is_fit(row):
    """Rows of cutlass_gemm_mainloop/results.csv that the table may be fitted to."""
    return row["dtype"] == "BF16" and row["STAGES"] in ("2", "4") and row["TILE_N"] in ("16", "64", "192")


LADDER_FIT = ("v5", 4096)  # of learn-cuda: this figure and this kernel's trace; every other is held out

# The clock of each source, and what says so.
CLOCKS = {
    "umma_latency": "cycles as read from clock64: the clock does not matter",
    "tma2d_latency": "cycles as read from clock64; its nanoseconds are these cycles divided by 1.965 GHz",
    "tma2d_throughput": "1.965 GHz by its own rows: the bytes of CyclesPerTMA on 148 SMs are DRAMBandwidthBps at that"
                        " clock (ncu, --clock-control none)",
    "tma2dmcast_throughput": "1.961 GHz by its own rows: sm_cycles / gpu_time_ns (ncu, --clock-control none)",
    "cutlass_gemm_mainloop": "1.234 GHz by fit.py, free (1.19 to 1.27): not recorded; the times are of CUDA events, and"
                             " plot_results.py makes shares of the peak of them with CLOCK_MHZ = 1300",
}


def put(name, head, columns, rows):
    with open(os.path.join(HERE, name), "w", newline="\n") as f:
        f.write("".join(f"# {line}\n" for line in head))
        w = csv.writer(f, lineterminator="\n")
        w.writerow(columns)
        w.writerows(rows)


def pick(text, columns, keep):
    rows = csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#"))
    return [[row[c] for c in columns] for row in rows if keep(row)]


def main(bench, learn):
    repo = "SemiAnalysisAI/microbench-blackwell"
    commit = git(bench, "rev-parse", COMMITS[repo]).strip()

    def reduced(name, path, columns, keep, *more):
        put(name, [f"{repo}, commit {commit}, {path}", "B200, 148 SMs; clock: "
                   + CLOCKS[path.split("/")[0]], *more],
            columns, pick(show(bench, commit, path), columns, keep))

    reduced("fit_umma.csv", "umma_latency/fit_results.csv",
            ["Format", "ABLayout", "CTAGroup", "M", "N", "K", "Latency", "a (II)", "b", "Overhead"], lambda r: True,
            "cycles; D UMMAs in a row and one commit take a * D + b; Latency: one and its commit, to the end of the"
            " wait")
    reduced("fit_tma_latency.csv", "tma2d_latency/tma2d_lat_results.csv",
            ["SmemWidth", "SmemHeight", "TileBytes", "LatencyCyclesMedian", "LatencyCyclesMin"], lambda r: True,
            "one load a CTA, one CTA an SM on all SMs, from memory that is not in L2; 4-byte elements")
    reduced("fit_tma_throughput.csv", "tma2d_throughput/tma2d_tput_results.csv",
            ["NumStages", "SmemWidth", "SmemHeight", "BytesInFlightPerSM", "DRAMBandwidthBps", "CyclesPerTMA"],
            lambda r: True, "one CTA an SM on all SMs, each with so many loads on the way; 4-byte elements")
    reduced("fit_tma_sharing.csv", "tma2dmcast_throughput/tma2dmcast_sweep_results.csv",
            ["mode_name", "cluster_size", "sharing_group", "smem_width", "smem_height", "tile_bytes", "sm_cycles",
             "gpu_time_ns", "tma_pipe_bytes", "dram_bytes_read"], lambda r: r["smem_width"] == "128",
            "4 warps a CTA, each with one load on the way; all meet after each; tma_pipe_bytes: that arrived, in all")
    columns = ["TILE_M", "TILE_N", "TILE_K", "STAGES", "dtype", "K", "time_ms"]
    path = "cutlass_gemm_mainloop/results.csv"
    ran = lambda r: r["TILE_N"] in ("16", "32", "64", "128", "192", "256") and r["time_ms"] and r["STAGES"] != "0"
    told = "one CTA, one tile TILE_M x TILE_N, K = 131072, mean of 20 launches in a row; STAGES 0 is left out"
    reduced("fit_mainloop.csv", path, columns, lambda r: ran(r) and is_fit(r), told)
    reduced("held_mainloop.csv", path, columns, lambda r: ran(r) and not is_fit(r), told)

    repo = "gau-nernst/learn-cuda"
    commit = git(learn, "rev-parse", COMMITS[repo]).strip()
    path = "02e_matmul_sm100/README.md"
    text, rows = show(learn, commit, path), []
    for name, tflops in re.findall(r"^(v[1-6][ab]?) \([^|]*\| *([0-9.]+)$", text, re.M):
        rows.append([name, 4096, tflops])
    for name, *figures in re.findall(r"^(v7[abc]) +\| *([0-9.]+) \| *([0-9.]+) \| *([0-9.]+)$", text, re.M):
        rows += [[name, size, tflops] for size, tflops in zip((2048, 4096, 8192), figures)]
    head = [f"{repo}, commit {commit}, {path}", "a B200 of Modal, clock not recorded; bf16, A and B K-major, M = N = K;"
            " launches in a row, each with inputs of its own"]
    for name, fit in (("fit_ladder.csv", True), ("held_ladder.csv", False)):
        put(name, head, ["kernel", "size", "TFLOPS"], [r for r in rows if ((r[0], r[1]) == LADDER_FIT) == fit])
    for kernel in ("v5", "v6"):
        path = f"02e_matmul_sm100/trace_{kernel}.json.gz"
        packed = subprocess.run(["git", "-C", learn, "show", f"{commit}:{path}"], check=True, capture_output=True)
        put(f"{'fit' if kernel == LADDER_FIT[0] else 'held'}_trace_{kernel}.csv",
            [f"{repo}, commit {commit}, {path}", "a B200 of Modal; one launch of 4096 x 4096 x 4096 after five, bf16;"
             " nanoseconds by %globaltimer, which counts in 32", "K_TILE: 256x256x64, from one ISSUE_MMA to the next,"
             " over the 21st to the 60th of a tile; pairs: that had a main loop when this tile was half done",
             "own: the share of the same GPC's pairs that had one then; 0 pairs: a SETUP before any main loop",
             "grouped: the median of data in groups of 32 ns"],
            ["span", "pairs", "count", "p10", "median", "grouped", "p90", "mean", "own"],
            spans(json.loads(gzip.decompress(packed.stdout))["traceEvents"], 4 if kernel == "v5" else 6))


TAGS = ("SETUP", "ISSUE_TMA", "ISSUE_MMA", "WAIT_TMA", "WAIT_MMA", "WAIT_MAINLOOP", "WAIT_EPILOGUE", "EPILOGUE")


def gpc_of(sm):
    """emulator/clock/model.h: clock_gpc(). In the last wave of v5 34 pairs are at work. Their SMs are 0, 4, 12, 14, 16,
    20, 28, 30 and so on, the same four of eight TPCs five times; from SM 80 on, three of seven. So TPCs are numbered
    round the GPCs, and the first GPC has five."""
    tpc = sm // 2
    return tpc % 8 if tpc < 40 else 1 + (tpc - 40) % 7


TICK = 32  # nanoseconds in which %globaltimer of that B200 counts


def grouped(values):
    """The median of times that a timer counted in ticks. Spans of 81 ns are 64 or 96 by it, and so is their median."""
    return statistics.median_grouped([TICK * round(v / TICK) for v in values], interval=TICK)


def spans(events, warps, near=None, slower=None):
    """Rows of what a trace's spans took, by how many pairs were at work, or by that of `near` which is nearest. Threads
    are warps of CTAs, in order; each of them has the same tiles one after the other, of 64 K tiles. A pid is an SM.
    `slower` says by which factor a span of this name and number of pairs takes longer before a timer counts it."""
    threads = {}
    for e in sorted(events, key=lambda e: e["ts"]):
        threads.setdefault(e["tid"] - e["pid"], []).append(e)
    of = lambda name: {t: [e for e in found if e["name"] == name] for t, found in threads.items()}
    tiles = {(t // warps // 2, i // 64): found[i:i + 64]
             for t, found in of("ISSUE_MMA").items() for i in range(0, len(found), 64)}
    loops = [(tile[0]["ts"], tile[-1]["ts"], gpc_of(tile[0]["pid"])) for tile in tiles.values()]
    has = collections.Counter(gpc_of(sm) for sm in {tile[0]["pid"] for tile in tiles.values()})
    pairs, own = {}, {}
    for key, tile in tiles.items():
        middle = (tile[0]["ts"] + tile[-1]["ts"]) / 2
        at_work = [g for a, b, g in loops if a <= middle <= b]
        gpc = gpc_of(tile[0]["pid"])
        pairs[key] = len(at_work)
        share = at_work.count(gpc) / has[gpc]
        if near:
            pairs[key] = min(near, key=lambda n: abs(n - pairs[key]))
        own.setdefault(pairs[key], []).append(share)
    first = min(tile[0]["ts"] for tile in tiles.values())  # no tensor core has worked before
    took, ticks = {}, {}
    for key, tile in tiles.items():
        took.setdefault(("K_TILE", pairs[key]), []).append((tile[60]["ts"] - tile[20]["ts"]) / 40)
    for name in TAGS[:5] + TAGS[7:]:
        each = 1 if name in ("SETUP", "EPILOGUE") else 64
        for t, found in of(name).items():
            for i, e in enumerate(found):
                n = 0 if name == "SETUP" and e["ts"] < first else pairs[t // warps // 2, i // each]
                factor = slower(name, n) if slower else 1
                begin, end = factor * e["ts"], factor * (e["ts"] + e["dur"])
                took.setdefault((name, n), []).append(e["dur"])
                ticks.setdefault((name, n), []).append((end // TICK - begin // TICK) * TICK)
    for (name, n), values in sorted(took.items()):
        deciles = statistics.quantiles(values, n=10)
        middle = statistics.median(values)
        yield [name, n, len(values), *(f"{x:.0f}" for x in (
                   deciles[0], middle, grouped(ticks[name, n]) if (name, n) in ticks else middle, deciles[8])),
               f"{statistics.mean(values):.1f}", f"{statistics.mean(own.get(n, [0])):.3f}"]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
