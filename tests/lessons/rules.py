"""rules.py - what pages cite, quote and link to is there, and what they show stands where it is run. A breach is one
line `page:line: ...`; exit code 1 where there is one. The last lines are the commands that mend breaches.

  python3 -B tests/lessons/rules.py [--root DIR] [--update]   --update: cited lines that have moved get their new
                                                              numbers, and so do patches; what else is wrong is told

Links        [text](path), [text](path#heading), [text](path#L12): the file, the heading, the line exist; what stands in
             back quotes in the text of a link to a line stands in that line. ![...](picture) as well.
Citations    `file.cu:12` `text`, or file.cu:12-20: the text stands there. The file is named from the root, from the
             page's folder, or by a name that only one file has; `name()` stands for any arguments. `line 12` of no file
             is refused.
Quoted code  in blocks of kind c stands in one file, white space aside; ... leaves out. Sketches are of kind `c sketch`.
Outputs      reports, results and commands with a prompt stand in blocks of kind console, where lessons.py runs them.
Commands     in indented and console blocks and in back quotes: make targets and variables, options of the emulator and
             its log's tool, and the files named are there.
Experiments  each patch of a step's breaks/ applies, says what it tells, and its lesson (README.md or further.md) runs it
             as `$ make break-NN-N`.
"""

import argparse
import os
import re
import sys

import page
from sm100repo import ROOT, drift, patches, write

SOURCES = (".cu", ".cuh", ".h", ".c", ".def", ".sh", ".py", ".js", ".txt", ".md", ".yml", ".json")
CODE = (".cu", ".cuh", ".h", ".c")
KINDS = {"", "console", "c", "c sketch", "sh", "make", "cmake", "ptx", "yaml", "json", "python", "text", "mermaid"}
CITED = re.compile(r"([A-Za-z0-9_./-]+\.(?:cu|cuh|c|h|def|sh|py|js|txt|md)):(\d+)(?:-(\d+))?")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
OUTPUT = re.compile(r"^(\$ |(PASS|FAIL)  \w|(error|warning|strict): .*\[[a-z0-9-]+\]$|\s+--> .*:\d+)")
NEAR = 10  # lines
FAMILIES = ("run", "check", "watch", "break", "exercise", "grade", "answers")


def squeezed(text):
    return " ".join(text.split())


def in_order(text, quote):
    """Whether the pieces of the quote, which ... parts, stand in text in their order."""
    at = 0
    for piece in quote.split("..."):
        found = text.find(piece.strip(), at)
        if found < 0:
            return False
        at = found + len(piece.strip())
    return True


class Tree:
    """The repository: its files, read once."""

    def __init__(self, root):
        self.root, self.kept, self.by_name = root, {}, {}
        for path in page.files(root, SOURCES):
            self.by_name.setdefault(os.path.basename(path), []).append(path)
        self.pages = {path: page.Page(root, path) for path in page.pages(root)}
        self.code = {path: squeezed("\n".join(self.lines(path))) for paths in self.by_name.values() for path in paths
                     if path.endswith(CODE)}
        makefile = "\n".join(self.lines("Makefile")) if self.exists("Makefile") else ""
        self.variables = set(re.findall(r"^([A-Z_]+) *[?:]?=", makefile, re.M)) | {"CC", "CFLAGS", "LDFLAGS"}
        heads = re.findall(r"^([a-z][\w -]*):(?!=)", makefile, re.M) + re.findall(r"^\.PHONY:(.*)$", makefile, re.M)
        self.targets = {name for names in heads for name in names.split()}
        self.steps = {n[:2]: n for n in os.listdir(root) if re.match(r"\d\d_", n)}
        self.options = {tool: set(re.findall(r"Fl -([a-z-]+)", "\n".join(self.lines(f"emulator/{tool}.1"))))
                        for tool in ("sm100emu", "sm100emu-log") if self.exists(f"emulator/{tool}.1")}

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def lines(self, path):
        if path not in self.kept:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as f:
                self.kept[path] = f.read().split("\n")
        return self.kept[path]

    def resolve(self, name, folder):
        """The file that a page in folder calls so, or None."""
        for path in (name, os.path.normpath(os.path.join(folder, name))):
            if os.path.isfile(os.path.join(self.root, path)):
                return path
        found = self.by_name.get(name, [])
        return found[0] if len(found) == 1 else None


