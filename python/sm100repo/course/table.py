"""table.py - the marks of a class: a CSV with a line a student, and a page for each student.

What was set is what EXERCISE names, or every exercise of which anybody has handed in a file. A mean is over what was
set: what a student did not hand in counts as nothing. The total is the mean of the kinds by their weights, those of
docs/teaching.md's assignment if no others are given.
"""

import csv
import html
import os
import re

from sm100repo import write
from sm100repo.course.exercise import keep_aside
from sm100repo.course.model import FILL, PREDICT, REPAIR

WEIGHTS = {PREDICT: 30, FILL: 40, REPAIR: 30}
STYLE = """:root { color-scheme: light dark } body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto }
table { border-collapse: collapse } td, th { border-bottom: 1px solid #8888; padding: .3em .8em; text-align: left;
vertical-align: top } td:nth-child(2) { text-align: right } pre { margin: 0; white-space: pre-wrap }"""


def weights_of(text):
    """predict:30,fill:40,repair:30 as {kind: weight}; ValueError where it is none."""
    found = {kind: float(weight) for kind, weight in (word.split(":") for word in re.split(r"[\s,]+", text) if word)}
    if not found:
        return WEIGHTS
    if not set(found) <= set(WEIGHTS) or min(found.values()) < 0 or not sum(found.values()) > 0:
        raise ValueError(text)
    return {kind: found.get(kind, 0) for kind in WEIGHTS}


def shown(text):
    """A text of a student's, such as a name, on one line: of any bytes, and newlines, too."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain(text):
    """A name that a spreadsheet takes for a text, not for a formula."""
    return "'" + text if text.startswith(tuple("=+-@\t\r\n")) else text


class Row:
    """A student: seeds, {column: mark or None}, what was left out of the folder, and why."""

    def __init__(self, student, seeds, marks, left_out):
        self.student, self.seeds, self.marks, self.left_out = student, seeds, marks, left_out

    def points(self, column):
        mark = self.marks.get(column)
        return mark["points"] if mark else 0

    def mean(self, columns):
        return sum(map(self.points, columns)) / len(columns)

    def why(self, column):
        """Why a mark is what it is, in one line."""
        mark = self.marks.get(column)
        if not mark:
            return "not handed in"
        return shown("; ".join([*([mark["state"]] if mark["state"] != "graded" else []), *mark["notes"]]))


class Table:
    """The class. columns: {name: kind} of what was set; weights: {kind: weight}."""

    def __init__(self, rows, columns, weights):
        self.rows, self.columns = rows, dict(sorted(columns.items()))
        self.kinds = {kind: [c for c, of in self.columns.items() if of == kind]
                      for kind in WEIGHTS if kind in self.columns.values()}
        self.weights = weights

    def total(self, row):
        of = sum(self.weights[kind] for kind in self.kinds)
        return sum(self.weights[kind] * row.mean(columns) for kind, columns in self.kinds.items()) / of if of else 0

    def lines(self):
        yield ["student", "seed", "files", "total", *self.kinds, *self.columns, *(f"why {c}" for c in self.columns),
               "left out"]
        for row in self.rows:
            there = [row.marks.get(column) for column in self.columns]
            yield [plain(shown(row.student)), plain(shown(" ".join(row.seeds))), sum(map(bool, there)),
                   f"{self.total(row):.1f}", *(f"{row.mean(columns):.1f}" for columns in self.kinds.values()),
                   *(f"{mark['points']:g}" if mark else "" for mark in there),
                   *(plain(row.why(column)) for column in self.columns), plain(shown("; ".join(row.left_out)))]

    def write_csv(self, path):
        """Writes it. A table at `path` with marks that this one lacks is kept as PATH.orig; its new name, or None."""
        lines, kept = [[str(cell) for cell in line] for line in self.lines()], None
        if cells(path) - cells_of(lines):
            kept = keep_aside(path)
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows(lines)
        return kept

    def write_pages(self, folder):
        """A page for each student, NAME.html."""
        names = set()
        for row in self.rows:
            name = re.sub(r"[^\w.-]|^\.", "_", shown(row.student))
            while name in names:
                name += "_"
            names.add(name)
            write(os.path.join(folder, name + ".html"), self.page(row))

    def page(self, row):
        said = html.escape
        title = said(f"{shown(row.student)}: {self.total(row):.1f} of 100")
        kinds = "; ".join(f"{kind} {row.mean(columns):.1f} (weight {self.weights[kind]:g})"
                          for kind, columns in self.kinds.items())
        lines = [f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>",
                 f"<h1>{title}</h1><p>{said(kinds)}. Seed {said(shown(' '.join(row.seeds)) or '(none)')}.</p>",
                 "<table><tr><th>exercise<th>points<th>made of<th>why"]
        for column in self.columns:
            mark = row.marks.get(column) or {"name": column, "points": 0, "parts": {}, "findings": []}
            parts = ", ".join(f"{name} {got:g}/{of:g}" for name, (got, of) in mark["parts"].items())
            why = [row.why(column), *dict.fromkeys(mark["findings"])]  # of another line beside it, say
            lines.append(f"<tr><td>{said(mark['name'])}<td>{mark['points']:g}<td>{said(parts)}"
                         f"<td><pre>{said(chr(10).join(why))}</pre>")
        lines.append("</table>")
        if row.left_out:
            lines += ["<p>Left out:</p><ul>", *(f"<li>{said(shown(what))}" for what in row.left_out), "</ul>"]
        return "\n".join(lines) + "\n"


def cells_of(lines):
    """{(student, column)} of what a table has an exercise's mark of."""
    head, *rows = lines or [[]]
    begin = head.index("total") + 1 if "total" in head else len(head)
    return {(row[0], name) for row in rows for name, cell in list(zip(head, row))[begin:]
            if row and cell and not name.startswith("why ") and name != "left out"}


def cells(path):
    """The same of a CSV; nothing where there is none."""
    if not os.path.exists(path):
        return set()
    with open(path, newline="", encoding="utf-8", errors="replace") as f:
        return cells_of(list(csv.reader(f)))
