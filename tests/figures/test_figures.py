"""test_figures.py - the figures as files: well-formed, spoken, closed, used, and as wide as a page.

    test_figures.py ROOT

Each docs/figures/*.svg is XML with a title and a description, has one drawing in the list of docs/figures/draw.py, asks
nothing of the network, knows light and dark, and is small. Each is shown by a page, and each that a page shows is
there, with words for who cannot see it. Whether they are what is drawn now is draw.py --check's to say.
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from sm100repo import PYTHON

SVG = "{http://www.w3.org/2000/svg}"
LARGEST, WIDEST = 60000, 720
SMALLEST_TEXT = 12


def pages(root):
    """Markdown of the repository, without what is made in it."""
    return [
        os.path.relpath(os.path.join(at, name), root)
        for at, _, files in os.walk(root)
        for name in files
        if name.endswith(".md") and not re.match(r"/(build|exercises|\.)", at[len(root) :])
    ]


def shown(root):
    """{figure: [(page, alternative text)]} of all pages."""
    found = {}
    for page in pages(root):
        with open(os.path.join(root, page), encoding="utf-8") as f:
            text = f.read()
        for words, path in re.findall(r"!\[([^\]]*)\]\(([^)\s]*figures/[^)\s]*\.svg)\)", text):
            name = os.path.normpath(os.path.join(os.path.dirname(page), path))
            found.setdefault(name, []).append((page, words))
    return found


def faults(path):
    """What is wrong with a file."""
    size = os.path.getsize(path)
    if size > LARGEST:
        yield "%d bytes, more than %d" % (size, LARGEST)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        top = xml.fromstring(text)
    except xml.ParseError as why:
        yield "is not XML: %s" % why
        return
    if top.tag != SVG + "svg" or not top.get("viewBox"):
        yield "is no svg with a viewBox"
    if float(top.get("width", 0)) > WIDEST:
        yield "is wider than %d" % WIDEST
    for part in "title", "desc":
        said = top.find(SVG + part)
        if said is None or len((said.text or "").strip()) < 10:
            yield "has no <%s>" % part
        elif said.get("id") not in (top.get("aria-labelledby") or "").split():
            yield "is not labelled by its <%s>" % part
    if "prefers-color-scheme:dark" not in text:
        yield "knows no dark"
    if not any(e.get("class") == "bg" for e in top.iter(SVG + "rect")):
        yield "has no background"
    for e in top.iter():
        if e.tag in (SVG + "script", SVG + "image", SVG + "foreignObject", SVG + "use"):
            yield "has a <%s>" % e.tag[len(SVG) :]
        for key, value in e.attrib.items():
            if key.split("}")[-1] in ("href", "src") or re.search(r"//|url\((?!#)", value):
                yield "asks for %s" % value
    style = "".join(e.text or "" for e in top.iter(SVG + "style"))
    if re.search(r"@import|url\(|//", style):
        yield "its style asks for something"
    for size in re.findall(r"font-size:([\d.]+)px", text):
        if float(size) < SMALLEST_TEXT:
            yield "has text of %s pixels" % size


def main(root):
    folder, wrong = os.path.join(root, "docs/figures"), []
    listed = subprocess.run(
        [*PYTHON, os.path.join(folder, "draw.py"), "--list"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    files = sorted(name for name in os.listdir(folder) if name.endswith(".svg"))
    for name in files:
        wrong += ["docs/figures/%s %s" % (name, fault) for fault in faults(os.path.join(folder, name))]
        if name[:-4] not in listed:
            wrong.append("docs/figures/%s: nobody draws it" % name)
    wrong += ["docs/figures/%s.svg is missing" % name for name in listed if name + ".svg" not in files]
    used = shown(root)
    for name, places in sorted(used.items()):
        if not os.path.isfile(os.path.join(root, name)):
            wrong.append("%s shows %s, which is not there" % (places[0][0], name))
        wrong += [
            "%s shows %s without saying what it shows" % (page, name) for page, words in places if len(words) < 20
        ]
    wrong += ["docs/figures/%s is shown by no page" % name for name in files if "docs/figures/" + name not in used]
    for line in wrong:
        print(line, file=sys.stderr)
    print("%d figures, shown at %d places: %d faults" % (len(files), sum(map(len, used.values())), len(wrong)))
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
