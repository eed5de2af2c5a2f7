"""mutants.py - runs the cases of this folder on the emulator and counts what it says of them. README.md has the rest.

  python3 -ISB python/sm100repo tests/mutants/mutants.py [OPTIONS] [PATTERN...]

PATTERN: of case names (05-*), or a class.
Exit code: 0; 1 with --require where a case is not judged right in any schedule, or a deadlock names a victim; 2 where a
catalogue has drifted.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from builder import Builder
from sm100repo import ROOT, catalogue, read, write
from sm100repo.toolkit import Failure, begin

REPORT = re.compile(r"^(warning|error|strict)\b.*\[([a-z0-9-]+)\]\s*$")
PLACE = re.compile(r"([\w./-]+\.(?:cuh|cu|h)):(\d+)")
OUTCOMES = ["right", "other", "FAIL", "silent", "hang", "crash", "unbuilt"]


# ---------------------------------------------------------------- one run


def reports(output):
    """[(class, id, [first places])] of the reports in what a run printed: the line of the access and its callers'."""
    found = []
    for line in output.splitlines():
        head = REPORT.match(line)
        if head:
            found.append((head[1], head[2], []))
        elif found and re.match(r"\s+(-->|from:|at )", line):
            found[-1][2].extend((m[1], int(m[2])) for m in PLACE.finditer(line))
    return found


def hang(output):
    """The lines of the report of a deadlock, up to its last one, or []: the headline first."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("error: deadlock:")), None)
    if first is None:
        return []
    last = next((i for i in range(first, len(lines)) if lines[i].startswith("  A GPU hangs here.")), len(lines))
    return lines[first:last]


def names_root(case, lines, made):
    """Does the report of a deadlock name the cause? None: there is no such report, or the case has no `root`. Asked are
    the headline with its source lines, and the first line of the chain under it; made: the places of the change."""
    if not lines or not case.root:
        return None
    shown = [line for line in lines[1:] if re.match(r"\s+(-->|from:)", line)]
    places = [(m[1], int(m[2])) for line in shown for m in PLACE.finditer(line)]
    chain = next((line for line in lines if re.match(r"  (CTA|\d+ (of the )?CTAs) .*\) warps? ", line)), "")
    said = lines[0] + " " + chain
    return near(places, made) or any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) for word in case.root)


def near(places, expected):
    """Does one of the places lie on an expected line? Reports name files from the root or in full."""
    return any(path.endswith(want) and line == at for path, line in places for want, at in expected)


def wants(label, level):
    """What is right of a case of this class at this level: to be `told`, not to be (`untold`), or `any` but silence."""
    if label in ("legal", "open") or (label == "strict" and level != "strict"):
        return "untold"
    return "seen" if label == "none" else "told"


def judge(case, level, found, code, output, places):
    """(outcome, whether the place is right, ids told)."""
    ids = sorted({i for _, i, _ in found})
    want = wants(case.label, level)
    if code is None:
        return "hang", False, ids
    if code < 0 or code in (139, 134, 136):
        return "crash", False, ids
    passed = code == 0 and re.search(r"^PASS", output, re.M)
    if want == "untold":
        return ("other" if ids else "right" if passed else "FAIL"), False, ids
    if want == "seen":
        return ("silent" if passed and not ids else "right"), False, ids
    if set(ids) & set(case.rules):
        return "right", any(near(at, places) for _, i, at in found if i in case.rules), ids
    return ("other" if ids else "silent" if passed else "FAIL"), False, ids


class Runner:
    """Runs cases; what a run gave is kept, by all that it depends on, in build/mutants/results.jsonl."""

    def __init__(self, options, builder):
        self.options, self.lock, self.known = options, threading.Lock(), {}
        self.builder = builder
        self.emulator = os.path.join(options.build, "sm100emu")
        library = Path(options.build, "emulator", "libsm100emu.so").read_bytes()
        self.version = hashlib.sha256(library).hexdigest()[:16]
        self.store = os.path.join(self.builder.kept, "results.jsonl")
        if os.path.exists(self.store) and not options.fresh:
            *lines, _ = read(self.store).split("\n")  # the last one may be cut
            self.known = {record["key"]: record for record in map(json.loads, lines)}

    def execute(self, program, words, schedule):
        """(exit code, or None where the time was over; output)."""
        o = self.options
        command = [self.emulator, f"--check={o.level}", f"--schedule={schedule}", "--threads=1", program, *words]
        process = begin(command, cwd=ROOT, start_new_session=True, errors="replace")
        try:
            output, _ = process.communicate(timeout=o.timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]

    def one(self, case, key, path, schedule):
        """The raw record of a run: exit code, reports, the verdict's line."""
        identity = [key, case.run[1:], schedule, self.options.level, self.version, self.options.timeout, "hang"]
        name = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:24]
        with self.lock:
            if name in self.known:
                return self.known[name]
        begun = time.monotonic()
        code, output = self.execute(path, case.run[1:], schedule)
        last = re.findall(r"^(?:PASS|FAIL).*$", output, re.M)
        record = {"key": name, "code": code, "reports": reports(output), "hang": hang(output),
                  "last": last[-1] if last else "", "seconds": round(time.monotonic() - begun, 3)}
        if code is not None and not record["reports"] and not record["last"]:
            return record  # neither report nor verdict: perhaps the program was not all there, so it is not kept
        with self.lock:
            self.known[name] = record
            with open(self.store, "a") as f:
                f.write(json.dumps(record) + "\n")
        return record

    def case(self, case):
        """{"name": ..., "runs": {schedule: {...}}} of one case under every schedule."""
        result = {"name": case.name, "class": case.label, "rules": case.rules, "why": case.why, "runs": {}}
        try:
            changed, places = catalogue.apply(case, self.builder.files(case.run[0]))
            _, made = catalogue.apply(case, self.builder.files(case.run[0]), near=False)
            key, path, passing = self.builder.make(case.run[0], changed, case.host)
        except Failure as failure:
            result["unbuilt"] = str(failure)
            result["runs"] = {s: {"outcome": "unbuilt", "place": False, "ids": []} for s in self.options.schedules}
            return result
        try:
            for schedule in self.options.schedules:
                raw = self.one(case, key, path, schedule)
                outcome, place, ids = judge(case, self.options.level, raw["reports"], raw["code"], raw["last"], places)
                result["runs"][schedule] = {"outcome": outcome, "place": place, "ids": ids, "hang": raw["hang"],
                                            "root": names_root(case, raw["hang"], made),
                                            "last": raw["last"], "seconds": raw["seconds"]}
        finally:
            if passing:
                os.remove(path)
        return result


