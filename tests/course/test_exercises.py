"""test_exercises.py ROOT PRODUCTS PROGRAMS [one|full] [TEST...]: the exercises of course/.

That there are as many as promised, that they are written and never overwrite, that a changed step is seen, and of each
lesson one hole and one mistake on the emulator, with the solution. `one`: those of one lesson alone are run. `full`: every
hole, and the mistakes of several seeds.
"""

import concurrent.futures
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import near
from sm100repo import PYTHON, write
from sm100repo.course import exercise, hints, kernels, predict, repair
from sm100repo.course.model import FILL, KERNEL, PREDICT, REPAIR
from sm100repo.drift import Drift
from sm100repo.toolkit import begin

ROOT, PRODUCTS, PROGRAMS = (os.path.abspath(path) for path in sys.argv[1:4])
FULL = "full" in sys.argv[4:]
LESSONS = exercise.lessons(ROOT)
RUN = ["02"] if "one" in sys.argv[4:] else LESSONS  # those whose exercises are run
SEEDS = ["1", "2", "30", "ada"] if FULL else ["1"]
LIMIT = 600  # seconds of a run: it hangs
COUNT, EACH = 40, 12
REPORT = re.compile(r"^(?:warning|error|strict)\b.*\[([a-z0-9-]+)\]\s*$", re.M)
COMMAND = [*PYTHON, "course.exercise"]


def load_all(seed="1"):
    return [e for lesson in LESSONS for e in exercise.load(ROOT, lesson, seed)]


def copy_of_sources(folder):
    """What load() reads, as a repository of its own that a test may change."""
    for name in [*kernels.steps(ROOT).values(), "common", "course", "tests/mutants"]:
        shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name))


class Catalogue(unittest.TestCase):
    """What there is, without running any of it."""

    @classmethod
    def setUpClass(cls):
        cls.all = load_all()

    def test_as_many_as_promised(self):
        self.assertGreaterEqual(len(self.all), COUNT)
        for kind in (FILL, REPAIR, PREDICT):
            self.assertGreaterEqual(sum(e.kind == kind for e in self.all), EACH, kind)
            self.assertEqual({e.lesson for e in self.all if e.kind == kind}, set(LESSONS), kind)
        self.assertEqual(len({e.name for e in self.all}), len(self.all))

    def test_a_hole_says_what_is_to_be_done(self):
        for e in (e for e in self.all if e.kind == FILL):
            lines = e.start.splitlines()
            self.assertIn("TODO", "\n".join(lines[e.first - 1 : e.last]), e.name)
            self.assertEqual(e.start.count("TODO"), "\n".join(lines[e.first - 1 : e.last]).count("TODO"), e.name)
            self.assertLessEqual(max(map(len, {*lines} - {*e.solution.splitlines()})), 120, e.name)
            self.assertNotIn("TODO", e.solution)
            self.assertNotIn("__global__", e.text)

    def test_near_misses(self):
        """Each changes its hole once, and every rule that it or an exercise names exists."""
        done = subprocess.run([os.path.join(PRODUCTS, "sm100emu-rules")], capture_output=True, text=True, check=True)
        rules = {rule["id"] for rule in json.loads(done.stdout)} | {*near.REASONS, "slow"}
        named = [(e.name, reason) for lesson in LESSONS for e, _, _, reason in near.of_holes(lesson)]
        named += [(e.name, rule) for e in self.all for rule in (*e.rules, *e.strict)]
        self.assertEqual([], [f"{name}: {rule}" for name, rule in named if rule not in rules])

    def test_the_same_again(self):
        self.assertEqual(self.all, load_all())

    def test_kernels_hold_no_host_code(self):
        for e in self.all:
            if e.kind != PREDICT:
                self.assertNotIn("main(", e.solution)
                self.assertNotIn("../common", e.solution)

    def test_no_trace_of_a_change(self):
        for lesson, step in kernels.steps(ROOT).items():
            made = [repair.exercise(ROOT, lesson, *pair) for pair in repair.usable(ROOT, step)]
            self.assertEqual(len({e.name for e in made}), len(made))
            for e in made:
                self.assertNotRegex(e.start, r"\n\n\n|[ \t]\n|\{\n\n|\n\n *\}", e.name)
                self.assertLessEqual(max(map(len, e.start.splitlines())), 120, f"{e.name}: first of all `make format`")
                self.assertNotEqual(e.start, e.solution, e.name)
                lines, of = e.start.splitlines(), e.solution.splitlines()
                self.assertEqual(lines[: e.first - 1], of[: e.first - 1], e.name)
                at, hunk = hints.hunks(e.start, e.solution, around=0)[-1]
                self.assertLessEqual(e.last, at + max(1, sum(line.startswith("-") for line in hunk)), e.name)
                self.assertEqual(lines[e.last :], of[len(of) - (len(lines) - e.last) :], e.name)

    def test_written_as_clang_format_would(self):
        if not shutil.which("clang-format"):
            self.skipTest("no clang-format")
        for step in kernels.steps(ROOT).values():
            for case, broken in repair.usable(ROOT, step)[:: 1 if FULL else 6]:
                made = subprocess.run(["clang-format", f"--assume-filename={ROOT}/{step}/kernel.cuh"], input=broken,
                                      text=True, capture_output=True, check=True).stdout
                self.assertEqual(made, broken, f"{case.name}: first of all `make format`")

    def test_two_seeds_give_different_ones(self):
        for lesson, step in kernels.steps(ROOT).items():
            found = repair.usable(ROOT, step)
            drawn = [tuple(case.name for case, _ in repair.chosen(found, seed)) for seed in range(200)]
            self.assertEqual(len(set(drawn)), len(drawn), lesson)
            for one, next_one in zip(drawn, drawn[1:]):
                self.assertFalse(set(one) & set(next_one), lesson)
        self.assertNotEqual(predict.load(ROOT, "05", "1"), predict.load(ROOT, "05", "2"))

    def test_a_name_is_a_seed(self):
        names = [[e.name for e in exercise.load(ROOT, "04", seed)] for seed in ("ada", "grace")]
        self.assertNotEqual(*names)

    def test_answers(self):
        for e in (e for e in self.all if e.kind == PREDICT):
            self.assertGreaterEqual(len(e.questions), 3, e.name)
            for q in e.questions:
                wanted = {"number": r"\d+", "hex": r"0x[0-9a-f]+", "word": r"[a-z]+"}[q.form]
                self.assertRegex(q.answer, f"^{wanted}$", f"{e.name} {q.key}")
                self.assertNotIn("$", q.text)
            self.assertNotIn("$", e.text)


