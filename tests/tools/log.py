"""log.py EMULATOR PROGRAMS EVERY STEP...: what sm100emu-log says of the steps' runs and of every EVERY-th kernel of
tests/negative.

EMULATOR is the launcher, beside which sm100emu-log lies; PROGRAMS the folder of what nvcc compiled. Of every wait that
was met, in all of them, the log knows the cause and sm100emu-log names it; barriers, tasks of warps and buffers of the
steps have the names of their source; the trace is valid (trace_event.py). SAN_LIB is preloaded where it is set.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import trace_event
from sm100repo import diagnostics, read

SYNC, OP, WAIT = 0, 1, 2  # trace/log.h: enum trace_class
MET, PHASE, STARTED, COMPLETED = 1, 5, 1, 2  # machine/events.h: enum event_wait_end and the kinds of the others
CAUSED = {(WAIT, MET), (SYNC, PHASE), (OP, STARTED), (OP, COMPLETED)}

PAIRS = ["%s[%d]" % (name, i) for name in ("acc_full", "acc_empty", "c_full", "c_empty", "answer_full", "answer_empty")
         for i in range(2)]
STAGES = ["%s stage %d" % (x, i) for i in range(7) for x in "AB"]
STORED = ["D"] + ["C stage %d" % i for i in range(2)] + STAGES[:10]
ROLES = ["epilogue"] * 4 + ["mma", "load"]


def ring(stages):
    return ["%s[%d]" % (name, i) for name in ("full", "empty") for i in range(stages)]


# Step, part or rung: arguments, names of rank 0's mbarriers, tasks of its warps, its buffers
STEPS = {
    "01_tmem_alloc": ([], [], None, None),
    "parts/contend": ([], [], None, None),
    "parts/shapes": ([], [], None, None),
    "02_simple_umma": ([], ["done"], ["warp %d" % i for i in range(4)], []),
    "03_tma_multicast": ([], ["full", "free", "done"], ["k_loop"] + ["epilogue"] * 3, ["A", "B"]),
    "04_pair_umma": ([], ["full", "free", "done"], ["k_loop"] + ["epilogue"] * 3, ["A", "B"]),
    "05_persistent_warpspec": (["--clusters", "4"], ring(5) + PAIRS, ROLES + ["c"], STORED),
    "ladder/0_pair": ([], ["full", "empty", "acc_full"], ["k_loop"] + ["epilogue"] * 3, ["A", "B"]),
    "ladder/1_ring": ([], ring(7) + ["acc_full"], ["k_loop"] + ["epilogue"] * 3, STAGES),
    "ladder/2_roles": ([], ring(7) + ["acc_full"], ROLES, STAGES),
    "ladder/3_persistent": ([], ring(7) + ["acc_full", "acc_empty"], ROLES, STAGES),
    "ladder/4_two_accumulators": ([], ring(7) + PAIRS[:4], ROLES, STAGES),
    "ladder/5_tma_store": ([], ring(5) + PAIRS[:8], ROLES + ["c"], STORED),
}
SHOWN = {  # what the timeline, and one barrier's story, must have
    "04_pair_umma": (["TMA load A -> cta0,4,8,12", "4 x UMMA 256x256x16, D =, columns 0-255",
                      "phase 0 complete  <- cta"],
                     "free@cta0", r"arrives at free(@cta0)?, phase 0: 0 arrivals to come"),
    "05_persistent_warpspec": (["expects 65536 bytes at full[0], phase 0", "commit -> acc_full[0]@cta0,1",
                                "waited for full[0], parity 0, since ", "TMA store D"],
                               "full[0]@cta0", r"cta1 +TMA +brings 16384 bytes of B stage 0 to full\[0\]@cta0"),
}
faults = []


def fault(what, text):
    faults.append("%s: %s" % (what, text))


def environment():
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))
    if env.get("SAN_LIB"):
        env["LD_PRELOAD"] = env["SAN_LIB"]
    return env


def trace(emulator, command, options, log):
    """Runs a program; its exit code."""
    try:
        return subprocess.run([emulator, "--trace=" + log] + options + command, env=environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600).returncode
    except subprocess.TimeoutExpired:
        return "none in 600 s"


def ask(emulator, what, log):
    """What sm100emu-log prints; None where it refuses."""
    run = subprocess.run([emulator + "-log"] + what + [log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return run.stdout if run.returncode == 0 else None


def check_causes(what, logs, caused=frozenset([(WAIT, MET)])):
    """How many waits were met; these kinds of events each have a cause, and none before it."""
    waits = 0
    for log in logs:
        for cluster in log["clusters"]:
            e = cluster["events"]
            for i, kind in enumerate(zip(e["class"], e["kind"])):
                waits += kind == (WAIT, MET)
                if kind in caused and not e["cause"][i]:
                    fault(what, "event %d of cluster %d: what caused it is not known" % (i + 1, cluster["number"]))
                if kind in caused and not e["cluster"][i] and e["cause"][i] > i:
                    fault(what, "event %d of cluster %d comes before its cause" % (i + 1, cluster["number"]))
    return waits


def check_perfetto(what, emulator, log, launches):
    path = log + ".json"
    for n in range(1, launches + 1):
        for order in [], ["--order"]:
            if ask(emulator, ["--perfetto=" + path, "--launch=%d" % n] + order, log) is None:
                fault(what, "no trace of launch %d" % n)
                continue
            try:
                trace_event.check_trace(trace_event.load(read(path)))
            except (trace_event.Fault, ValueError) as wrong:
                fault(what, wrong)


def same(what, name, wanted, found):
    if wanted is not None and wanted != found:
        fault(what, "%s: expected %s, found %s" % (name, wanted, found))


def check_names(what, cluster, wanted):
    names, objects = cluster["names"], cluster["objects"]
    barriers = [n for n, kind, rank in zip(names["objects"], objects["kind"], objects["rank"]) if kind == 0 and rank == 0]
    same(what, "barriers", sorted(wanted[1]), sorted(barriers))
    same(what, "tasks", wanted[2], names["warps"][0])
    same(what, "buffers", wanted[3], [r[3] for r in names["smem"] if r[0] == 0])


def check_clock(what, log):
    """Every event has a time, and none comes before what decided it."""
    for c in log["clusters"]:
        if not len(c["cycle"]) == len(c["blame"]) == len(c["events"]["class"]):
            fault(what, "times of %d events, not of %d" % (len(c["cycle"]), len(c["events"]["class"])))
        late = [i for i, b in enumerate(c["blame"]) if b and c["cycle"][b - 1] > c["cycle"][i]]
        if late or not any(c["cycle"]):
            fault(what, "events of cluster %d before their causes: %s" % (c["number"], late[:5]))


def check_step(emulator, programs, step, folder):
    wanted, log = STEPS[step], os.path.join(folder, os.path.basename(step))
    code = trace(emulator, [os.path.join(programs, step)] + wanted[0], [], log)
    text = ask(emulator, ["--json"], log)
    if code != 0 or text is None:
        fault(step, "exit code %s, or no log" % code)
        return
    logs = json.loads(text)["logs"]
    if check_causes(step, logs, CAUSED) == 0 or not all(log["clusters"] for log in logs):
        fault(step, "no waits, or a log without a cluster")
    check_names(step, logs[0]["clusters"][0], wanted)
    check_clock(step, logs[0])
    check_perfetto(step, emulator, log, len(logs) if step != "parts/shapes" else 1)
    lines, follow, story = SHOWN.get(step, ([], None, None))
    shown = ask(emulator, ["--timeline", "--order", "--width=0"], log) or ""
    for line in lines:
        if line not in shown:
            fault(step, "not in the timeline: %s" % line)
    if ("--- tile 0\n" in shown) != any("tcgen05.mma" in text for text in logs[0]["text"]):
        fault(step, "the timeline has a tile without UMMAs, or UMMAs without a tile")
    if follow and not re.search(story, ask(emulator, ["--follow=" + follow, "--order", "--width=0"], log) or ""):
        fault(step, "not in the story of %s: %s" % (follow, story))
    if follow:
        check_follow(emulator, [os.path.join(programs, step)] + wanted[0], follow, log)


def check_follow(emulator, command, follow, log):
    """sm100emu --follow shows what sm100emu-log does, and for an unknown name those that there are."""
    for name in follow, "nobody@cta0":
        shown = subprocess.run([emulator + "-log", "--follow=" + name, log], capture_output=True, text=True)
        run = subprocess.run([emulator, "--follow=" + name, *command], env=environment(), capture_output=True, text=True)
        refused = re.sub(r"^sm100emu-log: .* would differ.*\n", "", shown.stderr)
        told = shown.stdout + refused.replace("sm100emu-log:", "sm100emu:")
        same(name, "what is told", told, re.sub(r"^sm100emu: cuda\w+:", "sm100emu:", run.stderr))
        same(name, "exit code", 0, run.returncode)
        if (shown.returncode, "cta0 of cluster 0 has " in shown.stderr) != ((0, False) if name == follow else (1, True)):
            fault(name, "exit code %d: %s" % (shown.returncode, shown.stderr))


def negative(programs):
    """The kernels that must fail: (name, command, options)."""
    for source in sorted(glob.glob("tests/negative/*.ptx") + glob.glob("tests/negative/*.cu")):
        words = re.findall(r"^// (ARGS|EMU): *(.*)", read(source), re.M)
        given = {name: " ".join(v for n, v in words if n == name).split() for name in ("ARGS", "EMU")}
        name = os.path.splitext(os.path.basename(source))[0]
        program = [os.path.join(programs, diagnostics.program_of(source))] + [source] * source.endswith(".ptx")
        if os.access(program[0], os.X_OK):
            yield name, program + given["ARGS"], given["EMU"]


def check_negative(emulator, kernel, folder):
    name, command, options = kernel
    log = os.path.join(folder, "negative_" + name)
    trace(emulator, command, options, log)
    if not os.path.exists(log):  # refused before there was a device
        return 0, 0
    text = ask(emulator, ["--json"], log)
    if text is None:
        if os.path.getsize(log) > 0:
            fault(name, "the log cannot be read")
        return 0, 0
    logs = json.loads(text)["logs"]
    check_perfetto(name, emulator, log, min(len(logs), 2))
    waits = check_causes(name, logs)
    os.remove(log)
    return 1, waits


def main():
    emulator, programs, every, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder:
        for step in steps:
            check_step(emulator, programs, step, folder)
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda k: check_negative(emulator, k, folder), list(negative(programs))[::every]))
    runs, waits = (sum(column) for column in zip(*found))
    print("%d kernels with a log, %d waits that were met" % (runs, waits))
    if runs * every < 300 or waits < 100:
        fault("tests/negative", "too few ran")
    for text in faults[:40]:
        print("FAILED: %s" % text)
    sys.exit(bool(faults))


main()
