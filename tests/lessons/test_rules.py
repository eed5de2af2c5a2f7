"""test_rules.py - rules.py and prose.py can fail: a small tree that keeps all rules, and one breach of it at a time."""

import os
import tempfile
import unittest

import prose
import rules
from called import called
from sm100repo import read, write

FILES = {
    "Makefile": "ARGS ?=\nall: x ## all\nrun-% check-%:\n\techo\n.PHONY: run-01\n",
    "emulator/sm100emu.1": ".It Fl -check Ns = Ns Ar level\n",
    "common/a.cuh": "/* a */\nstatic void tmem_alloc(uint32_t dst) {\n    asm(\"alloc\");\n}\n",
    "01_step/k.cu": "__global__ void k(int *p) {\n    tmem_alloc(1);\n    *p = 1;  // one | two\n}\n",
    "01_step/breaks/1-word.patch": "What it does.\nTells: deadlock\n--- a/01_step/k.cu\n+++ b/01_step/k.cu\n"
                                  "@@ -2,2 +2,1 @@\n     tmem_alloc(1);\n-    *p = 1;  // one | two\n",
    "docs/diagnostics.md": "# Diagnostics\n\n## deadlock\n\nText.\n",
    "docs/figures/ring.svg": "<svg/>\n",
    "01_step/README.md": """# A step: its `idea`

See `common/a.cuh:3` `asm("alloc")`, `k.cu:2-3` `tmem_alloc(1); *p = 1;`, [`*p = 1`](k.cu#L3) and
[the rule](../docs/diagnostics.md#deadlock), [here](#a-step-its-idea), ![a ring](../docs/figures/ring.svg).
A map `m[k](x)` is no link. | `a.cuh:2` `tmem_alloc(...) {` | [`k()`](k.cu#L1) `k.cu:3` `one \\| two` |

```c
__global__ void k(int *p) {
    ...
    *p = 1; // one | two
```

```c sketch
anything
```

    make run-01 ARGS='--m 1 --n 2'      # a comment; make nothing
    build/sm100emu --check=off build/01_step

```console
$ make break-01-1
...
```
""",
}


