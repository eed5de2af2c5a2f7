"""ladder.py measures | results EMULATOR PROGRAMS COPIED | events EMULATOR PROGRAMS: what is said of the ladder is true.

measures  every rung has at most 400 lines, and at most 150 of them differ from the rung before
results   every rung leaves the D that the main program leaves: the same bits. COPIED is copied.c as a library, which is
          preloaded and tells what the programs fetch from the GPU
events    the last rung does what the main program does with the static scheduler: every warp, by its task, the same
          arrivals, waits that are passed, fences and operations in the same order, on barriers of the same names
"""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEP = os.path.join(ROOT, "05_persistent_warpspec")
MAIN = "05_persistent_warpspec"
PERSISTENT = "3"  # the first rung that takes --clusters
LINES, CHANGED = 400, 150
# Shapes that leave several tiles to a cluster; factors by which a product is rounded.
PROBLEMS = (["--m", "1024", "--n", "512", "--k", "640", "--beta", "0.3"],
            ["--m", "512", "--n", "512", "--k", "64", "--alpha", "-0.7", "--seed", "7"],
            ["--m", "1024", "--n", "1024", "--k", "512", "--beta", "0", "--type", "tf32"],
            ["--m", "512", "--n", "1024", "--k", "1280", "--type", "e4m3", "--alpha", "0.3"])
CLUSTERS = ("2x1", "2x2", "4x1", "4x2")
faults = []


def fault(text):
    faults.append(text)
    print("FAILED:", text)


def rungs():
    names = sorted(f[:-3] for f in os.listdir(os.path.join(STEP, "ladder")) if f.endswith(".cu"))
    if [n[0] for n in names] != [str(i) for i in range(len(names))] or len(names) < 2:
        sys.exit("the rungs are not numbered from 0 on: %s" % names)
    return names


# ---------------------------------------------------------------- measures

def changed(old, new):
    """Lines taken away and lines added."""
    out = subprocess.run(["diff", old, new], stdout=subprocess.PIPE, text=True).stdout
    return sum(line[0] in "<>" for line in out.splitlines())


def measures():
    files = [os.path.join(STEP, "ladder", name + ".cu") for name in rungs()]
    for i, path in enumerate(files):
        name = os.path.basename(path)
        with open(path) as f:
            lines = len(f.readlines())
        more = changed(files[i - 1], path) if i else 0
        print("%-24s %3d lines, %3d changed" % (name, lines, more))
        if lines > LINES:
            fault("%s has %d lines, at most %d are read in one sitting" % (name, lines, LINES))
        if more > CHANGED:
            fault("%s differs from the rung before in %d lines, at most %d" % (name, more, CHANGED))


# ---------------------------------------------------------------- results

