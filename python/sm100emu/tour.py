"""tour.py - the tour of a watch page: stops that are written with a lesson, found in the log of a run.

A tour.txt beside the lesson has stop after stop, each of lines `word rest`; a line that begins with # is a comment.

    stop NAME                      begins a stop
    title TEXT                     its heading, mostly the reader's question
    event OPERATION [OBJECT PHASE] what happens, and to which phase of which barrier. Phase -1 is the one before the first
    by [warp W of] CTA R           the threads that do it, or that issued the operation
    of CTA R                       the CTA that has the barrier
    columns C                      the first column of tensor memory that it is about
    line TEXT                      a part of its source line, or of a line that calls it; of several any one may be it
    show ROW of CTAs R ...         a row that is to be in sight, too: a barrier's name, TMA, tensor core, commits
    with NAME                      an earlier stop whose event is to be in sight, too
    text TEXT                      what the reader reads there; `...` is code

Exactly one event is to match. Under any schedule and clock it is the same one, as nothing here is a time or an index:
only of what the threads of one warp do one after another `first OPERATION` or `last OPERATION` may choose.

    wait                   threads pass a barrier; tcgen05.wait::st, tcgen05.wait::ld: their own stores, loads are done
    phase                  a phase of the barrier is complete
    init expect arrive     what threads do to a barrier
    alloc dealloc          columns of tensor memory
    issue start complete   WORK: a copy (the barrier is the one that hears of its bytes), a store, an umma (the barrier
                           hears of its commit), a commit, a tcgen05.ld, a tcgen05.st

What the text says is held to the log by facts:

    because WORK|thread            what came last to the phase that was awaited, or what the threads waited for
    took N arrivals [B bytes] [from CTAs R ...]    all that the phase took
    reaches CTAs R ...             the receivers of the copy, or those who hear of the commit
    after NAME                     the event comes after that of an earlier stop

A stop that is not found, or whose fact is not so, is Lost, with its line and what is there instead. That is why stops are
found here and not by the page: whoever makes the page sees it, and no reader of it does.
"""

import os
import re

from sm100emu.source import source_lines

SYNC, OP, WAIT, LIFE = range(4)  # enum event_class, and kinds below: emulator/machine/events.h
ARRIVALS, PHASES, PASSES = (0, 1, 7, 10), (5, 8, 11), (9, 12)
EXPECT, BYTES, TEST = 2, 3, 6
MET = 1
MBARRIER = 0
STAGES = ("issue", "start", "complete")
ACTS = {"expect": (SYNC, (EXPECT,)), "arrive": (SYNC, ARRIVALS), "init": (LIFE, (10,)), "alloc": (LIFE, (6,)),
        "dealloc": (LIFE, (8,)), "phase": (SYNC, PHASES), "tcgen05.wait::ld": (SYNC, (18,)),
        "tcgen05.wait::st": (SYNC, (19,))}
AGENTS = {1: "copy", 2: "copy", 3: "copy", 4: "umma", 6: "", 8: "commit"}  # enum event_agent; "": as it is called
ENGINES = ("TMA", "tensor core", "commits")  # rows of the page that are no barrier's
WORKS = ("copy", "store", "umma", "commit", "tcgen05.ld", "tcgen05.st")
NOBODY = 255


class Lost(Exception):
    """A tour and the log, or the tour and its syntax, do not agree; where and how."""


# ---------------------------------------------------------------- tour.txt


