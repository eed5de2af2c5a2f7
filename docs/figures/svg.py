"""svg.py - writes a figure as SVG: text, boxes, lines, arrows, grids; the same bytes on every machine.

A Drawing is as wide as it was made and as high as what was drawn on it. Colours are those of the watch page, by its
names (python/sm100emu/page/style.css): c0 wait, c1 load, c2 tensor core, c3 commit, c4 loads and stores of tensor
memory, c5 and c6 phases even and odd, c7 filled, c8 conflict, c9 other; iN is the ink on cN. They are light or dark as
the reader's machine prefers, on a background of the figure's own. Nothing asks for anything of the network.

How wide a text is depends on the reader's font; `width_of` takes a wide one. A text that would leave the drawing, or
its box, or lie on another, is an error here, not a flaw in the figure (Bad).
"""

import os
import re
from xml.sax.saxutils import escape

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/sm100emu/page/style.css")
MARGIN = 14
NAMES = ["c%d" % i for i in range(10)] + ["i%d" % i for i in range(10)]
NARROW, WIDE = set("iljI.,:;|'! "), set("mwMW%@#&=+<>")


class Bad(Exception):
    """A figure that cannot be read: what is wrong with it."""


def palette():
    """({name: colour} light, the same dark) of the watch page."""
    with open(STYLE, encoding="utf-8") as f:
        style = f.read()
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", style)
    light = dict(re.findall(r"--(\w+): *(#[0-9a-f]{6})", blocks[0]))
    return light, {**light, **dict(re.findall(r"--(\w+): *(#[0-9a-f]{6})", blocks[1]))}


def rules(colours):
    """CSS of the classes that a figure uses, in these colours."""
    made = [".t{fill:%(text)s}.f{fill:%(faint)s}.said{fill:%(said)s}.bg{fill:%(page)s}.panel{fill:%(panel)s}" % colours]
    made.append(
        ".e{stroke:%(border)s}.a{stroke:%(arrow)s}.ah{fill:%(arrow)s}.k{stroke:%(edge)s}.kh{fill:%(edge)s}" % colours
    )
    made.append(".s{stroke:%(said)s}.sh{fill:%(said)s}.g{stroke:%(line)s}.now{fill:%(now)s}" % colours)
    made += [".%s{fill:%s}" % (name, colours[name]) for name in NAMES]
    return "".join(made)


def width_of(text, size, mono=False, bold=False):
    """Of a text in a wide font, in pixels."""
    if mono:
        return 0.605 * size * len(text)
    units = 0.0
    for c in text:
        units += (
            0.32 if c in NARROW else 0.85 if c in WIDE else 0.68 if c.isupper() else 0.4 if c in "frt()[]-/" else 0.6
        )
    return units * size * (1.13 if bold else 1)


def number(v):
    """A coordinate, to a tenth."""
    text = "%.1f" % v
    return "0" if text == "-0.0" else text[:-2] if text.endswith(".0") else text


