"""tidy.py - applies a mutant to a step's source so that no trace of the change is left.

The catalogue writes a change as it comes: without indentation, and with a deleted statement's comment and empty line
left behind. Here a deleted statement takes its line along, the comment on it and one right above it; what is new is
indented; the comments behind neighbouring lines are set in one column again, as clang-format sets them. A change that
cannot be hidden so is refused: Visible.
"""

import re

INDENT = 4
MARGIN = 120
TRAILING = re.compile(r"^(\s*\S.*?[;{},)])(\s+)(/\* .* \*/)$")


class Visible(Exception):
    """The change would be seen."""


CONTROL = re.compile(r"(\} )?(else )?(if|for|while)\b")


def statements(text):
    """Text of a line, or of several, cut as it is written: a statement, a brace, an `if (...)` a line."""
    made, at, depth = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        head, rest = text[at : i + 1].strip(), text[i + 1 :].lstrip()
        if depth:
            continue
        if c == ")" and CONTROL.match(head):
            cut = rest and not rest.startswith(("{", ";"))
        elif head == "else":
            cut = not rest.startswith(("{", "if "))
        elif c == "{":
            cut = CONTROL.match(head) or head in ("{", "else {", "} else {")
        else:
            cut = c == ";" or c == "}" and head == "}" and not rest.startswith("else")
        if cut:
            made.append(head)
            at = i + 1
    made += [text[at:].strip()]
    return [line for line in made if line]


def indented(lines, indent):
    """Statements as they stand behind `indent` spaces."""
    made, depth, single = [], 0, 0
    for line in lines:
        depth -= line.startswith("}")
        made.append(" " * (indent + INDENT * (depth + single)) + line)
        depth += line.endswith("{")
        opens = (CONTROL.match(line) or line == "else") and not line.endswith(("{", ";"))
        single = single + 1 if opens else 0
    return made


def delete(lines, first, last):
    """Takes lines first ... last (from 0) away, with the comment above that is theirs alone."""
    above = lines[first - 1].strip()
    if above and not above.endswith((";", "{", "}", "*/", ":")):
        raise Visible("what stands above needs a statement below it")
    if above.startswith("/*") and above.endswith("*/"):
        first -= 1
    before, after = lines[first - 1].strip(), lines[last + 1].strip()
    if before.endswith("{") and after.startswith("}"):
        raise Visible("an empty block")
    del lines[first : last + 1]
    if not before and (not after or after.startswith("}")):
        del lines[first - 1]
    return first


def align(lines, at):
    """Sets the comments behind the lines around `at` in one column."""
    first = last = at
    while first > 0 and TRAILING.match(lines[first - 1]):
        first -= 1
    while last < len(lines) and TRAILING.match(lines[last]):
        last += 1
    found = [TRAILING.match(line) for line in lines[first:last]]
    if not found:
        return
    column = max(len(m[1]) for m in found) + 1
    for i, m in enumerate(found, first):
        lines[i] = m[1] + " " * (column - len(m[1])) + m[3]


def rewritten(hunk, prefix, code, line):
    """The lines that come of what stands before the change, the new text, and the code that stands behind it."""
    text = prefix.lstrip() + " ".join(x.strip() for x in hunk.new) + code
    if any(x.startswith("#") for x in hunk.new) or "/*" in text:
        raise Visible("a directive or a comment")
    found = statements(text)
    if not found or ";" in found or "{" in found or found[0].startswith("}"):
        raise Visible("an empty statement, a block of its own, or the end of one")
    return indented(found, len(line) - len(line.lstrip()))


def change(hunk, text, end):
    begin, stop = hunk.find(text).span()
    if stop > end:
        raise Visible("not in the kernel's part")
    line = text.rfind("\n", 0, begin) + 1
    line_end = text.find("\n", stop)
    prefix, suffix = text[line:begin], text[stop:line_end]
    lines = text.split("\n")
    if text[line:line_end].endswith("\\"):
        raise Visible("in a macro")
    first, last = text.count("\n", 0, begin), text.count("\n", 0, stop)
    code, comment = re.fullmatch(r"(.*?)(\s*/\*.*\*/)?(?:\s*/\*.*)?", suffix).groups()
    if not hunk.new and not prefix.strip() and not code.strip():
        first, new = delete(lines, first, last), []
    else:
        new = rewritten(hunk, prefix, code, lines[first])
        new[-1] += suffix[len(code) :]
        if comment and len(new) > 2 or lines[first - 1].endswith(")") and len(new) > 1:
            raise Visible("of several statements, none is the comment's, or the one below the `if`")
        if lines[first - 1].endswith(",") or new[-1].endswith(",") or "asm" in new[0]:
            raise Visible("a statement of several lines")
        lines[first : last + 1] = new
    for at in range(first, first + len(new) + 1):
        align(lines, at)
    if any(len(x) > MARGIN for x in lines[max(first - 8, 0) : first + len(new) + 8]):
        raise Visible("too long a line")
    return "\n".join(lines)


def apply(case, text, end):
    """The changed text of a step's .cu; end: where the host's part begins."""
    for hunk in case.hunks:
        made = change(hunk, text, end)
        end += len(made) - len(text)
        text = made
    return text