class Stop:
    """A stop as it is written. Each of its words has its line, for what goes wrong with it."""

    def __init__(self, path, line, name):
        self.path, self.name, self.line, self.words = path, name, line, {}
        self.at = self.title = self.text = None

    def lost(self, why, word=None):
        return Lost("%s:%d: stop %s: %s" % (self.path, self.words[word][0][0] if word else self.line, self.name, why))

    def take(self, line, word, rest):
        grammar = SYNTAX.get(word)
        if not grammar:
            raise Lost("%s:%d: stop %s: no such word: %s" % (self.path, line, self.name, word))
        if word in self.words and word not in ("line", "text", "show"):
            raise Lost("%s:%d: stop %s: a second `%s`" % (self.path, line, self.name, word))
        found = re.fullmatch(grammar, rest)
        if not found:
            raise Lost("%s:%d: stop %s: `%s %s` is not understood" % (self.path, line, self.name, word, rest))
        self.words.setdefault(word, []).append((line, rest, found.groupdict()))

    def get(self, word, part):
        """A part of a word's rest, as a number if it is one, or None."""
        value = self.words[word][0][2].get(part) if word in self.words else None
        return int(value) if value and re.fullmatch(r"-?\d+", value) else value

    def ranks(self, word):
        return sorted(map(int, re.findall(r"\d+", self.words[word][0][2]["ctas"] or "")))

    def finish(self):
        for word in "title", "event", "text":
            if word not in self.words:
                raise self.lost("it has no `%s`" % word)
        self.title = self.words["title"][0][1]
        self.text = " ".join(rest for _, rest, _ in self.words["text"])


CTAS = r"CTAs? (?P<ctas>\d+(,? \d+)*)"
STAGED = "(?:%s) (?:%s)" % ("|".join(STAGES), "|".join(map(re.escape, WORKS)))
SYNTAX = {
    "title": r".+",
    "text": r".+",
    "line": r".+",
    "event": r"(?:(?P<which>first|last) )?(?P<does>%s|%s|wait)(?: (?P<object>\S.*?) (?P<phase>-?\d+))?"
    % (STAGED, "|".join(map(re.escape, ACTS))),
    "by": r"(?:warp (?P<warp>\d+) of )?CTA (?P<cta>\d+)",
    "of": r"CTA (?P<cta>\d+)",
    "columns": r"(?P<first>\d+)",
    "because": r"(?P<work>%s|thread)" % "|".join(map(re.escape, WORKS)),
    "took": r"(?P<arrivals>\d+) arrivals?(?: (?P<bytes>\d+) bytes)?(?: from %s)?" % CTAS,
    "reaches": CTAS,
    "after": r"(?P<name>\S+)",
    "with": r"(?P<name>\S+)",
    "show": r"(?P<row>\S.*?) of " + CTAS,
}


def read(path):
    """The stops of a file."""
    stops = []
    try:
        with open(path, encoding="utf-8") as f:
            lines = f.readlines()
    except UnicodeDecodeError:
        raise Lost("%s: it is not in UTF-8" % path) from None
    for number, line in enumerate(lines, 1):
        word, _, rest = line.strip().partition(" ")
        if not word or word.startswith("#"):
            continue
        if word == "stop":
            if any(s.name == rest for s in stops):
                raise Lost("%s:%d: a second stop of this name: %s" % (path, number, rest))
            stops.append(Stop(path, number, rest.strip()))
        elif not stops:
            raise Lost("%s:%d: `%s` before the first stop" % (path, number, word))
        else:
            stops[-1].take(number, word, rest.strip())
    for stop in stops:
        stop.finish()
    if not stops:
        raise Lost("%s:1: there is no stop" % path)
    return stops


# ---------------------------------------------------------------- the log


