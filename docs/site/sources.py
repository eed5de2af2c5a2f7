"""sources.py - a Sphinx extension: links from pages to files that are no pages.

A file of the tree that a page links to becomes a page of its own under source/, its code highlighted, each line with an
anchor, so that `[text](../common/tma.cuh#L12)` leads to the line, as it does on the forge. A folder becomes the list of
its files.
"""

import html
import os
import re

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.util import logging

log = logging.getLogger(__name__)
LINK = re.compile(r"(\]\()([^()\s]+?)(#[^()\s]*)?(\))")
SPAN = re.compile(r"(`+[^`]*`+)")
FENCE = re.compile(r"^ *(```|~~~)")
LEXERS = {".cu": "cuda", ".cuh": "cuda", ".h": "c", ".def": "c", ".ptx": "text", "Makefile": "make"}
SHOWN = 400_000  # bytes of a source; no page is made of a longer one


def lexer(path):
    name = LEXERS.get(os.path.splitext(path)[1]) or LEXERS.get(os.path.basename(path))
    try:
        return get_lexer_by_name(name) if name else get_lexer_for_filename(path)
    except ClassNotFound:
        return get_lexer_by_name("text")


def page_of(path):
    return "source/" + path + ("/index" if os.path.isdir(path) else "")


def rewrite(app, docname, source):
    """Links to files become links with the scheme `site:`, which conf.py makes relative addresses of."""
    folder, root = os.path.dirname(docname), str(app.srcdir)
    up = "../" * docname.count("/")

    def link(match):
        target, anchor = match[2], match[3] or ""
        if "://" in target or target.startswith(("mailto:", "#", "site:")):
            return match[0]
        path = os.path.normpath(os.path.join(folder, target))
        if path.startswith("build/watch/"):
            return f"{match[1]}site:{up}{path[6:]}{anchor}{match[4]}"
        line = re.match(r"#L\d", anchor)
        if path.endswith(".md") and path[:-3] in app.env.found_docs and not line or path.endswith((".svg", ".png")):
            return match[0]
        if not os.path.exists(os.path.join(root, path)):
            log.warning("link to %s, which is not there", path, location=docname)
            return match[0]
        app.env.site_sources.add(path)
        return f"{match[1]}site:{up}{page_of(path)}.html{anchor or '#'}{match[4]}"

    lines, fenced = source[0].split("\n"), False
    for i, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines[i] = "".join(p if p[:1] == "`" else LINK.sub(link, p) for p in SPAN.split(line))
    source[0] = "\n".join(lines)


def body_of(root, path):
    full = os.path.join(root, path)
    if os.path.isdir(full):
        names = sorted(os.listdir(full))
        return "<ul>" + "".join(f"<li><code>{html.escape(n)}</code></li>" for n in names if n[0] != ".") + "</ul>"
    with open(full, encoding="utf-8", errors="replace") as f:
        text = f.read(SHOWN)
    form = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, wrapcode=True)
    return re.sub(r'(id|name|href)="(#?)L-(\d+)"', r'\1="\2L\3"', highlight(text, lexer(path), form))


def pages(app):
    for path in sorted(app.env.site_sources):
        title = html.escape(path)
        body = f"<h1><code>{title}</code></h1>\n{body_of(str(app.srcdir), path)}"
        yield page_of(path), {"title": title, "body": body, "parents": [], "toc": ""}, "page.html"


def setup(app):
    app.connect("builder-inited", lambda app: setattr(app.env, "site_sources", set()))
    app.connect("source-read", rewrite, priority=800)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
