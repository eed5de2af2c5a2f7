"""prose.py - the pages are written in plain English: what a regular expression can see of that.

  python3 -ISB python/sm100repo tests/lessons/prose.py [--root DIR]

A sentence that one of RULES finds is a breach: a line `page:line: rule: sentence`, and exit 1. There are no exceptions.
The tours of the watch pages (tour.txt) are held to them, too. README.md and the lessons' main lines stay short. First
the rules prove on samples that each can find something.
"""

import argparse
import glob
import os
import re
import sys

import page
from sm100repo import ROOT, read

LONGEST = 32  # words
ENTRANCE = 110  # lines of README.md
MAIN_LINE = 2500  # words of a lesson; the rest is in further.md beside it
# Name: (what to write instead, what finds it, a sample).
RULES = {
    "long": ("two sentences", r"(?:\S+ ){%d}" % LONGEST, "word " * (LONGEST + 1) + "end."),
    "semicolons": ("three sentences", r";.*;", "One; two; three."),
    "clause": ("a person or a thing as the subject, or `if`", r"^(?:Who|What|Whoever|Whatever|Where|How) [^?]*$",
               "What the ISA forbids is reported."),
    "told": ("report", r"\b(?:is|are|was|were|be) told\b|\btells? of\b", "A missing order is told."),
    "well": ("is fine", r"\b(?:is|are) well\b", "RUNPATH is well."),
    "behind": ("after", r"\bbehind (?:it|that|them|which|the wait|a wait)\b", "Nothing comes behind it."),
    "since": ("because", r", since\b", "It waits, since the chip does."),
    "lies": ("is", r"\b(?:lies?|lying)\b", "The tile lies in memory."),
    "one-a": ("one for each", r"\b(?:one|two|once|\d+) an? (?:CTA|warp|thread|lane|step|lesson|page|cluster|pair|stage)\b",
              "There is one a CTA."),
}
ITEM = re.compile(r"^\s*(?:[-*]|\d\d?\.) ")  # 256. at the start of a line is none
END = re.compile(r"(?<=[.!?:])\**\s+(?=[A-Z`*\[(])")


def sentences(lines):
    """(line, sentence) of a page's prose: no tables, headings, comments and indented blocks. Items of lists are apart."""
    text, first = [], 0
    for number, line in [*lines, (0, "")]:
        line = re.sub(r"<!--.*?-->", "", line)
        prose = line.strip() and not re.match(r"    |#|\s*\||\s*<|!\[", line)
        if not prose or ITEM.match(line):
            yield from ((first, sentence) for sentence in END.split(" ".join(text)) if sentence)
            text = []
        if prose:
            first = first if text else number
            text.append(re.sub(r"^(\s*>)+\s*", "", ITEM.sub("", line)).strip())


def words(lines):
    """How many a reader has before them: with tables and answers, without output, comments and links' targets."""
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)", " ", "\n".join(line for _, line in lines), flags=re.S)
    return len(re.findall(r"\w\S*", text))


def plain(sentence):
    """Without code, links' targets and emphasis, none of which has a rule."""
    return re.sub(r"`+[^`]*`+", "code", re.sub(r"\]\([^)]*\)", "]", sentence)).replace("*", "").strip()


def hits(lines):
    """(rule, line, sentence)."""
    for number, sentence in sentences(lines):
        for rule, (_, finds, _) in RULES.items():
            if re.search(finds, plain(sentence)):
                yield rule, number, sentence


def tours(root):
    """(path, (line, text) of each line) of the tours of the watch pages: what a reader reads of them."""
    for path in sorted(glob.glob(os.path.join(root, "*", "tour.txt"))):
        found = [(n, re.match(r"(?:text|title) (.*)", line)) for n, line in enumerate(read(path).splitlines(), 1)]
        yield os.path.relpath(path, root), [(n, m[1] if m else "") for n, m in found]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", default=ROOT)
    options = parser.parse_args()
    for rule, (_, _, sample) in RULES.items():
        if rule not in [found for found, _, _ in hits([(1, sample)])]:
            sys.exit(f"prose: the rule {rule} does not find its sample: {sample}")
    if [number for number, _ in sentences(enumerate(["One.", "1. Two", "256. Three.", "- > Four."], 1))] != [1, 2, 2, 4]:
        sys.exit("prose: the items of a list are not told apart")
    if list(hits([(1, "A wait covers only the thread's own operations."), (2, "    make x; y; z"), (3, "| who | is told |")])):
        sys.exit("prose: a plain sentence, a command or a table is found")
    bad, pages = 0, 0
    for path, prose in [*((path, page.Page(options.root, path).prose) for path in page.pages(options.root)),
                        *tours(options.root)]:
        if re.match(r"\d\d_\w+/README\.md$", path) and words(prose) > MAIN_LINE:
            print(f"{path}: {words(prose)} words; the main line has {MAIN_LINE} at most, and the rest is in further.md")
            bad += 1
        pages += 1
        for rule, number, sentence in hits(prose):
            print(f"{path}:{number}: {rule}: write {RULES[rule][0]}: {sentence}")
            bad += 1
    lines = len(read(os.path.join(options.root, "README.md")).splitlines())
    if lines > ENTRANCE:
        print(f"README.md: {lines} lines; the entrance has {ENTRANCE} at most, and the rest a page under docs/")
        bad += 1
    if not bad:
        print(f"prose: {pages} pages and tours")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
