"""hints.py - three levels of help, on request: the rule, the line, the difference to the solution.

What a hint says comes from what the checker found in the student's own runs. Where it found nothing and D is wrong, the
first level says where D is wrong, and the second which lines the exercise is about.
"""

import difflib
import re

from sm100repo.course import sandbox, submission
from sm100repo.course.model import PREDICT

MOST = 40  # lines of a difference


def rule_of(mark):
    """Level 1."""
    lines = []
    first = {found.rule: found for found in reversed(mark.findings)}  # the first of each rule
    for found in [f for f in mark.findings if first[f.rule] is f][:3]:
        lines.append(f"rule: {found.text} [{found.rule}]")
        places = [found.section, f"docs/diagnostics.md#{found.rule}", f"reported under --schedule={found.schedule}"]
        lines.append("      " + "; ".join(place for place in places if place))
    if not mark.findings and mark.said:
        lines.append(f"no rule that costs points is broken; the numbers are wrong. The host says: {mark.said}")
    if not lines:
        lines += mark.waits[:3]
    return lines or ["no rule that costs points is broken"]


def line_of(mark, exercise, text):
    """Level 2."""
    source, lines, leads = text.splitlines(), [], mark.findings or mark.asides
    for found in leads[:3]:
        if 0 < found.line <= len(source):
            lines.append(f"line: kernel.cuh:{found.line}: {source[found.line - 1].strip()}")
        else:
            lines.append(f"line: {found.place}")
        lines.append(f"      {found.message}")
        if found.hint:
            lines.append(f"      {found.hint}")
    if not leads and exercise.first:
        where = f"line {exercise.first}"
        if exercise.last > exercise.first:
            where = f"lines {exercise.first} to {exercise.last}"
        lines.append(f"line: the exercise is about {where} of the file as given")
    return lines


def hunks(text, solution, around=1):
    """Of the difference, hunk by hunk: (line of text where it begins, its lines). around: equal lines beside it."""
    found = []
    yours, its = text.rstrip().splitlines(), solution.rstrip().splitlines()
    for line in difflib.unified_diff(yours, its, n=around, lineterm=""):
        if line.startswith("@@"):
            found.append((int(line.split()[1].lstrip("-").split(",")[0]), [line]))
        elif found:
            found[-1][1].append(line)
    return found


def code(text):
    """The lines without comments and white space."""
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    return ["".join(line.split()) for line in bare.splitlines()]


def is_code(hunk, yours, its):
    """Whether a hunk of the difference between two texts, whose code() is given, changes more than comments."""
    spans = [[int(n) for n in span[1:].split(",")] for span in hunk[1][0].split()[1:3]]
    (a, m), (b, n) = ((span + [1])[:2] for span in spans)
    return "".join(yours[a - 1:a - 1 + m]) != "".join(its[b - 1:b - 1 + n])


def difference(mark, exercise, text):
    """Level 3: the hunks that change code, in the order of the file; of many those nearest to what was found."""
    at = next((f.line for f in mark.findings if f.line), exercise.first)
    found, yours, its = hunks(text, exercise.solution), code(text), code(exercise.solution)
    found = [hunk for hunk in found if is_code(hunk, yours, its)] or found
    shown, room, all_lines = [], MOST, sum(len(lines) for _, lines in found)
    for hunk in sorted(found, key=lambda h: abs(h[0] - at)):
        if room > 0:
            shown.append((hunk[0], hunk[1][:room]))
            room -= len(hunk[1])
    lines = [line for _, hunk in sorted(shown) for line in hunk]
    more = [f"... and {all_lines - len(lines)} lines more"] if all_lines > len(lines) else []
    return ["difference to the solution (- yours, + its):", *lines, *more]


def of_questions(mark, exercise, level):
    lines = []
    for question in (q for q in exercise.questions if q.key in mark.wrong):
        lines.append(f"not right: {question.key}")
        if level >= 2:
            lines.append(f"      {question.text}")
        if level >= 3:
            lines.append(f"      {question.key} = {question.answer}")
    return lines


def hints(mark, exercise, text, level):
    """The lines of all levels up to `level`; none for what has full marks, or for a kernel that is not there."""
    if not level or mark.points == 100 or mark.state == "not begun" and not text:
        return []
    if exercise.kind == PREDICT:
        return of_questions(mark, exercise, level)
    if mark.state == "refused":
        return difference(mark, exercise, text) if level >= 3 else []
    lines = rule_of(mark)
    if level >= 2:
        lines += line_of(mark, exercise, text)
    if level >= 3:
        lines += difference(mark, exercise, text)
    return lines


def within_limits(mark, exercise, text, level):
    """The same of a student's text, which may be one that takes long to compare."""
    try:
        return sandbox.limited(lambda: hints(mark, exercise, text, level), cpu_seconds=submission.CPU_SECONDS,
                               memory_mb=submission.MEMORY_MB)
    except sandbox.Over as over:
        return [f"no hint: to compare it with the solution takes more than {over}"]
