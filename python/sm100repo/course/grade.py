"""grade.py - marks the exercises of a lesson that lie in exercises/NN/: make grade-NN.

  course.grade --build build [--seed S] [--hint 1|2|3] [--exercise NAME] [--format FORMAT] NN

Only kernel.cuh and answers.txt of each exercise are read, and nothing of the student's is written. Exit code: 0 where
marks were given, whatever they are; 2 where the command line is wrong; 1 where the grader itself could not do its work.
"""

import argparse
import fnmatch
import os
import re
import sys
import time

from sm100repo import ROOT
from sm100repo.course import exercise as exercises, formats, hints, sandbox, submission
from sm100repo.course.mark import Grader, refused
from sm100repo.course.model import ANSWERS, KERNEL, PREDICT, TASK


HINTS = ["", "0", "1", "2", "3"]


def options(argv):
    parser = argparse.ArgumentParser(prog="grade.py", description="marks the exercises of a lesson")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder")
    parser.add_argument("--work", default=os.path.join(ROOT, "exercises"), help="where the lessons' folders are")
    parser.add_argument("--seed", default="", help="the seed that TASK.md must name (default: any)")
    parser.add_argument("--hint", default="", help="1: rule, 2: line, 3: difference")
    parser.add_argument("--exercise", default="", help="only these: names or patterns, separated by spaces or commas")
    parser.add_argument("--format", default="", help=f"also write the marks for {' or '.join(formats.FORMATS)}")
    parser.add_argument("--output", default="", help="the file to write (default: build/grade/FORMAT-NN.json)")
    parser.add_argument("--draw", default="", help="the teacher's word, from which sizes and seeds are drawn")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("lesson")
    return parser.parse_args(argv)


def seed_of(*folders):
    """The seed with which `make exercise-NN` wrote one of the folders, or exercise.py's own. The file is a
    student's: what it holds is not taken for granted."""
    seeds = (text_at(os.path.join(folder, exercises.SEED_FILE)).strip() for folder in folders)
    return next((seed for seed in seeds if exercises.is_seed(seed)), exercises.SEED)


def file_of(exercise):
    return ANSWERS if exercise.kind == PREDICT else KERNEL


def words(patterns):
    return [word for word in re.split(r"[\s,]+", patterns) if word]


def chosen(found, patterns):
    wanted = words(patterns)
    return [e for e in found if not wanted or any(fnmatch.filter([e.name, e.column], p) for p in wanted)]


def text_at(path):
    """The student's file, for hints; nothing where it is refused, which is so of links and pipes."""
    try:
        return submission.read_submission(path)
    except (OSError, submission.Refused):
        return ""


def folders(room):
    """The names of what lies in a lesson's folder."""
    return sorted(os.listdir(room)) if os.path.isdir(room) else []


class Handed:
    """Exercises as students have them. A TASK.md says which seed drew its exercise: its questions are marked, whatever
    seed the folder above names. Where the teacher has given out seeds, a TASK of another seed is refused."""

    def __init__(self, root):
        self.root, self.loaded = root, {}

    def load(self, lesson, seed):
        """{name: exercise}."""
        if (lesson, seed) not in self.loaded:
            self.loaded[lesson, seed] = {e.name: e for e in exercises.load(self.root, lesson, seed)}
        return self.loaded[lesson, seed]

    def exercise(self, lesson, name, folder, seed, given):
        """(the exercise in this folder or None, why it is refused or ""). seed: of the lesson; given: the teacher's, or
        the command line's."""
        if name not in exercises.names(self.root, lesson):
            return None, ""
        own = exercises.seed_in(text_at(os.path.join(folder, TASK)))
        if given and own not in (None, given) and self.load(lesson, own).get(name):
            why = f"its {TASK} is of seed {own}, and it is marked by seed {given}: make exercise-{lesson} SEED={given}"
            return self.load(lesson, own)[name], why
        return self.load(lesson, given or own or seed).get(name), ""


def show(mark, lines, seconds):
    parts = "  ".join(f"{name} {got:g}/{of:g}" for name, (got, of) in mark.parts.items())
    if mark.kind == PREDICT:
        parts = f"answers {len(mark.parts) - len(mark.wrong)}/{len(mark.parts)}"
    if mark.state != "graded":
        parts = mark.state
    print(f"  {mark.name:40} {mark.points:5g}   {parts}{f'   marked in {seconds:.1f} s' if seconds >= 0.1 else ''}", flush=True)
    for line in [text for note in mark.notes for text in note.splitlines()] + lines:
        print(f"      {line}")


def main(argv):
    o = options(argv)
    if o.lesson not in exercises.lessons(ROOT):
        print(f"grade: there is no lesson {o.lesson}; there are: {' '.join(exercises.lessons(ROOT))}", file=sys.stderr)
        return 2
    for name, value, known in (("HINT", o.hint, HINTS), ("GRADE", o.format, ["", *formats.FORMATS])):
        if value not in known:
            print(f"grade: there is no {name}={value}; there are: {', '.join(filter(None, known))}", file=sys.stderr)
            return 2
    room, handed, level = os.path.join(o.work, o.lesson), Handed(ROOT), int(o.hint or 0)
    seed = o.seed or seed_of(room)
    there = [handed.exercise(o.lesson, name, os.path.join(room, name), seed, o.seed) for name in folders(room)]
    found = {exercise.name: (exercise, why) for exercise, why in there if exercise}
    found = {**{name: (exercise, "") for name, exercise in handed.load(o.lesson, seed).items()}, **found}
    wanted = chosen([exercise for exercise, _ in found.values()], o.exercise)
    if not wanted:
        print(f"grade: there is no exercise {o.exercise or 'of lesson ' + o.lesson}; there are: " + " ".join(found),
              file=sys.stderr)
        return 2
    grader, marks, told = Grader(ROOT, o.build, o.draw, o.jobs), [], {}
    print(f"lesson {o.lesson}, seed {seed}" + (f", drawn by {o.draw}" if o.draw else ""))
    for exercise in wanted:
        path, began = os.path.join(room, exercise.name, file_of(exercise)), time.monotonic()
        why = found[exercise.name][1]
        mark = refused(exercise, why) if why else grader.grade(exercise, path, untouched=bool(level and o.exercise),
                                                               asides=level > 1)
        asked = level if mark.state != "not begun" or o.exercise else 0
        told[mark.name] = hints.within_limits(mark, exercise, text_at(path), asked)
        marks.append(mark)
        show(mark, told[mark.name], time.monotonic() - began)
    total = sum(mark.points for mark in marks)
    begun = sum(mark.state != "not begun" for mark in marks)
    print(f"  {'total':40} {total:5g}   of {100 * len(marks)}; {begun} of {len(marks)} begun")
    if not begun and not any(told.values()):
        print(f"  make exercise-{o.lesson} writes what is not there yet; an exercise begins with your first change")
    if any(0 <= m.points < 100 and m.state != "not begun" for m in marks) and not level:
        print("  HINT=1 names the broken rules or wrong answers, HINT=2 the lines, HINT=3 shows the solution")
    if o.format:
        path = o.output or os.path.join(o.build, "grade", f"{o.format}-{o.lesson}.json")
        formats.write_marks(o.format, path, o.lesson, marks, told)
        print(f"  {o.format}: {path}")
    return 0


if __name__ == "__main__":
    sandbox.finish("grade", main, "stopped", RuntimeError, OSError)
