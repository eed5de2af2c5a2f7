"""test_lessons.py - the lessons' test can fail: pages of a made-up tree, right and wrong in each way."""

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
import time
import unittest

import compare
import lessons
import mend
import page
from called import called
from sm100repo import PYTHON, read, write

PAGE = """# A page

```console
$ printf 'a\\nb\\nc\\n'
a
...
c
$ echo one two three
one ... three
```

<!-- slow -->
```console
$ echo slow \\
    and long
slow and long
```

<!-- exit: 3 -->
```console
$ sh -c 'echo out; echo err >&2; exit 3'
out
err
```

<!-- not run: it would fail -->
```console
$ false
never
```

<!-- needs: exit 1 -->
```console
$ false
never
```

<!-- needs: exit 0 -->
```console
$ true
```

```
$ false
```

<!-- numbers 1,234, 5.6: echo 1234 and 5.6. -->
<!-- numbers 7: seq 7 |
     cat -->
There are 1,234 of them,
5.6 %, and 7.

- item <!-- is no comment of its own -->
  <!-- slow -->
  <!-- numbers 8: echo 8 -->
  of 8.

Indented:

    build/sm100emu --check=off build/nothing      # a comment
    build/sm100emu PROGRAM
    build/sm100emu ./build/x
    make run-01 ARGS='--m 1'

Text
    make run-02
"""
SKIPPED = "page.md:34: not run, as `exit 1` fails\n"


class Tree:
    """A folder with one page, and what lessons.py says of it."""

    def __init__(self, text):
        self.folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "page.md")
        write(self.path, text)

    def says(self, *words):
        return called(lessons.main, "--root", self.folder.name, *words)

    def text(self):
        return read(self.path)


