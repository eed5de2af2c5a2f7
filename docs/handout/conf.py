"""conf.py - the handout that `make handout` makes of handout.md: Sphinx and MyST-Parser, as for the site, one page with a
style for print. parts.py takes the tables out of the pages that have them.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("docs/handout", "tests/lessons", "python")]

project = "Data-center Blackwell, step by step"
version = release = (ROOT / "VERSION").read_text().strip()
extensions = ["myst_parser", "parts"]
root_doc = "handout"
include_patterns = ["handout.md"]
language = "en"
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "basic"
html_title = project
html_sidebars = {"**": []}
html_static_path = ["print.css"]
html_css_files = ["print.css"]
html_copy_source = html_show_sourcelink = html_show_copyright = html_show_sphinx = html_use_index = False
