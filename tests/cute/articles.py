"""articles.py FILE...: which layouts, masks and names in the text of an article docs/cute.md does not have.

The articles are other people's and not in this repository; with a copy of their text this says whether docs/cute.md
left anything out. Found are tokens: `_128` and the like in brackets or with a colon, `Sw<...>`, hexadecimal numbers,
and names of CuTe and CUTLASS in code (`cute::x`, `UMMA::X`, `SM100_...`, `make_x`, `tCgA`, methods of the pipelines).
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "docs", "cute.md")

VALUES = re.compile(r"(?<![\w<])[(_][(),_\d@]*_\d[(),_\d@]*(?:\s?:\s?[(_][(),_\d@]*)?|"
                    r"\bS[w]?<[\d,]+>|\b0x[0-9A-Fa-f.]{4,}")
NAMES = re.compile(r"\b(?:(?:cute|UMMA|TMEM|cpasync|utils|tcgen05|arch)(?:::|\.)[A-Za-z]\w*|SM\d+_\w+|Sm\d+\w+|"
                   r"make_\w+|t[A-Z]{1,2}[gstr][A-Z]\w*|partition_\w+|producer_\w+|consumer_\w+|umma_\w+|create_\w+|"
                   r"elect_\w+|\w+_barrier\w*|\w+_mcast_\w+|mma_\w+|cluster_\w+|tma_\w+|\w*[lL]ayout\w*_?\w*|"
                   r"Thr\w+|Tiled\w+|[A-Z]\w*(?:Scheduler|Kernel|Atom|Traits|Copy)\w*|tile_\w+|\w+_tile\w*|"
                   r"group_modes|select)\b")


PROSE = {"Layouts", "layouts", "tma_A", "tma_B"}  # plurals, and what a comment calls the TMA of an operand


def plain(text):
    """Without blanks, and unbalanced brackets at the ends."""
    text = re.sub(r"\s+", "", text)
    while text.count("(") < text.count(")"):
        text = text[:text.rindex(")")] + text[text.rindex(")") + 1:]
    while text.count("(") > text.count(")"):
        text = text.replace("(", "", 1)
    return text.strip(",:.")


def main():
    with open(PAGE) as f:
        page = f.read()
    flat, missing = re.sub(r"\s+", "", page), 0
    for path in sys.argv[1:]:
        with open(path) as f:
            text = re.sub(r"(?<=[(),]) +(?=[_\d(])", "", f.read())
        values = {plain(found[0]) for found in VALUES.finditer(text)}
        names = {re.split(r"::|\.", found[0])[-1] for found in NAMES.finditer(text)} - PROSE
        lost = sorted(v for v in values if v not in flat) + sorted(n for n in names if n not in page)
        print(f"{path}: {len(values)} values, {len(names)} names, {len(lost)} not on the page")
        for word in lost:
            print(f"  {word}")
        missing += len(lost)
    return missing > 0


if __name__ == "__main__":
    sys.exit(main())
