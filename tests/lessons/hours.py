"""hours.py - the hours that docs/teaching.md expects of a student: an estimate, from what can be counted.

  python3 -ISB python/sm100repo tests/lessons/hours.py

A line for each lesson: words of its main line, commands that it shows, exercises by kind, and minutes for them at the
rates below. No class was timed. Words are rounded to 100, so that not each edit of a lesson changes a line.
"""

import collections
import glob
import os

import page
import prose
from sm100repo import ROOT
from sm100repo.course import exercise
from sm100repo.course.model import FILL, PREDICT, REPAIR

WORDS_A_MINUTE = 200
COMMAND = 3  # minutes: predict, run, read
EXERCISE = {PREDICT: 10, FILL: 25, REPAIR: 55}  # minutes; of a repair 10 are for why.md


def main():
    print("lesson  words  reading  commands  running  predict  fill  repair  exercises  together")
    whole = collections.Counter()
    for path in sorted(glob.glob(os.path.join(ROOT, "0[1-9]_*", "README.md"))):
        lesson, found = os.path.relpath(path, ROOT)[:2], page.Page(ROOT, os.path.relpath(path, ROOT))
        words, commands = round(prose.words(found.prose), -2), len(found.commands(True))
        kinds = collections.Counter(each.kind for each in exercise.load(ROOT, lesson))
        minutes = {"read": round(words / WORDS_A_MINUTE), "run": commands * COMMAND,
                   "mend": sum(kinds[kind] * EXERCISE[kind] for kind in EXERCISE)}
        whole.update(minutes)
        print(f"{lesson}  {words:9,}  {minutes['read']:3} min  {commands:8}  {minutes['run']:3} min  "
              f"{kinds[PREDICT]:7}  {kinds[FILL]:4}  {kinds[REPAIR]:6}  {minutes['mend'] / 60:7.1f} h  "
              f"{sum(minutes.values()) / 60:6.1f} h")
    print(f"all: {whole['read'] / 60:.1f} h to read, {whole['run'] / 60:.1f} h to run what is shown, "
          f"{whole['mend'] / 60:.1f} h for all exercises, {sum(whole.values()) / 60:.0f} h together")


if __name__ == "__main__":
    main()
