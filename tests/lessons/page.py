"""page.py - a Markdown page as the lessons' test sees it: its blocks, the commands that it shows with what they print,
its headings and its links.

A fenced block of kind `console` holds commands, lines that begin with `$ `, to be run from the repository's root in
their order, each followed by what it prints. A line of ... stands for any number of lines, ... within a line for any
text. A command that ends in a backslash goes on in the next line.
Comments on the lines before a block change what is done with it:
  <!-- slow -->               in the long suite alone
  <!-- not run: reason -->    not at all
  <!-- needs: command -->     only where the command ends with exit code 0
  <!-- exit: N -->            its last command ends with exit code N instead of 0

Commands in an indented block that run, check, watch or log one of the steps are run, too, in the long suite: nothing is
shown of what they print, but they end well.

A number in prose that a command gives is held to it by a comment before its paragraph, item or table:
  <!-- numbers 568, 1,665: command -->     each stands in the lines from there to an empty one, and in what it prints
Slow and needs hold for it, too.
"""

import collections
import os
import re

from sm100repo import read

FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(.*?)\s*$")
INDENTED = re.compile(r"^ {4,}((?:make (?:run|check|watch)-\d\d\b|build/sm100emu(?:-log)?\b.* build/(?!tests/))\S*.*?)"
                      r"(?:\s+#.*)?$")
# Names that stand for others, and exercises, which are the reader's own files.
PLACEHOLDER = re.compile(r"\b(?<!=)(PROGRAM|FILE|NN?|K)\b(?!=)|\.\.\.|\./|\bpath/|\bEXERCISE=")
NOTE = re.compile(r"^\s*<!--\s*(slow|not run|needs|exit)(?::\s*(.*?))?\s*-->\s*$")
NUMBERS = re.compile(r"^\s*<!--\s*numbers ([^:]+): (.*?)\s*-->\s*$", re.S)
LEFT_OUT = {".toolkit", ".git", "exercises", "node_modules"}


class Command:
    """One command. line: where it stands; shown: [(line number, text)] of what the page says that it prints."""

    def __init__(self, line, text, block):
        self.line, self.text, self.block, self.shown = line, text, block, []
        self.last = line  # the page's last line of the command itself
        self.code = 0


class Numbers:
    """A comment that holds numbers of the prose behind it to a command. block: what page.commands() asks of a block."""

    def __init__(self, line, words, text, notes):
        self.line, self.text, self.notes, self.prose = line, text, notes, ""
        self.numbers = [word.strip() for word in re.split(r",\s+", words)]
        self.block, self.code, self.shown = self, 0, []

    def complaint(self, printed):
        """The first number that does not stand in both, or None."""
        for number in self.numbers:
            for place, text in [("the command prints no", "\n".join(printed)), ("the page says no", self.prose)]:
                if not re.search(rf"(?<![\d.]){re.escape(plain(number))}(?!\d|[.,]\d)", plain(text)):
                    return f"{place} {number}: `{self.text}`"
        return None


def plain(text):
    """The text with thousands not parted."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)


class Block:
    """One fenced block. line: of its fence; info: what stands behind that; lines: its text, without its indentation."""

    def __init__(self, line, indent, info, notes):
        self.line, self.indent, self.info, self.notes, self.lines = line, indent, info, notes, []

    def kind(self):
        return self.info.split(" ")[0]

    def commands(self):
        found, open_ = [], False
        for number, text in enumerate(self.lines, self.line + 1):
            if open_:
                found[-1].text += "\n" + text
                found[-1].last = number
                open_ = text.endswith("\\")
            elif text.startswith("$ "):
                found.append(Command(number, text[2:], self))
                open_ = text.endswith("\\")
            elif found:
                found[-1].shown.append((number, text))
        for command in found:  # an empty line before the next command is the page's
            while command.shown and not command.shown[-1][1].strip():
                command.shown.pop()
        if found and "exit" in self.notes:
            found[-1].code = int(self.notes["exit"])
        return found


class Page:
    """path: from the root. prose: [(line number, text)] outside of fenced blocks."""

    def __init__(self, root, path):
        self.path, self.lines = path, read(os.path.join(root, path)).split("\n")
        self.blocks, self.prose, self.numbers, self.open = [], [], [], None
        notes, block, fence, held, comment = {}, None, "", [], ""
        for number, line in enumerate(self.lines, 1):
            found = FENCE.match(line)
            if block is None and found:
                block, fence = Block(number, found[1], found[3], notes), found[2]
                self.blocks.append(block)
                notes = {}
            elif block is not None and found and not found[3] and found[2].startswith(fence):
                block = None
            elif block is not None:
                block.lines.append(line[len(block.indent) :] if line.startswith(block.indent) else line.lstrip())
            else:
                self.prose.append((number, line))
                if comment or re.match(r"\s*<!--\s*numbers ", line):
                    comment += line + "\n"
                    if "-->" not in line:
                        continue
                note, numbers, comment = NOTE.match(line), NUMBERS.match(comment), ""
                if numbers:
                    held.append(Numbers(number, numbers[1], numbers[2], notes))
                    self.numbers.append(held[-1])
                    notes = {}
                elif note:
                    notes[note[1]] = note[2] or ""
                elif line.strip():
                    notes = {}
                    for each in held:
                        each.prose += line + "\n"
                else:
                    held = []
        self.open = block

    def commands(self, slow):
        """Those that are run, and the Numbers between them: without the slow ones, or all."""
        found = [c for b in self.blocks if b.info == "console" and "not run" not in b.notes for c in b.commands()]
        found = sorted(found + self.numbers + self.indented(), key=lambda c: c.line)
        return [c for c in found if slow or "slow" not in c.block.notes]

    def indented(self):
        """The commands of indented blocks that are run: those of no names that stand for others."""
        found, block, empty = [], False, True
        for number, line in self.prose:
            block = (block or empty) and line.startswith("    ") or block and not line.strip()
            empty = not line.strip()
            command = INDENTED.match(line) if block else None
            if command and not PLACEHOLDER.search(command[1]):
                found.append(Command(number, command[1], Block(number, "", "", {"slow": ""})))
        return found

    def anchors(self):
        """The names that a link may have behind its #, as GitHub makes them of headings."""
        found, count = set(), collections.Counter()
        for _, line in self.prose:
            found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
            heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
            if heading:
                name = slug(heading[1])
                found.add(f"{name}-{count[name]}" if count[name] else name)
                count[name] += 1
        return found


def slug(heading):
    """GitHub's name for a heading: of a link its text, no punctuation but - and _, blanks as hyphens."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def files(root, endings):
    """The paths of all files of these kinds, in order; what was built or fetched is left out."""
    found = []
    for folder, names, here in os.walk(root):
        names[:] = [n for n in names if n not in LEFT_OUT and not n.startswith("build")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in here if name.endswith(endings)]
    return sorted(found)


def pages(root):
    return files(root, ".md")


def test_name(path):
    """01_tmem_alloc/README.md is 01, docs/watching.md docs.watching, tests/mutants/README.md tests.mutants."""
    name = path[: -len(".md")].replace("/", ".")
    name = re.sub(r"^(\d\d)_\w+?\.", r"\1.", name)
    return name[: -len(".README")] if name.endswith(".README") else name
