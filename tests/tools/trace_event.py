"""trace_event.py, for log.py: is a text valid in the trace-event format (the object form of the "Trace Event Format" of
the Chromium project), and does every wait in it say what ended it, with an arrow from there? If not, it raises a Fault.

Checked beside the types of all fields: slices of a thread nest, timestamps do not fall, an arrow has one begin and one end
in this order, both inside of a slice of their thread, processes and threads have one name, counters hold numbers.
"""

import json
import re

NEEDED = {"X": {"ts", "dur", "tid", "name", "cat", "args"}, "s": {"ts", "tid", "name", "cat", "id"},
          "f": {"ts", "tid", "name", "cat", "id", "bp"}, "C": {"ts", "name", "args"}, "M": {"tid", "name", "args"}}
METADATA = {"process_name": str, "thread_name": str, "process_sort_index": int, "thread_sort_index": int}


class Fault(Exception):
    pass


def check(ok, text, event=None):
    if not ok:
        raise Fault(text + ("" if event is None else ": " + json.dumps(event)))


def unique(pairs):
    names = [name for name, _ in pairs]
    check(len(names) == len(set(names)), "a field twice: %s" % names)
    return dict(pairs)


def no_constant(name):
    raise Fault("%s is no number of JSON" % name)


def ns(us):
    n = round(us * 1000)
    check(abs(us * 1000 - n) < 1e-3, "no whole nanoseconds: %r" % us)
    return n


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_fields(e):
    check(isinstance(e, dict) and e.get("ph") in NEEDED, "no phase that is known", e)
    check(set(e) == NEEDED[e["ph"]] | {"ph", "pid"}, "fields", e)
    check(is_int(e["pid"]) and e["pid"] > 0, "pid", e)
    check("tid" not in e or is_int(e["tid"]) and e["tid"] >= 0, "tid", e)
    check(isinstance(e["name"], str) and e["name"] != "", "name", e)
    check("args" not in e or isinstance(e["args"], dict), "args", e)
    for field in "ts", "dur":
        check(field not in e or is_number(e[field]) and e[field] >= 0, field, e)
    check("cat" not in e or isinstance(e["cat"], str) and e["cat"] != "", "cat", e)
    check("id" not in e or is_int(e["id"]) and e["id"] > 0, "id", e)
    check("bp" not in e or e["bp"] == "e", "bp", e)


def check_metadata(e, named):
    kind = METADATA.get(e["name"])
    check(kind is not None, "metadata", e)
    field = "name" if kind is str else "sort_index"
    check(set(e["args"]) == {field} and isinstance(e["args"][field], kind), "metadata", e)
    key = (e["name"], e["pid"], e["tid"])
    check(key not in named, "told twice", e)
    named.add(key)


class Threads:
    """The slices that are open, by thread."""

    def __init__(self):
        self.open = {}

    def at(self, e, now):
        stack = self.open.setdefault((e["pid"], e["tid"]), [])
        while stack and stack[-1] <= now:
            stack.pop()
        return stack

    def begin(self, e, now):
        stack, end = self.at(e, now), now + ns(e["dur"])
        check(ns(e["dur"]) > 0, "a slice of no length", e)
        check(not stack or end <= stack[-1], "slices that do not nest", e)
        stack.append(end)


def check_slice(e):
    check(e["cat"] in ("event", "wait", "operation", "phase"), "cat", e)
    check(is_int(e["args"].get("event")), "the event", e)
    if e["cat"] in ("wait", "phase"):
        check(e["args"].get("because"), "nothing is said to have ended it", e)


# Of waits that nothing ended, and where the cause lies in another cluster, whose events have no common order with ours.
NO_ARROW = re.compile("did not end before|nothing else could run|they did not come|of cluster [0-9]+$")


def check_arrows(waits, arrows):
    for e in waits:
        if not NO_ARROW.search(e["args"]["because"]):
            check((e["pid"], e["tid"], ns(e["ts"]) + ns(e["dur"]) - 1) in arrows, "no arrow to the wait's end", e)


def check_trace(trace):
    check(isinstance(trace, dict) and set(trace) == {"displayTimeUnit", "otherData", "traceEvents"}, "the object's fields")
    check(trace["displayTimeUnit"] == "ns", "displayTimeUnit")
    check(all(isinstance(v, str) and v for v in trace["otherData"].values()), "otherData")
    named, used, threads, last = set(), set(), Threads(), 0
    begun, ended, waits, arrows = {}, set(), [], set()
    for e in trace["traceEvents"]:
        check_fields(e)
        if e["ph"] == "M":
            check_metadata(e, named)
            continue
        now = ns(e["ts"])
        check(now >= last, "time falls", e)
        last = now
        used.add(("process_name", e["pid"], 0))
        if e["ph"] == "C":
            check(e["args"] and all(is_int(v) for v in e["args"].values()), "a counter", e)
            continue
        used.add(("thread_name", e["pid"], e["tid"]))
        if e["ph"] == "X":
            check_slice(e)
            threads.begin(e, now)
            waits += [e] if e["cat"] == "wait" else []
            continue
        check(threads.at(e, now), "an arrow outside of all slices", e)
        if e["ph"] == "s":
            check(e["id"] not in begun, "an arrow that begins twice", e)
            begun[e["id"]] = e["cat"], e["name"]
        else:
            check(begun.get(e["id"]) == (e["cat"], e["name"]) and e["id"] not in ended, "an arrow from nowhere", e)
            ended.add(e["id"])
            arrows.add((e["pid"], e["tid"], now))
    check(set(begun) == ended, "arrows to nowhere: %d" % (len(begun) - len(ended)))
    check_arrows(waits, arrows)
    check(used <= named, "without a name: %s" % sorted(used - named)[:3])


def load(text):
    return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)

