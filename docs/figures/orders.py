"""orders.py - figures of the memory model: two accesses without an edge, and the same with it.

Each is a pair of kernels of tests/negative/. race_NAME.ptx lacks an edge: a run of it reports which two accesses nothing
orders. race_NAME_ok.ptx has the edge: a run of it reports nothing. The rows are lines of these kernels, shortened. Each
is looked up in the source, and the accused ones are those that the run accused.
"""

import re

from book import figure
from runs import OP, STARTED, Failed
from svg import MARGIN, Drawing

DROPPED = set(
    "sync aligned cta_group::1 shared::cta mbarrier::complete_tx::bytes mbarrier::arrive::one b64 b32 v2 v4 "
    "32x32b x1 kind::f16 parity".split()
)


def short(line):
    """An instruction without predicate, comment and the modifiers that the figure is not about."""
    line = re.sub(r"^\s*(@!?%\w+ )?|;.*$", "", line)
    opcode, _, operands = line.partition(" ")
    parts = [p for p in opcode.split(".") if p not in DROPPED or opcode.startswith("bar.")]
    if parts[0] in ("ld", "st"):
        parts = [p for p in parts if p not in ("cta", "gpu")] if len(parts) < 4 else parts
    operands = re.sub(r"^(_|%\w+), |\{0x3c00.*", "", operands).rstrip(", ")
    if parts[:2] == ["tcgen05", "mma"] or parts[:3] == ["cp", "async", "bulk"]:
        operands = "[%d], A, B" if parts[1] == "mma" else "[tile], [%in], 512, [bar]"
        parts = parts[:3]
    return (".".join(parts) + " " + operands).strip()


def folded(text, room):
    """A text in lines of at most `room` characters, broken before an operand, a word or a dot."""
    if len(text) <= room:
        return [text]
    cut = text.find(" [")
    if not 0 < cut <= room:
        cut = max(text.rfind(" ", 0, room + 1), text.rfind(".", 1, room + 1), text.rfind("::", 1, room + 1))
    return [text[:cut].rstrip()] + folded(text[cut:].lstrip(), room)


class Twin:
    """One of the two kernels: its rows [(column, text, accused)], and what the run said."""

    def __init__(self, runs, name, spec, columns):
        log, results, lines = runs.negative(name)
        self.rule = results[0]["ruleId"] if results else None
        places = [] if not results else results[0]["locations"] + results[0].get("relatedLocations", [])
        accused = {p["physicalLocation"]["region"]["startLine"] for p in places}
        body, head = "\n".join(lines), next(i for i, x in enumerate(lines) if x.startswith(".entry"))
        start = len("\n".join(lines[:head]))
        at, self.rows = [start] * columns, []
        started = {
            log.sites[e["site"] - 1]["ptx_line"]
            for c in log.clusters
            for e in c.events
            if e["class"] == OP and e["kind"] == STARTED
        }
        for column, pattern, *said in spec:
            m = re.compile(pattern).search(body, start if said else at[column])
            if not m:
                raise Failed("%s: nothing matches %r" % (name, pattern))
            at[column] = m.end()
            line = body.count("\n", 0, m.end()) + 1
            if said and line not in started:
                raise Failed("%s: line %d is no operation that ran" % (name, line))
            issues = not said and line in started and any(len(s) > 2 and re.search(s[1], lines[line - 1]) for s in spec)
            self.rows.append(
                (column, said[0] if said else short(lines[line - 1]), line in accused and not issues, said)
            )
        if results and sum(r[2] for r in self.rows) != 2:
            raise Failed("%s: the accused lines %s are not two rows" % (name, sorted(accused)))


