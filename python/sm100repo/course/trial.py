"""trial.py - runs a program as drawn, and says what came of it from the emulator's own files: SARIF and statistics.

Nothing that the program prints counts, so no kernel can print itself a mark. The step's program poisons D before each
process's first launch, reads it back itself and compares it with the host's product; it says what it thinks by its exit
code, which no kernel can set: 0, or the emulator's 3 in its place where a rule fell, for a D that is right.
"""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from sm100repo import read
from sm100repo.course import sandbox

SECONDS = 600  # by the clock: it hangs; a kernel that does not end is stopped long before, by what it executes
CPU_SECONDS = 120
UNSEEN = 4  # the launcher's exit code in place of 0 or 3 where the checks did not see all
WATCHED = ("error", "warning")  # levels of the findings that count; what is `strict` is a note, and counts where asked
ALL = ("all of class strict", )
OPERATIONS = ("tcgen05.ld", "tcgen05.st", "tcgen05.cp", "tcgen05.alloc")  # as the step's own kernel does them


@dataclass
class Finding:
    """One rule that fell, as the checker tells it. line: in kernel.cuh, 0 where it names none."""

    rule: str
    level: str
    text: str  # the rule
    section: str
    message: str
    hint: str
    line: int
    place: str  # where it was told, from the repository's root
    print: str  # the same bug has the same one
    schedule: str = ""


@dataclass
class Result:
    """What came of one trial. right: D is, and all launches ended well."""

    right: bool = False
    ended: bool = True
    why: str = ""  # where it is not: what became of it, as the beginning of a sentence
    said: str = ""  # the program's last words, for people; nothing is decided by them
    findings: list[Finding] = field(default_factory=list)
    lost: bool = False  # more rules fell than the emulator has room for
    unseen: str = ""  # what the checker could not see of it, since it keeps no more than it has room for
    launches: list[dict] = field(default_factory=list)


def places(result):
    """(path, line) of a SARIF result, innermost call first."""
    frames = [f["location"] for stack in result.get("stacks", []) for f in stack["frames"]]
    for location in frames or result.get("locations", []):
        where = location["physicalLocation"]
        yield where["artifactLocation"]["uri"], where.get("region", {}).get("startLine", 0)


def finding(result, rules, folder):
    rule = rules.get(result["ruleId"], {})
    properties = result.get("properties", {})
    told = [(uri.removeprefix("file://").removeprefix(folder + "/").removeprefix("./"), line)
            for uri, line in places(result)]
    lines = [line for path, line in told if os.path.basename(path) == "kernel.cuh"]
    message = result["message"]["text"].replace(folder + "/", "")
    return Finding(result["ruleId"], result["level"], rule.get("shortDescription", {}).get("text", ""),
                   properties.get("section", ""), message, properties.get("hint", ""), lines[0] if lines else 0,
                   f"{told[0][0]}:{told[0][1]}" if told else "", result["ruleId"] + str(told[:1]))


def of_file(path, key):
    """What a file of the emulator has of this name; None where there is no whole file."""
    try:
        return json.loads(read(path))[key]
    except (OSError, ValueError, KeyError):
        return None


def findings(path, folder, strict):
    """(what the checker found and counts here, whether there was more); None, False where there is no whole file.
    strict: as of run_one."""
    run = (of_file(path, "runs") or [None])[0]
    if run is None:
        return None, False
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    found = [finding(r, rules, folder) for r in run["results"]
             if r["level"] in WATCHED or strict is ALL or r["ruleId"] in strict]
    return found, run["properties"]["occurrencesWithoutResult"] > 0


def last_words(run):
    """The host's line of failure, or what stands last on stderr: shown to the student, and no more."""
    failed = [line for line in run.out.splitlines() if line.startswith("FAIL")]
    return (failed or run.err.strip().splitlines() or [""])[-1][:300]


