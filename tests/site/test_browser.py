"""test_browser.py ROOT SITE: the site from a folder, in headless Chromium: on a phone's width, by the keyboard alone,
in the dark, searched, printed; and what it asks the network for, which is nothing. Exit code 77 where there is no
Chromium.
"""

import glob
import os
import sys
import time
import unittest

from sm100repo import chromium

ROOT, SITE = (os.path.abspath(p) for p in sys.argv[1:3])

PHONE, DESK = (390, 844), (1280, 900)


def pages():
    found = glob.glob(os.path.join(SITE, "**", "*.html"), recursive=True)
    left_out = ("source", "watch", "genindex.html")
    return sorted(p for p in found if not os.path.relpath(p, SITE).startswith(left_out))


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = chromium.Page()
        cls.addClassCleanup(cls.page.__exit__)

    def setUp(self):
        self.page.resize(*DESK)
        self.page.complaints.clear()

    def show(self, name="index.html", fragment=""):
        self.page.open(os.path.join(SITE, name), self.page.PLAIN, fragment)
        self.page.settle()

    def wait(self, expression, seconds=20):
        until = time.monotonic() + seconds
        while not self.holds(expression):
            self.assertLess(time.monotonic(), until, expression)
            time.sleep(0.05)

    def holds(self, expression):
        try:
            return self.page.js("!!(%s)" % expression)
        except chromium.Broken:  # between two pages
            return False

    def test_every_page_on_a_phone(self):
        """Nothing is wider than the screen, nothing is asked of the network, nothing is complained of."""
        self.page.resize(*PHONE)
        self.assertGreater(len(pages()), 20)
        for path in pages():
            name = os.path.relpath(path, SITE)
            with self.subTest(name):
                self.page.complaints.clear()
                self.show(name)
                self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), PHONE[0])
                asked = [u for u in self.page.requests if not u.startswith(("file:", "data:", "blob:"))]
                self.assertEqual(asked, [])
                self.assertEqual(self.page.complaints, [])
                empty = "[...document.images].filter(i => i.complete && !i.naturalWidth && i.offsetParent)"
                self.assertEqual(self.page.js(empty + ".map(i => i.src)"), [])

    def test_keyboard(self):
        """Tab reaches the way past the menu, the search and the content; each shows that it is reached."""
        self.show("02_simple_umma/README.html")
        reached = set()
        for _ in range(400):
            self.page.key("Tab")
            reached.add(
                self.page.js(
                    "(e => e.matches('.skip-to-content') ? 'skip' : e.matches('.sidebar-search') ? 'search' :"
                    " e.closest('.sidebar-tree') ? 'menu' : e.matches('summary') ? 'answer' :"
                    " e.closest('article') ? 'content' : '')(document.activeElement)"
                )
            )
            if "answer" in reached:
                break
        self.assertLessEqual({"skip", "search", "menu", "content", "answer"}, reached)
        self.assertNotEqual(self.page.js("getComputedStyle(document.activeElement).outlineStyle"), "none")
        self.assertFalse(self.page.js("document.activeElement.parentElement.open"))
        self.page.key("Enter")
        self.assertTrue(self.page.js("document.activeElement.parentElement.open"))

    def test_search(self):
        self.show()
        self.page.js("document.querySelector('.sidebar-search').focus()")
        for letter in "mbarrier":
            self.page.key(letter)
        self.page.key("Enter", leaves=True)
        self.wait("location.pathname.endsWith('search.html') && document.querySelectorAll('ul.search li').length > 3")

    def test_dark(self):
        """The theme's button goes round light and dark, and the text stays readable."""
        self.show()
        seen = set()
        for _ in range(3):
            self.page.js("[...document.querySelectorAll('.theme-toggle')].find(b => b.offsetParent).click()")
            self.page.settle()
            seen.add(self.page.js("getComputedStyle(document.body).backgroundColor"))
            contrast = """(() => {
                const light = c => c.match(/[\\d.]+/g).slice(0, 3).map(x => (x /= 255) <= 0.04045 ? x / 12.92 :
                    ((x + 0.055) / 1.055) ** 2.4).reduce((s, x, i) => s + x * [0.2126, 0.7152, 0.0722][i], 0);
                const body = getComputedStyle(document.body);
                const text = light(body.color), ground = light(body.backgroundColor);
                return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
            })()"""
            self.assertGreater(self.page.js(contrast), 7)
        self.assertGreaterEqual(len(seen), 2)

    def test_source_line(self):
        """A link to a line of a source leads to that line."""
        name = sorted(glob.glob(os.path.join(SITE, "source", "common", "*.html")))[0]
        self.show(os.path.relpath(name, SITE), "#L10")
        place = "document.getElementById('L10').getBoundingClientRect()"
        self.assertTrue(self.page.js("(r => r.top >= 0 && r.top < innerHeight)(%s)" % place))

    def test_print(self):
        """On paper there is no menu, and answers are open."""
        self.show("02_simple_umma/README.html")
        shown = "[...document.querySelectorAll('%s')].some(e => getComputedStyle(e).display != 'none')"
        self.assertTrue(self.page.js(shown % ".sidebar-drawer"))
        self.page.call("Emulation.setEmulatedMedia", media="print")
        try:
            self.assertFalse(self.page.js(shown % ".sidebar-drawer"))
            answers = "[...document.querySelectorAll('details > p')]"
            self.assertGreater(self.page.js(answers + ".length"), 5)
            self.assertTrue(self.page.js(answers + ".every(e => e.getBoundingClientRect().height > 0)"))
        finally:
            self.page.call("Emulation.setEmulatedMedia", media="")


if __name__ == "__main__":
    if not chromium.find():
        print("skipped: no Chromium is installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