def panel(d, y, heads, twin, arrows, title):
    """One twin: columns side by side, time downwards; the y behind."""
    gap = 26
    wide = (d.width - 2 * MARGIN - gap * (len(heads) - 1)) / len(heads)
    d.text(MARGIN, y + 14, title, 14, "said" if twin.rule else "t", bold=True)
    if twin.rule:
        d.text(d.width - MARGIN, y + 14, "[%s]" % twin.rule, 12, "said", "end", mono=True)
    y += 24
    top, places = y, []
    for i, head in enumerate(heads):
        d.text(MARGIN + i * (wide + gap) + wide / 2, y + 14, head, 12, "f", "middle", room=wide + gap)
    y += 24
    marks = []
    for column, text, accused, said in twin.rows:
        mono = not said
        lines = folded(text, int((wide - 10) / (7.3 if mono else 7)))
        high = 10 + 15 * len(lines)
        x = MARGIN + column * (wide + gap)
        marks.append((x, y, high, column, lines, accused, mono))
        y += high + 7
    for i in range(len(heads)):
        x = MARGIN + i * (wide + gap) + wide / 2
        d.line([(x, top + 22), (x, y)], "g", thick=2)
    for x, at, high, column, lines, accused, mono in marks:
        fill = "c8" if accused else "c4" if not mono else "panel"
        d.box(x, at, wide, high, lines, fill, 12, mono=mono)
        places.append((x, at + high / 2, column))
    ends = [i for i, r in enumerate(twin.rows) if r[2]]
    for a, b, edge in [(a, b, "k") for a, b in arrows] + ([(*ends, "s")] if ends else []):
        (xa, ya, ca), (xb, yb, cb) = places[a], places[b]
        if ca == cb:  # round the outside
            x = xa + wide
            d.line([(x, ya), (x + 12, ya), (x + 12, yb), (x, yb)], edge, edge == "s", True, 2)
        else:
            right = ca < cb
            turn = xa + (wide + gap / 2 if right else -gap / 2)
            over = [(turn, ya), (turn, yb)] if abs(ca - cb) > 1 else []  # there is no box between, in that row
            d.line(
                [(xa + (wide if right else 0), ya), *over, (xb + (0 if right else wide), yb)],
                edge,
                edge == "s",
                True,
                2,
            )
    return y + 8


def pair(runs, name, heads, without, with_, arrows, title, said, width=540):
    """A figure of race_NAME and its twin. arrows: rows of the second that an edge joins."""
    bad = Twin(runs, "race_" + name, without, len(heads))
    good = Twin(runs, "race_%s_ok" % name, with_, len(heads))
    if bad.rule is None or good.rule is not None:
        raise Failed("%s: the wrong twin is reported" % name)
    d = Drawing(width)
    y = d.heading(title, "runs of tests/negative/race_%s.ptx and its _ok; shortened" % name)
    y = panel(d, y, heads, bad, [], "Without the edge: reported")
    y = panel(d, y + 8, heads, good, arrows, "With it: no report")
    d.wrap(MARGIN, y + 12, said)
    listed = lambda twin: "; ".join("%s: %s" % (heads[c].split(" (")[0], text) for c, text, _, _ in twin.rows)
    return d, title, "Without the edge: %s. Reported: %s. With it: %s. %s" % (listed(bad), bad.rule, listed(good), said)


@figure("hb-message-passing")
def message_passing(runs):
    rows = [
        (0, r"st\.global.*42"),
        (0, r"st\.re.*1;"),
        (1, r"ld\.(relaxed|acquire).*"),
        (1, r"ld\.global\.b32 %x, \[%out\]"),
    ]
    return pair(
        runs,
        "global_relaxed",
        ["a thread of CTA 0", "a thread of CTA 1"],
        rows,
        rows,
        [(1, 2)],
        "Message passing: data, then a flag",
        "A relaxed flag says when, and orders nothing. If the poll acquires what the store released, everything before the "
        "store comes before everything after the poll.",
    )


@figure("hb-release-acquire")
def release_acquire(runs):
    rows = [(0, r"st\.shared.*42"), (0, r"mbarrier\.arrive.*"), (1, r"mbarrier\.try_wait.*"), (1, r"ld\.shared.*word")]
    return pair(
        runs,
        "mbar_arrive_relaxed",
        ["producer, warp 0", "consumer, warp 1"],
        rows,
        rows,
        [(1, 2)],
        "An arrival releases, a wait acquires",
        "The relaxed arrival says that the producer has come, not that its store has. Without a qualifier arrive "
        "releases and try_wait acquires, both for the CTA.",
    )


@figure("hb-mbarrier")
def mbarrier(runs):
    store, arrive, load = (0, r"st\.shared.*42"), (0, r"mbarrier\.arrive.*"), (1, r"ld\.shared.*word")
    wait = (1, r"mbarrier\.try_wait.*")
    return pair(
        runs,
        "mbar_phase",
        ["producer, warp 0", "consumer, warp 1"],
        [wait, store, arrive, load],
        [store, arrive, wait, load],
        [(1, 2)],
        "A wait is for one phase, by its parity",
        "A wait for parity 1 of a fresh mbarrier returns at once: the phase before the first counts as complete. "
        "A wait for parity 0 sees phase 0. Everything before its arrivals comes before everything after the wait.",
    )