def why_not(run, found, launches):
    """What became of a run that is not right."""
    if run.code is None:
        return f"it did not end within {CPU_SECONDS} s of CPU time"
    if any(f.rule == "watchdog" for f in found):
        return "the emulator stopped it after far more instructions than the step's own kernel executes"
    if not launches or any(launch["fault"] for launch in launches):
        rules = [f.rule for f in found if f.level == "error"]
        return f"the emulator stopped it{f' ({rules[0]})' if rules else ''}"
    return "D is wrong" if run.code == 1 else f"the program ended with exit code {run.code}"


def run_one(emulator, program, trial, scratch, *, folder="", watchdog=0, strict=()):
    """One trial of one program, on one host thread, by which it is the same on any machine. strict: the rules of that
    class that count, or ALL."""
    name = os.path.join(scratch, f"run-{os.urandom(6).hex()}")
    os.mkdir(name)
    sarif, stats = os.path.join(name, "found.sarif"), os.path.join(name, "stats.json")
    command = [emulator, f"--schedule={trial.schedule}", f"--check={'strict' if strict else 'warn'}",
               f"--check-json={sarif}", f"--stats-json={stats}", "--require-complete", "--threads=1", "--memory=2G",
               f"--timeout={SECONDS}"]
    command += [f"--watchdog={watchdog}"] if watchdog else []
    run = sandbox.run([*command, program, *trial.arguments], name, seconds=SECONDS + 10, cpu_seconds=CPU_SECONDS)
    (found, lost), launches = findings(sarif, folder, strict), of_file(stats, "launches") or []
    whole = found is not None and launches and all(launch["fault"] == 0 for launch in launches)
    result = Result(right=run.code in (0, 3, UNSEEN) and bool(whole), ended=run.code is not None,
                    findings=found or [], lost=lost, launches=launches)
    for each in result.findings:
        each.schedule = trial.schedule
    result.unseen = "; ".join({what for launch in launches for what in launch.get("unseen", [])})
    if run.code == UNSEEN and not result.unseen:
        result.unseen = "more than it has room for"
    if not result.right:
        result.why, result.said = why_not(run, result.findings, launches), last_words(run)
    return result


def run_all(emulator, program, trials, scratch, jobs, **options):
    """The results of the trials, in their order; where the first does not end, of the first alone."""
    first = run_one(emulator, program, trials[0], scratch, **options)
    if not first.ended or any(f.rule in ("watchdog", "timeout") for f in first.findings):
        return [first]
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        rest = pool.map(lambda t: run_one(emulator, program, t, scratch, **options), trials[1:])
        return [first, *rest]


# ---------------------------------------------------------------- the work that the step's own kernel does


def work(launches):
    """By kernel: flop of the tensor core, bytes of what goes to tensor memory and back, copies by TMA."""
    done = {}
    for launch in launches:
        of = done.setdefault(launch["kernel"], {})
        for umma in launch.get("ummas", []):
            of["tcgen05.mma"] = of.get("tcgen05.mma", 0) + umma["flop"]
        for name, operation in launch.get("operations", {}).items():
            if name in OPERATIONS:
                of[name] = of.get(name, 0) + max(operation["bytes"], operation["instructions"])
            elif name.startswith("cp.async.bulk.tensor"):
                of["TMA copies"] = 1
    return done


def too_little(reference, own):
    """What the student's kernels do less of than the step's do; nine tenths of tensor memory's traffic are enough."""
    wanted, got = work(reference), work(own)
    found = []
    if len(reference) != len(own):
        found.append("launches")
    for kernel, operations in wanted.items():
        for name, amount in operations.items():
            enough = amount if name in ("tcgen05.mma", "TMA copies") else 0.9 * amount
            if got.get(kernel, {}).get(name, 0) < enough:
                found.append(name)
    return sorted(set(found))


def cycles(launches):
    """(modelled cycles of all launches, why they do not count). The clock counts only where no answer would differ."""
    models = [launch.get("model") or {} for launch in launches]
    doubts = [m.get("why_not") or m.get("doubts") for m in models if m.get("why_not") or m.get("doubts")]
    total = sum(m.get("cycles", 0) for m in models)
    return total, (doubts[0] if doubts else "" if total else "there are none")
