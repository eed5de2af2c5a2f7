"""test_tour_page.py PRODUCTS PROGRAM...: the tours of the steps' pages, followed in headless Chromium.

By keys on a desktop and by taps on a phone, from the first stop to the last: title and text are on the screen, the cursor
is on the stop's event, and the rows that the stop is about are in sight. Exit code 77 where there is no Chromium.
"""

import os
import re
import shlex
import subprocess
import sys
import time
import unittest

import sample
from sm100emu import watch
from sm100repo import ROOT, chromium
from test_page import LIMIT, PRODUCTS, PROGRAMS, Case

PHONE = (390, 844)
# In sight: a point is on the screen, and nothing else lies over it.
SEEN = "((e, x, y) => { const at = document.elementFromPoint(x, y); return !!at && (at === e || e.contains(at)); })"
# Labels that a frame of the tracks writes over each other, or over the next slice: [text, text].
OVER = """((t) => {
    const told = [], fill = t.g.fillText;
    t.g.fillText = function (text, x, y) { told.push([text, x, y, x + t.g.measureText(text).width]); };
    t.draw(0);
    t.g.fillText = fill;
    told.sort((a, b) => a[2] - b[2] || a[1] - b[1]);
    return told.filter((a, n) => n && a[2] === told[n - 1][2] && a[1] < told[n - 1][3] - 1).map((a) => a[0]);
})"""
STOP = """(() => {
    const v = watch.views[0], tour = v.tour, t = v.tracks, stop = tour.stops[tour.at], seen = %s;
    const box = v.canvas.getBoundingClientRect(), top = v.scroller.getBoundingClientRect().top - v.scroller.scrollTop;
    const place = (y) => seen(v.canvas, box.left + t.x(v.m.time[stop.event]), top + y);
    const whole = (e) => { const b = e.getBoundingClientRect();
        return seen(tour.root, b.left + 2, b.top + 2) && seen(tour.root, b.left + 2, b.bottom - 2); };
    const inside = (e) => { const b = e.getBoundingClientRect(), down = [b.top + 2, (b.top + b.bottom) / 2, b.bottom - 2];
        return b.top >= 0 && b.bottom <= innerHeight && b.right <= innerWidth && down.every((y) => seen(e, b.left + 2, y)); };
    return { at: tour.at, stop, title: tour.title.textContent, text: tour.text.textContent, event: v.event,
        texts: whole(tour.title) && whole(tour.text), sentence: inside(v.sentence) && inside(v.position), cursor: place(t.eventY(stop.event)),
        rows: tour.tracks.map((n) => [v.m.tracks[n].label, v.m.tracks[n].rank, place(t.y[n] + 7)]),
        cause: v.m.why(stop.event) ? v.m.home[v.m.why(stop.event) - 1] : -1, tracks: tour.tracks, over: OVER(t),
        cut: [v.m.beginOf(stop.event), stop.with, v.c.e.op[stop.event] ? v.c.w.completed[v.c.e.op[stop.event] - 1] - 1 : -1]
            .filter((i) => i >= 0 && (t.x(v.m.time[i]) < 0 || t.x(v.m.time[i]) > t.width)) };
})()""".replace("OVER", OVER) % SEEN