class Drawing:
    """A figure being made. Coordinates are pixels, y down; text is placed by its baseline."""

    def __init__(self, width=560):
        self.width, self.bottom = width, 0
        self.parts, self.boxes, self.defs = [], [], set()

    # ------------------------------------------------------------ shapes

    def reach(self, y):
        self.bottom = max(self.bottom, y)

    def rect(self, x, y, w, h, fill="panel", edge="e", dash=False, round=3, thick=1):
        """A rectangle; fill: a class, or None. edge: a class of lines, or None."""
        kind = " ".join(filter(None, [fill or "n", edge]))
        more = ' stroke-dasharray="4 3"' if dash else ""
        more += ' rx="%s"' % number(round) if round else ""
        more += ' stroke-width="%s"' % number(thick) if edge and thick != 1 else ""
        self.parts.append(
            '<rect x="%s" y="%s" width="%s" height="%s" class="%s"%s/>'
            % (number(x), number(y), number(w), number(h), kind, more)
        )
        self.reach(y + h)

    def line(self, points, edge="a", dash=False, arrow=False, thick=1.5):
        """A line through points; arrow: with a head at its end."""
        more = ' stroke-dasharray="5 4"' if dash else ""
        more += ' stroke-width="%s"' % number(thick) if thick != 1.5 else ""
        if arrow:
            self.defs.add(edge)
            more += ' marker-end="url(#h%s)"' % edge
        path = " ".join("%s,%s" % (number(x), number(y)) for x, y in points)
        self.parts.append('<polyline points="%s" class="l %s"%s/>' % (path, edge, more))
        self.reach(max(y for _, y in points))

    def arrow(self, x1, y1, x2, y2, edge="a", dash=False, thick=1.5):
        self.line([(x1, y1), (x2, y2)], edge, dash, True, thick)

    def text(self, x, y, text, size=14, ink="t", anchor="start", mono=False, bold=False, free=False, room=None):
        """A line of text. room: pixels that it must fit into. free: it may lie on other text's box."""
        wide = width_of(text, size, mono, bold)
        if room is not None and wide > room:
            raise Bad("%r is %.0f wide and has %.0f" % (text, wide, room))
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        if left < 2 or left + wide > self.width - 2:
            raise Bad("%r reaches from %.0f to %.0f of %d" % (text, left, left + wide, self.width))
        if not free:
            box = (left, y - 0.72 * size, left + wide, y + 0.2 * size, text)
            for other in self.boxes:
                if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                    raise Bad("%r lies on %r" % (text, other[4]))
            self.boxes.append(box)
        kind = " ".join(filter(None, [ink, "m" if mono else "", "b" if bold else ""]))
        more = "" if anchor == "start" else ' text-anchor="%s"' % anchor
        more += "" if size == 14 else ' font-size="%s"' % number(size)
        self.parts.append(
            '<text x="%s" y="%s" class="%s"%s>%s</text>' % (number(x), number(y), kind, more, escape(text))
        )
        self.reach(y + 0.25 * size)

    def box(self, x, y, w, h, lines=(), fill="panel", size=14, edge="e", dash=False, mono=False, bold=False, ink=None):
        """A rectangle with lines of text in its middle."""
        lines = [lines] if isinstance(lines, str) else list(lines)
        self.rect(x, y, w, h, fill, edge, dash)
        ink = ink or ("i" + fill[1:] if fill and re.fullmatch(r"c\d", fill) else "t")
        step = 1.25 * size
        if step * len(lines) > h + 0.3 * size:
            raise Bad("%r are %.0f high and have %.0f" % (lines, step * len(lines), h))
        top = y + h / 2 - step * (len(lines) - 1) / 2 + 0.35 * size
        for i, text in enumerate(lines):
            self.text(x + w / 2, top + i * step, text, size, ink, "middle", mono, bold, room=w - 2)

    def lines(self, x, y, texts, size=13, ink="f", step=None, mono=False, anchor="start"):
        """Lines of text one below the other; the baseline behind the last."""
        step = step or 1.38 * size
        for text in texts:
            self.text(x, y, text, size, ink, anchor, mono)
            y += step
        return y

    def heading(self, text, source=None):
        """The figure's heading, and below it, faint, where it comes from; the y at which the figure begins."""
        self.text(MARGIN, 27, text, 16, bold=True)
        if source:
            self.text(MARGIN, 46, source, 12, "f")
        return 62 if source else 44

    def wrap(self, x, y, text, size=13, ink="f", room=None):
        """A sentence over as many lines as it takes; the baseline behind the last."""
        room, row = room or self.width - x - MARGIN, []
        for word in text.split():
            if row and width_of(" ".join(row + [word]), size) > room:
                self.text(x, y, " ".join(row), size, ink)
                y, row = y + 1.38 * size, []
            row.append(word)
        self.text(x, y, " ".join(row), size, ink)
        return y + 1.38 * size

    def legend(self, x, y, items, size=12.5):
        """[(class, text)] side by side, on further lines where they do not fit; the y behind."""
        left = x
        for fill, text in items:
            wide = 18 + width_of(text, size) + 14
            if left > x and left + wide - 14 > self.width - MARGIN:
                left, y = x, y + 20
            self.rect(left, y - 10, 12, 12, fill, round=2)
            self.text(left + 18, y, text, size)
            left += wide
        return y + 20

    # ------------------------------------------------------------ the file

    def svg(self, title, desc):
        """The whole file. title and desc are for who listens."""
        light, dark = palette()
        height = int(self.bottom + MARGIN)
        heads = "".join(
            '<marker id="h%s" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L10 5L0 10z" class="%sh"/></marker>' % (e, e)
            for e in sorted(self.defs)
        )
        style = (
            "text{font:14px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}"
            ".m{font-family:ui-monospace,'DejaVu Sans Mono',monospace}.b{font-weight:600}"
            ".n,.l{fill:none}.l{stroke-width:1.5}"
            + rules(light)
            + "@media(prefers-color-scheme:dark){"
            + rules(dark)
            + "}"
        )
        sized = re.sub(r' font-size="([\d.]+)"', r' style="font-size:\1px"', "\n".join(self.parts))
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" '
            'aria-labelledby="title desc">\n<title id="title">%s</title>\n<desc id="desc">%s</desc>\n'
            "<style>%s</style>\n<defs>%s</defs>\n"
            % (self.width, height, self.width, height, escape(title), escape(desc), style, heads)
            + '<rect width="%d" height="%d" rx="6" class="bg"/>\n' % (self.width, height)
            + sized
            + "\n</svg>\n"
        )
