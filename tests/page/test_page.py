"""test_page.py [PRODUCTS PROGRAM...]: the page that sm100emu.watch makes, in headless Chromium.

A log made by hand (sample.py), alone and beside a broken run; and of each PROGRAM, on the emulator in PRODUCTS.
Exit code 77 where there is no Chromium.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import reference
import sample
from sm100emu import watch
from sm100repo import ROOT, chromium

PRODUCTS, PROGRAMS = (sys.argv[1] if len(sys.argv) > 1 else None), sys.argv[2:]

LIMIT = 1000000  # bytes of a page


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.page = chromium.Page()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.addClassCleanup(cls.page.__exit__)

    def setUp(self):
        self.page.resize(1280, 900)
        self.page.complaints.clear()

    def file(self, name, data):
        path = os.path.join(self.scratch.name, name)
        with open(path, "w") as f:
            json.dump(data, f)
        return path

    def show(self, *logs, **options):
        """Makes the page of logs, each a list of launches, and opens it; the page's path."""
        paths = [self.file("log%d.json" % n, {"version": 2, "logs": log}) for n, log in enumerate(logs)]
        out = os.path.join(self.scratch.name, "out")
        path = watch.make(paths, out, roots=(ROOT, ROOT), **options)[0]
        self.page.open(path)
        return path

    def js(self, expression):
        return self.page.js(expression)

    def k(self):
        return self.js("watch.active.k")

    def quiet(self):
        """Nothing was asked of anybody but the file, and nothing complained of."""
        self.assertEqual([r for r in self.page.requests if not r.startswith(("file:", "data:"))], [])
        self.assertEqual(len([r for r in self.page.requests if r.startswith("file:")]), 1)
        self.assertEqual(self.page.complaints, [])

    def compare(self, log, by_clock, every=1):
        """The page's states, as it stands, with those of the reference."""
        cluster = log["clusters"][0]
        stages = self.js("watch.active.c.stages")
        wanted = reference.states(log, cluster, stages, by_clock, every)
        size = len(cluster["events"]["kind"])
        places = list(range(0, size + 1, every)) + ([size] if size % every else [])
        self.assertEqual(self.js("watch.active.c.size"), size)
        for start in range(0, len(places), 200):
            part = places[start : start + 200]
            got = json.loads(self.js("JSON.stringify(%s.map(k => watch.active.m.stateAt(k)))" % json.dumps(part)))
            for k, state, want in zip(part, got, wanted[start : start + 200]):
                state["barriers"] = [b and b[1:] for b in state["barriers"]]
                for key in want:
                    self.assertEqual(state[key], json.loads(json.dumps(want[key])), "%s after %d events" % (key, k))