class Runs(unittest.TestCase):
    def breaks(self, old, new, *wanted, words=("--slow",)):
        tree = Tree(PAGE.replace(old, new))
        self.assertNotEqual(tree.text(), PAGE)
        code, says = tree.says(*words)
        self.assertEqual(code, 1, says)
        for text in wanted:
            self.assertIn(text, says)

    def test_right(self):
        self.assertEqual(Tree(PAGE[: PAGE.index("Indented")]).says("--slow"),
                         (0, SKIPPED + "lessons: 9 commands do what the pages say\n"))
        self.assertEqual(Tree(PAGE).says("page"), (0, SKIPPED + "lessons: 7 commands do what the pages say\n"))

    def test_list(self):
        self.assertEqual(Tree(PAGE).says("--tests"), (0, "page page.md 7 4 -\n"))
        self.assertIn("page.md:8: echo one two three", Tree(PAGE).says("--list")[1])
        self.assertEqual(Tree(PAGE).says("other")[0], 2)

    def test_indented(self):
        found = page.Page(Tree(PAGE).folder.name, "page.md").indented()
        self.assertEqual([c.text for c in found],
                         ["build/sm100emu --check=off build/nothing", "make run-01 ARGS='--m 1'"])
        self.assertIn("page.md:60: `build/sm100emu --check=off build/nothing` ends with 127",
                      Tree(PAGE).says("--slow")[1])

    def test_output(self):
        """Wrong lines, a wrong word within one, too few and too many, another order, another exit code."""
        self.breaks("\nc\n$", "\nd\n$", "page.md:7:", "shown:   d", "from here on: b")
        self.breaks("\na\n...", "\nb\n...", "page.md:5:", "shown:   b", "printed: a")
        self.breaks("one ... three", "one ... tree", "page.md:9:", "printed: one two three")
        self.breaks("\n...\nc", "", "page.md:5:", "shown:   nothing more", "printed: b")
        self.breaks("err\n```", "err\nmore\n```", "page.md:24:", "shown:   more", "printed: nothing more")
        self.breaks("out\nerr", "err\nout", "page.md:22:", "shown:   err", "printed: out")
        self.breaks("exit 3'", "exit 4'", "ends with 4, not 3", "    err")
        self.breaks("<!-- exit: 3 -->\n", "", "ends with 3, not 0")

    def test_what_mends_it(self):
        self.breaks("\nc\n$", "\nd\n$", "\nmend: make mend PAGES='page'\n")
        self.assertNotIn("mend:", Tree(PAGE.replace("exit 3'", "exit 4'")).says("--slow")[1])  # none of its output

    def test_slow(self):
        self.breaks("slow and long", "slow and short", "page.md:16:")
        self.assertEqual(Tree(PAGE.replace("slow and long", "slow and short")).says()[0], 0)

    def test_needs(self):
        self.breaks("needs: exit 1", "needs: exit 0", "page.md:34: `false` ends with 1")

    def test_numbers(self):
        self.breaks("There are 1,234", "There are 1,235", "page.md:47: the page says no 1,234")
        self.breaks("echo 1234", "echo 12345", "page.md:47: the command prints no 1,234")
        self.breaks("5.6 %", "5.61 %", "page.md:47: the page says no 5.6")
        self.breaks("and 7", "and 17", "page.md:49: the page says no 7")
        self.breaks("numbers 7", "numbers 9", "page.md:49: the command prints no 9")
        self.breaks("\nThere", "\n\nThere", "the page says no 1,234")
        self.breaks("of 8", "of 9", "page.md:55: the page says no 8")
        self.breaks("cat -->", "cat; exit 1 -->", "cat; exit 1` ends with 1")

    def test_environment(self):
        os.environ.update({"MAKEFLAGS": "-n", "SM100EMU_CHECK": "off", "BACKEND": "gpu"})
        says = Tree("```console\n$ env\nno\n```\n").says()[1]
        code, printed = lessons.run(".", "env", 10)
        self.assertEqual(code, 0, says)
        self.assertIn("BACKEND=emulator", printed)
        self.assertFalse([line for line in printed if line.startswith(("MAKEFLAGS", "SM100EMU"))])

    def test_limit(self):
        self.assertEqual(lessons.run(".", "echo begun; sleep 60 & wait", 3), (None, ["begun", ""]))

    def test_told_to_end(self):
        tree = Tree("```console\n$ echo $$ >pid; sleep 300\n```\n")
        begun = subprocess.Popen([*PYTHON, lessons.__file__, "--root", tree.folder.name])
        at = os.path.join(tree.folder.name, "pid")
        while not (os.path.exists(at) and os.path.getsize(at)):
            time.sleep(0.02)
        begun.terminate()
        self.assertEqual(begun.wait(), 1)
        with self.assertRaises(ProcessLookupError):
            pid = int(read(at))
            for _ in range(3000):  # until init has buried it
                os.kill(pid, 0)
                time.sleep(0.02)

    def test_what_make_says(self):
        command = "echo '  building, 3 to do for all; V=1 shows the commands'; echo '  2 of 3'; echo 'building a'"
        self.assertEqual(lessons.run(".", command, 10), (0, ["building a", ""]))

    def test_update(self):
        """It reaches what is slow, too, of a page that differs."""
        right = PAGE[: PAGE.index("Indented")]
        for words in ["--slow", "--update"], ["--update"]:
            tree = Tree(right.replace("\nc\n$", "\nd\n$").replace("slow and long", "fast\nor not"))
            self.assertEqual((tree.says(*words)[0], tree.text()), (0, right))
        slow = right.replace("slow and long", "fast\nor not")  # nothing else differs: it is not run
        tree = Tree(slow)
        self.assertEqual((tree.says("--update")[0], tree.text()), (0, slow))

    def test_update_in_a_list(self):
        tree = Tree("- item\n  ```console\n  $ printf 'a\\n\\nb\\n'\n  x\n  ```\n")
        self.assertEqual(tree.says("--update")[0], 0)
        self.assertEqual(tree.text(), "- item\n  ```console\n  $ printf 'a\\n\\nb\\n'\n  a\n\n  b\n  ```\n")
        self.assertEqual(tree.says()[0], 0)


    def test_other_compiler(self):
        tree = Tree(PAGE.replace("a\n...", "b\n..."))
        for version, code, says in (("13.0", 1, "prints something else"), ("13.5", 0, "as the pages say; 1 print something")):
            write(os.path.join(tree.folder.name, "build", "toolkit.env"), f"NVCC_VERSION='{version}'\n")
            done, said = tree.says()
            self.assertEqual((done, says in said), (code, True), said)
        self.assertIn("and this is 13.5", tree.says("--update")[1])
        write(tree.path, PAGE.replace("exit: 3", "exit: 4"))
        self.assertEqual(tree.says("--slow")[0], 1)


