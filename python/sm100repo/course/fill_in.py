"""fill_in.py - fill exercises: a step's kernel with a hole in it, cut by the texts that course/fill/0N.txt names.

Syntax (course/README.md has an example), a key and its text a line; `#` begins a comment:

  step FOLDER               whose kernel the next holes are in; or a rung: 05_persistent_warpspec/ladder/1_ring
  run NAME = ARGUMENTS...   arguments of its program; use NAME: those of the next holes
  hole WORD: RULES...       an exercise; RULES: what may tell the hole, nothing where the answer is merely wrong
  title TEXT                what it is about
  timed [--NAME=VALUE...]   modelled cycles count, of a run with these arguments beside those that are drawn
  strict RULES...           of class strict, which cost no points elsewhere: here the task asks for them
  in FUNCTION               where `from` is looked for; without it in the whole kernel
  from TEXT                 the region begins with this text ...
  to TEXT                   ... and ends with this one, the first behind it; without it the region is `from` alone
  + TEXT                    what stands in its place, indented as the region is
  text TEXT                 the task, in Markdown, a line

The first region is the hole; others are comments that would give it away. A text that is not in its place exactly once
is a Drift, with the line of the catalogue: a step that has changed needs its holes looked at.
"""

import os
import re
import shlex

from sm100repo import read
from sm100repo.catalogue import Lines, pattern_of, sole
from sm100repo.course.kernels import cut, source_path
from sm100repo.course.model import FILL, Exercise
from sm100repo.drift import Drift, each, missing


class Region:
    """`function`: where to look; first, last: the texts; new: the lines in place of them. step: whose kernel it is of;
    where: catalogue and line."""

    def __init__(self, step, function, first, where):
        self.path, self.function, self.first, self.last = source_path(step), function, first, ""
        self.new, self.where = [], where

    def find(self, text):
        """(begin, end) of the region in the kernel's text, or in the step's."""
        first, end = sole(self, [self.first], text)
        if not self.last:
            return first.span()
        last = pattern_of([self.last]).search(text, first.end(), end)
        if last is None:
            raise missing(self.where, self.path, self.last, text, (first.end(), end))
        return first.start(), last.end()


class Hole:
    """One exercise of the catalogue: its word, the rules that may tell it, the step and the arguments of a run."""

    def __init__(self, word, rules, step, run, where):
        self.word, self.rules, self.step, self.run, self.where = word, rules, step, run, where
        self.title, self.text, self.timed, self.strict, self.regions = "", [], None, [], []

    def start(self, kernel_text):
        """(the kernel with the hole, its first and last line)."""
        pieces, at, first, last = [], 0, 0, 0
        found = sorted((place, i) for i, place in enumerate(each(lambda r: r.find(kernel_text), self.regions)))
        for (begin, end), i in found:
            if begin < at:
                raise Drift(f"{self.where}: two regions overlap")
            line = kernel_text.rfind("\n", 0, begin) + 1
            indent = kernel_text[line:begin]
            new = self.regions[i].new
            pieces += [kernel_text[at:begin], ("\n" + indent if not indent.strip() else "\n").join(new)]
            if i == 0:
                first = "".join(pieces[:-1]).count("\n") + 1
                last = first + max(len(new), 1) - 1
            at = end
        return "".join(pieces) + kernel_text[at:], first, last

    def exercise(self, lesson, kernel_text):
        start, first, last = self.start(kernel_text)
        return Exercise(name=name_of(lesson, self), lesson=lesson, kind=FILL, title=self.title,
                        text="\n".join(self.text).strip() + "\n", step=self.step, start=start, solution=kernel_text,
                        first=first, last=last, rules=tuple(self.rules), strict=tuple(self.strict), run=tuple(self.run),
                        timed=self.timed is not None, timing=tuple(self.timed or ()))


class Holes(Lines):
    """The holes of a lesson, read line by line."""

    def __init__(self, path):
        super().__init__(path)
        self.step, self.runs, self.use, self.holes, self.function = "", {}, [], [], None
        for key, rest in self:
            self.take(key, rest)
        for hole in self.holes:
            if not (hole.title and hole.text and hole.regions and hole.regions[0].new):
                raise Drift(f"{hole.where}: a hole has a title, a text and a region with what stands in its place")

    def take(self, key, rest):
        if key == "step":
            self.step = rest
        elif key == "run":
            name, equals, words = rest.partition(" =")
            if not equals:
                self.fail("a run is `NAME = ARGUMENTS`")
            self.runs[name] = shlex.split(words)
        elif key == "use":
            if rest not in self.runs:
                self.fail(f"there is no `run {rest}`")
            self.use = self.runs[rest]
        elif key == "hole":
            word, colon, rules = rest.partition(":")
            if not colon:
                self.fail("a hole is `WORD: RULES`")
            self.holes.append(Hole(word, rules.split(), self.step, self.use, self.where()))
            self.function = None
        elif not self.holes:
            self.fail(f"`{key}` outside of a hole")
        else:
            self.detail(self.holes[-1], key, rest)

    def detail(self, hole, key, rest):
        if key == "title":
            hole.title = rest
        elif key == "timed":
            hole.timed = rest.split()
            if not all(re.fullmatch(r"--[a-z-]+=[^=]+", word) for word in hole.timed):
                self.fail("arguments of `timed` are --NAME=VALUE")
        elif key == "strict":
            hole.strict = rest.split()
        elif key == "text":
            hole.text.append(rest)
        elif key == "in":
            self.function = rest
        elif key == "from":
            hole.regions.append(Region(hole.step, self.function, rest, self.where()))
        elif key == "to" and hole.regions:
            hole.regions[-1].last = rest
        elif key == "+" and hole.regions:
            hole.regions[-1].new.append(rest)
        else:
            self.fail(f"`{key}` is no key here")


def holes_of(root, lesson):
    """The holes of a lesson, in the catalogue's order."""
    path = os.path.join(root, "course", "fill", lesson + ".txt")
    return Holes(path).holes if os.path.exists(path) else []


def name_of(lesson, hole):
    return f"{lesson}-fill-{hole.word}"


def names(root, lesson):
    return [name_of(lesson, hole) for hole in holes_of(root, lesson)]


def load(root, lesson):
    """The fill exercises of a lesson, in the catalogue's order."""
    holes = holes_of(root, lesson)
    texts = {hole.step: read(os.path.join(root, source_path(hole.step))) for hole in holes}
    each(lambda hole: each(lambda r: r.find(texts[hole.step]), hole.regions), holes)  # drift has the lines of the file
    kernels = {step: cut(step, text) for step, text in texts.items()}
    return each(lambda hole: hole.exercise(lesson, kernels[hole.step]), holes)
