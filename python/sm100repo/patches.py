"""patches.py - the experiments of a step, STEP/breaks/N-word.patch (scripts/broken.sh): where they apply."""

import re

from sm100repo.drift import Drift, each, missing

HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*$")


def hunks(text):
    """(index of the line `@@`, the path, the lines that follow) of each hunk of a patch."""
    lines, path, found = text.split("\n"), "", []
    for i, line in enumerate(lines):
        if line.startswith("--- a/"):
            path = line[len("--- a/") :]
        elif HUNK.match(line):
            found.append((i, path, []))
        elif found and line[:1] in (" ", "-", "+") and not line.startswith(("--- ", "+++ ")):
            found[-1][2].append(line)
    return found


def place(where, path, body, lines, at):
    """The index of lines where a hunk's old ones stand, white space aside; of several the nearest to at."""
    old, bare = [line[1:] for line in body if line[0] != "+"], [line.split() for line in lines]
    found = [i for i in range(len(lines)) if bare[i : i + len(old)] == [line.split() for line in old]]
    if found:
        return min(found, key=lambda i: (lines[i : i + len(old)] != old, abs(i - at)))
    gone = [line for line in old if line.strip() and line not in lines] or old
    raise missing(where, path, " ".join(" ".join(gone).split()), "\n".join(lines))


def refreshed(name, text, read):
    """The patch with the numbers and the white space of the lines where it applies now. name: its path; read: gives a
    source's text."""
    patch, shift = text.split("\n"), {}

    def one(hunk):
        i, path, body = hunk
        old = int(HUNK.match(patch[i])[1])
        lines = read(path).split("\n")
        at = place(f"{name}:{i + 1}", path, body, lines, old - 1) + 1
        there = iter(lines[at - 1 :])
        patch[i + 1 : i + 1 + len(body)] = [line if line[0] == "+" else line[0] + next(there) for line in body]
        added = shift.setdefault(path, 0)
        patch[i] = re.sub(r"-\d+(.*?) \+\d+", rf"-{at}\1 +{at + added}", patch[i], count=1)
        shift[path] = added + sum(line[0] == "+" for line in body) - sum(line[0] == "-" for line in body)

    found = hunks(text)
    if not found:
        raise Drift(f"{name}: a patch has a line `@@ -N,N +N,N @@`")
    each(one, found)
    return "\n".join(patch)
