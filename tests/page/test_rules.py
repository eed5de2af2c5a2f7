"""test_rules.py ROOT: what the page says, held to the emulator's own tables, and its colours; without a browser."""

import os
import re
import sys
import tempfile
import unittest
import unittest.mock

from sm100emu import watch
from sm100repo import ROOT

STYLE = os.path.join(ROOT, "python", "sm100emu", "page", "style.css")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


class Rules(unittest.TestCase):
    """What the page says without a browser."""

    def test_sources(self):
        """A log's files are quoted if they are called sources, in UTF-8: its PTX may name any."""
        with tempfile.TemporaryDirectory() as folder:
            names = {"k.cu": b"one", "secret": b"two", "latin.cu": b"\xe9t\xe9"}
            for name, text in names.items():
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(text)
            os.symlink("secret", os.path.join(folder, "link.cu"))
            os.mkdir(os.path.join(folder, "folder.cu"))
            sources = watch.Sources(folder)
            for name in [*names, "link.cu", "folder.cu", "none.cu"]:
                sources.want(name, 1)
            self.assertEqual({n for n, lines in sources.lines.items() if lines}, {"k.cu"})
            with unittest.mock.patch.dict(os.environ, SM100EMU_SOURCE_ROOT=folder):
                sources = watch.Sources(folder)
                sources.want("secret", 1)
            self.assertEqual(sources.lines["secret"], {1: "two"})

    def test_contrast(self):
        for name, colors in palettes().items():
            ink = [
                ("text", "page"),
                ("text", "panel"),
                ("faint", "page"),
                ("faint", "panel"),
                ("link", "page"),
                ("link", "panel"),
                ("said", "page"),
                ("text", "now"),
                ("link", "now"),
                ("text", "head"),
                ("text", "canvas"),
            ]
            ink += [("i%d" % n, "c%d" % n) for n in range(10)]
            for front, back in ink:
                self.assertGreaterEqual(contrast(colors[front], colors[back]), 4.5, (name, front, back))
            for front in "mark", "arrow", "cursor", "effect", "edge":
                self.assertGreaterEqual(contrast(colors[front], colors["canvas"]), 3, (name, front))
            self.assertGreaterEqual(contrast(colors["border"], colors["page"]), 3, name)

    def test_themes_agree(self):
        dark = re.findall(r"\{([^{}]*--page: #0f1317[^{}]*)\}", read(STYLE))
        self.assertEqual(len(dark), 2)
        self.assertEqual(*[sorted(re.findall(r"--\w+: [^;]+", d)) for d in dark])

    def test_sections(self):
        """Each section is the one that the emulator's table of opcodes has."""
        table = dict(re.findall(r'^OP\(\w+, "([^"]+)", "([^"]+)"', read("emulator", "ptx", "opcodes.def"), re.M))
        rows = re.findall(r"^\s+\['([^']+)', '([\d.]+)'", read("python", "sm100emu", "page", "rules.js"), re.M)
        self.assertGreater(len(rows), 35)
        for start, section in rows:
            known = [s for name, s in table.items() if name == start] or [
                s for name, s in table.items() if name.startswith(start)
            ]
            self.assertTrue(any(section in s.split(", ") for s in known), (start, section, known))

    def test_enumerators(self):
        """The numbers in log.js are those of the headers."""
        script = read("python", "sm100emu", "page", "log.js")
        headers = {
            "SYNC_": "events.h",
            "WAIT_END": "",
            "LIFE_": "events.h",
            "AGENT_": "async.h",
            "OBJECT_": "trace/log.h",
        }
        text = "".join(
            read("emulator", *p) for p in (("machine", "events.h"), ("machine", "async.h"), ("trace", "log.h"))
        )
        del headers["WAIT_END"]
        for prefix in [*headers, "WAIT_", "OP_", "TRACE_"]:
            block = {"OP_": "STAGE", "TRACE_": "CLASS"}.get(prefix, prefix[:-1])
            told = dict(re.findall(r"(\w+): (\d+)", re.search(r"const %s = \{(.*?)\};" % block, script, re.S)[1]))
            self.assertGreater(len(told), 2, block)
            for name, value in told.items():
                self.assertEqual(enumerator(text, prefix + name), int(value), prefix + name)

    def test_refusals(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log")
            for text, why in (
                ('{"version": 1, "logs": []}', "not a log of version 2"),
                ('{"version"', "no JSON"),
                ('{"version": 2, "logs": []}', "no event"),
            ):
                with open(path, "w") as f:
                    f.write(text)
                with self.assertRaisesRegex(watch.Refused, why):
                    watch.make([path], folder)

    def test_names_of_warps(self):
        """sm100emu-log, here a stand-in, is told what the warps of each run are called."""
        with tempfile.TemporaryDirectory() as folder:
            tool, said = os.path.join(folder, "tool"), os.path.join(folder, "said")
            with open(tool, "w") as f:
                f.write("#!/bin/sh\necho \"$@\" >>'%s'\ncat '%s'\n" % (said, os.path.join(folder, "json")))
            os.chmod(tool, 0o755)
            for name, text in ("log", "no JSON"), ("json", '{"version": 2, "logs": []}'):
                with open(os.path.join(folder, name), "w") as f:
                    f.write(text)
            log = os.path.join(folder, "log")
            watch.as_json(log, tool, None, None)
            watch.as_json(log, tool, log, "load,mma")
            with open(said) as f:
                self.assertEqual(f.read(), f"--json {log}\n--json --like={log} --warps=load,mma {log}\n")

    def test_places_of_findings(self):
        self.assertEqual(watch.path_of("file:///a%20b/k.py"), "/a b/k.py")
        self.assertEqual(watch.path_of("02_simple_umma/02_simple_umma.cu"), "02_simple_umma/02_simple_umma.cu")

    def test_names_of_kernels(self):
        self.assertEqual(watch.plain("_Z9pair_umma14CUtensorMap_stS_4gemmP7witness"), "pair_umma")
        self.assertEqual(watch.plain("_ZN3foo3barEv"), "foo::bar")
        self.assertEqual(watch.plain("ring"), "ring")


def enumerator(text, name):
    """The value of an enumerator in C text without explicit values but 0."""
    for body in re.findall(r"enum \w+ \{(.*?)\}", re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.S):
        names = [re.sub(r"\s*=.*", "", n.strip()) for n in body.split(",") if n.strip()]
        if name in names:
            return names.index(name)
    return None


def palettes():
    """Variables by theme, from the style sheet."""
    text = read(STYLE)
    light = dict(re.findall(r"--(\w+): (#\w{6})", re.search(r":root \{(.*?)\n\}", text, re.S)[1]))
    dark = dict(re.findall(r"--(\w+): (#\w{6})", re.search(r':root\[data-theme="dark"\] \{(.*?)\n\}', text, re.S)[1]))
    return {"light": light, "dark": {**light, **dark}}


def contrast(a, b):
    """WCAG 2's contrast ratio of two colours."""

    def light(c):
        parts = [int(c[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        r, g, b = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