class Drifting(unittest.TestCase):
    """A step that has changed stops the exercises, by name and line."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        copy_of_sources(self.folder.name)

    def change(self, path, old, new):
        path = os.path.join(self.folder.name, path)
        text = kernels.read(path)
        self.assertEqual(text.count(old), 1)
        with open(path, "w") as f:
            f.write(text.replace(old, new))

    def test_a_hole_that_is_gone(self):
        self.change("04_pair_umma/04_pair_umma.cu", "s.pair = 3u <<", "s.pair = 0x3u <<")
        with self.assertRaisesRegex(Drift, r"fill/04\.txt:\d+: .*: 0 places"):
            exercise.load(self.folder.name, "04")

    def test_a_hole_that_is_there_twice(self):
        line = "    umma_commit(done);\n}"
        self.change("02_simple_umma/02_simple_umma.cu", line, "    umma_commit(done);\n" + line)
        with self.assertRaisesRegex(Drift, r"fill/02\.txt:\d+: .*: 2 places.* \(lines \d+, \d+\)"):
            exercise.load(self.folder.name, "02")

    def test_a_mistake_that_is_gone(self):
        path = "03_tma_multicast/03_tma_multicast.cu"
        self.change(path, "mbarrier_init(smem_address(&s->full), 1);", "init_full(s);")
        with self.assertRaisesRegex(Drift, r"03_tma_multicast\.txt:\d+|fill/03\.txt:\d+"):
            repair.load(self.folder.name, "03", "03_tma_multicast", "1")

    def test_all_that_drifted(self):
        """Holes, mistakes and questions: each place, and the command where a name is another now."""
        name = "tmem_wait_ld"
        for path in ("02_simple_umma/02_simple_umma.cu", "common/tmem.cuh"):
            text = kernels.read(os.path.join(self.folder.name, path))
            with open(os.path.join(self.folder.name, path), "w") as f:
                f.write(text.replace(name, name + "_now"))
        with self.assertRaises(Drift) as drift:
            exercise.load(self.folder.name, "02")
        said = str(drift.exception)
        for place in (r"fill/02\.txt:\d+: ", r"02_simple_umma\.txt:\d+: 02-epilogue-wait-ld-deleted: ",
                      r"02_simple_umma\.txt:\d+: 02-epilogue-wait-is-for-stores: ",
                      rf"\n    nearest: 02_simple_umma/02_simple_umma.cu:\d+: `{name}_now\(\);`\n"):
            self.assertRegex(said, place)
        self.assertTrue(said.endswith(f"\nmend: make mend RENAME='{name} {name}_now'"), said)

    def test_an_answer_follows_the_code(self):
        before = predict.load(self.folder.name, "05", "1")
        self.change("05_persistent_warpspec/sizes.h", "ACCUMULATORS = 2,", "ACCUMULATORS = 1,")
        after = predict.load(self.folder.name, "05", "1")
        columns = [next(q.answer for e in all_ for q in e.questions if q.key == "columns") for all_ in (before, after)]
        self.assertEqual(int(columns[0]), 2 * int(columns[1]))


class Writing(unittest.TestCase):
    """The command: what it writes, and what it leaves alone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.to = os.path.join(folder.name, "exercises")

    def command(self, *words):
        done = subprocess.run([*COMMAND, "--to", self.to, *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def path(self, *names):
        return os.path.join(self.to, "02", *names)

    def test_all_is_written_once(self):
        code, said = self.command("02")
        self.assertEqual(code, 0, said)
        for e in exercise.load(ROOT, "02"):
            for name, text in exercise.files(e).items():
                self.assertEqual(kernels.read(self.path(e.name, name)), text)
        code, said = self.command("02")
        self.assertEqual(code, 0)
        self.assertNotIn("written", said)
        self.assertNotIn("yours", said)

    def test_work_is_never_overwritten(self):
        self.command("02")
        mine = self.path("02-fill-commit", KERNEL)
        with open(mine, "a") as f:
            f.write("/* mine */\n")
        code, said = self.command("02")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"02-fill-commit .*yours stays: kernel\.cuh")
        self.assertEqual(said.count("yours stays"), 1)
        self.assertTrue(kernels.read(mine).endswith("/* mine */\n"))

    def test_the_seed_is_kept(self):
        self.command("--seed", "7", "02")
        self.assertEqual(exercise.seed_of(self.path()), "7")
        _, said = self.command("02")
        self.assertNotIn("[written]", said)

    def repairs(self, seed):
        return {e.name for e in exercise.load(ROOT, "02", seed) if e.kind == REPAIR}

    def test_another_seed(self):
        """What nobody has edited is of the new seed then; the old one's repairs are gone, but for notes in them."""
        self.command("02")
        notes = self.path(sorted(self.repairs("1"))[0], "why.md")
        with open(notes, "w") as f:
            f.write("mine\n")
        code, said = self.command("--seed", "bob", "02")
        self.assertEqual((code, said.count("seed 1's: removed")), (0, 3), said)
        for e in exercise.load(ROOT, "02", "bob"):
            for name, text in exercise.files(e).items():
                self.assertEqual(kernels.read(self.path(e.name, name)), text)
        there = {name for name in os.listdir(self.path()) if name.startswith("02-repair-")}
        self.assertEqual(there, self.repairs("bob") | {os.path.basename(os.path.dirname(notes))})
        self.assertEqual(kernels.read(notes), "mine\n")

    def test_another_seed_and_work(self):
        """An edited file of the old seed is in the way: nothing is changed, or it is kept as *.orig. A hole's stays."""
        self.command("02")
        hole, mine = (self.path(name, KERNEL) for name in ("02-fill-commit", sorted(self.repairs("1"))[0]))
        for path in (hole, mine):
            with open(path, "a") as f:
                f.write("/* mine */\n")
        before = {at: sorted(names) for at, _, names in os.walk(self.path())}
        code, said = self.command("--seed", "bob", "02")
        self.assertEqual((code, said.count(KERNEL), "FORCE=1" in said), (1, 1, True), said)
        self.assertIn(os.path.relpath(mine), said)
        self.assertEqual({at: sorted(names) for at, _, names in os.walk(self.path())}, before)
        self.assertEqual(exercise.seed_of(self.path()), "1")
        for expected in (".orig", ".orig.2"):
            code, said = self.command("--seed", "bob", "--force", "02")
            self.assertEqual(code, 0, said)
            self.assertTrue(kernels.read(mine + expected).endswith("/* mine */\n"), expected)
            self.assertTrue(kernels.read(hole).endswith("/* mine */\n"))
            self.command("--seed", "1", "02")
            with open(mine, "a") as f:
                f.write("/* mine */\n")

    def test_a_newer_repository(self):
        """What it wants otherwise is written anew, unless it was edited."""
        self.command("02")
        record = self.path(exercise.WRITTEN)
        for name, there, code in (("02-fill-commit", "older\n", 0), ("02-fill-swizzle", "mine\n", 1)):
            path = self.path(name, KERNEL)
            text, written = kernels.read(path), kernels.read(record)
            write(record, re.sub(rf"\w+(?=  {name}/{KERNEL})", exercise.digest("older\n"), written))
            write(path, there)
            got, said = self.command("02")
            self.assertEqual((got, "[written]" in said, "older version" in said), (code, not code, bool(code)), said)
            self.assertEqual(kernels.read(path), there if code else text)

    def test_answers_of_a_class(self):
        students = os.path.join(os.path.dirname(self.to), "seeds.csv")
        with open(students, "w") as f:
            f.write("Student, Seed\nada,1\n\nbob,2\n")
        code, said = self.command("--answers", "--seeds", students, "02")
        self.assertEqual((code, said.count("lesson 02, ")), (0, 2))
        self.assertIn("lesson 02, bob, seed 2\n", said)
        self.assertEqual(said.count("02-fill-commit"), 1)
        for e in exercise.load(ROOT, "02", "2"):
            for q in e.questions:
                self.assertIn(f"      {q.key} = {q.answer}\n", said)
            self.assertIn(e.name, said)

    def test_a_line_without_a_seed(self):
        students = os.path.join(os.path.dirname(self.to), "seeds.csv")
        with open(students, "w") as f:
            f.write("student,seed\nada,1\nbob\n")
        code, said = self.command("--answers", "--seeds", students, "02")
        self.assertEqual((code, said), (1, f"exercise: {students}:3: expected student,seed\n"))

    def test_nowhere_to_write(self):
        os.makedirs(self.to)
        with open(self.path(), "w"):
            pass
        code, said = self.command("02")
        self.assertEqual((code, len(said.splitlines())), (1, 1), said)

    def test_no_compiler(self):
        done = subprocess.run([*COMMAND, "--to", self.to, "02"], capture_output=True, text=True,
                              env={**os.environ, "CXX": "/nowhere/c++"})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^exercise: /nowhere/c[+][+] is not there")

    def test_no_such_lesson(self):
        code, said = self.command("09")
        self.assertEqual(code, 2)
        self.assertIn("no lesson 09", said)

    def test_lists(self):
        _, said = self.command("--list")
        self.assertEqual(len(said.splitlines()), len(load_all()))
        _, said = self.command("--list", "--seeds", "1-3", "04")
        self.assertEqual(len(said.splitlines()), 3)
        self.assertFalse(os.path.exists(self.to))


class Predicted(unittest.TestCase):
    """Answers that a step also prints when it runs."""

    def answers(self, e):
        return {q.key: q.answer for q in e.questions}

    def printed(self, step, *words):
        done = subprocess.run([os.path.join(PRODUCTS, "sm100emu"), os.path.join(PROGRAMS, step), *words], text=True,
                              capture_output=True, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def masks(self, out, m, n, x, y):
        """(A, B, commit) of a CTA in the witness."""
        row = re.search(rf"^    x {x} (.*)$", out, re.M)[1].split()
        return tuple(int(row[i * n + y], 16) for i in range(3))

    def test_masks_of_a_4x4_cluster(self):
        for seed in ("1", "2"):
            e = next(e for e in predict.load(ROOT, "04", seed) if e.name.endswith("-grid"))
            a = self.answers(e)
            out = self.printed("04_pair_umma", "--k", "64", "--verify", "none")
            found = self.masks(out, 4, 4, int(a["x"]), int(a["y"]))
            self.assertEqual(found[:2], (int(a["a_mask"], 16), int(a["b_mask"], 16)))

    def test_masks_of_step_03(self):
        e = next(e for e in predict.load(ROOT, "03", "1") if e.name.endswith("-masks"))
        a, (m, n) = self.answers(e), re.search(r"with (\d) CTAs along M and (\d) along N", e.text).groups()
        out = self.printed("03_tma_multicast", "--m", str(128 * int(m)), "--n", str(256 * int(n)), "--k", "64",
                           "--cluster", f"{m}x{n}", "--verify", "none")
        found = self.masks(out, int(m), int(n), int(a["x"]), int(a["y"]))
        self.assertEqual(found, tuple(int(a[k], 16) for k in ("a_mask", "b_mask", "commit_mask")))

    def test_descriptor_of_step_02(self):
        out = self.printed("02_simple_umma", "--m", "128", "--n", "256", "--k", "64")
        printed = {int(field, 16) for field in re.findall(r"stride byte offset\s+(0x\w+)", out)}
        a = self.answers(predict.load(ROOT, "02", "1")[0])
        self.assertEqual(printed, {int(a["stride_field"], 16)})

    def test_stages_of_step_05(self):
        e = next(e for e in predict.load(ROOT, "05", "1") if e.name.endswith("-stages"))
        a = self.answers(e)
        words = re.search(r"`(--tile-n .*?)`", e.text)[1].split()
        out = self.printed("05_persistent_warpspec", *words, "--m", "256", "--n", "256", "--verify", "none")
        self.assertIn(f"{a['stages']} stages x {a['stage_bytes']} bytes", out)

    def of_dsl(self, word, *texts):
        """The answers by some seed whose text has these words."""
        for seed in range(200):
            e = next(e for e in predict.load(ROOT, "05", str(seed)) if e.name == "05-predict-dsl-" + word)
            if all(text in e.text for text in texts):
                return self.answers(e)
        self.fail(f"no seed draws {texts}")

    def test_plan_of_the_dsl(self):
        """By the DSL itself, version 4.8.1: what its PTX initialises, expects and allocates."""
        for drawn, want in ((("(256, 128)", "of Float16. A"), "64 24576 49152 8 2 256"),
                            (("(256, 192)", "of Float32. A"), "64 28672 57344 5 3 512"),
                            (("(256, 256)", "of Float16. A"), "64 32768 65536 5 2 512")):
            a = self.of_dsl("plan", *drawn)
            self.assertEqual(" ".join(a[k] for k in "k stage_bytes expected ab_stages d_stages columns".split()), want)
        out = self.printed("05_persistent_warpspec", "--tile-n", "128", "--d-type", "f16", "--m", "256", "--n", "128",
                           "--verify", "none")
        self.assertIn("8 stages x 24576 bytes", out)

    def test_masks_of_the_dsl(self):
        """A cluster of 4 x 4 has the masks and counts of step 04."""
        a = self.of_dsl("cluster", "(4, 4)", "rank 0.")
        out = self.printed("04_pair_umma", "--k", "64", "--verify", "none")
        found = self.masks(out, 4, 4, 0, 0)
        self.assertEqual(found, tuple(int(a[k], 16) for k in ("a_mask", "b_mask", "commit_mask")))
        self.assertIn(f"= {a['ab_empty']}\n", out)


class Running(unittest.TestCase):
    """On the emulator: no start passes, every mistake is told, the solution passes and nothing is said of it."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.kernels = kernels.Kernels(ROOT, PROGRAMS)

    def run_kernel(self, e, text):
        """(exit code, or None where it did not end; ids told; what was said)."""
        program = os.path.join(self.scratch.name, e.name)
        self.kernels.program(e.step, self.kernels.ptx(text), program)
        process = begin([os.path.join(PRODUCTS, "sm100emu"), "--threads=1", program, *e.run], cwd=ROOT)
        try:
            said, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, set(), ""
        return process.returncode, set(REPORT.findall(said)), said

    def start_fails(self, e):
        code, told, said = self.run_kernel(e, e.start)
        self.assertNotEqual(code, 0, f"{e.name} passes as it is handed out\n{said}")
        if e.rules:
            self.assertTrue(told & set(e.rules), f"{e.name}: told {sorted(told)}, not one of {e.rules}\n{said[-2000:]}")
        else:
            self.assertRegex(said, r"(?m)^FAIL", e.name)

    def all_fail(self, chosen):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            for done in [pool.submit(self.start_fails, e) for e in chosen]:
                done.result()

    def test_holes(self):
        for lesson in RUN:
            holes = [e for e in exercise.load(ROOT, lesson) if e.kind == FILL]
            self.all_fail(holes if FULL else holes[:1])

    def test_mistakes(self):
        chosen = {}
        for seed in SEEDS:
            for lesson in RUN:
                found = repair.load(ROOT, lesson, kernels.steps(ROOT)[lesson], seed)
                chosen.update({e.name: e for e in (found if FULL else found[:1])})
        self.all_fail(chosen.values())

    def test_solutions(self):
        runs = {(e.step, e.run): e for e in load_all() if e.kind == FILL and e.lesson in RUN}
        for e in runs.values() if FULL else {e.step: e for e in runs.values()}.values():
            code, told, said = self.run_kernel(e, e.solution)
            self.assertEqual((code, told), (0, set()), said)
            self.assertRegex(said, r"(?m)^PASS")

    def test_the_check_can_fail(self):
        e = next(e for e in exercise.load(ROOT, "02") if e.kind == FILL)
        with self.assertRaisesRegex(AssertionError, "passes as it is handed out"):
            self.start_fails(dataclasses.replace(e, start=e.solution))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[4:] if word not in ("one", "full"))], verbosity=2)
