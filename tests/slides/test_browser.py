"""test_browser.py ROOT SLIDES HANDOUT: the decks and the handout from their folders, in headless Chromium, at 1280 x 720.
No slide is cut or has text on its figure, all is large enough to be read; a deck goes on by the keyboard, has its notes,
prints a page a slide, and asks the network for nothing. The handout prints on few pages. Exit code 77 where there is no
Chromium.
"""

import base64
import glob
import os
import re
import sys
import unittest

from sm100repo import chromium, read

ROOT, SLIDES, HANDOUT = (os.path.abspath(p) for p in sys.argv[1:4])
PAGES, SMALLEST, SMALLEST_IN_FIGURES = 8, 15, 10.5  # of the handout; pixels of text
FAULTS = """(() => {
    const slide = Reveal.getCurrentSlide(), found = [], name = slide.querySelector('h1, h2').textContent;
    const text = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT), images = [...slide.querySelectorAll('img')];
    const boxes = images.map((i) => [i.alt.slice(0, 20), i.getBoundingClientRect()]);
    for (let node = text.nextNode(); node; node = text.nextNode()) {
        if (!node.textContent.trim() || node.parentElement.closest('aside'))
            continue;
        const range = document.createRange(), words = node.textContent.trim().slice(0, 20);
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) {
            boxes.push([words, box]);
            for (const image of images) {
                const on = image.getBoundingClientRect();
                if (box.right > on.left && box.left < on.right && box.bottom > on.top && box.top < on.bottom)
                    found.push(`${name}: "${words}" is on a figure`);
            }
        }
        if (parseFloat(getComputedStyle(node.parentElement).fontSize) < SMALLEST)
            found.push(`${name}: "${words}" is small`);
    }
    for (const [words, box] of boxes)
        if (box.left < 20 || box.top < 20 || box.right > innerWidth - 20 || box.bottom > innerHeight - 20)
            found.push(`${name}: "${words}" is cut`);
    for (const block of slide.querySelectorAll('pre'))
        if (block.scrollWidth > block.clientWidth)
            found.push(`${name}: an output is cut`);
    for (const image of images) {
        const by = Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight);
        if (!image.naturalWidth || image.src.endsWith('.svg') && 12 * by < SMALLEST_IN_FIGURES)
            found.push(`${name}: the figure is small`);
    }
    return found;
})()""".replace("SMALLEST_IN_FIGURES", str(SMALLEST_IN_FIGURES)).replace("SMALLEST", str(SMALLEST))


class Printed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = chromium.Page(1280, 720)
        cls.addClassCleanup(cls.page.__exit__)

    def show(self, path, fragment="", shown="window.Reveal && Reveal.isReady()"):
        self.page.complaints.clear()
        self.page.open(path, f"document.readyState == 'complete' && {shown}", fragment)
        self.page.settle()

    def pages(self, **how):
        """How many pages it prints on."""
        pdf = base64.b64decode(self.page.call("Page.printToPDF", preferCSSPageSize=True, **how)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", pdf))

    def assert_alone(self):
        self.assertEqual([u for u in self.page.requests if not u.startswith(("file:", "data:", "blob:", "about:"))], [])
        self.assertEqual(self.page.complaints, [])

    def each(self):
        found = sorted(glob.glob(os.path.join(SLIDES, "[1-9].html")))
        self.assertEqual(len(found), len(glob.glob(os.path.join(ROOT, "docs", "slides", "[1-9].md"))))
        return found

    def test_slides(self):
        """By the keyboard from the first to the last, and each as it is then."""
        for path in self.each():
            with self.subTest(os.path.basename(path)):
                self.show(path)
                source = read(os.path.join(ROOT, "docs", "slides", os.path.basename(path).replace(".html", ".md")))
                count = self.page.js("Reveal.getTotalSlides()")
                self.assertEqual(count, len(re.findall(r"^##? ", source, re.M)))
                faults = []
                for number in range(count):
                    self.assertEqual(self.page.js("Reveal.getIndices().h"), number)
                    faults += self.page.js(FAULTS)
                    self.assertTrue(self.page.js("Reveal.hasPlugin('notes') && /^\\d+ min\\. /.test("
                                                 "Reveal.getCurrentSlide().querySelector('aside.notes').textContent)"))
                    self.page.key("ArrowRight")
                self.assertEqual(faults, [])
                self.assert_alone()

    def test_slides_print(self):
        """A page a slide, and as many more where the notes are printed."""
        for path in self.each():
            with self.subTest(os.path.basename(path)):
                for how, times in ("", 1), ("&showNotes=separate-page", 2):
                    self.show(path, "?view=print" + how, "document.querySelector('.pdf-page')")
                    count = self.page.js("document.querySelectorAll('section > h1, section > h2').length")
                    self.assertEqual(self.pages(printBackground=True), count * times)

    def test_handout(self):
        self.show(os.path.join(HANDOUT, "index.html"), shown="true")
        self.assert_alone()
        self.assertEqual(self.page.js("[...document.images].filter((i) => !i.naturalWidth).length"), 0)
        self.assertGreater(self.page.js("document.querySelectorAll('table').length"), 5)
        self.assertLessEqual(self.pages(), PAGES)
        with open(os.path.join(HANDOUT, "handout.pdf"), "rb") as f:
            self.assertEqual(len(re.findall(rb"/Type\s*/Page\b", f.read())), self.pages())
        self.page.call("Emulation.setEmulatedMedia", media="print")
        try:
            self.page.resize(718, 1000)  # an A4 page within its margins, in CSS pixels
            wide = "[...document.querySelectorAll('table, img, pre')].filter((e) => e.getBoundingClientRect().right > 719)"
            self.assertEqual(self.page.js(wide + ".map((e) => e.textContent.slice(0, 40) || e.alt.slice(0, 40))"), [])
        finally:
            self.page.call("Emulation.setEmulatedMedia", media="")
            self.page.resize(1280, 720)


if __name__ == "__main__":
    if not chromium.find():
        print("skipped: no Chromium is installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
