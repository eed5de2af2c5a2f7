"""conf.py - the site that `make site` makes of the Markdown as it lies in the tree: Sphinx, MyST-Parser and Furo.

The folder of the sources is the repository's root, so every link that holds on the forge holds here. README.md is the
first page; what else is a page, and in which order, stands in PAGES. Links to files that are no pages lead to pages of
their own (sources.py).
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))

# Caption: pages, without .md. A Markdown file that is not here is shown as a source where something links to it.
PAGES = {
    "Lessons": ["docs/story", "0*_*/README", "0*_*/further"],
    "Understand": [
        "docs/hopper-to-blackwell",
        "docs/memory-in-pictures",
        "docs/memory-model",
        "docs/cute",
        "docs/umma-recipe-errors",
        "docs/glossary",
    ],
    "Watch and mend": ["docs/watching", "docs/site/watch", "docs/symptoms", "docs/diagnostics"],
    "Teach": ["docs/teaching", "course/README"],
    "Proof": ["docs/believe", "docs/conformance", "docs/performance", "benchmark/README", "docs/tilelang-2644",
              "tests/mutants/README", "tests/clock/README", "tests/clock/ladder/README"],
    "The emulator": ["docs/emulator", "docs/install", "docs/machines", "docs/speed", "docs/other-tools", "emulator/README",
                     "docs/layout", "docs/checker", "examples/one_umma/README", "SECURITY", "CONTRIBUTING"],
}


def found(pattern):
    return sorted(str(p.relative_to(ROOT))[:-3] for p in ROOT.glob(pattern + ".md"))


TREE = {caption: [page for pattern in patterns for page in found(pattern)] for caption, patterns in PAGES.items()}

project = "Data-center Blackwell, step by step"
version = release = (ROOT / "VERSION").read_text().strip()
html_title = project
extensions = ["myst_parser", "sources"]
root_doc = "README"
include_patterns = ["README.md"] + [page + ".md" for pages in TREE.values() for page in pages]
language = "en"

myst_heading_anchors = 6  # a heading's anchor is the forge's
myst_links_external_new_tab = False
myst_url_schemes = {"http": None, "https": None, "mailto": None, "site": "{{path}}#{{fragment}}"}
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = html_show_sourcelink = html_show_copyright = html_show_sphinx = False
html_show_search_summary = False  # would fetch pages, which a browser refuses a file
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
pygments_style, pygments_dark_style = "tango", "github-dark"


def add_tree(app, docname, source):
    """The contents, behind README.md."""
    if docname != root_doc:
        return
    for caption, pages in TREE.items():
        if pages:
            listed = "\n".join("/" + page for page in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def setup(app):
    app.connect("source-read", add_tree, priority=900)