@figure("hb-copy")
def copy(runs):
    begin = [
        (0, r"mbarrier\.arrive.*"),
        (0, r"cp\.async\.bulk.*"),
        (1, r"cp\.async\.bulk.*", "writes the tile, then reports 512 bytes"),
    ]
    load = (2, r"ld\.shared.*tile")
    return pair(
        runs,
        "bulk_wait",
        ["warp 0", "the copy", "warp 1"],
        begin + [load],
        begin + [(2, r"mbarrier\.try_wait.*"), load],
        [(2, 3)],
        "A copy's bytes are there when its phase is complete",
        "complete_tx takes the bytes off the mbarrier's tx-count. A thread that waits for that phase comes after the copy. "
        "Each thread that reads must wait, or synchronise with one that did.",
        560,
    )


@figure("hb-proxy-fence")
def proxy_fence(runs):
    store, bars = (0, r"st\.shared.*"), [(0, r"bar\.sync 0"), (1, r"bar\.sync 0")]
    fence, mma = (1, r"fence\.proxy\.async.*"), (1, r"tcgen05\.mma.*")
    reads = (2, r"tcgen05\.mma.*", "reads A and B, through the async proxy")
    return pair(
        runs,
        "mma_proxy",
        ["lanes 1 to 31", "lane 0", "tensor core"],
        [store, fence, *bars, mma, reads],
        [store, *bars, fence, mma, reads],
        [(1, 2)],
        "Between stores and the tensor core: a proxy fence",
        "Stores go through the generic proxy, the tensor core reads through the async proxy. The fence must be "
        "between all the stores and the UMMA: in each storing thread before the barrier, or in the issuing one "
        "after it.",
        560,
    )


@figure("hb-tcgen05-fences")
def tcgen05_fences(runs):
    st, wait, ld = (0, r"tcgen05\.st.*"), (0, r"tcgen05\.wait::st.*"), (1, r"tcgen05\.ld.*")
    return pair(
        runs,
        "st_fence",
        ["warp 0", "warp 4, the same lanes"],
        [st, wait, (0, r"SYNC:\s+bar\.sync 0;"), (1, r"SYNC:\s+bar\.sync 0;"), ld],
        [
            st,
            wait,
            (0, r"tcgen05\.fence::before.*"),
            (0, r"bar\.sync 0;"),
            (1, r"before_thread_sync;\s+bar\.sync 0;"),
            (1, r"tcgen05\.fence::after.*"),
            ld,
        ],
        [(3, 4)],
        "Tensor memory between two warps",
        "Completion first (wait::st), then fence::before, any meeting of the two, fence::after. The fences alone do "
        "not wait, and the barrier alone does not order tcgen05 operations. --check=strict reports it.",
    )


@figure("hb-commit")
def commit(runs):
    mma, writes = (0, r"tcgen05\.mma.*"), (1, r"tcgen05\.mma.*", "writes the accumulator")
    return pair(
        runs,
        "mma_commit",
        ["the warp (lane 0 issues)", "tensor core"],
        [mma, writes, (0, r"tcgen05\.ld.*")],
        [
            mma,
            (0, r"tcgen05\.commit.*"),
            writes,
            (1, r"tcgen05\.commit.*", "commit arrives: phase complete"),
            (0, r"mbarrier\.try_wait.*"),
            (0, r"tcgen05\.fence::after.*"),
            (0, r"tcgen05\.ld.*"),
        ],
        [(3, 4)],
        "The accumulator is complete when a commit has arrived",
        "An UMMA is asynchronous. The commit arrives once all UMMAs before it are complete. The wait sees that, and "
        "fence::after puts the loads after it.",
    )


@figure("hb-commit-operand")
def commit_operand(runs):
    first = [
        (0, r"tcgen05\.mma.*"),
        (0, r"tcgen05\.commit.*"),
        (1, r"tcgen05\.mma.*", "reads A and B in shared memory"),
    ]
    arrives, store = (1, r"tcgen05\.commit.*", "commit arrives: phase complete"), (0, r"st\.shared\.b32 \[tiles\]")
    return pair(
        runs,
        "mma_smem",
        ["the warp (lane 0 issues)", "tensor core"],
        first + [store],
        first + [arrives, (0, r"mbarrier\.try_wait.*"), store],
        [(3, 4)],
        "Overwrite a tile only after its commit",
        "Until the commit has arrived the tensor core may still read the tile. After the wait the reads are over. "
        "Stores and copies may come, and need no proxy fence for that.",
    )