# ---------------------------------------------------------------- all of them


def run_all(options, builder, cases):
    """The results in the order of the cases; progress on stderr."""
    runner, begun, results, done = Runner(options, builder), time.monotonic(), {}, 0
    with builder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pending = {pool.submit(runner.case, case): case for case in cases}
        try:
            for future in concurrent.futures.as_completed(pending):
                results[pending[future].name] = future.result()
                done += 1
                if sys.stderr.isatty() or done % 50 == 0 or done == len(cases):
                    end = "\r" if sys.stderr.isatty() and done < len(cases) else "\n"
                    spent = time.monotonic() - begun
                    print(f"  {done} of {len(cases)} cases, {spent:.0f} s", end=end, file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [results[case.name] for case in cases]


def right_anywhere(result):
    """Of what must be told: told in one schedule. Of what must not be: silent in all."""
    outcomes = [run["outcome"] for run in result["runs"].values()]
    if result["class"] in ("legal", "open") or result.get("untold"):
        return all(o == "right" for o in outcomes)
    return any(o == "right" for o in outcomes)


def table(options, results):
    """Right of all, by class and schedule, and in any schedule."""
    width = max(10, *(len(s) for s in options.schedules)) + 2
    print(f"\n{'class':<10}{'cases':>6}  " + "".join(f"{s:>{width}}" for s in options.schedules) + f"{'in all':>10}")
    for label in catalogue.CLASSES:
        rows = [r for r in results if r["class"] == label]
        if not rows:
            continue
        cells = [sum(r["runs"][s]["outcome"] == "right" for r in rows) for s in options.schedules]
        total = sum(right_anywhere(r) for r in rows)
        print(f"{label:<10}{len(rows):>6}  " + "".join(f"{c:>{width}}" for c in cells) + f"{total:>10}")
    print("  `in all`: error, warning, strict: reported by a right rule in at least one schedule; legal: silent in all")


def outcomes(options, results):
    """How often each outcome, by class, over all runs; and how often a right report names a right line."""
    print(f"\n{'runs':<10}" + "".join(f"{o:>9}" for o in OUTCOMES) + f"{'place':>9}")
    for label in catalogue.CLASSES:
        runs = [run for r in results if r["class"] == label for run in r["runs"].values()]
        if runs:
            counts = [sum(run["outcome"] == o for run in runs) for o in OUTCOMES]
            place = sum(run["place"] for run in runs)
            print(f"{label:<10}" + "".join(f"{c:>9}" for c in counts) + f"{place:>9}")
    print("  right: as the label has it; other: reported by another rule only; place: of the right ones, those whose\n"
          "  first source lines have the changed one or a counterpart")


def misses(results):
    """A line for each case that is not right."""
    missed = [r for r in results if not right_anywhere(r) and r["class"] != "open"]
    if missed:
        print(f"\nnot right: {len(missed)}")
    for r in missed:
        seen = {}
        for schedule, run in r["runs"].items():
            said = run["outcome"] + (": " + " ".join(run["ids"]) if run["ids"] else "")
            seen.setdefault(said, []).append(schedule)
        text = "; ".join(f"{said} ({', '.join(where)})" for said, where in seen.items())
        print(f"  {r['class']:<8} {r['name']:<40} {text}")
        if r.get("unbuilt"):
            print("    " + "\n    ".join(r["unbuilt"].strip().splitlines()[:6]))
    told = [r for r in results if r["class"] == "open" and any(run["ids"] for run in r["runs"].values())]
    for r in told:
        print(f"  open     {r['name']:<40} reported: " +
              ' '.join(sorted({i for x in r['runs'].values() for i in x['ids']})))


def roots(results):
    """How many of the runs that end in a deadlock name its cause, and a line for each that does not."""
    runs = [(r, schedule, run) for r in results for schedule, run in r["runs"].items() if run.get("hang")]
    asked = [hang for hang in runs if hang[2]["root"] is not None]
    if not runs:
        return
    right = sum(run["root"] for _, _, run in asked)
    print(f"\ndeadlocks: {len(runs)}, of which {right} of {len(asked)} name the root")
    for r, schedule, run in runs:
        if not run["root"]:
            said = run["hang"][0].removeprefix("error: deadlock: ").split("  ")[0]
            said = "has no `root`" if run["root"] is None else said
            print(f"  {r['name']:<34} ({schedule}) {said}")


def write_sources(folder, builder, cases):
    """Each case's changed sources as a tree of their own, for other tools."""
    for case in cases:
        changed, _ = catalogue.apply(case, builder.files(case.run[0]))
        for path, text in {**builder.files(case.run[0]), **changed}.items():
            write(os.path.join(folder, case.name, path), text)
        told = {"name": case.name, "class": case.label, "rules": case.rules, "run": case.run, "why": case.why,
                "include": os.path.relpath(os.path.join(catalogue.CASES, "weaker.cuh"), ROOT)}
        write(os.path.join(folder, case.name, "case.json"), json.dumps(told, indent=1))


def read_options():
    p = argparse.ArgumentParser(prog="mutants.py", description="one-change cases of the steps, judged by the emulator")
    p.add_argument("patterns", nargs="*", metavar="PATTERN", help="case names, or a class (default: all)")
    p.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder (build)")
    p.add_argument("--catalogue", action="append", help="a file of cases instead of those here")
    p.add_argument("--schedules", default="default", help="of the emulator, separated by blanks (default)")
    p.add_argument("--level", default="warn", choices=["off", "warn", "error", "strict"], help="of --check (warn)")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="cases at a time (one for each CPU)")
    p.add_argument("--timeout", type=float, default=30, help="seconds for each run (30)")
    p.add_argument("--json", metavar="FILE", help="the results, for other programs")
    p.add_argument("--fresh", action="store_true", help="run all again, also cases with known results")
    p.add_argument("--require", action="store_true",
                   help="exit 1 unless every case is right and every deadlock names its root")
    p.add_argument("--list", action="store_true", help="list the cases, and run nothing")
    p.add_argument("--sources", metavar="DIR", help="write the changed sources there, and run nothing")
    options = p.parse_args()
    options.schedules = options.schedules.split()
    options.build = os.path.abspath(options.build)
    return options


def main():
    options = read_options()
    try:
        cases = catalogue.chosen(catalogue.read_all(options.catalogue), options.patterns)
        builder = Builder(ROOT, options.build)
        catalogue.each(lambda case: catalogue.apply(case, builder.files(case.run[0])), cases)
    except catalogue.Drift as drift:
        print(drift, file=sys.stderr)
        return 2
    if not cases:
        print("no case has such a name", file=sys.stderr)
        return 2
    if options.list:
        for case in cases:
            print(f"{case.label:<8} {case.name:<40} {' '.join(case.rules)}")
        return 0
    if options.sources:
        write_sources(options.sources, builder, cases)
        return 0
    results = run_all(options, builder, cases)
    for result in results:
        result["untold"] = wants(result["class"], options.level) == "untold"
    table(options, results)
    outcomes(options, results)
    misses(results)
    roots(results)
    if options.json:
        told = {"level": options.level, "schedules": options.schedules, "cases": results}
        write(options.json, json.dumps(told, indent=1))
    victims = any(run.get("root") is False for r in results for run in r["runs"].values())
    return int(options.require and (victims or not all(right_anywhere(r) for r in results)))


if __name__ == "__main__":
    sys.exit(main())
