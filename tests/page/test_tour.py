"""test_tour.py PRODUCTS SCHEDULE[,SCHEDULE...] PROGRAM...: the lessons' tours (tour.txt) in the logs of their steps.

Under each schedule every stop is found and what it says of the log holds, by the log's order and by the clock; the stop
is the same thread's on the same line under all. Each fact can fail. And what is said of a tour that is wrong. All of it
without a browser: test_tour_page.py has the rest.
"""

import copy
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import sample
from sm100emu import tour
from sm100repo import ROOT
from test_rules import enumerator, read

STOPS = range(5, 9)
TITLE, TEXT = 60, 60  # at most so many characters, so many words
OTHERS = {"took": "9999 arrivals", "reaches": "CTA 31", "because": "tcgen05.st"}


def trace(products, command, schedule, scratch):
    """The launches of a run, as the log says them."""
    log, tool = os.path.join(scratch, "log"), os.path.join(products, "sm100emu-log")
    run = [os.path.join(products, "sm100emu"), "--schedule=" + schedule, "--trace=" + log]
    subprocess.run(run + shlex.split(command), check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return json.loads(subprocess.run([tool, "--json", log], check=True, stdout=subprocess.PIPE).stdout)["logs"]


def tour_of(command):
    return os.path.join(ROOT, os.path.basename(shlex.split(command)[0]), "tour.txt")


class Lessons(unittest.TestCase):
    """The steps' tours in the steps' logs."""

    def test_stops(self):
        for command in PROGRAMS:
            stops = tour.read(tour_of(command))
            self.assertIn(len(stops), STOPS, command)
            for stop in stops:
                self.assertLessEqual(len(stop.title), TITLE, stop.title)
                self.assertLessEqual(len(stop.text.split()), TEXT, stop.name)
                self.assertEqual(stop.text.count("`") % 2, 0, stop.name)
                held = {"because", "took", "reaches", "after"} & set(stop.words)
                self.assertTrue(held or stop is stops[0], "%s: nothing of what it says is held to the log" % stop.name)

    def test_what_the_lessons_say(self):
        """Lesson 04 names stops by their number, lesson 01 says how many there are."""
        stops = [[stop.name for stop in tour.read(os.path.join(ROOT, step, "tour.txt"))] for step in ("01_tmem_alloc", "04_pair_umma")]
        self.assertIn("in eight stops", read("01_tmem_alloc", "README.md"))
        self.assertEqual(len(stops[0]), 8)
        self.assertRegex(read("04_pair_umma", "README.md"), r"its third stop is why the MMA warp waits. At the sixth, warp\s0 of CTA 1")
        self.assertEqual((stops[1][2], stops[1][5]), ("mma-waits", "odd-waits"))

    def test_found_under_each_schedule(self):
        with tempfile.TemporaryDirectory() as scratch:
            for command in PROGRAMS:
                seen = set()
                for schedule in SCHEDULES:
                    with self.subTest(command=command, schedule=schedule):
                        log = trace(PRODUCTS, command, schedule, scratch)[0]
                        stops = tour.find(tour_of(command), log, ROOT)
                        lines = ["line" in stop.words for stop in tour.read(tour_of(command))]
                        seen.add(json.dumps([self.what(log, stop, line) for stop, line in zip(stops, lines)]))
                        if schedule == "default":
                            self.waits(log, stops)
                            self.facts_can_fail(tour_of(command), log)
                self.assertEqual(len(seen), 1, "%s: another stop under another schedule" % command)

    def what(self, log, stop, line):
        """Who, about what, and if the stop names its line, where."""
        cluster = log["clusters"][0]
        run, e, i = tour.Run(log, cluster, ROOT), cluster["events"], stop["event"]
        about = [run.object(stop["object"]), run.owner(stop["object"])] if stop["object"] else []
        return [stop["name"], about, e["rank"][i], e["warp"][i], [at for at, _ in run.lines(i)] if line else []]

    def waits(self, log, stops):
        """Where the title asks why somebody waits, somebody does, by the clock."""
        cluster = log["clusters"][0]
        e, cycle = cluster["events"], cluster["cycle"]
        for stop in stops:
            if re.search(r"\bwaits?\b", stop["title"]) and "not wait" not in stop["title"]:
                i = stop["event"]
                self.assertEqual((e["class"][i], e["kind"][i]), (tour.WAIT, tour.MET), stop["title"])
                same = ("rank", "warp", "lanes", "object", "what")
                begin = max(n for n in range(i) if e["class"][n] == tour.WAIT and e["kind"][n] == 0
                            and all(e[key][n] == e[key][i] for key in same))
                self.assertGreater(cycle[i], cycle[begin], stop["title"])

    def facts_can_fail(self, path, log):
        run, found = tour.Run(log, log["clusters"][0], ROOT), {}
        for stop in tour.read(path):
            stop.at, _, marks = run.find(stop)
            mark = run.mark(stop, marks)
            for word, wrong in OTHERS.items():
                if word in stop.words and stop.words[word][0][1] != wrong:
                    bad = copy.deepcopy(stop)
                    del bad.words[word]
                    bad.take(stop.words[word][0][0], word, wrong)
                    with self.assertRaises(tour.Lost):
                        run.check(bad, mark, found)
            if "after" in stop.words:
                with self.assertRaisesRegex(tour.Lost, "before that stop's event"):
                    run.check(stop, mark, {**found, stop.words["after"][0][1]: stop.at})
            found[stop.name] = stop.at


class Wrong(unittest.TestCase):
    """What is said of a tour that the log does not have, or that is no tour: the line, and what is there."""

    RIGHT = """# A tour of the log made by hand.
        stop wait
        title Why?
        event wait full[0] 1
        by warp 1 of CTA 0
        because copy
        took 1 arrival 65536 bytes
        text It waits."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.log = sample.make(8)

    def find(self, text):
        path = os.path.join(self.scratch.name, "tour.txt")
        with open(path, "w") as f:
            f.write(text)
        return tour.find(path, self.log, self.scratch.name)

    def test_right(self):
        (stop,) = self.find(self.RIGHT)
        c = self.log["clusters"][0]
        e, i = c["events"], stop["event"]
        self.assertEqual((e["rank"][i], e["warp"][i]), (0, 1))
        self.assertEqual(c["names"]["objects"][stop["object"] - 1], "full[0]")
        self.assertEqual((stop["title"], stop["text"], stop["with"]), ("Why?", "It waits.", -1))

    def test_rows(self):
        (stop,) = self.find(self.RIGHT + "\n show full[1] of CTAs 0 1\n show TMA of CTA 0")
        self.assertEqual(stop["rows"], [["full[1]", 0], ["full[1]", 1], ["TMA", 0]])

    def test_bytes(self):
        """A tour that is no text, and a source whose name no file has."""
        path = os.path.join(self.scratch.name, "latin")
        with open(path, "wb") as f:
            f.write(b"stop \xe9t\xe9\n")
        with self.assertRaisesRegex(tour.Lost, "latin: it is not in UTF-8"):
            tour.read(path)
        self.assertEqual(tour.source_lines("a\0b.cu"), [])

    def test_lost(self):
        for old, new, said in (
            ("wait full[0] 1", "wait none 1", r":4: stop wait: not to none; there: .*full\[0\] of CTA 0"),
            ("wait full[0] 1", "wait full[0] 99", r":4: stop wait: not in phase 99 of full\[0\]; there: phase 0; phase 1"),
            ("wait full[0] 1", "issue store", r":4: stop wait: nothing in this log is a `issue store`"),
            ("of CTA 0", "of CTA 7", r":5: stop wait: not by CTA 7; there: CTA 0; CTA 1"),
            ("warp 1", "warp 5", r":5: stop wait: not by warp 5; there: warp 0; warp 1"),
            ("because copy", "because umma", r":6: stop wait: not because of a umma; there: copy"),
            ("65536", "65535", r":7: stop wait: the phase took something else; there: 1 arrivals 65536 bytes from CTAs 0 1"),
            ("because copy", "reaches CTA 1", r":6: stop wait: it does not reach those CTAs; there: *$"),
            ("because copy", "after none", r":6: stop wait: there is no such stop before it: none"),
            ("because copy", "with none", r":6: stop wait: there is no such stop before it: none"),
            ("because copy", "line free(it)", r":6: stop wait: not in a line with `free\(it\)`; there: sample.cu:\d+"),
            ("because copy", "show none of CTA 0", r":6: stop wait: CTA 0 has no row none; there: .*full\[0\].*; TMA"),
            ("because copy", "show TMA of CTAs 0 7", r":6: stop wait: CTA 7 has no row TMA; there: TMA"),
            ("because copy", "columns 7", r":6: stop wait: not at column 7; there: None"),
            ("event wait full[0] 1\n        by warp 1 of CTA 0\n", "event wait\n",
             r":4: stop wait: \d+ events match; by: warp 0 in CTA 0; "),
            ("wait full[0] 1\n        by warp 1 of CTA 0\n", "first wait\n", r":4: stop wait: several warps do this, and"),
            ("wait full[0] 1", "wait full[0]", r":4: stop wait: `event wait full\[0\]` is not understood"),
            ("because copy", "because luck", r":6: stop wait: `because luck` is not understood"),
            ("because copy", "until copy", r":6: stop wait: no such word: until"),
            ("because copy", "title Twice", r":6: stop wait: a second `title`"),
            ("        text It waits.", "", r":2: stop wait: it has no `text`"),
            ("        text It waits.", "        text It waits.\n stop wait", r":9: a second stop of this name: wait"),
            ("        stop wait\n", "", r":2: `title` before the first stop"),
            (None, "# nothing", r":1: there is no stop"),
        ):
            text = self.RIGHT.replace(old, new) if old else new
            self.assertNotEqual(text, self.RIGHT)
            with self.subTest(new), self.assertRaisesRegex(tour.Lost, "tour.txt" + said):
                self.find(text)

    def test_quotes_sources_alone(self):
        """Of a file that the log names and that is no source the message has no line."""
        for name, seen in ("sample.cu", True), ("secret", False):
            log = copy.deepcopy(self.log)
            log["text"] = [name if text == "sample.cu" else text for text in log["text"]]
            with open(os.path.join(self.scratch.name, name), "w") as f:
                f.write("a line of its own\n" * 60)
            path = os.path.join(self.scratch.name, "tour.txt")
            with open(path, "w") as f:
                f.write(self.RIGHT.replace("because copy", "line free(it)"))
            with self.assertRaises(tour.Lost) as lost:
                tour.find(path, log, self.scratch.name)
            self.assertIn(name + ":", str(lost.exception))
            self.assertEqual("a line of its own" in str(lost.exception), seen)
            os.remove(os.path.join(self.scratch.name, name))

    def test_first_and_last(self):
        ends = [self.find(self.RIGHT.replace("wait full[0] 1", which + " wait").split("because")[0] + "text .")[0]["event"]
                for which in ("first", "last")]
        self.assertLess(*ends)

    def test_enumerators(self):
        """The numbers in tour.py are those of the headers."""
        text = "".join(read("emulator", *p) for p in (("machine", "events.h"), ("machine", "async.h"), ("trace", "log.h")))
        number = lambda name: enumerator(text, name)  # noqa: E731
        sync = lambda names: tuple(number("SYNC_" + name) for name in names.split())  # noqa: E731
        self.assertEqual([number("TRACE_" + name) for name in "SYNC OP WAIT LIFE".split()], [0, 1, 2, 3])
        self.assertEqual(tour.ARRIVALS, sync("MBAR_ARRIVE MBAR_DROP BAR_ARRIVE CLUSTER_ARRIVE"))
        self.assertEqual(tour.PHASES, sync("MBAR_PHASE BAR_PHASE CLUSTER_PHASE"))
        self.assertEqual(tour.PASSES, sync("BAR_PASS CLUSTER_PASS"))
        self.assertEqual((tour.EXPECT, tour.BYTES, tour.TEST), sync("MBAR_EXPECT_TX MBAR_COMPLETE_TX MBAR_TEST"))
        self.assertEqual((tour.ACTS["tcgen05.wait::ld"][1], tour.ACTS["tcgen05.wait::st"][1]),
                         (sync("TCGEN05_WAIT_LD"), sync("TCGEN05_WAIT_ST")))
        for does, name in ("init", "MBAR_INIT"), ("alloc", "TMEM_ALLOC"), ("dealloc", "TMEM_DEALLOC"):
            self.assertEqual(tour.ACTS[does], (tour.LIFE, (number("LIFE_" + name),)))
        agents = {"CP_ASYNC": "copy", "TMA": "copy", "BULK": "copy", "TENSOR_CORE": "umma", "TENSOR_LDST": "", "COMMIT": "commit"}
        self.assertEqual(tour.AGENTS, {number("AGENT_" + name): work for name, work in agents.items()})
        self.assertEqual(tour.MBARRIER, number("OBJECT_MBARRIER"))


if __name__ == "__main__":
    PRODUCTS, SCHEDULES, PROGRAMS = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
    unittest.main(argv=sys.argv[:1], verbosity=1)
