"""catalogue.py - the cases of tests/mutants as data: reads the catalogues, applies a case to the sources.

Syntax and meaning are in tests/mutants/README.md. What a catalogue says must hold: a snippet that does not occur in its
file exactly once, a name that is not defined, a class that is not known is an error that names file and line. So a step
that has drifted away from its catalogue is seen before anything runs, and everywhere at once (drift.py).
"""

import fnmatch
import glob
import os
import re
import shlex

from sm100repo import ROOT
from sm100repo.drift import Drift, each, missing, no_function

CLASSES = ["error", "warning", "strict", "none", "open", "legal"]
CASES = os.path.join(ROOT, "tests", "mutants")


class Hunk:
    """One change: the text `old` of `path`, within `function` where that is given, becomes `new`. where: catalogue and
    line."""

    def __init__(self, path, function, where):
        self.path, self.function, self.where, self.old, self.new = path, function, where, [], []

    def find(self, text):
        """The match of `old` in the file's text."""
        return sole(self, self.old, text)[0]


class Case:
    """One case. where: catalogue and line; run: (program, arguments); near: snippets of counterparts, and where;
    root: words of which the report of a deadlock has to name one, [] where it does not hang."""

    def __init__(self, name, label, rules, where):
        self.name, self.label, self.rules, self.where = name, label, rules, where
        self.hunks, self.near, self.why, self.run, self.run_name, self.host = [], [], "", None, "", False
        self.root = []

    def fail(self, text):
        raise Drift(f"{self.where}: {self.name}: {text}")


def pattern_of(lines):
    """The text of lines as a regular expression that takes any white space for white space."""
    return re.compile(r"\s+".join(re.escape(word) for word in " ".join(lines).split()))


def region(text, function):
    """Where the function's definition begins and ends in text: up to the first line that is a brace alone."""
    found = re.search(r"^(?:static|__global__|UMMA_FN)[^;]*?\b" + re.escape(function) + r"\(", text, re.M)
    if not found:
        return None
    one_line = re.compile(r"[^\n{]*\{[^\n]*\}\n").match(text, found.end())
    end = one_line.end() if one_line else text.find("\n}", found.end())
    return found.start(), len(text) if end < 0 else end


def sole(hunk, lines, text):
    """The match of lines in the text of a hunk's file, within its function if it has one; and where that ends."""
    place = region(text, hunk.function) if hunk.function else (0, len(text))
    if place is None:
        raise no_function(hunk.where, hunk.path, hunk.function, text)
    found = list(pattern_of(lines).finditer(text, *place))
    if len(found) != 1:
        raise missing(hunk.where, hunk.path, " ".join(lines), text, place, found)
    return found[0], place[1]


class Lines:
    """A file of lines with a key and its text; `#` begins a comment."""

    def __init__(self, path):
        self.path, self.number = path, 0

    def __iter__(self):
        """(key, text) of each line; `number` is the line's meanwhile."""
        with open(self.path, encoding="utf-8") as f:
            for self.number, line in enumerate(f, 1):
                if line.strip() and not line.startswith("#"):
                    key, _, rest = line.rstrip("\n").partition(" ")
                    yield key, rest

    def where(self):
        return f"{os.path.relpath(self.path)}:{self.number}"

    def fail(self, text):
        raise Drift(f"{self.where()}: {text}")


