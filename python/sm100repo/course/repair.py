"""repair.py - repair exercises: the kernel of a step or of a part of it with one mistake, mostly in its
synchronisation, from the mutants.

A case of tests/mutants/0N_*.txt will do where its label is error or warning, so that a rule is broken and the emulator
tells it under the default schedule, and where it changes the kernel's own file, with nothing but what common/ has.
tidy.py applies it so that the file looks as if it had been written that way.
"""

import hashlib
import os
import random
import re

from sm100repo import read
from sm100repo.catalogue import CASES, Catalogue
from sm100repo.course.kernels import HOST, cut, kernel, source_path
from sm100repo.course.model import REPAIR, Exercise
from sm100repo.course.tidy import Visible, apply
from sm100repo.drift import each

EACH = 3  # exercises of a lesson
WEAKER = set(re.findall(r"(\w+)\((?:uint32_t|void)", read(os.path.join(CASES, "weaker.cuh"))))

# The emulator tells these under some schedules only: tests/mutants/README.md, "What the emulator does not tell".
UNTOLD = {"01-bases-barrier-half-count", "01-relinquish-other-warp", "01-contend-visits-all-lanes"}

TEXT = """One thing in `kernel.cuh` is wrong. Usually it is synchronisation: missing, too much, too early, too late,
counted wrongly, or signalled to the wrong barrier or CTA. It may also be an address, a mask, a size or a field of a
descriptor. Everything else is as in the lesson, but a comment may describe code that is no longer there. Read the
kernel and the emulator's reports, find the mistake, and mend it.

The answer may be right in one run, or even in most. The exercise is solved when the answer is right and no rule is
broken in any order that the hardware may choose.
"""


def draw(seed):
    """A seed as a number: SEED=7, or SEED=ada."""
    return int(seed) if seed.isdecimal() else int(hashlib.sha256(seed.encode()).hexdigest()[:12], 16)


def usable(root, step):
    """[(case, the kernel with its mistake)] of a step and its parts: what exercises are chosen from, in the catalogue's
    order."""
    path = os.path.join(root, "tests", "mutants", step + ".txt")
    if not os.path.exists(path):
        return []
    found = []

    def take(case):
        program = case.run[0]
        text = read(os.path.join(root, source_path(program)))
        words = set(re.findall(r"\w+", " ".join(line for hunk in case.hunks for line in hunk.new)))
        own = all(hunk.path == source_path(program) for hunk in case.hunks)
        if case.label not in ("error", "warning") or case.host or case.name in UNTOLD or words & WEAKER or not own:
            return
        try:
            found.append((case, cut(program, apply(case, text, text.find(HOST[0])))))
        except Visible:
            pass

    each(take, Catalogue(path).cases)
    return found


def chosen(found, seed):
    """EACH of them, of different functions where there are as many. Seeds that follow one another share none, until all
    have been had."""
    by_function = sorted(found, key=lambda pair: pair[0].hunks[0].function or "")
    size, picked = len(by_function) // EACH, []
    for i in range(EACH):
        group = by_function[i * size : (i + 1) * size if i < EACH - 1 else None]
        random.Random(i).shuffle(group)
        rounds, again = seed // len(group), seed // len(group) ** 2
        picked.append(group[(seed + i * rounds + i * (i - 1) // 2 * again) % len(group)])
    return picked


def differing(text, other):
    """The first and last line of `other` that text does not have there; where it only lacks some, the line there."""
    a, b = text.splitlines(), other.splitlines()
    head = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    rest = min(len(a), len(b)) - head
    tail = next((i for i, (x, y) in enumerate(zip(reversed(a[head:]), reversed(b[head:]))) if x != y), rest)
    return head + 1, max(head + 1, len(b) - tail)


def name_of(lesson, case):
    """It hides the mutant's name. Of a part, it has the part's."""
    return "-".join([lesson, "repair", *case.run[0].split("/")[2:], hashlib.sha256(case.name.encode()).hexdigest()[:4]])


def exercise(root, lesson, case, broken, seed="", place=0):
    step, solution = case.run[0], kernel(root, case.run[0])
    first, last = differing(solution, broken)
    return Exercise(name=name_of(lesson, case), lesson=lesson, kind=REPAIR, title="One thing is wrong", text=TEXT,
                    step=step, start=broken, solution=solution, first=first, last=last, rules=tuple(case.rules),
                    run=tuple(case.run[1:]), seed=seed, place=place)


def load(root, lesson, step, seed):
    """The repair exercises of a lesson for a seed."""
    found = usable(root, step)
    if len(found) < EACH:
        return []
    return [exercise(root, lesson, *pair, seed, place) for place, pair in enumerate(chosen(found, draw(seed)), 1)]