class Run:
    """A cluster's log, by what a stop asks of it. Events and operations count from 0 here, 0 being none in the log."""

    def __init__(self, log, cluster, root):
        self.log, self.c, self.root, self.files, self.places = log, cluster, root, {}, {}
        self.e, self.w, self.o = cluster["events"], cluster["ops"], cluster["objects"]
        self.size = len(self.e["kind"])
        self.hears, self.completes = {}, {}
        for i in range(self.size):
            if self.e["class"][i] == SYNC and self.e["object"][i]:
                mark = (self.e["object"][i], self.e["phase"][i])
                if self.e["kind"][i] in PHASES:
                    self.completes[mark] = i
                elif self.e["op"][i]:
                    self.hears.setdefault(self.e["op"][i] - 1, set()).add(mark)
        self.commits()

    def commits(self):
        """Of an UMMA hears whoever hears of the next commit of the same warp."""
        waiting = {}
        for i in range(self.size):
            if self.e["class"][i] == OP and self.e["kind"][i] == 0 and self.e["op"][i]:
                op = self.e["op"][i] - 1
                mine = waiting.setdefault((self.w["rank"][op], self.w["warp"][op]), [])
                if self.work(op) == "umma":
                    mine.append(op)
                elif self.work(op) == "commit":
                    for umma in mine:
                        self.hears[umma] = self.hears.get(op, set())
                    mine.clear()

    def work(self, op):
        name = self.log["text"][self.w["name"][op]]
        kind = AGENTS.get(self.w["agent"][op]) or name
        return "store" if kind == "copy" and not self.w["to"][op] else kind

    def object(self, number):
        return self.c["names"]["objects"][number - 1]

    def owner(self, number):
        return self.o["rank"][number - 1]

    # ------------------------------------------------------------ candidates

    def events(self, does):
        """(event, (CTA, warp) or None, {(object, phase)}) of all that do this."""
        e, stage = self.e, does.split(" ")
        for i in range(self.size):
            mark = {(e["object"][i], e["phase"][i])} if e["object"][i] else set()
            who = (e["rank"][i], e["warp"][i])
            if stage[0] in STAGES:
                op = e["op"][i] - 1
                if op >= 0 and e["class"][i] == OP and e["kind"][i] == STAGES.index(stage[0]) and self.work(op) == stage[1]:
                    yield i, (self.w["rank"][op], self.w["warp"][op]), self.hears.get(op, set())
            elif does == "wait":
                if e["class"][i] == SYNC and e["kind"][i] == TEST and e["count"][i]:
                    yield self.met(i), who, {(e["object"][i], e["phase"][i] - 1)}
                elif e["class"][i] == SYNC and e["kind"][i] in PASSES:
                    yield self.met(i), who, mark
            elif e["class"][i] == ACTS[does][0] and e["kind"][i] in ACTS[does][1] and (does == "phase" or not e["op"][i]):
                waited = does.startswith("tcgen05.wait")
                yield self.met(i) if waited else i, None if does == "phase" else who, mark

    def met(self, i):
        """The end of the wait that was over when event i was, if threads did wait; else i."""
        e, n = self.e, i + 1
        same = n < self.size and (e["rank"][n], e["warp"][n]) == (e["rank"][i], e["warp"][i])
        return n if same and e["class"][n] == WAIT and e["kind"][n] == MET else i

    def lines(self, i):
        """Where event i is in the source: (file:line, text), the innermost first."""
        site, found = self.e["site"][i] - 1, []
        if site < 0:
            return found
        table, at = self.log["sites"], self.log["sites"]["inlined"][site]
        found.append(self.line(table["file"][site], table["line"][site]))
        while at:
            calls = self.log["calls"]
            found.append(self.line(calls["file"][at - 1], calls["line"][at - 1]))
            at = calls["outer"][at - 1]
        return found

    def line(self, file, number):
        path = self.log["text"][file]
        if path not in self.files:
            self.files[path] = source_lines(os.path.join(self.root, path))
        text = self.files[path]
        return "%s:%d" % (os.path.basename(path), number), plain(text[number - 1]) if 0 < number <= len(text) else ""

    def columns(self, i):
        """The first column of tensor memory that event i is about, or None."""
        e, op = self.e, self.e["op"][i] - 1
        if e["class"][i] == LIFE and e["kind"][i] in (6, 8):
            return int(e["value"][i])
        if op < 0 or not self.work(op).startswith("tcgen05."):
            return None
        return self.w["from_off" if self.w["from"][op] else "to_off"][op] & 0xFFFF

    # ------------------------------------------------------------ a stop

    def find(self, stop):
        """The one event of a stop; or Lost, by the first of its words that nothing is left of."""
        left = list(self.events(stop.get("event", "does")))
        if not left:
            raise stop.lost("nothing in this log is a `%s`" % stop.get("event", "does"), "event")
        for word, what, seen, fits in self.filters(stop):
            kept = [c for c in left if fits(c)]
            if not kept:
                there = sorted({s for c in left for s in seen(c)}, key=natural)
                raise stop.lost("%s; there: %s" % (what, "; ".join(there[:8]) or "none"), word)
            left = kept
        which = stop.get("event", "which")
        if which and len({who for _, who, _ in left}) > 1:
            raise stop.lost("several warps do this, and `%s` chooses among the events of one" % which, "event")
        if which:
            left = [left[0 if which == "first" else -1]]
        if len(left) > 1:
            places = sorted({" in ".join(self.who(who)) for _, who, _ in left if who}, key=natural)
            raise stop.lost("%d events match; by: %s" % (len(left), "; ".join(places[:8])), "event")
        return left[0]

    def filters(self, stop):
        """(word, what is missed, what a candidate has there, whether it fits)."""
        name, phase = stop.get("event", "object"), stop.get("event", "phase")
        cta, warp, of = stop.get("by", "cta"), stop.get("by", "warp"), stop.get("of", "cta")
        if cta is not None:
            yield "by", "not by CTA %d" % cta, lambda c: self.who(c[1])[1:], lambda c: c[1] and c[1][0] == cta
        if warp is not None:
            yield "by", "not by warp %d" % warp, lambda c: self.who(c[1])[:1], lambda c: c[1] and c[1][1] == warp
        if name is not None:
            fits = lambda m: self.object(m[0]) == name and (of is None or self.owner(m[0]) == of)  # noqa: E731
            yield ("event", "not to %s%s" % (name, "" if of is None else " of CTA %d" % of),
                   lambda c: [self.object(m[0]) + " of CTA %d" % self.owner(m[0]) for m in c[2]],
                   lambda c: any(map(fits, c[2])))
            yield ("event", "not in phase %d of %s" % (phase, name),
                   lambda c: ["phase %d" % m[1] for m in c[2] if fits(m)],
                   lambda c: any(fits(m) and m[1] == phase for m in c[2]))
        if "columns" in stop.words:
            yield ("columns", "not at column %d" % stop.get("columns", "first"),
                   lambda c: [str(self.columns(c[0]))], lambda c: self.columns(c[0]) == stop.get("columns", "first"))
        if "line" in stop.words:
            texts = [plain(rest) for _, rest, _ in stop.words["line"]]
            yield ("line", "not in a line with `%s`" % "` or `".join(texts),
                   lambda c: ["%s `%s`" % line for line in self.lines(c[0])[-2:]],
                   lambda c: any(t in text for t in texts for _, text in self.lines(c[0])))

    def who(self, who):
        return ("warp %d" % who[1], "CTA %d" % who[0]) if who and who[1] != NOBODY else ("no warp", "no CTA")

    def mark(self, stop, marks):
        """The (object, phase) that the stop names, of those that the event is about."""
        name, phase, of = stop.get("event", "object"), stop.get("event", "phase"), stop.get("of", "cta")
        return next((m for m in sorted(marks) if name is not None and self.object(m[0]) == name and m[1] == phase
                     and of in (None, self.owner(m[0]))), None)

    # ------------------------------------------------------------ facts

    def check(self, stop, mark, earlier):
        if "because" in stop.words:
            self.check_because(stop, mark)
        if "took" in stop.words:
            self.check_took(stop, mark)
        if "reaches" in stop.words:
            there = self.reached(stop.at)
            if there != stop.ranks("reaches"):
                raise stop.lost("it does not reach those CTAs; there: %s" % " ".join(map(str, there)), "reaches")
        if "after" in stop.words and stop.at <= self.named(stop, "after", earlier):
            raise stop.lost("it comes before that stop's event", "after")

    def rows(self, stop):
        """[name, CTA] of the rows that a stop wants to be in sight."""
        found = []
        for line, _, parts in stop.words.get("show", ()):
            for rank in map(int, re.findall(r"\d+", parts["ctas"])):
                there = {self.object(n) for n in range(1, len(self.o["rank"]) + 1) if self.owner(n) == rank}
                if rank not in set(self.e["rank"]) or parts["row"] not in there | set(ENGINES):
                    raise Lost("%s:%d: stop %s: CTA %d has no row %s; there: %s" % (
                        stop.path, line, stop.name, rank, parts["row"], "; ".join([*sorted(there)[:8], *ENGINES])))
                found.append([parts["row"], rank])
        return found

    def named(self, stop, word, earlier):
        """The event of the earlier stop that this word names."""
        name = stop.words[word][0][2]["name"]
        if name not in earlier:
            raise stop.lost("there is no such stop before it: %s" % name, word)
        return earlier[name]

    def check_because(self, stop, mark):
        """By the order of the log and, if it is on a clock, by the clock."""
        wanted = stop.get("because", "work")
        if mark and mark not in self.completes:
            raise stop.lost("its phase is never complete", "because")
        at = self.completes[mark] if mark else stop.at
        for causes in [self.e["cause"]] + ([self.c["blame"]] if mark and "blame" in self.c else []):
            last = causes[at] - 1
            op = self.e["op"][last] - 1 if last >= 0 else -1
            there = "nothing" if last < 0 else "thread" if op < 0 else self.work(op)
            if there != wanted:
                raise stop.lost("not because of a %s; there: %s" % (wanted, there), "because")

    def check_took(self, stop, mark):
        if not mark or self.o["kind"][mark[0] - 1] != MBARRIER:
            raise stop.lost("the event names no phase of an mbarrier", "took")
        e, arrivals, number, ranks = self.e, 0, 0, set()
        for i in range(self.size):
            if e["class"][i] == SYNC and (e["object"][i], e["phase"][i]) == mark and e["kind"][i] in ARRIVALS + (BYTES,):
                ranks.add(e["rank"][i])
                arrivals += e["count"][i] if e["kind"][i] in ARRIVALS else 0
                number += int(e["value"][i]) if e["kind"][i] == BYTES else 0
        wanted = (stop.get("took", "arrivals"), stop.get("took", "bytes") or 0, stop.ranks("took") or sorted(ranks))
        if wanted != (arrivals, number, sorted(ranks)):
            raise stop.lost("the phase took something else; there: %d arrivals %d bytes from CTAs %s"
                            % (arrivals, number, " ".join(map(str, sorted(ranks)))), "took")

    def reached(self, i):
        w, op = self.w, self.e["op"][i] - 1
        if op < 0:
            return []
        if w["ctas"][op]:
            return [r for r in range(32) if w["ctas"][op] >> r & 1]
        leader = w["leader"][op] or op + 1
        return sorted({w["to"][n] - 1 for n in range(len(w["to"])) if (w["leader"][n] or n + 1) == leader and w["to"][n]})


def plain(text):
    """With one space where there are several."""
    return " ".join(text.split())


def natural(text):
    """Sorts CTA 2 before CTA 10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def find(path, log, root):
    """What the page is given: [{name, title, text, event, with, object, rows}] of the stops in the first cluster of a launch
    that has events. event, with: from 0, or -1; object: the barrier that the stop is about, as the log counts, or 0; rows:
    [name, CTA] of those that are to be in sight, too."""
    cluster = next(c for c in log["clusters"] if c["events"]["kind"])
    run, found, made = Run(log, cluster, root), {}, []
    for stop in read(path):
        stop.at, _, marks = run.find(stop)
        mark = run.mark(stop, marks)
        run.check(stop, mark, found)
        other = run.named(stop, "with", found) if "with" in stop.words else -1
        found[stop.name] = stop.at
        made.append({"name": stop.name, "title": stop.title, "text": stop.text, "event": stop.at, "with": other,
                     "object": mark[0] if mark else 0, "rows": run.rows(stop)})
    return made
