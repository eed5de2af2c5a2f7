"""near.py - near misses: what a student who is nearly right hands in, and what its mark must say.

near/0N.txt has those of the holes, a key and its text a line; `#` begins a comment:

  of WORD                   a hole of course/fill/0N.txt; the next are near misses of it
  near POINTS REASON        a hand-in, its points, and why: the id of a rule that its mark names, or `wrong`: D is;
                            `stopped`: it executes far too much
  slow                      a hand-in that is right and too slow: the step's own kernel takes less than 95 % of its
                            cycles, and it does not have all points
  - TEXT                    the solution without this text, which is in the hole once ...
  + TEXT                    ... and with this one in its place

Those of mistakes to mend are made, not written: the mended kernel with another mistake of the catalogue in it.
"""

import os
import re

from sm100repo import ROOT
from sm100repo.catalogue import Lines, pattern_of
from sm100repo.course import exercise, fill_in
from sm100repo.course.model import FILL
from sm100repo.drift import Drift, each

ROOM = os.path.join(ROOT, "tests", "course", "near")
REASONS = {"wrong": "D is wrong", "stopped": "stopped it after far more instructions"}  # others are ids of rules


class Miss:
    """One near miss. points: None of a slow one. where: catalogue and line."""

    def __init__(self, name, points, reason, where):
        self.name, self.points, self.reason, self.where, self.old, self.new = name, points, reason, where, "", ""

    def text(self, solution, places):
        """The hand-in. places: [(begin, end)] of the hole in the solution."""
        found = [m for begin, end in places for m in pattern_of([self.old]).finditer(solution, begin, end)]
        if len(found) != 1:
            raise Drift(f"{self.where}: `{self.old}` is in the hole {len(found)} times, not once")
        return solution[: found[0].start()] + self.new + solution[found[0].end() :]


class Misses(Lines):
    """Those of a lesson's holes."""

    def __init__(self, lesson):
        super().__init__(os.path.join(ROOM, lesson + ".txt"))
        self.word, self.found = "", []
        for key, rest in self:
            if key == "of":
                self.word = rest
            elif key == "near" and re.fullmatch(r"\d+ [a-z0-9-]+", rest):
                points, reason = rest.split()
                self.found.append(Miss(f"{lesson}-fill-{self.word}", int(points), reason, self.where()))
            elif key == "slow" and not rest:
                self.found.append(Miss(f"{lesson}-fill-{self.word}", None, "slow", self.where()))
            elif key == "-":
                self.found[-1].old = rest
            elif key == "+":
                self.found[-1].new = rest
            else:
                self.fail(f"`{key} {rest}` is nothing here")


def of_holes(lesson):
    """[(exercise, the hand-in, points, reason)] of a lesson's holes."""
    holes = {fill_in.name_of(lesson, hole): hole for hole in fill_in.holes_of(ROOT, lesson)}
    exercises = {e.name: e for e in exercise.load(ROOT, lesson) if e.kind == FILL}

    def made(miss):
        e = exercises.get(miss.name)
        if not e:
            raise Drift(f"{miss.where}: there is no hole {miss.name}")
        places = [region.find(e.solution) for region in holes[miss.name].regions]
        return e, miss.text(e.solution, places), miss.points, miss.reason

    return each(made, Misses(lesson).found)
