"""test_marks.py LESSON ...: each solution of a lesson has all points, in ten seconds of two cores; each start has
none, but hints.

A start is marked as if something had been done to it: a comment at its end. SEED=s of the environment: the seed.
"""

import os
import resource
import sys
import tempfile
import unittest

from sm100repo import ROOT
from sm100repo.course import exercise as exercises, hints
from sm100repo.course.mark import Grader
from sm100repo.course.model import PREDICT

LESSONS, SEED = sys.argv[1:], os.environ.get("SEED", "1")
SECONDS = 20  # of the processor for an exercise, build included: ten of two cores


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Marks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.grader = Grader(ROOT, os.path.join(ROOT, "build"))
        cls.all = [e for lesson in LESSONS for e in exercises.load(ROOT, lesson, SEED)]

    def mark(self, exercise, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            return self.grader.grade(exercise, path)

    def test_solutions(self):
        for e in self.all:
            text = e.solution
            if e.kind == PREDICT:
                text = "".join(f"{q.key} = {q.answer}\n" for q in e.questions)
            with self.subTest(e.name):
                before = processor()
                mark = self.mark(e, text)
                self.assertEqual((mark.points, mark.findings), (100, []), mark)
                self.assertLess(processor() - before, SECONDS)
                print(f"{e.name}: {processor() - before:.1f} s")

    def test_starts(self):
        for e in self.all:
            text = e.start + "/* done */\n"
            if e.kind == PREDICT:
                text = "".join(f"{q.key} = {q.answer + '1'}\n" for q in e.questions)
            with self.subTest(e.name):
                mark = self.mark(e, text)
                self.assertEqual(mark.points, 0, mark)
                told = [hints.hints(mark, e, text, level) for level in (1, 2, 3)]
                self.assertTrue(told[0], "no hint of level 1")
                self.assertTrue(len(told[0]) < len(told[1]) < len(told[2]), "a level of hints says nothing")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
