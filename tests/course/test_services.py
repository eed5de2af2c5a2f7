"""test_services.py: a class is marked whole, in parts by Slurm's script, and again without work; Gradescope's script
writes what its schema allows; the container and the workflow ask for what there is."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import fixture
import schema

from sm100repo import PYTHON
from sm100repo.course import exercise as exercises
from sm100repo.course.model import FILL, PREDICT

ROOT = fixture.ROOT
GRADE_ALL = [*PYTHON, "course.grade_all"]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def run(*command, **environment):
    made = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
    if made.returncode:
        raise AssertionError(f"{command}: {made.returncode}\n{made.stdout}{made.stderr}")
    return made.stdout


class Services(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        found = exercises.load(ROOT, "02", "1")
        cls.kernel, cls.questions = (next((e for e in found if e.kind == k), None) for k in (FILL, PREDICT))

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="class-")
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, *path, text):
        path = os.path.join(self.folder, *path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def test_class(self):
        """Three students in three layouts, and a link to another's work; word: nothing is kept from other runs."""
        word = "--draw=" + os.path.basename(self.folder)
        name = self.kernel.name
        self.put("ada", "exercises", "02", name, "kernel.cuh", text=self.kernel.solution)
        self.put("bob", "02", name, "kernel.cuh", text=self.kernel.start + "/* done */\n")
        self.put("=cyd", name, "kernel.cuh", text=self.kernel.start)
        os.makedirs(os.path.join(self.folder, "eve"))
        os.symlink(os.path.join(self.folder, "ada", "exercises"), os.path.join(self.folder, "eve", "exercises"))
        said = "".join(run("sh", "course/slurm.sh", self.folder, word, SLURM_ARRAY_TASK_ID=str(part),
                           SLURM_ARRAY_TASK_COUNT="2") for part in (1, 2))
        marked = re.findall(r"(?m)^  \d/\d  (\S+)  \S+  (\d+)$", said)
        self.assertEqual(sorted(marked), [("=cyd", "0"), ("ada", "100"), ("bob", "0")], said)
        path = os.path.join(self.folder, "marks.csv")
        told = run(*GRADE_ALL, word, "--csv", path, self.folder)
        self.assertIn("3 files, 0 to be marked", told)
        with open(path, newline="", encoding="utf-8") as f:
            rows = list(csv.reader(f))
        wrong = rows[3][6]
        self.assertRegex(wrong, r"^D is wrong: in 1\d of 1\d runs, first under --schedule=model --m=")
        self.assertEqual(rows, [
                ["student", "seed", "files", "total", "fill", name, "why " + name, "left out"],
                ["'=cyd", "1", "1", "0.0", "0.0", "0", "not begun", ""],
                ["ada", "1", "1", "100.0", "100.0", "100", "", ""],
                ["bob", "1", "1", "0.0", "0.0", "0", wrong, ""],
                ["eve", "", "0", "0.0", "0.0", "", "not handed in", ""]])
        with open(os.path.join(self.folder, "marks", "bob.html"), encoding="utf-8") as f:
            self.assertIn(wrong, f.read())

    def grade_all(self, *more):
        """Runs the class; (exit code, what it says)."""
        made = subprocess.run([*GRADE_ALL, "--csv", os.path.join(self.folder, "marks.csv"), *more,
                               os.path.join(self.folder, "class")], cwd=ROOT, capture_output=True, timeout=1200)
        return made.returncode, (made.stdout + made.stderr).decode("utf-8", "replace")

    def rows(self):
        with open(os.path.join(self.folder, "marks.csv"), newline="", encoding="utf-8") as f:
            return list(csv.reader(f))

    def answers(self, *student, start="", of=None):
        of = of or self.questions
        text = start + "".join(f"{q.key} = {q.answer}\n" for q in of.questions)
        self.put("class", *student, "02", of.name, "answers.txt", text=text)

    def test_odd_folders(self):
        """What may lie in a class's folder stops nobody's mark: pipes, links without an end, names of any bytes."""
        self.answers("ada", start="\ufeff")  # as an editor of Windows begins a file
        self.answers("bob")
        os.mkfifo(os.path.join(self.folder, "class", "bob", "02", "SEED"))
        self.answers("cyd")
        os.symlink("/dev/zero", os.path.join(self.folder, "class", "cyd", "02", "SEED"))
        named = os.path.join(self.folder, "class", "b")
        os.rename(named + "ob", os.fsencode(named) + b"\xf6b")
        self.put("class", "dan", "02", "SEED", text="=1+1\n")
        self.put("class", "dan", "02", self.questions.name, "answers.txt", text="")
        os.makedirs(os.path.join(self.folder, "class", "eli", "02", self.questions.name))
        os.mkfifo(os.path.join(self.folder, "class", "eli", "02", self.questions.name, "answers.txt"))
        os.makedirs(os.path.join(self.folder, "class", ".git"))
        self.answers("new\nline")
        os.symlink("ada", os.path.join(self.folder, "class", "twin"))
        code, said = self.grade_all()
        self.assertEqual(code, 0, said)
        marks = [(row[0], row[1], row[3]) for row in self.rows()[1:]]
        self.assertEqual(marks, [("ada", "1", "100.0"), (r"b\udcf6b", "1", "100.0"), ("cyd", "1", "100.0"),
                                 ("dan", "'=1+1", "0.0"), ("eli", "1", "0.0"), (r"new\nline", "1", "100.0"),
                                 ("twin", "", "0.0")])
        self.assertEqual(self.rows()[-1][-1], "the folder is a link")
        reasons = {row[0]: row[6] for row in self.rows()}
        self.assertEqual((reasons["dan"], reasons["eli"]), ("not begun", "refused; answers.txt is not a plain file"))
        self.assertIn("twin: the folder is a link", said)

    def test_students(self):
        """The teacher's list of seeds is the whole class; a part that is none, or a list that is not there, is told."""
        self.answers("ada")
        self.answers("bob")
        self.put("seeds.csv", text="\ufeffada,1\n")
        seeds = ["--seeds", os.path.join(self.folder, "seeds.csv")]
        code, said = self.grade_all(*seeds)
        self.assertEqual((code, "no seed for bob" in said), (2, True), said)
        self.put("seeds.csv", text="\ufeffada,1\nbob,1\n")
        self.assertEqual(self.grade_all(*seeds)[0], 0)
        self.assertEqual([row[1] for row in self.rows()], ["seed", "1", "1"])
        for wrong in (["--shard", "3"], ["--shard", "0/4"], ["--shard", "5/4"]):
            code, said = self.grade_all(*wrong)
            self.assertEqual((code, "Traceback" in said), (2, False), said)
        code, said = self.grade_all("--seeds", os.path.join(self.folder, "none.csv"))
        self.assertEqual((code, "Traceback" in said), (1, False), said)

    def test_roster(self):
        """Who hands in nothing is in the table, and in the means; what one seed calls otherwise is in one column."""
        self.answers("ada")
        self.answers("bob")
        self.put("seeds.csv", text="ada,1\nbob,1\nzoe,1\n")
        code, said = self.grade_all("--seeds", os.path.join(self.folder, "seeds.csv"), "--exercise",
                                    f"{self.questions.name} 02-repair-1")
        self.assertEqual(code, 0, said)
        head, *rows = self.rows()
        self.assertEqual(head[3:8], ["total", "predict", "repair", self.questions.name, "02-repair-1"])
        self.assertEqual([row[:8] for row in rows], [[student, "1", "1", "50.0", "100.0", "0.0", "100", ""]
                                                     for student in ("ada", "bob")] +
                         [["zoe", "", "0", "0.0", "0.0", "0.0", "", ""]])
        code, said = self.grade_all("--weights", "predict:3,repair:1")
        self.assertEqual([row[3] for row in self.rows()[1:]], ["100.0", "100.0"], "only what was set counts")
        self.assertIn("it is kept as", said)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "marks.csv.orig")), "zoe is in it")
        code, said = self.grade_all("--exercise", "02-predict-nothing")
        self.assertEqual((code, "EXERCISE=02-predict-nothing" in said), (2, True), said)
        self.assertEqual(len(self.rows()), 3)
        self.assertEqual(self.grade_all("--weights", "fun:1")[0], 2)

    def test_seeds_of_tasks(self):
        """Questions are marked by the seed that their TASK names, and by no other; the teacher's seed goes first."""
        other = next(e for e in exercises.load(ROOT, "02", "2") if e.name == self.questions.name)
        self.assertNotEqual([q.answer for q in other.questions], [q.answer for q in self.questions.questions])
        for student, seed in (("ada", "1"), ("bob", "2")):
            self.answers(student, of=other)
            self.put("class", student, "02", "SEED", text=seed + "\n")
            self.put("class", student, "02", other.name, "TASK.md", text=exercises.task(other))
        self.assertEqual(self.grade_all()[0], 0)
        self.assertEqual([row[1:4] for row in self.rows()[1:]], [["2", "1", "100.0"]] * 2)
        self.put("seeds.csv", text="ada,1\nbob,2\n")
        self.assertEqual(self.grade_all("--seeds", os.path.join(self.folder, "seeds.csv"))[0], 0)
        self.assertEqual([row[3] for row in self.rows()[1:]], ["0.0", "100.0"])
        self.assertIn("its TASK.md is of seed 2, and it is marked by seed 1", self.rows()[1][6])

    def test_gradescope(self):
        self.put("submission", "work", self.kernel.name, "kernel.cuh", text=self.kernel.solution)
        os.makedirs(os.path.join(self.folder, "source"))
        os.makedirs(os.path.join(self.folder, "results"))
        os.symlink(ROOT, os.path.join(self.folder, "source", "course"))
        script = os.path.join(self.folder, "run_autograder")
        with open(script, "w", encoding="utf-8") as f:
            f.write(read("course", "gradescope", "run_autograder").replace("@LESSON@", "02"))
        run("sh", script, AUTOGRADER=self.folder)
        with open(os.path.join(self.folder, "results", "results.json"), encoding="utf-8") as f:
            made = json.load(f)
        self.assertEqual(schema.wrong(json.loads(read("course", "schemas", "gradescope.json")), made), [])
        scores = {t["name"]: t["score"] for t in made["tests"]}
        self.assertEqual((scores.pop(self.kernel.name), set(scores.values())), (100, {0}))

    def test_pack(self):
        """What Gradescope is given: both scripts may be executed, and name the lesson; the grader is beside them."""
        with zipfile.ZipFile(run("sh", "course/gradescope/pack.sh", "03").strip()) as packed:
            for name in ("setup.sh", "run_autograder"):
                self.assertEqual(packed.getinfo(name).external_attr >> 16 & 0o111, 0o111, name)
            script = packed.read("run_autograder").decode()
            self.assertIn("course/python/sm100repo/course/grade.py", packed.namelist())
        self.assertIn("results.json\" 03\n", script)
        self.assertNotIn("@LESSON@", script)

    def test_container(self):
        """The image has what README.md asks for on Debian and Ubuntu."""
        wanted = set(re.search(r"sudo apt-get install (.*?) +#", read("README.md"))[1].split())
        dockerfile = read(".devcontainer", "Dockerfile")
        image = set(re.findall(r"[\w+-]+", re.search(r"apt-get install(.*?)&&", dockerfile, re.S)[1]))
        self.assertEqual(wanted - image, set())
        made = json.loads(read(".devcontainer", "devcontainer.json"))
        self.assertTrue(os.path.exists(os.path.join(ROOT, ".devcontainer", made["build"]["dockerfile"])))

    def test_workflow(self):
        """The workflow's variables are the Makefile's; what its last step reads, the one before writes."""
        text, makefile = read("course", "github-classroom.yml"), read("Makefile")
        for name in re.findall(r"\b([A-Z]{4,})=", text):
            self.assertRegex(makefile, rf"(?m)^{name} \?=")
        self.assertIn("make -C course grade-$LESSON", text)
        step = re.search(r"\$\{\{ steps\.(\w+)\.outputs\.result \}\}", text)[1]
        self.assertRegex(text, rf"(?m)^ +id: {step}$")
        self.assertRegex(text, rf"(?m)^ +runners: {step}$")
        self.assertIn(f"{step.upper()}_RESULTS:", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
