"""deck.py - a Sphinx extension: what a page of docs/slides/ says in Markdown, as a deck.

A quote that begins with minutes, `> **5 min.** ...`, is the speaker's: the notes of its slide, which key S shows. Links
lead nowhere from a deck, so their words alone are left.
"""

import re

from docutils import nodes

MINUTES = re.compile(r"\d+ min\.$")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|!?\[[^\]]*\])*)\]\([^()\s]+\)")
FENCE = re.compile(r"^ *(```|~~~)")


class notes(nodes.General, nodes.Element):
    """What the speaker alone sees."""


def unlink(app, docname, source):
    blocks = re.split(r"(?ms)(^```.*?^```$)", source[0])
    source[0] = "".join(block if FENCE.match(block) else LINK.sub(r"\1", block) for block in blocks)


def find_notes(app, doctree):
    for quote in list(doctree.findall(nodes.block_quote)):
        first = next(quote.findall(nodes.strong), None)
        if first is not None and MINUTES.match(first.astext()):
            quote.replace_self(notes("", *quote.children))


def setup(app):
    app.add_node(notes, revealjs=(lambda self, node: self.body.append('<aside class="notes">'),
                                  lambda self, node: self.body.append("</aside>\n")))
    app.connect("source-read", unlink)
    app.connect("doctree-read", find_notes)
    return {"parallel_read_safe": True}
