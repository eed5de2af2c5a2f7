#!/usr/bin/env python3
"""reduce.py MICROBENCH LEARN_CUDA: makes figures/*.csv of what others have published.

Both are git directories, of SemiAnalysisAI/microbench-blackwell and gau-nernst/learn-cuda. Each file says at its head
where its rows come from. What the table of costs may be fitted to is in files named fit_*, what it is held to in files
named held_*; the rule of the split is `is_fit`."""
import csv, io, os, re, subprocess, sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures")
COMMITS = {"SemiAnalysisAI/microbench-blackwell": "9a068d8", "gau-nernst/learn-cuda": "1454f8b"}


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout


def show(folder, commit, path):
    return git(folder, "show", f"{commit}:{path}")


def is_fit(row):
    """Rows of cutlass_gemm_mainloop/results.csv that the table may be fitted to."""
    return row["dtype"] == "BF16" and row["STAGES"] in ("2", "4") and row["TILE_N"] in ("16", "64", "192")


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
        put(name, [f"{repo}, commit {commit}, {path}", "B200, 148 SMs; 1.965 GHz: 1993 cycles are 1014.2 ns in"
                   " tma2d_latency/tma2d_lat_results.csv", *more],
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
    put("held_ladder.csv", [f"{repo}, commit {commit}, {path}", "a B200 of Modal, clock not recorded; bf16, A and B"
                            " K-major, M = N = K; launches in a row, each with inputs of its own"],
        ["kernel", "size", "TFLOPS"], rows)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
