"""test_drawn.py - the figures as headless Chromium draws them: no text is cut, lies on another, or is hard to read.

    test_drawn.py ROOT [NAME...]

With this machine's fonts each text lies within the figure; one that has the ink of a coloured box lies in a box; no two
lie on each other; and in light and in dark the contrast of each with what is behind it is 4.5 at least (WCAG 2.2, 1.4.3).
Exit code 77 where no Chromium is installed.
"""

import json
import os
import sys
import tempfile

from sm100repo import chromium

SCRIPT = r"""
(() => {
    const light = (colour) => {
        const parts = colour.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255)
            .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const fill = (e) => getComputedStyle(e).fill;
    const within = (a, b, by) => a.x >= b.x - by && a.y >= b.y - by && a.x + a.width <= b.x + b.width + by &&
        a.y + a.height <= b.y + b.height + by;
    const found = [];
    for (const figure of document.querySelectorAll('svg')) {
        const name = figure.parentNode.id, view = figure.viewBox.baseVal, texts = [];
        const painted = [...figure.querySelectorAll('rect')].filter((r) => fill(r) !== 'none')
            .map((r) => ({e: r, box: r.getBBox()}));
        for (const e of figure.querySelectorAll('text')) {
            const box = e.getBBox(), said = e.textContent;
            if (!within(box, view, 0))
                found.push(`${name}: "${said}" is cut`);
            const middle = {x: box.x + box.width / 2, y: box.y + box.height / 2, width: 0, height: 0};
            const under = painted.filter((r) => r.e.compareDocumentPosition(e) & 4 && within(middle, r.box, 0));
            if (/^i\d/.test(e.className.baseVal) && (under.length < 2 || box.width > under.at(-1).box.width + 1))
                found.push(`${name}: "${said}" does not fit its box`);
            const ratio = contrast(fill(e), fill(under.at(-1).e));
            if (ratio < 4.5)
                found.push(`${name}: "${said}" has a contrast of ${ratio.toFixed(1)}`);
            for (const other of texts)
                if (Math.min(box.x + box.width, other.box.x + other.box.width) - Math.max(box.x, other.box.x) > 1 &&
                    Math.min(box.y + box.height, other.box.y + other.box.height) - Math.max(box.y, other.box.y) > 4)
                    found.push(`${name}: "${said}" lies on "${other.said}"`);
            texts.push({box, said});
        }
        if (!texts.length)
            found.push(`${name}: no text is drawn`);
    }
    return JSON.stringify(found);
})()
"""


def main(root, names):
    if not chromium.find():
        print("skipped: no Chromium is installed")
        return 77
    folder = os.path.join(root, "docs/figures")
    names = names or sorted(name[:-4] for name in os.listdir(folder) if name.endswith(".svg"))
    parts = []
    for name in names:
        with open(os.path.join(folder, name + ".svg"), encoding="utf-8") as f:
            parts.append('<div id="%s">%s</div>' % (name, f.read()))
    with tempfile.TemporaryDirectory() as scratch, chromium.Page(800, 900) as page:
        path = os.path.join(scratch, "figures.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write("<!doctype html><meta charset=utf-8><script>watch = {views: []}</script>" + "".join(parts))
        page.open(path)
        wrong = []
        for scheme in "light", "dark":
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            page.settle()
            wrong += ["%s: %s" % (scheme, line) for line in json.loads(page.js(SCRIPT))]
        wrong += ["asks for " + url for url in page.requests if not url.startswith("file://" + os.path.abspath(path))]
    for line in wrong:
        print(line, file=sys.stderr)
    print("%d figures drawn, light and dark: %d faults" % (len(names), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