class Rules(unittest.TestCase):
    def says(self, files, *words):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                write(os.path.join(folder, path), text)
            code, said = called(rules.main, "--root", folder, *words)
            return code, said, read(os.path.join(folder, "01_step/README.md"))

    def breach(self, old, new, wanted, path="01_step/README.md"):
        files = {**FILES, path: FILES[path].replace(old, new)}
        self.assertNotEqual(files[path], FILES[path])
        code, says, _ = self.says(files)
        self.assertEqual(code, 1, says)
        self.assertIn(wanted, says)

    def test_right(self):
        code, says, _ = self.says(FILES)
        self.assertEqual((code, says), (0, "rules: 16 citations, links, quotes, commands and experiments in 2 pages\n"))

    def test_empty(self):
        self.assertEqual(self.says({"01_step/README.md": "", "01_step/x.cu": ""})[0], 1)

    def test_citations(self):
        self.breach("a.cuh:3", "a.cuh:2",
                    "README.md:3: common/a.cuh:2 does not hold `asm(\"alloc\")`; common/a.cuh:3 does")
        self.breach("a.cuh:3", "a.cuh:9", "common/a.cuh has 4 lines, not 9")
        self.breach("common/a.cuh:3", "common/b.cuh:3", "there is no file common/b.cuh")
        self.breach("k.cu:2-3", "k.cu:1-2", "01_step/k.cu:1 does not hold `tmem_alloc(1); *p = 1;`")
        self.breach("one \\\\|".replace("\\\\", "\\"), "one", "does not hold `one two`")
        self.breach("A map", "Line 3 says: a map", "write file:line")
        self.breach("*p = 1", "*p = 2", "does not hold `*p = 1`", path="01_step/k.cu")
        files = {**FILES, "01_step/README.md": "# x\n\nSee k.cu:1.\n"}
        self.assertIn("README.md:3: k.cu:1: quote beside it what stands there", self.says(files)[1])

    def test_links(self):
        self.breach("k.cu#L3", "k.cu#L2", "01_step/k.cu:2 does not hold `*p = 1`")
        self.breach("[`*p = 1`]", "[p]", "a link to a line quotes it")
        self.breach("md#deadlock", "md#livelock", "docs/diagnostics.md has no heading #livelock")
        self.breach("(#a-step-its-idea)", "(#a-step)", "01_step/README.md has no heading #a-step")
        self.breach("ring.svg", "rings.svg", "README.md:4: the link leads nowhere: ../docs/figures/rings.svg")
        self.breach("../docs/diag", "../../docs/diag", "the link leads nowhere")

    def test_moved(self):
        moved = "/* new */\n" + FILES["01_step/k.cu"].replace("tmem_alloc(1)", "tmem_alloc(7)")
        files = {**FILES, "01_step/k.cu": moved}
        code, says, text = self.says(files, "--update")
        self.assertEqual(code, 1)
        self.assertIn("[`*p = 1`](k.cu#L4)", text)
        self.assertIn("`k.cu:4` `one \\| two`", text)
        self.assertIn("`k.cu:2-3`", text)
        self.assertIn("01_step/README.md: k.cu:3 is k.cu:4\n", says)
        self.assertNotIn("mend: make mend\n", says)  # what it can mend is mended

    def test_moved_all(self):
        """Citations of several lines too, and of words that stand in several; patches."""
        twice = FILES["01_step/k.cu"] + "\nint k(int);\nint j(int);\n"
        files = {**FILES, "01_step/k.cu": "/* new */\n" + twice}
        code, says, text = self.says(files)
        self.assertEqual(code, 1, says)
        self.assertTrue(says.endswith("mend: make mend\n"), says)
        code, says, text = self.says(files, "--update")
        self.assertEqual(code, 0, says)
        self.assertIn("`k.cu:3-4` `tmem_alloc(1); *p = 1;`", text)
        self.assertIn("[`k()`](k.cu#L2)", text)
        self.assertIn("1-word.patch: other lines", says)

    def test_patch_of_other_white_space(self):
        files = {**FILES, "01_step/k.cu": FILES["01_step/k.cu"].replace("1;  //", "1; //")}
        code, says, _ = self.says(files)
        self.assertEqual((code, says), (1, "01_step/breaks/1-word.patch: its lines have other white space now\n"
                                           "mend: make mend\n"))
        self.assertEqual(self.says(files, "--update")[0], 0)

    def test_renamed(self):
        """Whatever quotes a name is listed, with what the source has now and the command that renames it."""
        page = FILES["01_step/README.md"].replace("    ...\n", "    tmem_alloc(1);\n")
        files = {**FILES, "01_step/README.md": page}
        self.assertEqual(self.says(files)[0], 0)
        for path in ("common/a.cuh", "01_step/k.cu"):
            files[path] = FILES[path].replace("tmem_alloc", "take_columns")
        code, says, _ = self.says(files)
        self.assertEqual(code, 1, says)
        for place in ("01_step/README.md:3: 01_step/k.cu:2 does not hold", "01_step/README.md:5: common/a.cuh:2 does",
                      "01_step/README.md:9: no source has this line: `tmem_alloc(1);`",
                      "nearest: 01_step/k.cu:2: `take_columns(1);`", "1-word.patch:5: 01_step/k.cu: 0 places instead"):
            self.assertIn(place, says)
        self.assertTrue(says.endswith("\nmend: make mend RENAME='tmem_alloc take_columns'\n"), says)
        other = "\n" * 20 + "void f(void) {\n    other_name(1);\n}\n"  # as new, and far from what is cited
        says = self.says({"01_step/README.md": "# x\n\n`k.cu:2` `tmem_alloc(1);`\n",
                          "01_step/k.cu": files["01_step/k.cu"] + other})[1]
        self.assertIn("\nmend: make mend RENAME='tmem_alloc take_columns'\n", says)
        files["01_step/k.cu"] = FILES["01_step/k.cu"].replace("(1)", "(7)")
        self.assertNotIn("mend:", self.says({**FILES, "01_step/k.cu": files["01_step/k.cu"]})[1])

    def test_quoted_code(self):
        self.breach("*p = 1; //", "*p = 2; //", "README.md:10: no source has this line: `*p = 2; // one | two`")
        self.breach("    ...\n    *p = 1; // one | two\n", "    *p = 1; // one | two\n    tmem_alloc(1);\n",
                    "README.md:7: these lines stand in no source in this order")
        self.breach("```c sketch", "```c", "no source has this line: `anything`")
        self.breach("```c sketch", "```rust", "a block of kind `rust`")

    def test_outputs(self):
        self.breach("```console", "```", "README.md:21: commands with a prompt")
        self.breach("anything", "PASS  01_step", "README.md:14: commands with a prompt")
        self.breach("anything", "error: no order   [deadlock]", "stand in a `console` block")
        self.breach("anything", "  --> common/a.cuh:3 in k", "stand in a `console` block")
        self.breach("$ make break-01-1\n", "", "a console block begins with a command")
        self.breach("...\n```\n", "...\n", "README.md:20: the block does not end")

    def test_commands(self):
        self.breach("make run-01", "make runs-01", "make has no target runs-01")
        self.breach("make run-01", "make run-02", "make has no target run-02")
        self.breach("ARGS=", "ARG=", "README.md:17: make knows no variable ARG")
        self.breach("--check=off", "--chek=off", "sm100emu has no option --chek")
        self.breach("A map", "`sh scripts/no.sh` and", "there is no file scripts/no.sh")
        self.breach("A map", "`python3 -B scripts/no.py` and", "there is no file scripts/no.py")
        self.breach("A map", "`python3 -ISB python/sm100repo course.no 04` and", "no file python/sm100repo/course/no.py")
        self.breach("A map", "`make break-01-2` and", "make has no target break-01-2")

    def test_experiments(self):
        self.breach("$ make break-01-1", "$ make all", "no page of 01_step/ shows `$ make break-01-1`")
        patch = "01_step/breaks/1-word.patch"
        lesson = FILES["01_step/README.md"]
        elsewhere = {"01_step/README.md": lesson[:lesson.index("```console")], "01_step/further.md": lesson}
        self.assertEqual(self.says({**FILES, **elsewhere})[0], 0)
        self.breach("Tells: deadlock", "Tells: livelock", "1-word.patch: `Tells:` names", path=patch)
        self.breach("Tells: deadlock\n", "", "1-word.patch: `Tells:` names", path=patch)
        self.assertIn("has N alone", self.says({**FILES, "01_step/breaks/1-more.patch": FILES[patch]})[1])
        self.assertEqual(self.says({**FILES, patch: FILES[patch].replace("Tells: deadlock", "Tells: FAIL")})[0], 0)

