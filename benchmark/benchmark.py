"""benchmark.py [OPTION...] [PATTERN...]: what a tool says of the pairs in benchmark/pairs (README.md).

  python3 -ISB python/sm100repo benchmark/benchmark.py --tool sm100emu 'proxy-*' deadlock

PATTERN: of a pair's name, mechanism, kind or class. Each form of a kernel is run once. What a tool says is one of

    told       it reports something
    silent     it reports nothing, and the kernel ends
    hangs      neither a report nor an end within the time
    refused    it cannot take the kernel: an instruction that it or its machine does not have
    failed     no report, but an error of the program or of the tool

A broken form should be told, a mended one and a legal one not. What was run is kept under BUILD/benchmark, by the
kernel's bytes, the tool's version and its options: a second run takes up where the first one stopped, and tries again
what hung or failed.

Exit code: 0; 1 with --require if a bug is missed that misses.txt does not argue, or a mended form is told; 2 for a bad
command line; 3 if the tool is not to be had.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import threading

import pairs as catalogue
from sm100repo import ROOT, read, write
from sm100repo.toolkit import fail

TOOLS = {"sm100emu": "sm100emu", "compute-sanitizer": "sanitizer", "sentryward": "sentryward"}
HERE = os.path.join(ROOT, "benchmark")
WORDS = ["told", "silent", "hangs", "refused", "failed"]


def module(tool):
    """The adapter of a tool, a file of tools/."""
    spec = importlib.util.spec_from_file_location(tool, os.path.join(HERE, "tools", TOOLS[tool] + ".py"))
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


# ---------------------------------------------------------------- runs


class Kept:
    """What was run before: lines of JSON, [key, outcome], in a file that each run adds to."""

    def __init__(self, tool, build, fresh):
        self.path = os.path.join(ROOT, build, "benchmark", tool.name + ".jsonl")
        self.base = hashlib.sha256(json.dumps([tool.version, tool.machine, tool.options]).encode())
        for path in tool.files():
            with open(path, "rb") as f:
                self.base.update(f.read())
        self.lock, self.known = threading.Lock(), {}
        if os.path.exists(self.path) and not fresh:
            lines = [line for line in read(self.path).splitlines() if line.endswith("]")]
            kept = [(key, outcome) for key, outcome in map(json.loads, lines) if outcome[0] not in ("hangs", "failed")]
            self.known = dict(kept)

    def key(self, text, words, seconds):
        own = self.base.copy()
        own.update(json.dumps([text, words, seconds]).encode())
        return own.hexdigest()

    def add(self, key, outcome):
        with self.lock:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(json.dumps([key, outcome]) + "\n")


def run(tool, chosen, options, kept):
    """{pair's name: {form: [word, names, message]}}; progress on stderr."""
    outcomes = {pair.name: {} for pair in chosen}
    forms = [(pair, form, text) for pair in chosen for form, text in pair.forms().items()]
    jobs = [job for job in forms if options.form in (None, job[1])]

    def one(job):
        pair, form, text = job
        key = kept.key(text, pair.words(), options.timeout)
        if key not in kept.known:
            ptx = os.path.join(folder, form, pair.name + ".ptx")
            write(ptx, text)
            word, names, message = tool.judge(ptx, pair.words(), options.timeout)
            outcome = [word, names, message.replace(os.path.join(folder, form) + os.sep, "")]
            kept.add(key, outcome)
            return outcome
        return kept.known[key]

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(one, job) for job in jobs]
        for done, ((pair, form, _), future) in enumerate(zip(jobs, futures), 1):
            outcomes[pair.name][form] = future.result()
            if sys.stderr.isatty() and (done % 10 == 0 or done == len(jobs)):
                print(f"\r{done} of {len(jobs)}", end="\n" if done == len(jobs) else "", file=sys.stderr, flush=True)
    return outcomes


# ---------------------------------------------------------------- scores


def verdict(pair, outcome):
    """What is counted for a bug: told, missed (silent), hangs, refused, failed; for any pair: false, if it is."""
    bad = [form for form, (word, *_) in outcome.items() if word == "told" and (pair.legal or form == "mended")]
    word = None if pair.legal else outcome.get("broken", [None])[0]
    return {"silent": "missed"}.get(word, word), bool(bad)


COLUMNS = ["pairs", "told", "missed", "hangs", "refused", "failed", "false"]


def score(chosen, outcomes, label, values):
    """[[value, counts...]] for each value of a label, the last row of all."""
    rows = {value: [0] * len(COLUMNS) for value in [*values, "all"]}
    for pair in chosen:
        if pair.name not in outcomes:
            continue
        word, false = verdict(pair, outcomes[pair.name])
        for value in (pair.fields[label], "all"):
            rows[value][0] += 1
            if word:
                rows[value][COLUMNS.index(word)] += 1
            rows[value][-1] += false
    return [[value, *counts] for value, counts in rows.items()]


