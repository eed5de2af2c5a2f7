"""deck.py - a Sphinx extension: what a page of docs/slides/ says in Markdown, as a deck.

A quote that begins with minutes, `> **5 min.** ...`, is the speaker's: the notes of its slide, which key S shows. Links
lead nowhere from a deck, so their words alone are left. An output is as large as its longest line lets it be.
"""

import re

from docutils import nodes

MINUTES = re.compile(r"\d+ min\.$")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|!?\[[^\]]*\])*)\]\([^()\s]+\)")
PICTURE = re.compile(r"!\[([^\]]*)\]")
SIZES = [(79, "large"), (100, "medium"), (10000, "small")]  # characters of the longest line


class notes(nodes.General, nodes.Element):
    """What the speaker alone sees."""


def read(app, docname, source):
    parts = re.split(r"(?ms)(^```.*?^```$)", source[0])
    for i in range(0, len(parts), 2):  # between the blocks
        parts[i] = PICTURE.sub(lambda found: f"![{' '.join(found[1].split())}]", LINK.sub(r"\1", parts[i]))
    source[0] = "".join(parts)


def shape(app, doctree):
    for quote in list(doctree.findall(nodes.block_quote)):
        first = next(quote.findall(nodes.strong), None)
        if first is not None and MINUTES.match(first.astext()):
            quote.replace_self(notes("", *quote.children))
    for block in list(doctree.findall(nodes.literal_block)):
        longest = max(map(len, block.astext().split("\n")))
        size = next(name for most, name in SIZES if longest <= most)
        block.replace_self(nodes.container("", block.deepcopy(), classes=[size]))


def setup(app):
    app.add_node(notes, revealjs=(lambda self, node: self.body.append('<aside class="notes">'),
                                  lambda self, node: self.body.append("</aside>\n")))
    app.connect("source-read", read)
    app.connect("doctree-read", shape)
    return {"parallel_read_safe": True}