class Prose(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        os.makedirs(os.path.join(self.root, "tests", "lessons"))
        os.makedirs(os.path.join(self.root, "01_step"))
        self.write("README.md", "# A course\n\nThe tile lies in memory.\n")

    def write(self, path, text):
        with open(os.path.join(self.root, path), "w") as f:
            f.write(text)

    def says(self):
        return called(prose.main, "--root", self.root)

    def test_no_exceptions(self):
        self.assertEqual(self.says(), (1, "README.md:3: lies: write is: The tile lies in memory.\n"))
        self.write("README.md", "# A course\n\nThe tile is in memory.\n\n1. Rows follow.\n2. A row lies there.\n")
        self.assertEqual(self.says(), (1, "README.md:6: lies: write is: A row lies there.\n"))
        self.write("README.md", "# A course\n\nThe tile is in memory.\n")
        self.assertEqual(self.says(), (0, "prose: 1 pages and tours\n"))

    def test_tours(self):
        self.write("README.md", "Plain.\n")
        self.write("01_step/tour.txt", "stop a\nline s; t; u\ntext The tile is\ntext in memory.\n")
        self.assertEqual(self.says()[0], 0)
        self.write("01_step/tour.txt", "stop a\ntitle Why?\ntext The tile\ntext lies in memory.\n")
        self.assertEqual(self.says(), (1, "01_step/tour.txt:2: lies: write is: The tile lies in memory.\n"))

    def test_lengths(self):
        self.write("README.md", "Plain.\n" * 110)
        self.assertEqual(self.says()[0], 0)
        self.write("README.md", "Plain.\n" * 111)
        self.assertIn("README.md: 111 lines; the entrance has 110 at most", self.says()[1])
        self.write("README.md", "Plain.\n")
        lesson = "Read [it](a/long/path) now.\n" * 833 + "```console\n$ make\n```\n<!-- slow -->\n"
        self.write("01_step/README.md", lesson + "One.\n")
        self.assertEqual(self.says()[0], 0)
        self.write("01_step/README.md", lesson + "One two.\n")
        self.assertIn("01_step/README.md: 2501 words; the main line has 2500 at most", self.says()[1])
        self.write("01_step/further.md", lesson * 2)
        self.assertEqual(self.says()[1].count("words"), 1)


if __name__ == "__main__":
    unittest.main()