class Comparisons(unittest.TestCase):
    def test_gaps(self):
        for shown, printed, where in [
            ("a ... c", "a b c", None), ("...", "", None), ("...", "a|b", None), ("a|...", "a", None),
            ("a|...|b", "a|b|b", None), ("a|...|b", "a|c", (2, 1)), ("  ...|b|...|b", "a|b|b", None),
            ("a", "a |", None),
            ("a|b", "a", (1, 1)), ("a", "a|b", (1, 1)), ("x ...", "x y", None), ("x ...", "xy", (0, 0)),
            ("(1, ...)", "(1, 2)", None), ("...|b|...", "a|b", None), ("...|b|...", "a|c", (1, 0)),
        ]:
            self.assertEqual(compare.differs(shown.split("|"), printed.split("|")), where, (shown, printed))

    def test_merged(self):
        for shown, printed, result in [
            ("a|...|c", "a|b|c", "a|...|c"), ("a|...|d", "a|b|c", "a|...|c"), ("a ... c|b", "a x c|d", "a ... c|d"),
            ("TODO", "a|b", "a|b"), ("a|b|c", "a|c", "a|c"), ("...|x", "x|y", "...|x|y"),
            ("a|...|c", "b|b|c", "b|...|c"),
        ]:
            self.assertEqual("|".join(compare.merged(shown.split("|"), printed.split("|"))), result, (shown, printed))


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Mending(unittest.TestCase):
    def renamed(self, files, words):
        """(what is said, the files) of a rename in a repository of these files."""
        before, said = os.getcwd(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for path, text in files.items():
                    write(path, text)
                subprocess.run(["git", "init", "-q"], check=True)
                subprocess.run(["git", "add", "."], check=True)
                with contextlib.redirect_stdout(said):
                    mend.rename(words)
            except SystemExit as end:
                said.write(str(end))
            finally:
                os.chdir(before)
            return said.getvalue(), {path: read(os.path.join(folder, path)) for path in files}

    def test_rename(self):
        files = {"a.cu": "wait(); awaits(); wait_ld(wait);\n", "a.txt": "- wait();\n", "b.md": "nothing\n"}
        said, made = self.renamed(files, "wait pause")
        self.assertEqual(made, {**files, "a.cu": "pause(); awaits(); wait_ld(pause);\n", "a.txt": "- pause();\n"})
        self.assertEqual(said, "a.cu: pause, 2 times\na.txt: pause, 1 times\n")
        self.assertEqual(self.renamed({"a.c": '"a-b" b-a-b\n'}, "a-b c-d")[1], {"a.c": '"c-d" b-a-b\n'})

    def test_rename_of_two_into_one(self):
        files = {"a.cu": "wait(); pause();\n", "a.txt": "- wait();\n"}
        for words, wanted in (("wait pause", "mend: a.cu has wait and pause"), ("go stop", "mend: no file has go"),
                              ("wait", "mend: RENAME='OLD NEW' are two names"), ("a|b c", "are two names")):
            said, made = self.renamed(files, words)
            self.assertIn(wanted, said)
            self.assertEqual(made, files)

    def test_reworded(self):
        line = "error: the CTA left 128 of its (own) columns of a.b at 0x0 [dealloc]"
        for old, new in [
            (r"^error: the CTA kept [0-9]+ of its columns of a.b .*\[dealloc\]$",
             r"^error: the CTA left [0-9]+ of its \(own\) columns of a.b .*\[dealloc\]$"),
            (r"^error: the CTA left @LINE@ .*\[dealloc\]$", r"^error: the CTA left @LINE@ .*\[dealloc\]$"),
        ]:
            self.assertEqual(mend.reworded(old, line), new)


class Pages(unittest.TestCase):
    def test_names(self):
        for path, name in [("01_tmem_alloc/README.md", "01"), ("README.md", "README"),
                           ("docs/watching.md", "docs.watching"),
                           ("tests/clock/ladder/README.md", "tests.clock.ladder"),
                           ("05_a/ladder/README.md", "05.ladder")]:
            self.assertEqual(page.test_name(path), name)


if __name__ == "__main__":
    unittest.main()