class Sample(Case):
    def test_opens_in_silence(self):
        self.show([sample.make()])
        self.quiet()
        self.assertEqual(self.js("watch.views.length"), 1)

    def test_states_in_order(self):
        for tiles, stages, seed in (6, 2, 1), (9, 3, 5):
            log = sample.make(tiles, stages, seed, with_clock=False)
            self.show([log])
            self.assertIn("order of events", self.js("document.querySelector('.facts').textContent"))
            self.compare(log, False)

    def test_states_by_the_clock(self):
        log = sample.make(6, 2, 3)
        self.show([log])
        self.assertIn("model clock (cycles)", self.js("document.querySelector('.facts').textContent"))
        self.compare(log, True)
        self.page.key("x")
        self.compare(log, False)

    def test_sentences_follow_the_axis(self):
        """What an mbarrier lacks, and who came last, is told by the order of events that is shown."""
        log = sample.make(8, 2, 4)
        self.show([log])
        e = log["clusters"][0]["events"]
        size = len(e["kind"])
        for causes in log["clusters"][0]["blame"], e["cause"]:
            rows = self.js(
                "Array.from(watch.active.m.order, (i, k) => [i, sentence(watch.active.c, i, watch.active.m),"
                " watch.active.m.stateAt(k + 1).barriers])"
            )
            bars = [n for n, kind in enumerate(log["clusters"][0]["objects"]["kind"]) if kind == 0]
            checked = 0
            for i, text, states in rows:
                if e["class"][i] == 0 and e["kind"][i] in (0, 2, 3):
                    _, _, _, pending, tx = states[bars.index(e["object"][i] - 1)]
                    self.assertEqual("%d arrival" % pending in text.split(";")[1], pending > 0, text)
                    self.assertEqual("{:,} bytes".format(tx) in text.split(";")[1], tx > 0, text)
                    checked += 1
                elif e["class"][i] == 0 and e["kind"][i] == 5:
                    last = e["rank"][causes[i] - 1]
                    self.assertRegex(text, r"the last (bytes came|arrival was) by [^.]*CTA %d( issued)?$" % last)
                    checked += 1
            self.assertEqual((len(rows), checked > 60), (size, True))
            self.page.key("x")

    def test_panel_shows_the_state(self):
        """What stands in the panel's table is the state, not only what stateAt says."""
        log = sample.make(with_clock=False)
        self.show([log])
        self.js("(watch.active.ctaPicker.value = 'all', watch.active.ctaPicker.dispatchEvent(new Event('change')))")
        for k in 60, 150, 333:
            self.js("watch.move(watch.active, %d)" % k)
            self.page.settle()
            want = [b for b in self.js("watch.active.m.stateAt(%d).barriers" % k) if b]
            rows = self.js(
                "[...document.querySelectorAll('.state tbody tr')].filter(r => r.cells.length == 5 && "
                "!r.closest('.mask')).map(r => [...r.cells].map(c => c.textContent))"
            )
            got = [
                [r[0], int(r[1]), int(r[2].split()[0]), int(r[3].split()[0]), int(r[4].replace(",", ""))] for r in rows
            ]
            self.assertEqual(got, want)
            boxes = self.js("[...document.querySelectorAll('.boxes:not(.columns) .box')].map(b => b.textContent)")
            self.assertEqual(boxes, ["%s %s" % (s[0], s[2]) for s in self.js("watch.active.m.stateAt(%d).stages" % k)])

    def test_every_wait_has_its_cause(self):
        log = sample.make(8, 2, 2)
        e = log["clusters"][0]["events"]
        self.show([log])
        for column in log["clusters"][0]["blame"], e["cause"]:
            ended = [(i, column[i]) for i in range(len(e["kind"])) if e["class"][i] == 2 and e["kind"][i] == 1]
            got = self.js("watch.active.m.waits.map(w => [w.end, watch.active.m.cause[w.end]])")
            self.assertEqual(sorted(map(tuple, got)), ended)
            self.assertGreater(min(cause for _, cause in ended), 0)
            self.page.key("x")

    def test_barriers_say_what_a_phase_took(self):
        self.show([sample.make()])
        labels = self.js("watch.active.m.tracks.find(t => t.label === 'full[0]').rows[0].label")
        self.assertEqual(labels[:2], ["K 0, phase 0: 1 arrival, 65,536 bytes", "K 2, phase 1: 1 arrival, 65,536 bytes"])

    def test_arrows_are_drawn(self):
        self.show([sample.make()])
        self.page.key("0")
        waits = self.js("watch.active.m.waits.length")
        count = (
            "(() => { const t = watch.active.tracks, f = t.arrow; let n = 0;"
            "t.arrow = (...a) => { n++; f.apply(t, a); };"
            "t.draw(0); t.arrow = f; return n; })()"
        )
        self.assertEqual(self.js(count), waits)
        self.page.key("a")
        self.assertEqual(self.js(count), 0)

    def test_keys(self):
        log = sample.make(with_clock=False)
        self.show([log])
        self.js("watch.active.canvas.focus()")
        e = log["clusters"][0]["events"]
        self.page.key("Home")
        self.page.key("ArrowRight")
        self.assertEqual(self.k(), 1)
        before = self.js("document.querySelector('.sentence').textContent")
        self.page.key("ArrowRight")
        self.assertEqual(self.k(), 2)
        self.assertNotEqual(self.js("document.querySelector('.sentence').textContent"), before)
        self.page.key("ArrowLeft")
        self.assertEqual(self.k(), 1)
        phases = [i + 1 for i in range(len(e["kind"])) if e["class"][i] == 0 and e["kind"][i] in (5, 8, 11)]
        for want in phases[:3]:
            self.page.key("]")
            self.assertEqual(self.k(), want)
        self.page.key("[")
        self.assertEqual(self.k(), phases[1])
        self.page.key("c")
        self.assertEqual(self.k(), e["cause"][phases[1] - 1])
        self.page.key("e")
        self.assertEqual(self.k(), phases[1])
        ends = [i + 1 for i in range(len(e["kind"])) if e["class"][i] == 2 and e["kind"][i] == 1]
        self.page.key("v")
        self.assertEqual(self.k(), min(n for n in ends if n > phases[1]))
        self.page.key("V")
        self.assertEqual(self.k(), max(n for n in ends if n < min(n for n in ends if n > phases[1])))
        self.page.key("w")
        mbarriers = [n for n in ends if e["what"][n - 1] == 1]
        self.assertEqual(self.k(), mbarriers[0])
        self.page.key("End")
        self.assertEqual(self.k(), len(e["kind"]))
        self.page.key("Home")
        self.assertEqual(self.k(), 0)
        self.assertIn("Before the first event", self.js("document.querySelector('.sentence').textContent"))

    def test_search(self):
        self.show([sample.make(with_clock=False)])
        self.page.key("/")
        self.assertEqual(self.js("document.activeElement.type"), "search")
        for letter in "phase 1 of full[0]":
            self.page.key(letter)
        self.page.key("Enter")
        self.assertIn("Phase 1 of full[0]", self.js("document.querySelector('.sentence').textContent"))
        found = self.js("watch.matches.length")
        self.assertIn("of %d" % found, self.js("watch.searchSays.textContent"))
        self.js("watch.search('nothing has this', 1)")
        self.assertEqual(self.js("watch.searchSays.textContent"), "not found")

    def test_click_and_hover(self):
        self.show([sample.make(with_clock=False)])
        x, y, event = self.js(
            "(() => { const v = watch.active, m = v.m, e = m.phases[3], i = m.order[e], t = v.tracks;"
            " const b = v.canvas.getBoundingClientRect();"
            " return [b.left + t.x(m.time[i]) + 1, b.top + t.eventY(i) - v.scroller.scrollTop, i]; })()"
        )
        self.page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.page.settle()
        self.assertFalse(self.js("document.querySelector('.tip').hidden"))
        for kind in "mousePressed", "mouseReleased":
            self.page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.page.settle()
        self.assertEqual(self.js("watch.active.m.order[watch.active.k - 1]"), event)
        span = self.js("watch.active.tracks.to - watch.active.tracks.from")
        self.page.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-120)
        self.page.settle()
        self.assertLess(self.js("watch.active.tracks.to - watch.active.tracks.from"), span)

    def test_source_rule_and_ptx(self):
        log = sample.make(with_clock=False)
        folder = os.path.join(self.scratch.name, "src")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "sample.cu"), "w") as f:
            f.write("".join("line %d <b>of</b> the kernel\n" % n for n in range(1, 60)))
        path = self.file("src.json", {"version": 2, "logs": [log]})
        self.page.open(watch.make([path], os.path.join(self.scratch.name, "out"), roots=(folder,))[0])
        e, w = log["clusters"][0]["events"], log["clusters"][0]["ops"]
        commit = next(
            i
            for i in range(len(e["kind"]))
            if e["class"][i] == 1 and log["text"][w["name"][e["op"][i] - 1]] == "tcgen05.commit"
        )
        self.js("watch.active.goTo(%d)" % commit)
        self.page.settle()
        detail = self.js("document.querySelector('.detail').textContent")
        for want in (
            "line 32 <b>of</b> the kernel",
            "line 29 <b>",
            "line 35 <b>",
            "sample.cu:32",
            "tcgen05.commit.cta_group::2",
            "9.7.16.12.1",
        ):
            self.assertIn(want, detail)
        self.assertNotIn("line 36 ", detail)
        self.assertEqual(
            self.js("document.querySelector('.detail .here').textContent").split()[:3], ["32", "line", "32"]
        )
        self.assertIn("heard by 0x0003", self.js("document.querySelector('.state').textContent"))

    def test_text_is_never_markup(self):
        log = sample.make(with_clock=False)
        bad = "<img src=x onerror=alert(1)></script><script>window.bad = 1</script>"
        log["kernel"] = bad
        log["text"] = [t and t + bad for t in log["text"]]
        names = log["clusters"][0]["names"]
        names["objects"] = [bad] * len(log["clusters"][0]["objects"]["kind"])
        names["warps"] = [[bad] * 3] * 2
        names["smem"] = [[*row[:3], bad] for row in names["smem"]]
        self.show([log], title=bad, names=[bad])
        self.js("document.querySelector('details.events').open = true")
        for k in range(60, 380, 40):
            self.js("watch.move(watch.active, %d)" % k)
            self.page.settle()
        self.quiet()
        self.assertEqual(self.js("[document.images.length, window.bad]"), [0, None])
        self.assertIn("<img", self.js("document.querySelector('h1').textContent"))

    def test_launches_and_clusters(self):
        logs = [sample.make(3, clusters=2), sample.make(4)]
        self.show(logs)
        sizes = [[len(c["events"]["kind"]) for c in log["clusters"]] for log in logs]
        self.assertEqual(self.js("watch.active.logs.map(l => l.map(c => c.size))"), sizes)
        pick = (
            "(() => { const s = document.querySelectorAll('.pickers select')[%d];"
            " s.selectedIndex = 1; s.dispatchEvent(new Event('change')); })()"
        )
        self.js(pick % 1)
        self.page.settle()
        self.assertEqual(self.js("watch.active.c.number"), 1)
        self.js(pick % 0)
        self.page.settle()
        self.assertEqual(self.js("watch.active.c.size"), sizes[1][0])

    def test_room(self):
        logs = [sample.make(40, seed=n) for n in range(8)]
        path = self.show(logs, room=300000)
        self.assertLess(os.path.getsize(path), 300000)
        shown = self.js("watch.active.logs.length")
        with self.assertRaisesRegex(watch.Refused, "does not fit"):
            self.show(logs, room=150000)
        self.assertLess(shown, 8)
        self.assertGreater(shown, 0)
        self.assertIn(
            "%d clusters of 8 launches did not fit" % (8 - shown),
            self.js("document.querySelector('.banner').textContent"),
        )