class Rules:
    """The breaches of a tree. cited: (page, citation, file, its line there, the lines that hold what is quoted) of each
    citation; renames: `OLD NEW`, which would mend breaches; patched: {path: text with the numbers of now}."""

    def __init__(self, tree):
        self.tree, self.breaches, self.cited, self.renames, self.patched, self.count = tree, [], [], [], {}, 0

    def breach(self, found, line, text):
        self.breaches.append(f"{found.path}:{line}: {text}")

    def drifted(self, found, line, text, path, sought, around=None):
        """A breach: path has nothing of what is sought; what it has like it, first of all around a line."""
        lines = self.tree.lines(path)
        whole, first, last = "\n".join(lines), max((around or 0) - NEAR, 0), around + NEAR if around else None
        begin, end = len("\n".join(lines[:first])), len("\n".join(lines[:last]))
        near = drift.nearest(sought, whole, begin, end) or drift.nearest(sought, whole)
        self.breach(found, line, text + (f"\n    nearest: {path}:{near[0]}: `{near[1]}`" if near else ""))
        self.renames += [near[2]] if near else []

    # ---------------------------------------------------------------- lines of the code
    def holds(self, found, number, path, first, last, quotes, cited):
        """The lines first to last of path hold one of the quotes. cited: the citation as the page writes it."""
        lines = self.tree.lines(path)
        count, more = len(lines) - (lines[-1] == ""), last - first
        self.count += 1
        there = 0 < first <= last <= count
        if not there:
            self.breach(found, number, f"{path} has {count} lines, not {last}")
        quotes = [squeezed(re.sub(r"\(\)$", "(", q.replace("\\|", "|"))) for q in quotes]
        if there and any(in_order(squeezed(" ".join(lines[first - 1 : last])), q) for q in quotes):
            self.cited.append((found.path, cited, path, first, [first]))
            return
        places = [n for n in range(1, count - more + 1)
                  if in_order(squeezed(" ".join(lines[n - 1 : n + more])), quotes[0])]
        says = f"{path}:{first} does not hold `{quotes[0]}`"
        if there and places:
            self.breach(found, number, f"{says}; " + (f"{path}:{places[0]} does" if len(places) == 1 else "others do"))
        elif there:
            self.drifted(found, number, says, path, quotes[0], first)
        self.cited += [(found.path, cited, path, first, places)] if places else []

    def citations(self, found):
        folder = os.path.dirname(found.path)
        for i, (number, text) in enumerate(found.prose):
            if text.startswith("- Message: `"):  # of docs/diagnostics.md: tests/negative/run.sh compares it
                continue
            plain = LINK.sub("", text)
            if re.search(r"(^|[^a-z])[Ll]ines? \d", plain):
                self.breach(found, number, "write file:line, and beside it what stands there")
            after = found.prose[i + 1][1] if i + 1 < len(found.prose) else ""
            for match in CITED.finditer(plain):
                path = self.tree.resolve(match[1], folder)
                if path is None:
                    self.breach(found, number, f"there is no file {match[1]}, or several")
                    continue
                quotes = re.findall(r"`([^`]+)`", re.sub(r"^`", "", plain[match.end() :]) + " " + after)[:1]
                if not quotes:
                    self.breach(found, number, f"{match[0]}: quote beside it what stands there")
                    continue
                self.holds(found, number, path, int(match[2]), int(match[3] or match[2]), quotes, match[0])

    # ---------------------------------------------------------------- links
    def links(self, found):
        text = "\n".join(line for _, line in found.prose)
        starts, at = [], 0
        for number, line in found.prose:
            starts.append((at, number))
            at += len(line) + 1
        # code with a link's signs in it is no link
        text = re.sub(r"`[^`\n]*`", lambda m: m[0].replace("](", "]_"), text)
        for match in LINK.finditer(text):
            number = max(n for start, n in starts if start <= match.start())
            for inner in LINK.finditer(match[1]):
                self.link(found, number, inner[1], inner[2])
            self.link(found, number, match[1], match[2])
        for match in re.finditer(r"<img [^>]*src=\"([^\"]+)\"", text):
            self.link(found, max(n for start, n in starts if start <= match.start()), "", match[1])

    def link(self, found, number, text, target):
        if re.match(r"[a-z]+:", target):
            return
        self.count += 1
        name, _, mark = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(found.path), name)) if name else found.path
        if path.startswith("build/"):  # made by make, for the site
            return
        if path.startswith("..") or not self.tree.exists(path):
            self.breach(found, number, f"the link leads nowhere: {target}")
            return
        line = re.fullmatch(r"L(\d+)(?:-L(\d+))?", mark)
        if line:
            quotes = re.findall(r"`([^`]+)`", text)
            if quotes:
                self.holds(found, number, path, int(line[1]), int(line[2] or line[1]), quotes, f"{target}")
            else:
                self.breach(found, number, f"a link to a line quotes it: [`text`]({target})")
        elif mark and (path not in self.tree.pages or mark not in self.tree.pages[path].anchors()):
            self.breach(found, number, f"{path} has no heading #{mark}")

    # ---------------------------------------------------------------- blocks
    def blocks(self, found):
        if found.open:
            self.breach(found, found.open.line, "the block does not end")
        for block in found.blocks:
            if block.info not in KINDS:
                self.breach(found, block.line, f"a block of kind `{block.info}`, not {', '.join(sorted(KINDS))[2:]}")
            if block.info == "console":
                if not block.lines or not block.lines[0].startswith("$ "):
                    self.breach(found, block.line, "a console block begins with a command, `$ ...`")
                continue
            for number, text in enumerate(block.lines, block.line + 1):
                if OUTPUT.match(text):
                    self.breach(found, number, "commands with a prompt, and their output, stand in a `console` block")
                    break
            if block.info == "c":
                self.quoted(found, block)

    def quoted(self, found, block):
        """The block is code of one file; else the first line that the best file lacks is told."""
        self.count += 1
        quote = squeezed("\n".join(block.lines))
        if any(in_order(text, quote) for text in self.tree.code.values()):
            return
        lines = [(n, squeezed(t)) for n, t in enumerate(block.lines, block.line + 1) if t.strip()]
        lacks = [([n for n, t in lines if not in_order(text, t)], path) for path, text in self.tree.code.items()]
        best, path = min(lacks, key=lambda each: len(each[0]), default=([], ""))
        if best:
            line = squeezed(found.lines[best[0] - 1])
            self.drifted(found, best[0], f"no source has this line: `{line}` (or: `c sketch`)", path, line)
        else:
            self.breach(found, block.line, "these lines stand in no source in this order (or: `c sketch`)")

    # ---------------------------------------------------------------- commands
    def commands(self, found):
        for number, text in found.prose:
            if re.match(r" {4,}\S", text):
                self.command(found, number, text)
            for code in re.findall(r"`((?:make|build/sm100emu(?:-log)?|sh|python3) [^`]+)`", text):
                self.command(found, number, code)
        for block in found.blocks:
            if block.kind() in ("console", "sh"):
                for number, text in enumerate(block.lines, block.line + 1):
                    if block.kind() == "sh" or text.startswith("$ "):
                        self.command(found, number, text.removeprefix("$ "))

    def command(self, found, number, text):
        for part in re.split(r"&&|\|\||[|;]", re.sub(r"(^|\s)#.*", "", text)):
            words = part.split()
            while words and re.fullmatch(r"[A-Z0-9_]+=\S*|sudo|time|env", words[0]):
                words.pop(0)
            if not words:
                continue
            self.count += 1
            if words[0] == "make":
                self.make(found, number, words[1:])
            elif words[0].removeprefix("build/") in self.tree.options:
                self.tool(found, number, words[0].removeprefix("build/"), words[1:])
            elif words[0] in ("sh", "python3"):
                self.script(found, number, [word for word in words[1:] if not word.startswith("-")])

    def script(self, found, number, words):
        """The script that sh or python3 is given is there; python/sm100repo has modules, too."""
        if words[:1] == ["python/sm100repo"] and len(words) > 1:
            words = words[1:]
            if not words[0].endswith(".py"):
                words[0] = f"python/sm100repo/{words[0].replace('.', '/')}.py"
        if words and words[0].endswith((".sh", ".py")) and not self.tree.resolve(words[0], os.path.dirname(found.path)):
            self.breach(found, number, f"there is no file {words[0]}")

    def make(self, found, number, words):
        quoted = ""
        for word in words:
            if quoted:
                quoted = "" if word.endswith(quoted) else quoted
                continue
            name, equals, value = word.partition("=")
            if equals and value[:1] in ("'", '"') and not (len(value) > 1 and value.endswith(value[0])):
                quoted = value[0]
            if equals and name not in self.tree.variables:
                self.breach(found, number, f"make knows no variable {name}")
            if not equals and re.fullmatch(r"[a-z][\w-]*", word) and not self.target(word):
                self.breach(found, number, f"make has no target {word}")

    def target(self, word):
        """Whether make has it: a target, or of a family and a step (NN, 0N or N for any); a break has its patch."""
        if word in self.tree.targets:
            return True
        family, _, rest = word.partition("-")
        step, _, n = rest.partition("-")
        if family not in FAMILIES or not (step in self.tree.steps or step in ("NN", "0N", "N")):
            return family in ("exercise", "grade") and rest in ("all", "list")
        if family != "break" or step not in self.tree.steps:
            return family == "break" or not n
        return n in ("N", "K") or n in [m for m, _ in self.patches(self.tree.steps[step])]

    def tool(self, found, number, tool, words):
        for word in words:
            if not word.startswith("-"):
                break
            name = word.lstrip("-").partition("=")[0]
            if word.startswith("--") and name not in self.tree.options[tool] | {"help", "version"}:
                self.breach(found, number, f"{tool} has no option --{name}")

    # ---------------------------------------------------------------- experiments
    def patches(self, step):
        """[(number, path)] of a step's patches."""
        folder = os.path.join(self.tree.root, step, "breaks")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return [(name.partition("-")[0], f"{step}/breaks/{name}") for name in names if name.endswith(".patch")]

    def experiments(self):
        known = self.tree.pages["docs/diagnostics.md"].anchors() if "docs/diagnostics.md" in self.tree.pages else set()
        for number, step in sorted(self.tree.steps.items()):
            lesson = [self.tree.pages.get(f"{step}/{name}.md") for name in ("README", "further")]
            run = {c.text for each in lesson if each for c in each.commands(True)}
            taken = set()
            for n, path in self.patches(step):
                self.count += 1
                text = "\n".join(self.tree.lines(path)).split("\n--- ")[0]
                tells = re.search(r"^Tells: (.*)$", text, re.M)
                if not re.fullmatch(r"[1-9]\d*-[a-z0-9_]+\.patch", os.path.basename(path)) or n in taken:
                    self.breaches.append(f"{path}: a patch is called N-word.patch, and has N alone")
                if f"make break-{number}-{n}" not in run:
                    self.breaches.append(f"{path}: no page of {step}/ shows `$ make break-{number}-{n}`")
                if not tells or any(w not in known for w in tells[1].split() if tells[1] not in ("FAIL", "nothing")):
                    self.breaches.append(f"{path}: `Tells:` names diagnostics, FAIL or nothing")
                taken.add(n)
                try:
                    whole = "\n".join(self.tree.lines(path))
                    new = self.patched[path] = patches.refreshed(path, whole, lambda at: "\n".join(self.tree.lines(at)))
                    if re.sub("@@.*", "", new) != re.sub("@@.*", "", whole):
                        self.breaches.append(f"{path}: its lines have other white space now")
                except drift.Drift as drifted:
                    self.breaches += [said for said, _ in drifted.found]
                    self.renames += [rename for _, rename in drifted.found]

    def all(self):
        for found in self.tree.pages.values():
            self.blocks(found)
            self.citations(found)
            self.links(found)
            self.commands(found)
        self.experiments()

    def moves(self):
        """{(page, citation): the new one}. If several lines hold what is quoted, it has moved as far as what is cited
        before or behind it; if the page cites two texts by one number, neither has."""
        sure, moves = {}, {}
        for _, _, path, first, places in self.cited:
            if len(places) == 1:
                sure.setdefault(path, set()).add((first, places[0] - first))
        for page_path, cited, path, first, places in self.cited:
            before = max((each for each in sure.get(path, ()) if each[0] <= first), default=(0, None))
            behind = min((each for each in sure.get(path, ()) if each[0] > first), default=(0, None))
            likely = places if len(places) == 1 else [n for n in places if n - first in (before[1], behind[1])]
            new = {re.sub(r"\d+(?=(-L?\d+)?$)|\d+$", lambda n: str(int(n[0]) + likely[0] - first), cited)
                   if len(likely) == 1 else cited}
            moves.setdefault((page_path, cited), set()).update(new)
        return {key: min(new) for key, new in moves.items() if len(new) == 1 and key[1] not in new}

    def update(self):
        """Writes the moves and the patches; says what is new."""
        moves, new = self.moves(), {path: text for path, text in self.patched.items()
                                    if text != "\n".join(self.tree.lines(path))}
        for path in sorted({path for path, _ in moves}):
            found, of = self.tree.pages[path], {old: now for (at, old), now in moves.items() if at == path}
            words = "|".join(re.escape(old) for old in sorted(of, key=len, reverse=True))
            for number, _ in found.prose:
                found.lines[number - 1] = re.sub(rf"(?<![\w./-])({words})(?!-?L?\d)", lambda m: of[m[1]],
                                                 found.lines[number - 1])
            new[path] = "\n".join(found.lines)
            print("\n".join(f"{path}: {old} is {now}" for old, now in of.items()))
        for path, text in new.items():
            write(os.path.join(self.tree.root, path), text)
        print("".join(f"{path}: other lines\n" for path in new if path.endswith(".patch")), end="")

    def mends(self):
        spaced = any(text.endswith("white space now") for text in self.breaches)
        return ["mend: make mend"] * bool(self.moves() or spaced) + drift.mends(self.renames)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    rules = Rules(Tree(os.path.abspath(options.root)))
    rules.all()
    if options.update:
        rules.update()
        rules = Rules(Tree(os.path.abspath(options.root)))
        rules.all()
    for text in [*rules.breaches, *rules.mends()]:
        print(text)
    if not rules.breaches:
        pages = len(rules.tree.pages)
        print(f"rules: {rules.count} citations, links, quotes, commands and experiments in {pages} pages")
    return 1 if rules.breaches or not rules.count else 0


if __name__ == "__main__":
    sys.exit(main())
