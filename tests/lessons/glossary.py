"""glossary.py ROOT: docs/glossary.md keeps its form, and every link into it leads to a term.

Form: the terms are headings of level 3, in the order of the alphabet, none twice; each has a text, and in it a link to
the code or another term's. Links: `glossary.md#...` in any page, `#...` in the glossary itself. A breach is a line
`page:line: ...`, and exit 1. First the check proves on a small tree that it can fail.
"""

import os
import re
import sys
import tempfile

import page
from sm100repo import read, write

PAGE = os.path.join("docs", "glossary.md")


def terms_of(text):
    """(line, term, text) of each heading of level 3."""
    parts = re.split(r"^### (.*)$", text, flags=re.M)
    at, found = parts[0].count("\n") + 1, []
    for term, body in zip(parts[1::2], parts[2::2]):
        found.append((at, term.strip(), body))
        at += body.count("\n")
    return found


def form(text):
    """The breaches of form, as (line, what)."""
    terms = terms_of(text)
    for (_, before, _), (at, term, _) in zip(terms, terms[1:]):
        if term.casefold() <= before.casefold():
            yield at, f"`{term}` stands behind `{before}`"
    for at, term, body in terms:
        if len(body.split()) < 8:
            yield at, f"`{term}` is not explained"
        if "](" not in body:
            yield at, f"`{term}` links neither to the code nor to a term"


def links(path, text):
    """(line, anchor) of each link from the page into the glossary."""
    inside = r"\]\(#([^)]*)\)" if path == PAGE else r"\]\([^)]*glossary\.md#([^)]*)\)"
    for found in re.finditer(inside, text):
        yield text.count("\n", 0, found.start()) + 1, found[1]


def breaches(root):
    """All breaches of the tree, and how many terms and links it has."""
    text = read(os.path.join(root, PAGE))
    known, found, count = {page.slug(term) for _, term, _ in terms_of(text)}, [], 0
    found += [f"{PAGE}:{at}: {what}" for at, what in form(text)]
    for path in page.pages(root):
        for at, name in links(path, read(os.path.join(root, path))):
            count += 1
            if name not in known:
                found.append(f"{path}:{at}: docs/glossary.md has no term #{name}")
    return found, len(known), count


def proves():
    """Whether each breach is seen, and a tree without one passes."""
    good = "# G\n\n### CTA pair\n\nTwo of a [K step](#k-step) that are beside each other.\n\n### K step\n\n" \
           "What one [`x`](../a.c#L1) multiplies, of the 128 bytes.\n"
    plain = "See [pairs](../docs/glossary.md#cta-pair).\n"
    cases = [(good, plain, ""), (good.replace("CTA pair", "Lane"), plain, "stands behind"),
             (good.replace("K step\n\nWhat", "K step\n\n\n### z\n\nWhat"), plain, "is not explained"),
             (good.replace("(../a.c#L1)", ""), plain, "links neither"),
             (good.replace("#k-step", "#k-steps"), plain, "docs/glossary.md:5: docs/glossary.md has no term #k-steps"),
             (good, plain.replace("#cta-pair", "#pair"), "01/README.md:1: docs/glossary.md has no term #pair")]
    for text, other, want in cases:
        with tempfile.TemporaryDirectory() as tree:
            write(os.path.join(tree, PAGE), text)
            write(os.path.join(tree, "01/README.md"), other)
            said = "\n".join(breaches(tree)[0])
        if want not in said or bool(want) != bool(said):
            print(f"FAILED: wanted `{want}`, got `{said}`")
            return False
    return True


if __name__ == "__main__":
    good = proves()
    bad, terms, count = breaches(sys.argv[1])
    print("\n".join(bad) or f"{terms} terms, {count} links to them")
    sys.exit(0 if good and not bad and terms and count else 1)
