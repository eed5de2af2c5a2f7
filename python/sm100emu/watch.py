"""Makes a page to watch a launch by: DIR/index.html, one file that asks for nothing else, from a log of the emulator.

    python3 -m sm100emu.watch LOG [LOG2] -o DIR [OPTIONS]

LOG is what `sm100emu --trace=LOG PROGRAM` wrote, or what `sm100emu-log --json LOG` says of it. With LOG2 the page shows
two runs side by side. With a log of the first kind DIR/trace.json holds the same for Perfetto.

    --name TEXT, --name2 TEXT      what the runs are called
    --said FILE, --said2 FILE      findings of the run in SARIF, as --check-json=FILE writes them: the page quotes one
    --warps NAME,NAME,..., --warps2 NAMES
                                   what the warps of a CTA are called, if the kernel's lines name no task
    --title TEXT                   of the page
    --tour FILE                    a tour of the first run: stops with a text (tour.py has the syntax)
    --root DIR, --root2 DIR        sources are named, and looked for, from here; else the current folder
    --log-tool PATH                sm100emu-log, where it is not beside the launcher or on the PATH
    --room BYTES                   of the page; launches and clusters that do not fit are left out, and the page says so

Data is compressed (zlib) and stands in the page in base64; sources and PTX are there once, by reference.
"""

import argparse
import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import zlib

from sm100emu.source import source_lines
from sm100emu.tour import Lost, find

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "page")
SCRIPTS = """log.js rules.js model.js tiles.js lanes.js words.js shapes.js tracks.js state.js whole.js view.js tour.js
    app.js""".split()
VERSION = 2
AROUND = 3  # lines of source above and below one that is named
ROOM = 1000000
LAUNCH = "kernel schedule fault cut grid block cluster smem resident instructions text sites calls"

# enum event_agent (emulator/machine/async.h)
CP_ASYNC, TMA, BULK, TENSOR_CORE, TENSOR_COPY = 1, 2, 3, 4, 5
SHARED_WRITERS = (CP_ASYNC, TMA, BULK)
DESCRIPTORS = (TENSOR_CORE, TENSOR_COPY)


class Refused(Exception):
    """What was given is not a log, or not one of this version; the reason."""


# ---------------------------------------------------------------- what a log says


def find_tool(given):
    """The path of sm100emu-log: as given, in the package, or on the PATH."""
    beside = os.path.join(HERE, "bin", "sm100emu-log")
    tool = given or (beside if os.access(beside, os.X_OK) else shutil.which("sm100emu-log"))
    if not tool:
        raise Refused("sm100emu-log is neither beside the launcher nor on the PATH; --log-tool names it")
    return tool


def is_json(path):
    with open(path, "rb") as f:
        return f.read(1) == b"{"


