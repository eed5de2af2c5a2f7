"""glossary.py ROOT: docs/glossary.md keeps its form, and every link into it leads to a term.

Form: the terms are headings of level 3, in the order of the alphabet, none twice; each has a text, and in it a link to
the code or another term's. Links: `glossary.md#...` in any page, `#...` in the glossary itself. A breach is a line
`page:line: ...`, and exit 1. First the check proves on a small tree that it can fail.
"""

import os
import re
import sys
import tempfile

PAGE = os.path.join("docs", "glossary.md")
SKIPPED = re.compile(r"^(build.*|\..+|node_modules|site)$")


def anchor(heading):
    """What GitHub makes of a heading: lower case, spaces to hyphens, other signs gone."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


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


def pages(root):
    for folder, inside, files in os.walk(root):
        inside[:] = sorted(name for name in inside if not SKIPPED.match(name))
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in sorted(files) if name.endswith(".md"))


def links(page, text):
    """(line, anchor) of each link from the page into the glossary."""
    inside = r"\]\(#([^)]*)\)" if page == PAGE else r"\]\([^)]*glossary\.md#([^)]*)\)"
    for found in re.finditer(inside, text):
        yield text.count("\n", 0, found.start()) + 1, found[1]


def breaches(root):
    """All breaches of the tree, and how many terms and links it has."""
    with open(os.path.join(root, PAGE)) as f:
        text = f.read()
    known, found, count = {anchor(term) for _, term, _ in terms_of(text)}, [], 0
    found += [f"{PAGE}:{at}: {what}" for at, what in form(text)]
    for page in pages(root):
        with open(os.path.join(root, page)) as f:
            for at, name in links(page, f.read()):
                count += 1
                if name not in known:
                    found.append(f"{page}:{at}: docs/glossary.md has no term #{name}")
    return found, len(known), count


def proves():
    """Whether each breach is seen, and a tree without one passes."""
    good = "# G\n\n### CTA pair\n\nTwo of a [K step](#k-step) that are beside each other.\n\n### K step\n\n" \
           "What one [`x`](../a.c#L1) multiplies, of the 128 bytes.\n"
    page = "See [pairs](../docs/glossary.md#cta-pair).\n"
    cases = [(good, page, ""), (good.replace("CTA pair", "Lane"), page, "stands behind"),
             (good.replace("K step\n\nWhat", "K step\n\n\n### z\n\nWhat"), page, "is not explained"),
             (good.replace("(../a.c#L1)", ""), page, "links neither"),
             (good.replace("#k-step", "#k-steps"), page, "docs/glossary.md:5: docs/glossary.md has no term #k-steps"),
             (good, page.replace("#cta-pair", "#pair"), "01/README.md:1: docs/glossary.md has no term #pair")]
    for text, other, want in cases:
        with tempfile.TemporaryDirectory() as tree:
            for name, what in ((PAGE, text), ("01/README.md", other)):
                os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
                with open(os.path.join(tree, name), "w") as f:
                    f.write(what)
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
