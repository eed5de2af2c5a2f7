"""grade.py - marks the exercises of a lesson that lie in exercises/NN/: make grade-NN.

  course.grade --build build [--seed S] [--hint 1|2|3] [--exercise NAME] [--format FORMAT] NN

Only kernel.cuh and answers.txt of each exercise are read, and nothing of the student's is written. Exit code: 0 where
marks were given, whatever they are; 2 where the command line is wrong; 1 where the grader itself could not do its work.
"""

import argparse
import fnmatch
import os
import sys
import time

from sm100repo import ROOT
from sm100repo.course import exercise as exercises, formats, hints, sandbox, submission
from sm100repo.course.mark import Grader
from sm100repo.course.model import ANSWERS, KERNEL, PREDICT


def options(argv):
    parser = argparse.ArgumentParser(prog="grade.py", description="marks the exercises of a lesson")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder")
    parser.add_argument("--work", default=os.path.join(ROOT, "exercises"), help="where the lessons' folders are")
    parser.add_argument("--seed", default="", help="of the repair and predict exercises; else what they were made with")
    parser.add_argument("--hint", default="", choices=["", "0", "1", "2", "3"], help="1: rule, 2: line, 3: difference")
    parser.add_argument("--exercise", default="", help="only these: names or shell patterns, with commas between")
    parser.add_argument("--format", default="", choices=["", *formats.FORMATS], help="also write marks in this format")
    parser.add_argument("--output", default="", help="where to; default build/grade/FORMAT-NN.json")
    parser.add_argument("--draw", default="", help="a word of the teacher's, by which sizes and seeds are drawn")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("lesson")
    return parser.parse_args(argv)


def seed_of(*folders):
    """The seed with which `make exercise-NN` wrote one of the folders, or exercise.py's own. The file is a
    student's: what it holds is not taken for granted."""
    for folder in folders:
        try:
            text = submission.read_submission(os.path.join(folder, exercises.SEED_FILE)).strip()
        except (OSError, submission.Refused):
            continue
        if exercises.is_seed(text):
            return text
    return exercises.SEED


def file_of(exercise):
    return ANSWERS if exercise.kind == PREDICT else KERNEL


def chosen(found, patterns):
    wanted = [p for p in patterns.split(",") if p]
    return [e for e in found if not wanted or any(fnmatch.fnmatch(e.name, p) for p in wanted)]


def text_at(path):
    """The student's file, for hints; nothing where it is refused, which is so of links and pipes."""
    try:
        return submission.read_submission(path)
    except (OSError, submission.Refused):
        return ""


def show(mark, lines, seconds):
    parts = "  ".join(f"{name} {got:g}/{of:g}" for name, (got, of) in mark.parts.items())
    if mark.kind == PREDICT:
        parts = f"answers {len(mark.parts) - len(mark.wrong)}/{len(mark.parts)}"
    if mark.state != "graded":
        parts = mark.state
    print(f"  {mark.name:40} {mark.points:5g}   {parts}{f'   {seconds:.1f} s' if seconds >= 0.1 else ''}", flush=True)
    for line in [text for note in mark.notes for text in note.splitlines()] + lines:
        print(f"      {line}")


def main(argv):
    o = options(argv)
    if o.lesson not in exercises.lessons(ROOT):
        print(f"grade: there is no lesson {o.lesson}; there are: {' '.join(exercises.lessons(ROOT))}", file=sys.stderr)
        return 2
    seed = o.seed or seed_of(os.path.join(o.work, o.lesson))
    found = chosen(exercises.load(ROOT, o.lesson, seed), o.exercise)
    if not found:
        print(f"grade: there is no exercise {o.exercise or 'of lesson ' + o.lesson}; there are: "
              + " ".join(e.name for e in exercises.load(ROOT, o.lesson, seed)), file=sys.stderr)
        return 2
    grader, marks, told = Grader(ROOT, o.build, o.draw, o.jobs), [], {}
    print(f"lesson {o.lesson}, seed {seed}" + (f", drawn by {o.draw}" if o.draw else ""))
    for exercise in found:
        path, began = os.path.join(o.work, o.lesson, exercise.name, file_of(exercise)), time.monotonic()
        mark = grader.grade(exercise, path, untouched=bool(o.hint and o.exercise))
        told[mark.name] = hints.hints(mark, exercise, text_at(path), int(o.hint or 0))
        marks.append(mark)
        show(mark, told[mark.name], time.monotonic() - began)
    total = sum(mark.points for mark in marks)
    begun = sum(mark.state != "not begun" for mark in marks)
    print(f"  {'total':40} {total:5g}   of {100 * len(marks)}; {begun} of {len(marks)} begun")
    if not begun:
        print(f"  make exercise-{o.lesson} writes what is not there yet; an exercise begins with your first change")
    if any(0 <= m.points < 100 and m.state != "not begun" for m in marks) and not int(o.hint or 0):
        print("  HINT=1 names the broken rules or wrong answers, HINT=2 the lines, HINT=3 shows the solution")
    if o.format:
        path = o.output or os.path.join(o.build, "grade", f"{o.format}-{o.lesson}.json")
        formats.write_marks(o.format, path, o.lesson, marks, told)
        print(f"  {o.format}: {path}")
    return 0


if __name__ == "__main__":
    sandbox.finish("grade", main, "stopped", RuntimeError, OSError)
