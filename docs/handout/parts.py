"""parts.py - a Sphinx extension: a line of the handout that is only a link, with a title that says what of it, stands for
that part of another page.

  [text](../page.md#heading "table")         the first table behind the heading
  [text](../page.md#heading "commands")      the first indented block

So nothing is written twice. What a part links to is left out: paper has no links.
"""

import os
import re

import page
from sphinx.util import logging

log = logging.getLogger(__name__)
ONLY = re.compile(r'^\[[^\]]*\]\(([^()\s#]+)#([^()\s]+) "(table|commands)"\)$', re.M)
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^()\s]+(?: \"[^\"]*\")?\)")
PICTURE = re.compile(r"!\[([^\]]*)\]")
BEGINS = {"table": r"\|", "commands": r"    \S"}


def part(root, path, heading, what):
    """The lines of the first block of its kind behind the heading."""
    lines, found, behind = [line for _, line in page.Page(root, path).prose], [], False
    for line in lines:
        title = re.match(r"#{1,6} +(.*)", line)
        if title and behind:
            break
        behind = behind or bool(title and page.slug(title[1]) == heading)
        if behind and re.match(BEGINS[what], line):
            found.append(line)
        elif found:
            break
    return found


def fill(app, docname, source):
    root, here = os.path.dirname(os.path.dirname(str(app.srcdir))), str(app.srcdir)

    def taken(match):
        path = os.path.relpath(os.path.join(here, match[1]), root)
        found = part(root, path, match[2], match[3])
        if not found:
            log.warning("%s has no %s behind #%s", path, match[3], match[2], location=docname)
        return "\n" + "\n".join(found) + "\n"

    text = PICTURE.sub(lambda found: f"![{' '.join(found[1].split())}]", ONLY.sub(taken, source[0]))
    source[0] = LINK.sub(r"\1", text)


def without_scripts(app, pagename, templatename, context, doctree):
    context["script_files"] = []


def setup(app):
    app.connect("source-read", fill)
    app.connect("html-page-context", without_scripts)
    return {"parallel_read_safe": True}
