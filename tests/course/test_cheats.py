"""test_cheats.py [guards] [NAME ...]: no cheat has marks; with `guards`, each has some where its guards are taken away.

A guard whose cheat has no marks without it either would prove nothing: so each is seen to be what keeps the marks away.
"""

import os
import shutil
import sys
import unittest

import fixture
import guards
from cheats import CHEATS
from sm100repo.course.mark import Grader

NAMES = [a for a in sys.argv[1:] if a != "guards"]
CHOSEN = [c for c in CHEATS if not NAMES or c.name in NAMES]
RULE = "missing-proxy-fence"


class Cheats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """What the cheats bring along: headers, files, variables."""
        cls.grader = Grader(fixture.ROOT, os.path.join(fixture.ROOT, "build"))
        os.makedirs(guards.TREASURE, exist_ok=True)
        for name, text in (("own.cuh", fixture.PAIR), ("stolen.cuh", fixture.PAIR.replace('"../', f'"{fixture.ROOT}/')),
                           ("pass_over", RULE + "\n")):
            with open(os.path.join(guards.TREASURE, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.environ.update({"NVCC_APPEND_FLAGS": "-DRIGHT", "CPATH": guards.TREASURE,
                           "SM100EMU_SUPPRESS": os.path.join(guards.TREASURE, "pass_over")})

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(guards.TREASURE)

    def mark(self, cheat, *without):
        path = os.path.join(guards.TREASURE, "kernel.cuh")
        with open(path, "w", encoding="utf-8") as f:
            f.write(cheat.text)
        with guards.without(*without, *(["small"] if cheat.small else [])):
            return self.grader.grade(cheat.exercise, path)

    def test_no_marks(self):
        for cheat in CHOSEN:
            with self.subTest(cheat.name):
                mark = self.mark(cheat)
                self.assertEqual(mark.points, 0, mark)
                self.assertIn(mark.state, ("graded", "refused"))

    @unittest.skipUnless("guards" in sys.argv[1:], "only with `guards`")
    def test_guards(self):
        for cheat in CHOSEN:
            if cheat.guards:
                with self.subTest(cheat.name):
                    mark = self.mark(cheat, *cheat.guards)
                    self.assertGreater(mark.points, 0, mark)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