class Tours(Case):
    made = {}

    def setUp(self):
        super().setUp()
        self.page.call("Emulation.setTouchEmulationEnabled", enabled=False)

    def log(self, command, *options):
        log = os.path.join(self.scratch.name, "log%d" % len(options))
        run = [os.path.join(PRODUCTS, "sm100emu"), *options, "--trace=" + log, *shlex.split(command)]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        return log

    def make(self, command, *more):
        """The page of a program, which is made once, or of two runs."""
        key = (command, *more)
        if key not in self.made:
            self.made[key] = self.make_anew(command, more)
        return self.made[key]

    def make_anew(self, command, more):
        tour = os.path.join(ROOT, os.path.basename(shlex.split(command)[0]), "tour.txt")
        tool = os.path.join(PRODUCTS, "sm100emu-log")
        logs = [self.log(command), *more]
        out = os.path.join(self.scratch.name, "out%d" % len(self.made))
        return watch.make(logs, out, roots=(ROOT, ROOT), tool=tool, tour=tour)[0]

    def tap(self, element):
        """A finger on the middle of an element, which must be in sight."""
        x, y, seen = self.js(
            "(() => { const e = %s, b = e.getBoundingClientRect(), x = b.left + b.width / 2, y = b.top + b.height / 2;"
            " return [x, y, %s(e, x, y)]; })()" % (element, SEEN)
        )
        self.assertTrue(seen, "not in sight: " + element)
        self.page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.page.settle()

    def stop(self, number):
        """The stop of that number is shown: the sentence of its event whole, and every row that it is about."""
        got = self.js(STOP)
        stop = got["stop"]
        self.assertEqual(got["at"], number)
        self.assertIn(stop["title"], got["title"])
        self.assertEqual(got["text"], stop["text"].replace("`", ""))
        self.assertTrue(got["texts"], "the text of %s is not in sight" % stop["name"])
        self.assertEqual(got["event"], stop["event"])
        self.assertTrue(got["sentence"], "the sentence of %s is cut" % stop["name"])
        self.assertTrue(got["cursor"], "the event of %s is not in sight" % stop["name"])
        self.assertEqual(got["cut"], [], "the window is too narrow for %s" % stop["name"])
        self.assertTrue(got["rows"])
        for label, rank, seen in got["rows"]:
            self.assertTrue(seen, "%s of CTA %d is not in sight at %s" % (label, rank, stop["name"]))
        self.assertLessEqual({tuple(row) for row in stop["rows"]}, {(label, rank) for label, rank, _ in got["rows"]})
        self.assertIn(got["cause"], [*got["tracks"], -1], "the row of what caused %s is not in sight" % stop["name"])
        self.assertEqual(got["over"], [], "labels over each other at %s" % stop["name"])

    def test_by_keys_on_a_desktop(self):
        for command in PROGRAMS:
            with self.subTest(command):
                path = self.make(command)
                self.assertLess(os.path.getsize(path), LIMIT)
                self.page.open(path)
                self.quiet()
                self.assertTrue(self.js("watch.tour.root.hidden"))
                count = self.js("watch.tour.stops.length")
                for n in range(count):
                    self.page.key("t")
                    self.stop(n)
                self.page.key("t")
                self.stop(count - 1)
                self.page.key("T")
                self.stop(count - 2)
                if self.js("watch.axisButton !== null"):
                    self.page.key("x")  # in the order of events, too
                    self.stop(count - 2)
                self.page.key("Escape")
                self.assertTrue(self.js("watch.tour.root.hidden"))
                self.assertEqual(self.page.complaints, [])

    def test_by_taps_on_a_phone(self):
        self.page.call("Emulation.setTouchEmulationEnabled", enabled=True)
        for command in PROGRAMS:
            with self.subTest(command):
                path = self.make(command)
                self.page.resize(*PHONE)
                self.page.open(path)
                self.tap("watch.tourButton")
                count = self.js("watch.tour.stops.length")
                for n in range(count):
                    self.stop(n)
                    self.assertLessEqual(self.js("document.documentElement.scrollWidth"), PHONE[0])
                    if n < count - 1:
                        self.tap("watch.tour.next")
                self.tap("watch.tour.back")
                self.stop(count - 2)
                self.js("(watch.tour.picker.selectedIndex = 0, watch.tour.picker.dispatchEvent(new Event('change')))")
                self.page.settle()
                self.stop(0)
                self.tap("watch.tour.root.querySelector('.controls button:nth-of-type(3)')")
                self.assertTrue(self.js("watch.tour.root.hidden"))

    def test_causes_in_folded_ctas(self):
        """Without the tour, too, the row of what ended a wait is in sight, if its CTA is folded."""
        self.page.open(self.make(next(c for c in PROGRAMS if "04_" in c)))
        folded = 0
        for _ in range(4):
            self.page.key("w")
            closed, seen = self.js(
                "(() => { const v = watch.views[0], t = v.tracks, m = v.m, n = m.home[m.why(m.why(v.event) - 1) - 1];"
                " const box = v.canvas.getBoundingClientRect(), y = box.top + t.y[n] + 7 - v.scroller.scrollTop;"
                " return [!t.open.has(m.tracks[n].rank), t.h[n] > 0 && %s(v.canvas, box.left + 50, y)]; })()" % SEEN)
            folded += closed
            self.assertTrue(seen or not closed)
        self.assertGreater(folded, 0)

    def test_from_another_cluster(self):
        command = next(c for c in PROGRAMS if "05_" in c)
        self.page.open(self.make(command))
        self.js("watch.views[0].pick(0, 1)")
        self.page.settle()
        self.page.key("t")
        self.assertEqual(self.js("watch.active.c.number"), 0)
        self.assertEqual(self.js("document.querySelector('.pickers label:not([hidden]) select').selectedIndex"), 0)
        self.stop(0)

    def test_beside_another_schedule(self):
        """The other run goes along, to the same event."""
        command = next(c for c in PROGRAMS if "03_" in c)
        lazy = self.log(command, "--schedule=lazy")
        self.page.open(self.make(command, lazy))
        self.assertEqual(self.js("watch.views.map(v => !!v.tour)"), [True, False])
        for _ in range(5):
            self.page.key("t")
        one, two = self.js("watch.views.map(v => v.root.querySelector('.sentence').textContent)")
        for text in one, two:
            self.assertRegex(text, r"^Warp 0 .* waited for full, phase 0, for [\d,]+ cycles, because the UMMAs that it issues "
                             r"next read A and B\. The last bytes came by the TMA load of [AB] that CTA \d+ issued\.")

    def test_reasons(self):
        """A wait has a reason if the next work of its warp touches what the barrier guards, and none otherwise."""
        self.page.open(self.make(next(c for c in PROGRAMS if "04_" in c)))
        told = self.js("(v => v.m.waits.map(w => sentence(v.c, w.end, v.m)))(watch.views[0])")
        for name, reason in (
            ("full", r", because the UMMAs that it issues next read A and B\. The last bytes came by the TMA load of [AB] "),
            ("free", r", because the TMA load that it issues next writes A\. The last arrival was by the commit "),
            ("done", r": the last arrival was by the commit "),
        ):
            own = [text for text in told if re.search(r"waited for %s, phase 0.* [1-9][\d,]* cycles?\b" % name, text)]
            self.assertTrue(own)
            for text in own:
                self.assertRegex(text, r"waited for %s, phase 0(, for [\d,]+ cycles?)?%s" % (name, reason))

    def test_without_a_tour(self):
        """No button, no key, and nothing of it among the keys."""
        self.show([sample.make(2)])
        self.assertEqual(self.js("[watch.tour, watch.tourButton, document.querySelector('.tour')]"), [None, None, None])
        before = self.k()
        for key in "t", "T", "Escape":
            self.page.key(key)
        self.assertEqual(self.k(), before)
        self.assertNotIn("tour", self.js("watch.dialog.textContent"))
        self.quiet()

    def test_screen_readers(self):
        self.page.open(self.make(PROGRAMS[0]))
        self.page.key("t")
        wanted = {("region", "Tour"), ("combobox", "Stop of the tour"), ("button", "◀ Back"), ("button", "Next ▶")}
        until = time.monotonic() + 60
        while wanted and time.monotonic() < until:  # the tree comes after the page
            nodes = self.page.call("Accessibility.getFullAXTree")["nodes"]
            wanted -= {(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")}
        self.assertEqual(wanted, set())
        self.assertEqual(self.js("watch.tourButton.getAttribute('aria-pressed')"), "true")
        self.assertEqual(self.js("watch.tour.text.getAttribute('aria-live')"), "polite")


if __name__ == "__main__":
    if not chromium.find():
        print("skipped: no Chromium here (apt-get install chromium, or CHROMIUM=/path/to/it)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
