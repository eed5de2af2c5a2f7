"""test_grader.py: what the grader's parts promise: marks, the draw, answers, formats, exit codes, nothing written."""

import base64
import contextlib
import copy
import dataclasses
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

import fixture
import schema

from sm100repo.course import draws, formats, grade, hints, mark as marks, sandbox, submission, trial
from sm100repo.toolkit import Toolkit

BUILD = os.path.join(fixture.ROOT, "build")
SCHEMAS = os.path.join(fixture.ROOT, "course", "schemas")


def exercises_of(*found):
    return mock.patch.object(grade.exercises, "load", lambda *_: list(found))


class Whole(unittest.TestCase):
    """grade.py as make calls it, with the fixture's exercises."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def put(self, exercise, text, name="kernel.cuh"):
        folder = os.path.join(self.folder.name, exercise.lesson, exercise.name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def grade(self, found, *more):
        out = io.StringIO()
        with exercises_of(*found), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = grade.main(["--build", BUILD, "--work", self.folder.name, *more, found[0].lesson])
        return code, out.getvalue()

    def snapshot(self):
        paths = [os.path.join(at, name) for at, _, names in os.walk(self.folder.name) for name in names]
        return {path: (os.path.getmtime(path), os.path.getsize(path)) for path in paths}

    def test_solution(self):
        self.put(fixture.ARRIVALS, fixture.ARRIVALS.solution)
        before = self.snapshot()
        code, said = self.grade([fixture.ARRIVALS])
        self.assertEqual(code, 0)
        self.assertRegex(said, r"04-fill-arrivals +100 +results 50/50  rules 30/30  cycles 20/20")
        self.assertRegex(said, r"cycles, by the model: \d+, the step's own kernel \d+ \(1\.00 times\)")
        self.assertEqual(self.snapshot(), before, "the student's folder is as it was")
        self.assertNotIn("HINT", said)

    def test_hints(self):
        self.put(fixture.EARLY, fixture.EARLY.start + "\n")
        said = [self.grade([fixture.EARLY], "--hint", str(level))[1] for level in range(4)]
        self.assertIn("HINT=1", said[0])
        self.assertIn("[tcgen05-operand-overwritten]", said[1])
        self.assertNotIn("kernel.cuh:", said[1])
        self.assertRegex(said[2], r"line: kernel\.cuh:\d+: tma_load_2d_multicast_pair")
        self.assertNotIn("difference", said[2])
        self.assertRegex(said[3], r"(?m)^ +-            issue_k_tile")

    def test_not_begun(self):
        self.put(fixture.ARRIVALS, fixture.ARRIVALS.start)
        code, said = self.grade([fixture.ARRIVALS, fixture.EARLY])
        self.assertEqual(code, 0)
        self.assertRegex(said, r"04-fill-arrivals +0 +not begun")
        self.assertRegex(said, r"total +0   of 200; 0 of 2 begun")

    def test_formats(self):
        whole = dataclasses.replace(fixture.MASKS, name="03-predict-b")
        self.put(fixture.MASKS, "arrivals = 5\nmask.a = 0xAA\n", "answers.txt")
        self.put(whole, "".join(f"{q.key} = {q.answer}\n" for q in whole.questions), "answers.txt")
        for name in formats.FORMATS:
            path, github = (os.path.join(self.folder.name, n) for n in (name + ".json", "output"))
            with mock.patch.dict(os.environ, {"GITHUB_OUTPUT": github}):
                code, said = self.grade([fixture.MASKS, whole], "--format", name, "--output", path, "--hint", "1")
            self.assertEqual(code, 0, said)
            with open(path, encoding="utf-8") as f:
                made = json.load(f)
            with open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8") as f:
                rules = json.load(f)
            self.assertEqual(schema.wrong(rules, made), [])
            for spoil in (lambda m: m["tests"][0].pop("score"), lambda m: m["tests"][0].update(status="good"),
                          lambda m: m.update(points=1)):
                spoilt = copy.deepcopy(made)
                spoil(spoilt)
                self.assertNotEqual(schema.wrong(rules, spoilt), [], "the schema sees it")
            self.assertEqual([t["score"] for t in made["tests"]], [50, 100])
        with open(github, encoding="utf-8") as f:
            key, _, value = f.read().strip().partition("=")
        self.assertEqual((key, json.loads(base64.b64decode(value))), ("result", made))

    def test_same_again(self):
        """One run at a time or four: the same mark, to the last word."""
        self.put(fixture.EARLY, fixture.EARLY.start + "\n")
        path = os.path.join(self.folder.name, "04", fixture.EARLY.name, "kernel.cuh")
        got = [marks.Grader(fixture.ROOT, BUILD, jobs=jobs).grade(fixture.EARLY, path) for jobs in (1, 4)]
        self.assertEqual(got[0], got[1])
        self.assertTrue(got[0].findings)

    def test_untouched(self):
        """Who is stuck before the first change is told by name what the checker finds; it has no points."""
        self.put(fixture.PROXY, fixture.PROXY.start)
        said = self.grade([fixture.PROXY], "--hint", "1", "--exercise", fixture.PROXY.name)[1]
        self.assertRegex(said, r"02-repair-a +0 +not begun")
        self.assertIn("missing-proxy-fence", said)
        self.assertNotIn("missing-proxy-fence", self.grade([fixture.PROXY], "--hint", "1")[1])

    def test_untouched_without_a_rule(self):
        """Where only the numbers are wrong, each level says something, and the last one shows the code, not comments."""
        step = "uint64_t a_step = umma_smem_advance(a_desc, i * UMMA_K_BYTES);"
        start = fixture.changed(fixture.SIMPLE, step, step.replace("i *", "2 * i *"))
        start = "/* changed */\n" + start
        line = start[:start.index("2 * i *")].count("\n") + 1
        exercise = dataclasses.replace(fixture.PRODUCT, start=start, first=line, last=line)
        self.put(exercise, start)
        said = [self.grade([exercise], "--hint", level, "--exercise", exercise.name)[1] for level in "123"]
        self.assertRegex(said[0], r"not begun.*\n +no rule .* is broken; the numbers are wrong.*FAIL .*worst D\[")
        self.assertNotIn("line:", said[0])
        self.assertIn("line: kernel.cuh:", said[1])
        self.assertRegex(said[2], r"(?m)^ +-  .*2 \* i \*")
        self.assertNotIn("changed */", said[2])
        self.assertNotIn("make exercise-", said[0])
        self.assertNotIn("numbers are wrong", self.grade([exercise], "--hint", "1")[1])

    def test_difference_in_order(self):
        """Hunks stand as in the file; of more than fit those nearest to the finding are shown."""
        lines = [f"int line_{n};" for n in range(200)]
        yours, its = list(lines), list(lines)
        for n in (20, 90, 150):
            its[n] += " int more;"
        exercise = dataclasses.replace(fixture.PRODUCT, solution="\n".join(its), first=150, last=150)
        shown = hints.difference(marks.blank(exercise), exercise, "\n".join(yours))
        self.assertEqual([line for line in shown if line.startswith("@@")],
                         ["@@ -20,3 +20,3 @@", "@@ -90,3 +90,3 @@", "@@ -150,3 +150,3 @@"])
        with mock.patch.object(hints, "MOST", 5):
            shown = hints.difference(marks.blank(exercise), exercise, "\n".join(yours))
        self.assertEqual([line for line in shown if line.startswith("@@")], ["@@ -150,3 +150,3 @@"])
        self.assertEqual(shown[-1], "... and 10 lines more")

    def test_strict(self):
        """A finding of class strict costs points where the task asks for its rule, and nowhere else."""
        text = fixture.SIMPLE
        fence = text.index("tcgen05_fence_after(); /* what I issue now")
        without = text[:fence] + text[text.index("/*", fence):]
        for asked, points in (((), "100"), (("tcgen05-fence-missing",), "60 ")):
            exercise = dataclasses.replace(fixture.PRODUCT, strict=asked)
            self.put(exercise, without)
            self.assertRegex(self.grade([exercise])[1], f"02-fill-product +{points}")

    def test_asides(self):
        """Where D is wrong and nothing that costs points fell, a finding of class strict leads to the line."""
        step = "uint64_t a_step = umma_smem_advance(a_desc, i * UMMA_K_BYTES);"
        self.put(fixture.PRODUCT, fixture.changed(fixture.SIMPLE, step, step.replace("i *", "2 * i *")))
        said = [self.grade([fixture.PRODUCT], "--hint", level)[1] for level in "12"]
        self.assertRegex(said[1], r"line: kernel\.cuh:\d+: umma_ss\(.*\n +matrix A \(0x[0-9a-f]+\) starts")
        self.assertNotIn("line:", said[0])

    def test_never_ends(self):
        """What the emulator stops is a finding, after as many instructions on any machine; other runs are spared."""
        begin = "    extern __shared__ __align__(1024) unsigned char storage[];\n"
        endless = begin + "    for (;;)\n        __syncwarp();\n"
        self.put(fixture.ARRIVALS, fixture.changed(fixture.PAIR, begin, endless))
        said = self.grade([fixture.ARRIVALS], "--hint", "1")[1]
        self.assertRegex(said, r"04-fill-arrivals +0 ")
        self.assertRegex(said, "stopped it after far more instructions than .*: in its first run, under --schedule")
        self.assertIn("[watchdog]", said)

    def test_wrong_use(self):
        self.assertEqual(self.grade([fixture.MASKS], "--exercise", "nothing")[0], 2)
        for words in (["77"], ["02", "--hint", "7"], ["02", "--format", "pdf"]):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(grade.main(["--build", BUILD, *words]), 2)
            self.assertRegex(said.getvalue(), "^grade: there is no .*; there are: .*\n$")


class Parts(unittest.TestCase):
    def test_draw(self):
        for step in ("01_tmem_alloc", "02_simple_umma", "03_tma_multicast", "04_pair_umma", "05_persistent_warpspec"):
            word, trials = draws.draw(step, "name", "text")
            self.assertEqual((word, trials), draws.draw(step, "name", "text"), "the same again")
            self.assertNotEqual(trials, draws.draw(step, "name", "text ")[1], "another text")
            self.assertNotEqual(trials, draws.draw(step, "name", "text", "word")[1], "another word")
            schedules = {t.schedule.partition(":")[0] for t in trials}
            self.assertEqual(schedules, {"model", "default", "eager", "lazy", "random", "pct"})
            seeds = [w for t in trials for w in t.arguments if w.startswith("--seed")]
            self.assertEqual(len(seeds), len(set(seeds)))
            self.assertEqual(len({t.arguments[:3] for t in trials if t.problem < 3}), 3, "three problems")

    def test_cycles(self):
        def judged(ratio, doubt="", other=""):
            mark = marks.Mark("x", "fill", parts={"results": (50, 50), "rules": (30, 30), "cycles": (0, 20)})
            launch = {"model": {"cycles": 1000 * ratio, "doubts": doubt, "why_not": "", "waits": []}}
            marks.judge_cycles(mark, [launch], [{"model": {"cycles": 1000, "doubts": other, "why_not": ""}}], 20)
            return mark.points

        self.assertEqual([judged(r) for r in (0.5, 1, 1.05, 1.275, 1.5, 9)], [100, 100, 100, 90, 80, 80])
        self.assertEqual(judged(9, "it reads %clock", "it reads %clock"), 100, "they count for nobody")
        self.assertEqual(judged(1, "it reads %clock"), 80, "a doubt of one's own costs the points")

    def test_answers(self):
        for form, given, wanted, right in (
                ("number", "17", "17", True), ("number", "0x11", "17", True), ("number", "017", "17", True),
                ("number", "", "17", False), ("number", "seventeen", "17", False), ("number", "16,384", "16384", True),
                ("hex", "0x11", "0x0011", True), ("hex", "17", "0x11", True), ("hex", "11", "0x11", False),
                ("hex", "0b1_0001", "0x11", True), ("hex", "1F", "0x1f", True), ("number", "1f", "31", True),
                ("number", "0b10", "2", True), ("number", "banana", "11", False), ("number", "٣", "3", False),
                ("number", "1" * 5000, "1", False), ("word", " Even  CTA", "even CTA", True), ("word", "", "", False)):
            self.assertEqual(marks.same(form, given, wanted), right, (form, given, wanted))
        self.assertEqual(marks.read_answers("# a = 1\na = 2 # no\nb\n = 3\n"), {"a": "2", "": "3"})

    def test_questions(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write("mask.a = aa\narrivals = banana\nleader = even cta\n")
            f.flush()
            grader = marks.Grader(fixture.ROOT, BUILD)
            mark = grader.grade(fixture.MASKS, f.name)
            three = dataclasses.replace(fixture.MASKS, questions=fixture.MASKS.questions[:3])
            self.assertEqual(grader.grade(three, f.name).points, 66.7, "two of three are two thirds")
        self.assertEqual((mark.points, mark.wrong), (50, ["arrivals", "bytes"]))
        self.assertEqual(mark.notes, ["no number: arrivals = banana", "not right: 2 of 4 answers"])
        self.assertEqual([len(hints.hints(mark, fixture.MASKS, "", level)) for level in (0, 1, 2, 3)], [0, 2, 4, 6])

    def test_dependencies(self):
        listed = "a.ptx : k.cuh \\\n  common/a\\ b.h \\\n /usr/include/x.h\n"
        self.assertEqual(submission.dependencies(listed), ["k.cuh", "common/a b.h", "/usr/include/x.h"])
        self.assertEqual(submission.strangers(["k.cuh", "../x", "/usr/include/x.h", "/usr/include/../x"], "/tmp/a",
                                          ["/usr/include"]), ["../x", "/usr/include/../x"])

    def test_headers_behind_links(self):
        """Debian 13's asm/ is a link, and gcc lists a header by its own path where that is the shorter one."""
        with tempfile.TemporaryDirectory() as folder:
            include, own, compiler = (os.path.join(folder, name) for name in ("the/compiler/looks/here", "own", "g++"))
            for place in (include, own):
                os.makedirs(place)
            os.symlink(own, os.path.join(include, "asm"))
            for path, text in ((f"{own}/x.h", ""), (f"{folder}/y.h", "int secret;"),
                               (compiler, f'#!/bin/sh\nexec g++ -isystem {include} "$@"\n')):
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
            os.chmod(compiler, 0o755)
            toolkit = Toolkit(BUILD, ["-ccbin", compiler])
            for number, (header, foreign) in enumerate((
                    ("<asm/x.h>", ""), (f'"{folder}/y.h"', "y.h"), ("<asm/../y.h>", "y.h"),
                    (f"<{include}/../../../../y.h>", "y.h"), ('"/etc/passwd"', "passwd"))):
                text, scratch, said = f"#include {header}\n{fixture.SIMPLE}", os.path.join(folder, str(number)), ""
                try:
                    submission.compile_kernel(fixture.ROOT, toolkit, "02_simple_umma", text, scratch)
                except submission.Refused as refused:
                    said = str(refused)
                self.assertRegex(said, rf"^it includes \S*{foreign}: only" if foreign else "^$", header)
                self.assertNotRegex(said, "secret|root:")

    def test_limits(self):
        """What one hand-in needs too much of costs it its mark, and nobody else anything."""
        def grade(stand_in):
            with mock.patch.object(submission, "CPU_SECONDS", 2), mock.patch.object(marks, "read_answers", stand_in), \
                 tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
                return marks.Grader(fixture.ROOT, BUILD).grade(fixture.MASKS, f.name)

        def spin(_):
            while True:
                pass

        def fill(_):
            return {"": bytearray(2 << 30)}

        for stand_in, of in ((spin, "2 s of CPU time"), (fill, "1 GiB of memory")):
            mark = grade(stand_in)
            self.assertEqual((mark.state, mark.points, mark.notes),
                             ("refused", 0, [f"to read it takes the grader more than {of}"]))
        with self.assertRaisesRegex(KeyError, "what went wrong"):
            sandbox.limited(lambda: {}["what went wrong"], cpu_seconds=2, memory_mb=1024)

    def test_entries(self):
        """A text that is made to be read slowly is read as fast as another."""
        ptx = ".visible .entry f(\n.param .align 8 .b8 f_param_0[72],\n.param .u64 .ptr f_param_1\n)\n// .entry f()\n"
        self.assertEqual(submission.entries(ptx), {"f": [[".b8", "[72]"], [".u64"]]})
        for slow in (".entry a(" * 500_000, ".entry a(" + ".param " * 500_000 + ")", ".entry a" + " " * 500_000):
            sandbox.limited(lambda slow=slow: submission.entries(slow), cpu_seconds=5, memory_mb=1024)

    def test_has_include(self):
        """No kernel asks which files the grader's machine has."""
        for ask in ("#if __has_include(", "#if __has_\\\ninclude(", "#define ASK __has_include_next\n#if ASK(",
                    "#define PASTE(a, b) a##b\n#if PASTE(__has_, include)("):
            text = f'{ask}"/etc/passwd")\nint there;\n#endif\n{fixture.SIMPLE}'
            with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(submission.Refused, "__has_include"):
                submission.compile_kernel(fixture.ROOT, Toolkit(BUILD), "02_simple_umma", text, folder)

    def test_words_of_the_compiler(self):
        """They name the student's file."""
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(submission.Refused, r"\nmine\.cuh\(\d+\)"):
            submission.compile_kernel(fixture.ROOT, Toolkit(BUILD), "02_simple_umma", fixture.SIMPLE + "x\n", folder,
                                      "mine.cuh")

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.cuh")
            os.symlink(os.path.join(fixture.ROOT, "README.md"), path)
            self.assertRaises(submission.Refused, submission.read_submission, path)
            self.assertEqual(grade.text_at(path), "", "no hint shows what a link leads to")
            os.unlink(path)
            os.mkfifo(path)
            self.assertEqual(grade.text_at(path), "", "no hint waits for a pipe")
            os.unlink(path)
            for data in (b"\xff\xfe", b"x" * (submission.MAX_BYTES + 1)):
                with open(path, "wb") as f:
                    f.write(data)
                self.assertRaises(submission.Refused, submission.read_submission, path)

    def test_kernels(self):
        """A kernel that the step's host cannot launch as it does is refused; a step's own is not."""
        for step in os.listdir(os.path.join(fixture.ROOT, "course", "fill")):
            number = step.removesuffix(".txt")
            program = submission.program_path(BUILD, grade.exercises.kernels.steps(fixture.ROOT)[number])
            with open(program, "rb") as f:
                text = submission.splice.ptx_of(f.read())
            wanted = submission.entries(text)
            self.assertTrue(wanted and all(wanted.values()), number)
            submission.check_kernels(wanted, submission.entries(text))
            name = next(iter(wanted))
            for changed in (text.replace(name, name + "2"), text.replace(f"{name}_param_0", f"{name}_param_9[4096]", 1),
                            text.replace(f"{name}(\n", f"{name}(\n\t.param .u64 more,\n")):
                with self.assertRaises(submission.Refused):
                    submission.check_kernels(wanted, submission.entries(changed))

    def test_seed(self):
        with tempfile.TemporaryDirectory() as folder:
            for text, seed in (("ada\n", "ada"), ("7", "7"), ("o'brien", "o'brien"), ("\u00b2", "\u00b2"),
                               ("a\nb", "1"), ("\x1b[2J", "1"), ("x" * 65, "1")):
                with open(os.path.join(folder, "SEED"), "w", encoding="utf-8") as f:
                    f.write(text)
                self.assertEqual(grade.seed_of(folder + "/none", folder), seed)

    def test_work(self):
        loads = {"tcgen05.ld": {"bytes": 100, "instructions": 1}}
        launch = {"kernel": "k", "ummas": [{"flop": 8}], "operations": loads}
        less = copy.deepcopy(launch)
        less["ummas"][0]["flop"] = 7
        less["operations"]["tcgen05.ld"]["bytes"] = 89
        self.assertEqual(trial.too_little([launch], [launch]), [])
        self.assertEqual(trial.too_little([launch], [less]), ["tcgen05.ld", "tcgen05.mma"])
        self.assertEqual(trial.too_little([launch], []), ["launches", "tcgen05.ld", "tcgen05.mma"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