def emulate(emulator, options, words, preload=""):
    """A finished process of words on the emulator."""
    preload = ":".join(p for p in (os.environ.get("SAN_LIB"), preload) if p)
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))
    if preload:
        env["LD_PRELOAD"] = preload
    return subprocess.run([emulator, *options, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600)


def result(emulator, programs, copied, program, words, d_bytes):
    """The hash of what the program fetches as D; None where it fails."""
    run = emulate(emulator, ["--check=strict"], [os.path.join(programs, program), *words], copied)
    found = re.findall(r"^copied %d bytes, ([0-9a-f]+)$" % d_bytes, run.stderr, re.M)
    if run.returncode != 0 or len(found) != 1:
        fault("%s %s: exit code %d, %d results of %d bytes\n%s" %
              (program, " ".join(words), run.returncode, len(found), d_bytes, run.stderr))
        return None
    return found[0]


def results(emulator, programs, copied):
    seen = set()
    for i, problem in enumerate(PROBLEMS):
        size = {key: int(value) for key, value in zip(problem, problem[1:]) if key in ("--m", "--n")}
        d_bytes = 4 * size["--m"] * size["--n"]
        words = problem + ["--cluster", CLUSTERS[i % len(CLUSTERS)]]
        wanted = result(emulator, programs, copied, MAIN, words + ["--clusters", "1"], d_bytes)
        seen.add(wanted)
        for name in rungs():
            one = ["--clusters", "1"] if name >= PERSISTENT else []
            found = result(emulator, programs, copied, "ladder/" + name, words + one, d_bytes)
            if found != wanted:
                fault("%s %s: D has the hash %s, the main program's %s" % (name, " ".join(words), found, wanted))
    if len(seen) != len(PROBLEMS):
        fault("two problems have one D: the hashes tell nothing")
    print("%d problems, %d rungs: the main program's D" % (len(PROBLEMS), len(rungs())))


# ---------------------------------------------------------------- events

# trace/log.h and machine/events.h: enum trace_class, enum event_sync_kind (those that threads do, and that are the same
# whoever comes first), enum event_life_kind, enum event_op_stage
SYNC, OP, LIFE = 0, 1, 3
SYNC_KINDS = {name: i for i, name in enumerate(
    ("arrive", "drop", "expect_tx", "complete_tx", "pending", "phase", "test", "bar arrive", "bar phase", "bar pass",
     "cluster arrive", "cluster phase", "cluster pass", "warp", "fence", "group commit", "group wait", "tcgen05.ld",
     "wait::ld", "wait::st", "use", "fence::before", "fence::after"))}
SYNC_NAMES = {i: name for name, i in SYNC_KINDS.items()}
NOBODY = {"complete_tx", "phase", "bar phase", "cluster phase"}  # told of what threads did
LIFE_KINDS = {6: "alloc", 8: "dealloc", 9: "relinquish", 10: "mbarrier.init"}
OP_ISSUED = 0
SCHEDULER = "answer_"  # barriers of the dynamic scheduler: the last rung has none


def operation(log, cluster, number):
    """What an operation does, as far as two programs can agree on it: maps and addresses in global memory are not in
    it, nor the coordinates of dimensions that are 0."""
    op = {key: column[number - 1] for key, column in cluster["ops"].items()}
    keys = ("m", "n", "k", "cta_group", "kind", "from", "from_off", "to", "to_off", "signals", "ctas", "accumulate",
            "bytes", "a", "b")
    return ("issues", log["text"][op["name"]], *((key, op[key]) for key in keys if op[key]),
            *(("coordinate %d" % i, x) for i, x in enumerate(op["coord"]) if x))


def told(log, cluster):
    """(rank, warp): the list of what it did, in its order."""
    names, events = cluster["names"]["objects"], cluster["events"]
    did = {}
    for i, what in enumerate(events["class"]):
        e = {key: events[key][i] for key in ("kind", "rank", "warp", "object", "op", "phase", "count", "value", "what")}
        name = names[e["object"] - 1] if e["object"] else ""
        kind = SYNC_NAMES.get(e["kind"], e["kind"])
        if name.startswith(SCHEDULER):
            continue
        if what == SYNC and not e["op"] and kind == "test" and e["count"]:
            token = ("passes", name, e["what"])
        elif what == SYNC and not e["op"] and kind not in NOBODY and kind != "test":
            token = (kind, name, e["phase"], e["count"], e["value"], e["what"])
        elif what == OP and e["kind"] == OP_ISSUED:
            token = operation(log, cluster, e["op"])
        elif what == LIFE and e["kind"] in LIFE_KINDS:
            token = (LIFE_KINDS[e["kind"]], name, e["count"])
        else:
            continue
        did.setdefault((e["rank"], e["warp"]), []).append(token)
    # A wait behind a peek that said yes is answered at once: told twice, or once where the peek said no.
    return {who: [t for t, before in zip(tokens, [None] + tokens) if t != before or t[0] != "passes"]
            for who, tokens in did.items()}


def traced(emulator, programs, program, words, folder):
    log = os.path.join(folder, "log")
    run = emulate(emulator, ["--check=off", "--trace=" + log], [os.path.join(programs, program), *words])
    shown = subprocess.run([emulator + "-log", "--json", "--order", log], stdout=subprocess.PIPE, text=True)
    if run.returncode or shown.returncode:
        fault("%s %s: exit code %d, no log\n%s" % (program, " ".join(words), run.returncode, run.stderr))
        return None
    return json.loads(shown.stdout)["logs"][0]


def compare(what, one, two):
    """Clusters of two logs; how many events are the same."""
    count = 0
    for a, b in zip(one["clusters"], two["clusters"]):
        roles = a["names"]["warps"]
        if roles != b["names"]["warps"]:
            fault("%s: tasks %s and %s" % (what, roles, b["names"]["warps"]))
        a_did, b_did = told(one, a), told(two, b)
        for who in sorted(set(a_did) | set(b_did)):
            x, y = a_did.get(who, []), b_did.get(who, [])
            count += len(x)
            if x != y:
                at = next((i for i, pair in enumerate(zip(x, y)) if pair[0] != pair[1]), min(len(x), len(y)))
                fault("%s: cluster %d, rank %d, %s: event %d\n  main: %s\n  rung: %s" % (
                    what, a["number"], who[0], roles[who[0]][who[1]] if who[1] < len(roles[who[0]]) else "nobody", at,
                    x[at:at + 1], y[at:at + 1]))
    if len(one["clusters"]) != len(two["clusters"]):
        fault("%s: %d and %d clusters" % (what, len(one["clusters"]), len(two["clusters"])))
    return count


def events(emulator, programs):
    rung = "ladder/" + rungs()[-1]
    with tempfile.TemporaryDirectory() as folder:
        for i, problem in enumerate(PROBLEMS):
            words = problem + ["--cluster", CLUSTERS[i % len(CLUSTERS)], "--clusters", "1"]
            logs = [traced(emulator, programs, program, words, folder) for program in (MAIN, rung)]
            if all(logs):
                print("%s: %d events" % (" ".join(words), compare(" ".join(words), *logs)))


def main(args):
    modes = {"measures": (measures, 0), "results": (results, 3), "events": (events, 2)}
    if not args or args[0] not in modes or len(args) - 1 != modes[args[0]][1]:
        sys.exit(__doc__)
    modes[args[0]][0](*args[1:])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
