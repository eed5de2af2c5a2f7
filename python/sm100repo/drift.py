"""drift.py - what quotes the sources, and does not find there what it quotes.

Catalogues of mutants and exercises, the patches of experiments and the pages quote code. After a change of the code
the tests say of all that is missed where it is quoted, what is sought, and what in the code is most like it now. If a
name is all that differs, `make mend RENAME='OLD NEW'` mends it.
"""

import difflib
import functools
import glob
import os
import re
from collections import Counter

from sm100repo import ROOT, read

TOKEN = re.compile(r"\w+|[^\w\s]")
DEFINED = re.compile(r"^(?:static|__global__|UMMA_FN)[^;]*?\b(\w+)\(", re.M)


class Drift(Exception):
    """A quotation and the sources, or a catalogue and its syntax, do not agree. found: (what is wrong, the rename that
    mends it or "") of each place."""

    def __init__(self, text, rename=""):
        super().__init__(text)
        self.found = [(text, rename)]

    def __str__(self):
        return "\n".join([*(text for text, _ in self.found), *mends(rename for _, rename in self.found)])


def mends(renames):
    """The commands that do the renames, a line each."""
    return [f"mend: make mend RENAME='{rename}'" for rename in dict.fromkeys(renames) if rename]


def each(function, items):
    """function(item) of all items. If any have drifted, one Drift has what all of them miss."""
    made, found = [], []
    for item in items:
        try:
            made.append(function(item))
        except Drift as drift:
            found += drift.found
    if found:
        whole = Drift("")
        whole.found = list(dict.fromkeys(found))
        raise whole
    return made


@functools.lru_cache
def quoted():
    """The names that the catalogues quote: none of them is what another one is called now."""
    paths = glob.glob(os.path.join(ROOT, "tests/mutants/0*.txt")) + glob.glob(os.path.join(ROOT, "course/*/0*.txt"))
    return {word for path in paths for word in re.findall(r"\w+", read(path))}


def renamed(words, there, text):
    """`OLD NEW` if words differ from there by one name that is new, of one that text has no longer; else ""."""
    pairs = {(a, b) for a, b in zip(words, there) if a != b}
    old, new = pairs.pop() if len(pairs) == 1 else ("", "")
    names = re.fullmatch(r"[A-Za-z_]\w*", old) and re.fullmatch(r"[A-Za-z_]\w*", new)
    return f"{old} {new}" if names and new not in quoted() and not re.search(rf"\b{old}\b", text) else ""


def windows(words, at):
    """(how many words it has of these, its first) of each piece of the tokens `at` that is as long as words."""
    left, score = Counter(words), 0
    for i, token in enumerate(at):
        score += left[token[0]] > 0
        left[token[0]] -= 1
        if i >= len(words):
            gone = at[i - len(words)][0]
            left[gone] += 1
            score -= left[gone] > 0
        if i >= len(words) - 1:
            yield score, i - len(words) + 1


def nearest(sought, text, begin=0, end=None):
    """(line, the piece of text[begin:end] that is most like sought, `OLD NEW` or ""), or None if no piece is."""
    words, at = TOKEN.findall(sought), list(TOKEN.finditer(text[:end], begin))
    found = list(windows(words, at)) if words else []
    best = max(found, default=(0, 0))[0]
    pieces = []
    for first in [first for score, first in found if score == best and 2 * score >= len(words)][:200]:
        rename = renamed(words, [token[0] for token in at[first : first + len(words)]], text)
        begin, end = at[first].start(), at[first + len(words) - 1].end()
        like = difflib.SequenceMatcher(None, sought, text[begin:end]).ratio()
        pieces.append((bool(rename), like, text.count("\n", 0, begin) + 1, " ".join(text[begin:end].split()), rename))
    if not pieces:
        return None
    _, _, line, piece, rename = max(pieces)
    return line, piece, rename if len({p[4] for p in pieces if p[4]}) == 1 else ""


def missing(where, path, sought, text, place=(0, None), found=()):
    """The Drift of a place that quotes `sought`, which text has at none or several places. where: of the quotation;
    path: of the text; place: where in it; found: the matches."""
    said = f"{where}: {path}: {len(found)} places instead of one are `{sought}`"
    lines = ", ".join(str(text.count("\n", 0, match.start()) + 1) for match in found)
    near = None if found else nearest(sought, text, *place)
    said += f" (lines {lines})" if found else f"\n    nearest: {path}:{near[0]}: `{near[1]}`" if near else ""
    return Drift(said, near[2] if near else "")


def no_function(where, path, name, text):
    """The Drift of a place that names a function which text does not define."""
    new = [other for other in DEFINED.findall(text) if other not in quoted()]
    near = difflib.get_close_matches(name, new, 2)
    said = f"{where}: {path} has no function {name}" + (f"; nearest: {near[0]}" if near else "")
    return Drift(said, f"{name} {near[0]}" if len(near) == 1 and not re.search(rf"\b{name}\b", text) else "")
