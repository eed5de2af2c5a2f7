"""rows.py - figures of tests/clock/figures, and logs of our kernels that stand for them."""
import csv, os, re, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build")
PRODUCTS = os.environ.get("PRODUCTS", BUILD)  # the emulator's build folder


def cost(name):
    """The value that emulator/clock/table.def has for it."""
    with open(os.path.join(ROOT, "emulator/clock/table.def")) as f:
        return float(re.search(rf"^COST\({name}, ([0-9.]+),", f.read(), re.M).group(1))


GHZ = cost("clock")


def loops_clock():
    """Of main loops: what the head of their file has from the source's own code."""
    with open(os.path.join(HERE, "figures", "fit_mainloop.csv")) as f:
        return float(re.search(r"^# .*clock: ([0-9.]+) GHz", f.read(), re.M).group(1))


LOOPS_GHZ = loops_clock()
LOOPS_CLOCK = f"clock={LOOPS_GHZ}"  # costs at it


def figures(name):
    with open(os.path.join(HERE, "figures", name)) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def mainloop_rows(name):
    """Rows of cutlass_gemm_mainloop as numbers; `ns` and `cycles` are of a launch."""
    rows = []
    for r in figures(name):
        row = {k.lower(): int(r[k]) for k in ("TILE_M", "TILE_N", "TILE_K", "STAGES", "K")}
        row["type"] = "bf16" if r["dtype"] == "BF16" else "e4m3"
        row["ns"] = float(r["time_ms"]) * 1e6
        row["cycles"] = row["ns"] * LOOPS_GHZ
        rows.append(row)
    return rows


def mainloop_log(row, path):
    """Runs our kernel as the row says, on the emulator; its log is at `path`."""
    words = [os.path.join(PRODUCTS, "sm100emu"), "--trace=" + path, os.path.join(BUILD, "tests/clock/mainloop")]
    options = {"m": "tile_m", "n": "tile_n", "tile-k": "tile_k", "stages": "stages", "type": "type", "k": "k"}
    for option, key in options.items():
        words += ["--" + option, str(row[key])]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def tma_log(path, **options):
    """The same of tma.cu."""
    words = [os.path.join(PRODUCTS, "sm100emu"), "--trace=" + path, os.path.join(BUILD, "tests/clock/tma")]
    for option, value in options.items():
        words += ["--" + option] if value is True else ["--" + option, str(value)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def replay(paths, lines, *options):
    """Cycles of each log, for each line of costs NAME=VALUE."""
    out = subprocess.run([os.path.join(PRODUCTS, "tests/clock/replay"), "--fit", *options, *paths], check=True,
                         input="".join(line + "\n" for line in lines), capture_output=True, text=True).stdout
    return [[float(x) for x in line.split()] for line in out.splitlines()]