class Two(Case):
    def test_schedules_step_together(self):
        logs = [sample.make(6, 2, seed, with_clock=False) for seed in (1, 2)]
        self.show([logs[0]], [logs[1]])
        self.quiet()
        self.js("watch.views[0].canvas.focus()")
        for _ in range(12):
            self.page.key("]")
        one, two = self.js("watch.views.map(v => v.root.querySelector('.sentence').textContent)")
        phase = re.compile(r"Phase \d+ of \S+( of CTA \d)? is complete|All have arrived")
        self.assertEqual(phase.search(one)[0], phase.search(two)[0])
        self.page.key("d")
        self.assertEqual(self.js("watch.searchSays.textContent"), "the runs do the same")
        self.page.key("l")
        self.page.key("l")
        k = self.js("watch.views[1].k")
        self.page.key("]")
        self.assertEqual(self.js("watch.views[1].k"), k)

    def test_broken_run(self):
        right, wrong = sample.make(with_clock=False), sample.make(broken=True, with_clock=False)
        said = self.file(
            "said.json",
            {
                "runs": [
                    {
                        "results": [
                            {"level": "warning", "ruleId": "w", "message": {"text": "a warning"}},
                            {
                                "level": "error",
                                "ruleId": "tcgen05-smem-in-flight",
                                "message": {"text": "still being written"},
                                "locations": [
                                    {
                                        "physicalLocation": {
                                            "artifactLocation": {"uri": "a.cu"},
                                            "region": {"startLine": 7},
                                        }
                                    }
                                ],
                            },
                        ]
                    }
                ]
            },
        )
        self.show([right], [wrong], said=(None, said), names=("as it is", "broken"))
        banner = self.js("[...document.querySelectorAll('.banner')].map(b => b.textContent)")
        self.assertEqual(len(banner), 1)
        for want in "still being written", "tcgen05-smem-in-flight", "a.cu:7", "ended in a fault (719)":
            self.assertIn(want, banner[0])
        self.page.key("d")
        one, two = self.js("watch.views.map(v => v.root.querySelector('.sentence').textContent)")
        self.assertIn("expect 65,536 bytes", one)
        self.assertIn("expect 32,768 bytes", two)
        spans = self.js("watch.views.map(v => v.tracks.to - v.tracks.from)")
        self.assertAlmostEqual(*spans)
        self.assertLess(spans[0], len(wrong["clusters"][0]["events"]["kind"]) / 2)
        self.assertIn(
            "never ended", self.js("JSON.stringify(watch.views[1].m.tracks.map(t => t.rows.map(r => r.label)))")
        )