def show(chosen, outcomes):
    for label, values in (("CLASS", catalogue.CLASSES), ("KIND", catalogue.KINDS)):
        print(f"{label.lower():14}" + "".join(f"{column:>9}" for column in COLUMNS))
        for value, *counts in score(chosen, outcomes, label, values):
            print(f"{value:14}" + "".join(f"{count:9}" for count in counts))
        print()


def faults(tool, chosen, outcomes, level, argued):
    """What --require does not take, a line each. argued: misses()."""
    for pair in chosen:
        for form, (word, names, message) in outcomes[pair.name].items():
            said = f"{word} ({', '.join(names) or message})"
            if pair.legal or form == "mended":
                if word != "silent":
                    yield f"{pair.name}: {'legal' if pair.legal else 'mended'}, and {said}"
            elif pair.fields["CLASS"] != "strict" or level == "strict":
                found = word == "told" and (not tool.names_rules or set(names) & set(pair.ids()))
                known = argued.get(pair.name, (None,))[0] in ("all", level)
                if not found and not known:
                    yield f"{pair.name}: broken, and {said}, not by {', '.join(pair.ids())}"
                if found and known:
                    yield f"{pair.name}: told, and misses.txt still argues why not"


def misses():
    """{pair: (level, reason)} of misses.txt."""
    lines = [line for line in read(os.path.join(HERE, "misses.txt")).splitlines() if line and line[0] not in "# "]
    return {name: (level, reason) for name, level, reason in
            (re.match(r"(\w+) (all|warn): (.+)$", line).groups() for line in lines)}


def record(path, tool, options, chosen, outcomes):
    """Writes outcomes as README.md says, a pair a line."""
    head = {"tool": tool.name, "version": tool.version, "machine": tool.machine, "options": tool.options,
            "date": datetime.date.today().isoformat(), "labels": options.labels,
            "score": {row[0]: row[1:] for row in score(chosen, outcomes, "CLASS", catalogue.CLASSES)}}
    fields = [f'"{name}": {json.dumps(value)}' for name, value in head.items()]
    lines = [f'"{name}": {json.dumps(outcome)}' for name, outcome in sorted(outcomes.items())]
    write(path, "{\n " + ",\n ".join(fields) + ',\n "outcomes": {\n  ' + ",\n  ".join(lines) + "\n }\n}\n")


def parse():
    parser = argparse.ArgumentParser(description="What a tool says of the pairs.", allow_abbrev=False)
    parser.add_argument("--tool", choices=TOOLS, default="sm100emu")
    parser.add_argument("--level", default=None, help="a level of the tool (default: its first)")
    parser.add_argument("--explore", type=int, default=0, metavar="N", help="sm100emu: also N random schedules")
    parser.add_argument("--program", metavar="PATH", help="the tool's program, if the adapter does not find it")
    parser.add_argument("--build", default="build", metavar="DIR")
    parser.add_argument("--folder", default=catalogue.FOLDER, metavar="DIR", help="pairs of another folder than pairs/")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="for one run of a kernel")
    parser.add_argument("--json", metavar="FILE", help="write the outcomes to FILE, in the format of results/")
    parser.add_argument("--labels", default="", metavar="COMMIT", help="the commit of the labels, for --json")
    parser.add_argument("--fresh", action="store_true", help="run all again")
    parser.add_argument("--form", choices=["broken", "mended"], help="only this form")
    parser.add_argument("--list", action="store_true", help="print a line for each wrong verdict")
    parser.add_argument("--require", action="store_true", help="exit code 1 if something is missed or false")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    return parser.parse_args()


def main():
    options = parse()
    adapter = module(options.tool)
    options.level = options.level or adapter.LEVELS[0]
    if options.level not in adapter.LEVELS:
        fail("benchmark.py", 2, f"{options.tool} has no level {options.level}: {', '.join(adapter.LEVELS)}")
    chosen = catalogue.load(options.patterns, options.folder)
    if not chosen:
        fail("benchmark.py", 2, "no pair matches")
    tool = adapter.Tool(options)
    outcomes = run(tool, chosen, options, Kept(tool, options.build, options.fresh))
    if options.json:
        record(options.json, tool, options, chosen, outcomes)
    wrong = list(faults(tool, chosen, outcomes, options.level, misses() if options.tool == "sm100emu" else {}))
    if options.list or options.require:
        print("".join(fault + "\n" for fault in wrong), end="")
    if not options.require:
        print(f"{tool.name} {tool.version}, {' '.join(tool.options) or 'no options'}; machine: {tool.machine}\n")
        show(chosen, outcomes)
    return 1 if options.require and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
