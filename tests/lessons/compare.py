"""compare.py - what a page shows beside what a run printed.

A shown line of ... alone stands for any number of lines, also none; ... within a line for any text. Blanks at the end
of a line, and empty lines at the end of all, do not count.
"""

import re


def is_gap(text):
    return text.strip() == "..."


def line_matches(shown, printed):
    shown, printed = shown.rstrip(), printed.rstrip()
    if "..." not in shown or shown == printed:
        return shown == printed
    return re.fullmatch(".*".join(re.escape(part) for part in shown.split("...")), printed) is not None


def trimmed(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def differs(shown, printed):
    """None where the lines match; else (index of the first shown line that nothing matches, or len(shown) where more
    was printed than is shown; index of the printed line that stands there instead)."""
    shown, printed = trimmed(shown), trimmed(printed)
    reached, furthest = {0}, (0, 0)  # how many printed lines may have been taken by the shown ones so far
    for i, text in enumerate(shown):
        if is_gap(text):
            reached = set(range(min(reached), len(printed) + 1))
            continue
        after = {j + 1 for j in reached if j < len(printed) and line_matches(text, printed[j])}
        if not after:
            return i, min(reached)
        reached = after
        furthest = (i + 1, max(reached))
    if len(printed) in reached:
        return None
    return len(shown), furthest[1] if shown else 0


def merged(shown, printed, matches=line_matches):
    """What the page should show: printed, with the gaps and the elided lines of shown wherever they still match. Of all
    ways the one that changes the fewest lines."""
    shown, printed = trimmed(shown), trimmed(printed)
    n, m = len(shown), len(printed)
    cost = {(i, j): n + m + 1 for i in range(n + 2) for j in range(m + 2)}  # beyond the end nothing leads
    cost[n, m], way = 0, {}
    for i, j in [(i, j) for i in range(n, -1, -1) for j in range(m, -1, -1)][1:]:
        old, new = shown[i : i + 1], printed[j : j + 1]
        # (what it costs, lines of shown and of printed that it takes, what it shows); of ways as good the first counts:
        # what still matches is shown rather than elided
        if old and is_gap(old[0]):
            ways = [(0, 1, 0, old), (0, 0, 1, [])]
        else:
            keeps = old and new and matches(old[0], new[0])
            ways = [(0, 1, 1, old)] * bool(keeps) + [(1, 1, 1, new), (1, 0, 1, new), (1, 1, 0, [])]
        way[i, j] = min(ways, key=lambda w: w[0] + cost[i + w[1], j + w[2]])
        cost[i, j] = way[i, j][0] + cost[i + way[i, j][1], j + way[i, j][2]]
    result, i, j = [], 0, 0
    while (i, j) != (n, m):
        _, down, right, lines = way[i, j]
        result += lines
        i, j = i + down, j + right
    return result