class Everyone(Case):
    """Small screens, keyboard, screen readers, colours."""

    def test_phone(self):
        logs = [[sample.make()], [sample.make(seed=2)]]
        for part in logs[:1], logs:
            self.show(*part)
            self.page.resize(360, 740)
            self.page.settle()
            self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 360)
            wide = self.js(
                "[...document.querySelectorAll('body *')].filter(e => !e.closest('.wide, pre, .scroller, dialog, #toolbar, .facts') && "
                "e.getBoundingClientRect().right > 361).map(e => e.tagName + '.' + e.className)"
            )
            self.assertEqual(wide, [])
            self.compact()
            self.assertGreater(self.js("watch.active.canvas.clientWidth"), 200)

    def compact(self):
        """The buttons are one row that scrolls sideways, and the legend is folded; the sentence is in sight."""
        tops = self.js("[...document.querySelectorAll('#toolbar button')].map(e => e.getBoundingClientRect().top)")
        self.assertEqual(len(set(tops)), 1)
        self.assertEqual(self.js("getComputedStyle(document.getElementById('toolbar')).overflowX"), "auto")
        seen = "[...document.querySelectorAll('#legend li')].filter(e => e.offsetHeight).length"
        self.assertEqual(self.js(seen), 2)
        self.js("document.querySelector('.fold button').click()")
        self.assertGreater(self.js(seen), 10)
        self.js("document.querySelector('.fold button').click()")
        self.assertEqual(self.js(seen), 2)
        self.assertLessEqual(self.js("watch.active.sentence.getBoundingClientRect().bottom"), 740)

    def test_legend_names_all_marks(self):
        self.show([sample.make()])
        text = self.js("document.getElementById('legend').textContent")
        for mark in "arrivals still to come", "bytes still to come", "an event", "what ended a wait", "causes of this event":
            self.assertIn(mark, text)
        self.assertFalse(self.js("document.querySelector('.fold').offsetHeight"))

    def test_page_keys_scroll_the_page(self):
        self.show([sample.make()])
        self.js("watch.active.canvas.focus()")
        self.page.key("PageDown")
        self.assertGreater(self.js("scrollY"), 100)
        self.assertEqual(self.js("watch.active.scroller.scrollTop"), 0)
        self.page.key("PageUp")
        self.assertEqual(self.js("scrollY"), 0)

    def test_sentence_stays_in_sight(self):
        """However far the page is scrolled within the run, and however low the screen is."""
        self.show([sample.make()])
        for height in 900, 420:
            self.page.resize(1280, height)
            self.page.key("w")
            for y in 0, 150, 0:
                self.js("scrollTo(0, %d)" % y)
                self.page.settle()
                top, bottom = self.js(
                    "(b => [b.top, b.bottom])(watch.active.sentence.getBoundingClientRect())")
                self.assertGreater(top, 0)
                self.assertLessEqual(bottom, height)

    def test_names_are_code(self):
        """Barriers in sentences are set as code; a sentence's plain text has no mark of it."""
        self.show([sample.make()])
        self.page.key("w")
        self.assertRegex(self.js("document.querySelector('.sentence code').textContent"), r"^(full|free|empty)\[\d\]$")
        self.assertNotIn("`", self.js("document.body.innerText + sentence(watch.active.c, watch.active.event, watch.active.m)"))

    def test_short_waits_keep_the_name(self):
        self.show([sample.make()])
        told = self.js(
            "(() => { const t = watch.active.tracks, told = [], g = t.g, fill = g.fillText; watch.active.begin();"
            " g.fillText = (text) => told.push(text);"
            " for (const part of [1, 2, 4, 8]) { t.from = 0; t.to = watch.active.m.end / part; t.draw(0); }"
            " g.fillText = fill; return told; })()")
        self.assertEqual([text for text in told if text.startswith("wait") and text.endswith("…")], [])
        self.assertTrue([text for text in told if re.match(r"(full|free|empty)\[\d\](, phase \d+)?$", text)], told)

    def test_names_and_roles(self):
        self.show([sample.make(2, clusters=2)], [sample.make(2, seed=2)])
        self.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        self.page.settle()
        nodes = self.page.call("Accessibility.getFullAXTree")["nodes"]
        shown = [
            (n["role"]["value"], n.get("name", {}).get("value", ""))
            for n in nodes
            if not n.get("ignored") and "role" in n
        ]
        acting = [
            s
            for s in shown
            if s[0] in ("button", "combobox", "searchbox", "textbox", "application", "link", "toolbar", "table")
        ]
        self.assertGreater(len(acting), 30)
        self.assertEqual([s for s in acting if s[0] != "table" and not s[1].strip()], [])
        roles = {role for role, _ in shown}
        for role in "banner", "main", "heading", "toolbar", "application", "table", "columnheader":
            self.assertIn(role, roles)
        self.assertEqual(self.js("document.documentElement.lang"), "en")
        self.assertEqual(
            self.js(
                "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
                " return ids.length - new Set(ids).size; })()"
            ),
            0,
        )
        self.assertEqual(
            self.js(
                "[...document.querySelectorAll('[aria-labelledby], [aria-describedby]')].filter(e => "
                "!document.getElementById(e.getAttribute('aria-labelledby') ||"
                " e.getAttribute('aria-describedby'))).length"
            ),
            0,
        )
        self.assertEqual(self.js("[...document.querySelectorAll('[aria-live]')].length"), 2)

    def test_keyboard_alone(self):
        """Tab reaches everything that acts, visibly; a dialog opens, takes the focus and gives it back."""
        self.show([sample.make(2)])
        reached = set()
        for _ in range(60):
            self.page.key("Tab")
            reached.add(
                self.js(
                    "(() => { const e = document.activeElement, o = getComputedStyle(e);"
                    " const name = (e.getAttribute('aria-label') || e.textContent).slice(0, 30);"
                    " return e === document.body ? '' : e.tagName + ':' + name + ':' + o.outlineStyle; })()"
                )
            )
        wanted = self.js(
            "[...document.querySelectorAll('header button, header input, canvas, .ctahead, summary')]"
            ".filter(e => e.offsetHeight)"
            ".map(e => e.tagName + ':' + (e.getAttribute('aria-label') || e.textContent).slice(0, 30))"
        )
        self.assertEqual([w for w in wanted if not any(r.startswith(w) for r in reached)], [])
        self.assertEqual([r for r in reached if r.endswith(":none")], [])
        self.js("watch.active.canvas.focus()")
        self.page.key("?")
        self.assertTrue(self.js("watch.dialog.open && watch.dialog.contains(document.activeElement)"))
        rows = self.js("[...watch.dialog.querySelectorAll('th')].map(e => e.textContent)")
        self.assertIn("], [", rows)
        self.page.key("Escape")
        self.assertEqual(self.js("[watch.dialog.open, document.activeElement.tagName]"), [False, "CANVAS"])
        self.js("document.querySelector('.ctahead').focus()")
        self.page.key("Enter")
        self.assertEqual(
            self.js("[document.activeElement.getAttribute('aria-expanded'), watch.active.tracks.open.has(0)]"),
            ["false", False],
        )

    def test_table_instead_of_tracks(self):
        log = sample.make(with_clock=False)
        self.show([log])
        self.js("document.querySelector('details.events').open = true")
        self.js("watch.move(watch.active, 100)")
        self.page.settle()
        row = self.js("[...document.querySelector('.events tr.now').cells].map(c => c.textContent)")
        self.assertEqual(row[0], "100")
        self.assertEqual(row[2] + ".", self.js("document.querySelector('.sentence').textContent"))
        cause = log["clusters"][0]["events"]["cause"][99]
        self.assertEqual(row[3], "event %d" % cause if cause else "")

    def test_light_and_dark(self):
        self.show([sample.make(2)])
        ground = "getComputedStyle(document.body).backgroundColor"
        self.page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.page.settle()
        self.assertEqual(self.js(ground), "rgb(15, 19, 23)")
        self.assertEqual(self.js("watch.theme.canvas"), "#0f1317")
        self.page.key("b")
        self.assertEqual(self.js(ground), "rgb(255, 255, 255)")
        self.page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        self.page.key("b")
        self.assertEqual(self.js(ground), "rgb(15, 19, 23)")
        self.page.call("Emulation.setEmulatedMedia", features=[])


