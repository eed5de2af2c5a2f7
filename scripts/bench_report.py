"""bench_report.py RECORD PLOT: a table of what bench.sh wrote into RECORD, TFLOPS by program and size, and the same
as an SVG in the file PLOT, which matplotlib draws where it is installed. Only what RECORD holds appears: a program
that failed or was absent has a word in its place.

The lines of RECORD (others are ignored):
  TIME  NAME MxNxK IN->OUT: median U us, U to U, R runs, T TFLOPS on DEVICE
  NONE  NAME MxNxK: WHY        FAILED  NAME MxNxK: WHY        CLOCKS before|after size S: TEXT
"""

import re
import sys

TIME = re.compile(r"TIME +(?P<name>\S+) (?P<size>\S+) (?P<kind>\S+): median (?P<median>\S+) us, "
                  r"(?P<least>\S+) to (?P<most>\S+), (?P<runs>\d+) runs, (?P<tflops>\S+) TFLOPS on (?P<device>.*)")
ABSENT = re.compile(r"(NONE|FAILED) +(\S+) (\S+):")


def shown(size):
    parts = set(size.split("x"))
    return parts.pop() if len(parts) == 1 else size


class Record:
    """names, sizes: in the order in which they come; times: {(name, size): the words of its line}."""

    def __init__(self, path):
        self.times, self.words, self.notes, self.clocks, self.kinds = {}, {}, [], [], set()
        with open(path, encoding="utf-8") as f:
            for line in f.read().splitlines():
                time, absent = TIME.match(line), ABSENT.match(line)
                if time:
                    self.times[time["name"], time["size"]] = time.groupdict()
                    self.words[time["name"], time["size"]] = ""
                    self.kinds.add((time["kind"], time["device"]))
                elif absent:
                    self.words[absent[2], absent[3]] = "absent" if absent[1] == "NONE" else "FAILED"
                    self.notes.append(line)
                elif line.startswith("CLOCKS"):
                    self.clocks.append(line)
        self.names, self.sizes = (list(dict.fromkeys(key[i] for key in self.words)) for i in (0, 1))

    def tflops(self, name, size):
        time = self.times.get((name, size))
        return float(time["tflops"]) if time else None

    def rate(self, name, size):
        """TFLOPS, and in brackets of cuBLAS."""
        got, cublas = self.tflops(name, size), self.tflops("cublas", size)
        ratio = f" ({got / cublas:.2f})" if cublas and name != "cublas" else ""
        return f"{got:.{2 if got < 10 else 1}f}" + ratio

    def microseconds(self, name, size):
        return "{:.1f} ({:.1f}-{:.1f})".format(*(float(self.times[name, size][w]) for w in ("median", "least", "most")))

    def table(self, title, cell):
        print(f"{title}\n  {'M = N = K':<16}" + "".join(f" {name:>24}" for name in self.names))
        for size in self.sizes:
            row = [cell(name, size) if (name, size) in self.times else self.words.get((name, size)) or "-"
                   for name in self.names]
            print(f"  {shown(size):<16}" + "".join(f" {text:>24}" for text in row))


def plot(record, title, path):
    """TFLOPS by size, a line for each program."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: python3 has no matplotlib (python3 -m pip install matplotlib)")
        return
    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 4.6), layout="constrained")
    for name in record.names:
        values = [record.tflops(name, size) for size in record.sizes]
        measured = any(value is not None for value in values)
        axes.plot(range(len(values)), [float("nan") if value is None else value for value in values], marker="o",
                  gid=name, label=name if measured else name + " (not measured)")
    axes.set_xticks(range(len(record.sizes)), [shown(size) for size in record.sizes])
    axes.set(title=title, xlabel="M = N = K", ylabel="TFLOPS", ylim=(0, None))
    axes.grid(axis="y")
    figure.legend(loc="outside right upper")
    figure.savefig(path)
    print(f"plot: {path}")


def main(record, path):
    record = Record(record)
    times = list(record.times.values())
    if len(record.kinds) > 1:
        print("bench_report.py: RECORD mixes types or devices; a table of them would mislead", file=sys.stderr)
        return 1
    if not times:
        print("nothing was measured")
    else:
        what = "TFLOPS on {device}, {kind}, beta 0, median of {runs} launches".format(**times[-1])
        if times[-1]["device"].startswith("Emulated"):
            print("These are times of the emulator on this computer, not of a GPU.")
        record.table(what + ", each with fresh inputs and a cold L2 (in brackets: of cuBLAS)", record.rate)
        record.table("microseconds, median (least-most)", record.microseconds)
        plot(record, what, path)
    print("".join(line + "\n" for line in record.notes + record.clocks), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
