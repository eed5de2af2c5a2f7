"""conf.py - the decks that `make slides` makes of the Markdown beside it: Sphinx and MyST-Parser, as for the site, and
sphinx-revealjs, which brings reveal.js along, so that nothing is fetched when a deck is shown.

A deck is a page: its title is the first slide, each heading of the second level the next one. deck.py has what a deck
is in other words than a page.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "slides"))

project = "Data-center Blackwell, step by step"
version = release = (ROOT / "VERSION").read_text().strip()
extensions = ["myst_parser", "sphinx_revealjs", "deck"]
root_doc = "1"
include_patterns = ["[1-9].md"]
language = "en"
html_copy_source = False

highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure", "myst.header", "toc.not_included"]

revealjs_html_theme = "revealjs-simple"
revealjs_style_theme = "slides.css"
revealjs_static_path = ["slides.css"]
revealjs_script_plugins = [{"name": "RevealNotes", "src": "revealjs/plugin/notes/notes.js"}]
revealjs_script_conf = {
    "width": 1280,
    "height": 720,
    "margin": 0,
    "center": False,
    "hash": True,
    "slideNumber": "c/t",
    "transition": "none",
    "pdfMaxPagesPerSlide": 1,
}