class Steps(Case):
    """Real runs."""

    def test_programs(self):
        for program in PROGRAMS:
            with self.subTest(program):
                self.one(shlex.split(program))

    def one(self, command):
        log, tool = os.path.join(self.scratch.name, "log"), os.path.join(PRODUCTS, "sm100emu-log")
        subprocess.run(
            [os.path.join(PRODUCTS, "sm100emu"), "--trace=" + log, *command], check=True, stdout=subprocess.DEVNULL
        )
        path = watch.make([log], os.path.join(self.scratch.name, "out"), roots=(ROOT,), tool=tool)[0]
        self.assertLess(os.path.getsize(path), LIMIT)
        self.page.complaints.clear()
        self.page.open(path)
        self.quiet()
        told = json.loads(subprocess.run([tool, "--json", log], check=True, stdout=subprocess.PIPE).stdout)["logs"]
        self.assertEqual(self.js("watch.active.run.left_out"), 0)
        size = len(told[0]["clusters"][0]["events"]["kind"])
        clocked = self.js("watch.active.m.clocked")
        self.compare(told[0], clocked, max(1, size // 150))
        e = told[0]["clusters"][0]["events"]
        ended = sum(1 for i in range(size) if e["class"][i] == 2 and e["kind"][i] == 1)
        self.assertEqual(self.js("watch.active.m.waits.filter(w => watch.active.c.e.kind[w.end] === 1).length"), ended)
        self.assertEqual(
            self.js(
                "watch.active.m.waits.filter(w => watch.active.c.e.kind[w.end] === 1 &&"
                " !watch.active.m.cause[w.end]).length"
            ),
            0,
        )


if __name__ == "__main__":
    if not chromium.find():
        print("skipped: no Chromium here (apt-get install chromium, or CHROMIUM=/path/to/it)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
