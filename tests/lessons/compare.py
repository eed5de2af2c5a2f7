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
    inf = n + m + 1
    cost = [[inf] * (m + 1) for _ in range(n + 1)]
    way = [[""] * (m + 1) for _ in range(n + 1)]
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            if i == n and j == m:
                cost[i][j] = 0
                continue
            ways = []  # of ways as good the first: what still matches is shown rather than elided
            if i < n and is_gap(shown[i]):
                ways.append((cost[i + 1][j], "gap ends"))
                if j < m:
                    ways.append((cost[i][j + 1], "gap"))
            else:
                if i < n and j < m and matches(shown[i], printed[j]):
                    ways.append((cost[i + 1][j + 1], "keep"))
                if i < n and j < m:
                    ways.append((cost[i + 1][j + 1] + 1, "take"))
                if j < m:
                    ways.append((cost[i][j + 1] + 1, "add"))
                if i < n:
                    ways.append((cost[i + 1][j] + 1, "drop"))
            cost[i][j], way[i][j] = min(ways, key=lambda w: w[0])
    result, i, j = [], 0, 0
    while i < n or j < m:
        step = way[i][j]
        if step in ("keep", "gap ends"):
            result.append(shown[i])
        elif step in ("take", "add"):
            result.append(printed[j])
        i += step in ("keep", "gap ends", "take", "drop")
        j += step in ("keep", "gap", "take", "add")
    return result