class Catalogue(Lines):
    """One file of cases, read line by line; `path` and `use` are what a case has that does not say otherwise."""

    def __init__(self, path):
        super().__init__(path)
        self.file, self.use = None, None
        self.runs, self.words, self.cases = {}, {}, []
        self.case, self.function, self.here = None, None, None
        for key, rest in self:
            self.take(key, rest)
        for case in self.cases:
            self.finish(case)

    def take(self, key, rest):
        if key == "case":
            self.begin(rest)
        elif key in ("-", "+"):
            self.change(key, rest)
        elif key == "run" and "=" in rest.split()[1:2]:
            name, _, words = rest.split(None, 2)
            self.runs[name] = shlex.split(words)
        elif key == "let":
            name, _, words = rest.split(None, 2)
            self.words[name] = words.split()
        elif key == "use":
            self.case, self.use = None, rest
        elif key == "file":
            self.here = rest
            if self.case is None or self.case.why:
                self.case, self.file = None, rest
        elif self.case is None:
            self.fail(f"`{key}` outside of a case")
        else:
            self.detail(key, rest)

    def begin(self, rest):
        found = re.fullmatch(r"([a-z0-9-]+) ([a-z]+):(.*)", rest)
        if not found or found[2] not in CLASSES:
            self.fail(f"a case is `NAME CLASS: RULES`, the classes are {', '.join(CLASSES)}")
        rules = []
        for word in found[3].split():
            if word.startswith("$") and word[1:] not in self.words:
                self.fail(f"there is no `let {word[1:]}`")
            rules += self.words[word[1:]] if word.startswith("$") else [word]
        self.case = Case(found[1], found[2], list(dict.fromkeys(rules)), self.where())
        self.case.run_name, self.function, self.here = self.use, None, self.file
        self.cases.append(self.case)

    def change(self, key, rest):
        if self.case is None:
            self.fail("a change outside of a case")
        hunks = self.case.hunks
        if key == "-" and (not hunks or hunks[-1].new or self.function != hunks[-1].function):
            hunks.append(Hunk(self.here, self.function, f"{self.where()}: {self.case.name}"))
        if not hunks:
            self.fail("a change begins with a line of `-`")
        (hunks[-1].old if key == "-" else hunks[-1].new).append(rest)

    def detail(self, key, rest):
        if key == "in":
            self.function = rest
        elif key == "run":
            self.case.run_name = rest
        elif key == "near":
            self.case.near.append((rest, f"{self.where()}: {self.case.name}"))
        elif key == "root":
            self.case.root = rest.split()
        elif key == "why":
            self.case.why = rest
        elif key == "host":
            self.case.host = True
        else:
            self.fail(f"`{key}` is no key")

    def finish(self, case):
        if case.run_name not in self.runs:
            case.fail(f"there is no `run {case.run_name}`")
        case.run = self.runs[case.run_name]
        if not case.hunks or not case.why:
            case.fail("a case has a change and a line of `why`")
        if bool(case.rules) != (case.label in ("error", "warning", "strict")):
            case.fail("error, warning and strict name the rules that are a right description, the others none")


def change(hunk, text):
    """text with the hunk applied, and the lines of the result that it made."""
    found = hunk.find(text)
    first = text.count("\n", 0, found.start()) + 1
    new = "\n".join(hunk.new)
    # a deletion's lines are where the text was, so that the lines below keep their numbers
    kept = "" if hunk.new else "\n" * found[0].count("\n")
    lines = (new or kept).count("\n")
    return text[: found.start()] + new + kept + text[found.end() :], range(first, first + lines + 1)


def apply(case, files, near=True):
    """The changed sources {path: text} and the places {(path, line)} that the case made or, with `near`, names as
    counterparts. files: all sources of the program, {path: text}."""
    changed, places = {}, set()

    def apply_one(hunk):
        if hunk.path not in files:
            raise Drift(f"{hunk.where}: {hunk.path} is no source of {case.run[0]}")
        changed[hunk.path], lines = change(hunk, changed.get(hunk.path, files[hunk.path]))
        places.update((hunk.path, line) for line in lines)

    def counterparts(at):
        snippet, where = at
        found = [(path, text, hit) for path, text in {**files, **changed}.items()
                 for hit in pattern_of([snippet]).finditer(text)]
        if not found:
            raise missing(where, "near", snippet, "\n".join(files.values()))
        for path, text, hit in found:
            first = text.count("\n", 0, hit.start()) + 1
            places.update((path, first + i) for i in range(hit[0].count("\n") + 1))

    each(lambda step: step[0](step[1]),
         [*((apply_one, hunk) for hunk in case.hunks), *((counterparts, at) for at in case.near if near)])
    return changed, places


def read_all(paths=None):
    """All cases of the catalogues, in their order. Names are unique."""
    cases, seen = [], set()
    for path in paths or sorted(glob.glob(os.path.join(CASES, "0*.txt"))):
        cases += Catalogue(path).cases
    for case in cases:
        if case.name in seen:
            case.fail("the name is taken")
        seen.add(case.name)
    return cases


def chosen(cases, patterns):
    """The cases whose name one of the shell patterns matches, or whose class it names; all without patterns."""
    if not patterns:
        return cases
    return [c for c in cases if any(fnmatch.fnmatch(c.name, p) or c.label == p for p in patterns)]
