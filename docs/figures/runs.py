"""runs.py - what figures are drawn from: what programs print, their logs, what the checks say, what headers compute.

Nothing is kept between two calls of draw.py; within one each program runs once for the same arguments.
"""

import functools
import json
import os
import re
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
# enum trace_class, event_sync_kind, event_op_stage, event_wait_end (emulator/trace/log.h, machine/events.h)
SYNC, OP, WAIT, LIFE, GLOBAL, STEP = range(6)
ARRIVE, DROP, EXPECT_TX, COMPLETE_TX, PENDING, PHASE, TEST = range(7)
ISSUED, STARTED, COMPLETED = range(3)
BEGINS, MET = 0, 1
# enum event_agent (machine/async.h)
TMA, TENSOR_CORE, TENSOR_LDST, COMMIT = 2, 4, 6, 8
NOBODY = 255


class Failed(Exception):
    """A run that a figure needs did not end as it must; what it said."""


def claim(holds, words):
    """What a caption says must hold of the run that it is drawn from."""
    if not holds:
        raise Failed("the run does not show that " + words)


class Runs:
    """Programs of the repository on the emulator. build: where make has put programs and emulator."""

    def __init__(self, build, programs=None):
        self.build, self.programs = build, programs or build
        self.scratch = tempfile.TemporaryDirectory()
        self.made = 0

    def call(self, command, codes=(0,)):
        env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))
        if os.environ.get("SAN_LIB") and os.path.basename(command[0]) == "sm100emu":
            env["LD_PRELOAD"] = os.environ["SAN_LIB"]
        for name in [n for n in env if n.startswith("SM100EMU_")]:
            del env[name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=env)
        if done.returncode not in codes:
            raise Failed("%s: exit code %d\n%s" % (" ".join(command), done.returncode, done.stdout + done.stderr))
        return done.stdout

    def fresh(self, suffix):
        self.made += 1
        return os.path.join(self.scratch.name, "%d%s" % (self.made, suffix))

    def emulate(self, words, options=(), codes=(0,)):
        return self.call([os.path.join(self.build, "sm100emu"), *options, *words], codes)

    @functools.lru_cache(None)
    def prints(self, step, *args):
        """The lines that a step prints."""
        return self.emulate([os.path.join(self.programs, step), *args]).splitlines()

    def log_of(self, words, options=(), codes=(0,)):
        log = self.fresh(".log")
        self.emulate(words, ["--trace=" + log, *options], codes)
        tool = os.path.join(self.build, "sm100emu-log")
        text = self.call([tool, "--json", log])
        os.unlink(log)
        return json.loads(text)["logs"][-1]

    @functools.lru_cache(None)
    def log(self, step, *args, schedule="default"):
        """The log of a step's last launch: a Log."""
        return Log(self.log_of([os.path.join(self.programs, step), *args], ["--schedule=" + schedule]))

    @functools.lru_cache(None)
    def negative(self, name):
        """A kernel of tests/negative/: (its Log, its findings as SARIF results, its source's lines)."""
        source = os.path.join("tests/negative", name + ".ptx")
        with open(os.path.join(ROOT, source), encoding="utf-8") as f:
            lines = f.read().splitlines()
        field = lambda key: [w for line in lines for w in re.findall("^// %s: (.*)" % key, line)]
        said = self.fresh(".sarif")
        words = [os.path.join(self.programs, "tests/negative/launch_ptx"), source, *field("ARGS")[0].split()]
        options = [w for line in field("EMU") for w in line.split()]
        log = self.log_of(words, ["--check-json=" + said, *options], (int(field("EXIT")[0]),))
        with open(said, encoding="utf-8") as f:
            results = [r for run in json.load(f)["runs"] for r in run.get("results", [])]
        return Log(log), results, lines

    @functools.lru_cache(None)
    def compute(self, source):
        """The lines that a C program prints, compiled from the repository's root."""
        path = self.fresh(".c")
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        self.call([os.environ.get("CC") or "cc", "-std=c11", "-I", ".", "-o", path[:-2], path])
        return self.call([path[:-2]]).splitlines()

    def toolkit(self):
        """The version of nvcc that made the programs: times on the model clock depend on its code."""
        with open(os.path.join(self.programs, "toolkit.env"), encoding="utf-8") as f:
            return re.search(r"NVCC_VERSION='(.*)'", f.read())[1]


class Log:
    """A launch: rows of its tables as dictionaries."""

    def __init__(self, data):
        self.data, self.text = data, data["text"]
        self.sites = self.rows(data["sites"])
        self.clusters = [Cluster(self, c) for c in data["clusters"]]

    @staticmethod
    def rows(columns):
        return [dict(zip(columns, row)) for row in zip(*columns.values())]


class Cluster:
    """A cluster of a log. Rows have `n`, their number from 1; events have their `cycle`, where the clock can tell."""

    def __init__(self, log, data):
        self.log, self.data, self.names = log, data, data.get("names", {})
        self.objects, self.ops, self.events = (self.numbered(data[t]) for t in ("objects", "ops", "events"))
        for event, cycle in zip(self.events, data.get("cycle", [])):
            event["cycle"] = cycle

    @staticmethod
    def numbered(columns):
        rows = Log.rows(columns)
        for i, row in enumerate(rows):
            row["n"] = i + 1
        return rows

    def object(self, name, rank=0):
        """The number of the object of this name in a CTA."""
        for row, called in zip(self.objects, self.names["objects"]):
            if called == name and row["rank"] == rank:
                return row["n"]
        raise Failed("no %s in CTA %d" % (name, rank))

    def about(self, name, rank=0):
        """The events about an object."""
        wanted = self.object(name, rank)
        return [e for e in self.events if e["object"] == wanted]

    def op(self, event):
        """The operation that acts in an event."""
        return self.ops[event["op"] - 1]

    def cycle(self, number):
        """When event `number` happens, on the model clock."""
        return self.events[number - 1]["cycle"]

    def site(self, event):
        return self.log.sites[event["site"] - 1] if event["site"] else None