def as_json(path, tool, like=None, warps=None):
    """The logs of a file, which is JSON already or becomes it by sm100emu-log. Of a second run warps are called as in
    the first, `like`, unless that is JSON; `warps` are their names, with commas between them, or None."""
    if is_json(path):
        with open(path, "rb") as f:
            text = f.read()
    else:
        names = ["--like=" + like] if like and not is_json(like) else []
        names += ["--warps=" + warps] if warps else []
        told = subprocess.run([find_tool(tool), "--json"] + names + [path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if told.returncode:
            raise Refused(told.stderr.decode(errors="replace").strip() or "%s: sm100emu-log failed" % path)
        text = told.stdout
    try:
        data = json.loads(text)
    except ValueError as bad:
        raise Refused("%s: no JSON: %s" % (path, bad))
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise Refused("%s: not a log of version %d" % (path, VERSION))
    return data["logs"]


def path_of(uri):
    """A file by its SARIF name: a path, or file:///path with escapes."""
    return urllib.parse.unquote(urllib.parse.urlsplit(uri).path) if uri.startswith("file:") else uri


def findings(path):
    """The first finding of a SARIF file, errors before warnings: {level, text, rule, at, count}, or None."""
    if not path or not os.path.exists(path) or not os.path.getsize(path):
        return None
    with open(path, encoding="utf-8") as f:
        results = [r for run in json.load(f)["runs"] for r in run.get("results", [])]
    if not results:
        return None
    order = {"error": 0, "warning": 1, "note": 2}
    r = min(results, key=lambda r: order.get(r.get("level"), 3))
    at = (r.get("locations") or [{}])[0].get("physicalLocation", {})
    return {
        "level": r.get("level", "warning"),
        "text": r["message"]["text"],
        "rule": r.get("ruleId", ""),
        "at": path_of(at.get("artifactLocation", {}).get("uri", "")),
        "line": at.get("region", {}).get("startLine", 0),
        "count": len(results),
    }


# ---------------------------------------------------------------- sources


class Sources:
    """Lines of the files that the sites of a run name, kept once."""

    def __init__(self, root):
        self.root, self.files, self.lines = os.path.abspath(root), {}, {}

    def name(self, path):
        """As people call it: from the root, where it lies below it."""
        full = os.path.normpath(os.path.join(self.root, path))
        below = os.path.relpath(full, self.root)
        return path if below.startswith("..") else below

    def want(self, path, line):
        """Keeps a line and those around it; a file that is not there has none."""
        name = self.name(path)
        if name not in self.files:
            self.files[name] = source_lines(os.path.join(self.root, path))
        text = self.files[name]
        kept = self.lines.setdefault(name, {})
        if line <= len(text):
            for n in range(max(1, line - AROUND), min(len(text), line + AROUND) + 1):
                kept[n] = text[n - 1].expandtabs(4)


def name_sources(log, sources):
    """Renames the files of a log's sites and calls, and keeps the lines that they name."""
    files = {}
    for table in log["sites"], log["calls"]:
        for number, line in zip(table["file"], table["line"]):
            path = log["text"][number]
            if path:
                sources.want(path, line)
                files[number] = sources.name(path)
    for number, name in files.items():
        log["text"][number] = name


def plain(kernel):
    """A kernel's name without its parameters, where the compiler mangled it."""
    name, m = "", re.match(r"_ZN?", kernel)
    rest = kernel[m.end() :] if m else ""
    while True:
        m = re.match(r"\d+", rest)
        if not m:
            return name or kernel
        part = rest[m.end() : m.end() + int(m[0])]
        name, rest = name + "::" * bool(name) + part, rest[m.end() + int(m[0]) :] if kernel.startswith("_ZN") else ""


# ---------------------------------------------------------------- clusters


def start_address(descriptor, in_tmem):
    """Where an operand begins: bits 0-13 of a shared memory descriptor, in units of 16 bytes (9.7.16.4.1)."""
    d = int(descriptor)
    return d & 0xFFFFFFFF if in_tmem else (d & 0x3FFF) << 4


def operands(ops):
    """Adds the addresses of the operands of UMMAs and copies to tensor memory, and drops the descriptors' decimals."""
    for operand in "ab":
        told = ops[operand]
        ops[operand + "_at"] = [
            start_address(d, operand == "a" and t) if agent in DESCRIPTORS else 0
            for d, t, agent in zip(told, ops["a_in_tmem"], ops["agent"])
        ]
        ops[operand] = [("0x%016x" % int(d)) if int(d) else 0 for d in told]
    for name in "global", "map":
        ops[name] = [("0x%x" % int(v)) if int(v) else 0 for v in ops[name]]


def stages(cluster):
    """[[rank, from, to, name]] of shared memory: as the log names them, else what the copies of a line fill that signal
    one mbarrier, where the pieces lie side by side."""
    named = cluster.get("names", {}).get("smem")
    if named:
        return sorted(named)
    ops, pieces = cluster["ops"], {}
    for i, agent in enumerate(ops["agent"]):
        if agent in SHARED_WRITERS and ops["to"][i] and ops["bytes"][i]:
            key = (ops["to"][i] - 1, ops["site"][i], ops["signals"][i], ops["signals_off"][i])
            pieces.setdefault(key, set()).add((ops["to_off"][i], ops["to_off"][i] + ops["bytes"][i]))
    found = set()
    for (rank, *_), ranges in pieces.items():
        joined = []
        for low, high in sorted(ranges):
            if joined and low <= joined[-1][1]:
                joined[-1][1] = max(high, joined[-1][1])
            else:
                joined.append([low, high])
        found.update((rank, low, high) for low, high in joined)
    return [[rank, low, high, "bytes 0x%x-0x%x" % (low, high - 1)] for rank, low, high in sorted(found)]


def relative(references):
    """References backwards as distances, which compress well: reference r of event i becomes i + 1 - r; 0 stays 0, and
    one to the event itself or forwards is negative, less 1."""
    return [0 if not r else i + 1 - r if r <= i else i - r for i, r in enumerate(references)]


def slim(cluster):
    """A cluster as the page wants it: no column that says nothing, references as distances, cycles in tenths."""
    operands(cluster["ops"])
    made = {key: cluster[key] for key in ("number", "id", "sm", "complete")}
    made["stages"] = stages(cluster)
    made["names"] = {key: cluster.get("names", {}).get(key, []) for key in ("objects", "warps", "tmem")}
    made["num"] = {key: len(cluster[key]["kind" if key != "ops" else "name"]) for key in ("objects", "ops", "events")}
    for table in "objects", "ops", "events":
        made[table] = {
            name: column
            for name, column in cluster[table].items()
            if any(v != 0 and v != [0] * 5 and v != [0, 0, 0] for v in column)
        }
    events = made["events"]
    if "cause" in events:
        events["cause"] = relative(events["cause"])
    if "cycle" in cluster:
        tenths = [round(10 * c) for c in cluster["cycle"]]
        made["cycle"] = [b - a for a, b in zip([0] + tenths, tenths)]
        made["blame"] = relative(cluster.get("blame", []))
    return made


def slim_log(log, sources):
    """A launch as the page wants it, its clusters not yet among it."""
    name_sources(log, sources)
    made = {key: log[key] for key in LAUNCH.split()}
    made["kernel"] = plain(log["kernel"])
    return made


# ---------------------------------------------------------------- the page


def pack(data):
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()


class Pages:
    """Collects runs until there is no more room, of which each of `runs` has its share."""

    def __init__(self, title, room, runs):
        self.left = runs
        self.room, self.runs, self.used, self.title = room, [], 0, title

    def fits(self, part, share):
        size = len(pack(part))
        if self.used + size > share:
            return False
        self.used += size
        return True

    def add(self, logs, name, said, root, stops):
        """A run: launch by launch, cluster by cluster, as long as they fit; what does not is counted."""
        sources = Sources(root)
        run = {"name": name, "said": said, "logs": [], "launches": len(logs), "left_out": 0, "lines": sources.lines}
        run["tour"] = stops
        if said and said["at"]:
            said["at"] = sources.name(os.path.abspath(said["at"]))
        share = self.used + (self.room - self.used) // self.left
        self.left -= 1
        for log in logs:
            clusters = [c for c in log["clusters"] if c["events"]["kind"]]  # of others nothing was traced
            if run["left_out"]:
                run["left_out"] += len(clusters)
                continue
            made = slim_log(log, sources)
            room = self.fits(made, share)
            made["clusters"] = []
            for cluster in clusters:
                slimmed = slim(cluster) if room else None
                room = room and self.fits(slimmed, share)
                if room:
                    made["clusters"].append(slimmed)
                else:
                    run["left_out"] += 1
            if made["clusters"]:
                run["logs"].append(made)
        if not run["logs"]:
            raise Refused(
                "%s: its first cluster alone does not fit a page of this size; trace less of it "
                "(sm100emu --trace-ctas, --trace-tiles), or give it more room (--room=BYTES)" % name
            )
        self.runs.append(run)

    def html(self):
        data = {"title": self.title, "runs": self.runs}
        scripts = "\n".join(text_of(name) for name in SCRIPTS)
        parts = {"TITLE": html.escape(self.title), "STYLE": text_of("style.css"), "SCRIPT": scripts, "DATA": pack(data)}
        return re.sub("@(TITLE|STYLE|SCRIPT|DATA)@", lambda m: parts[m[1]], text_of("index.html"))


def text_of(name):
    with open(os.path.join(PAGE, name), encoding="utf-8") as f:
        return f.read()


def write(path, text):
    """Whole, or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def perfetto(path, out, tool):
    """DIR/trace.json of a log in the emulator's own form."""
    if is_json(path):
        return None
    target = os.path.join(out, "trace.json")
    told = subprocess.run([find_tool(tool), "--perfetto=" + target, path], stderr=subprocess.PIPE)
    if told.returncode:
        raise Refused(told.stderr.decode(errors="replace").strip() or "%s: no trace for Perfetto" % path)
    return target


def find_tour(path, logs, root):
    """The stops of a tour, in the first launch of which something was traced: the one that the page opens on."""
    try:
        return find(path, next(log for log in logs if any(c["events"]["kind"] for c in log["clusters"])), root)
    except Lost as lost:
        raise Refused(str(lost))


def make(logs, out, names=(), said=(), title=None, roots=(), tool=None, room=ROOM, tour=None, warps=()):
    """Writes the page of one or two logs into the folder `out`; the paths of what was written."""
    os.makedirs(out, exist_ok=True)
    overhead = sum(len(text_of(name)) for name in SCRIPTS + ["index.html", "style.css"])
    pages = Pages(title, room - overhead - 40000, len(logs))  # lines of the sources take the rest
    for i, path in enumerate(logs):
        name, told, root, called = [given[i] if i < len(given) else None for given in (names, said, roots, warps)]
        found = as_json(path, tool, logs[0] if i else None, called)
        if not any(c["events"]["kind"] for log in found for c in log["clusters"]):
            raise Refused("%s: there is no event in this log" % path)
        stops = find_tour(tour, found, root or ".") if tour and i == 0 else []
        for doubts in filter(None, (log.get("doubts") for log in found)):
            print("watch: the cycles of the page may be off: %s" % doubts, file=sys.stderr)
        pages.add(found, name or os.path.basename(path), findings(told), root or ".", stops)
    pages.title = title or pages.runs[0]["name"]
    written = [os.path.join(out, "index.html")]
    write(written[0], pages.html())
    trace = perfetto(logs[0], out, tool)
    return written + ([trace] if trace else [])


def main(argv=None):
    head, _, options = __doc__.partition("\n\n")
    p = argparse.ArgumentParser(
        prog="python3 -m sm100emu.watch",
        description=head,
        epilog=options,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s LOG [LOG2] -o DIR",
    )
    p.add_argument("log", nargs="+", help=argparse.SUPPRESS)
    p.add_argument("-o", dest="out", required=True, help=argparse.SUPPRESS)
    pairs = [option + number for option in ("--name", "--said", "--root", "--warps") for number in ("", "2")]
    for option in pairs + ["--title", "--log-tool"]:
        p.add_argument(option, help=argparse.SUPPRESS)
    p.add_argument("--tour", help=argparse.SUPPRESS)
    p.add_argument("--room", type=int, default=ROOM, help=argparse.SUPPRESS)
    a = p.parse_args(argv)
    if len(a.log) > 2:
        p.error("one log, or two to be compared")
    try:
        page, *trace = make(
            a.log, a.out, (a.name, a.name2), (a.said, a.said2), a.title, (a.root, a.root2), a.log_tool, a.room, a.tour,
            (a.warps, a.warps2)
        )
        print("%s: the page, for a browser%s" % (page, "; the button Tour leads through it" if a.tour else ""))
        for path in trace:
            print("%s: the same run for https://ui.perfetto.dev" % path)
    except (Refused, OSError) as why:
        print("watch: %s" % why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
