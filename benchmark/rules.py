"""rules.py: what every pair keeps to (README.md), a line for each that does not. Exit code 1 if there is one.

A pair has all fields, with the words of vocabulary.txt. No two have the same mechanism, edge and engines, and no
mechanism has more than eight. The sections that a Rule cites are in vocabulary.txt. RULES are ids of
docs/diagnostics.md, except where the emulator misses the bug. No file has 150 lines or more.
"""

import collections
import os
import re
import sys

import benchmark
import pairs as catalogue
from sm100repo import ROOT, read

LINES, EACH = 150, 8
VOCABULARY = os.path.join(ROOT, "benchmark", "vocabulary.txt")
_SECTION = re.compile(r"\b\d+(?:\.\d+)+\b")


def vocabulary(text):
    """{"mechanism", "engine", "section": {word: what it is}}."""
    words = {"mechanism": {}, "engine": {}, "section": {}}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, word, meaning = re.match(r"(\w+) ([^:]+): (.+)$", line).groups()
            words[kind][word] = meaning
    return words


def own_faults(pair, words):
    """What is wrong with one file."""
    fields = pair.fields
    for label in catalogue.LABELS + ["Rule"]:
        if not fields.get(label):
            yield f"no field {label}"
    if ("Not a mistake" in fields) != pair.legal and ("Mistake" in fields) == pair.legal:
        yield "a legal pair begins with `Not a mistake', the others with `Mistake'"
    for label in set(fields) - set(catalogue.LABELS) - set(catalogue.TEXTS):
        yield f"a field {label}, which nothing reads"
    for label, allowed in (("KIND", catalogue.KINDS), ("CLASS", catalogue.CLASSES), ("SM90", ["yes", "no"]),
                           ("MECHANISM", words["mechanism"])):
        if fields.get(label) not in allowed:
            yield f"{label} is {fields.get(label)}"
    for engine in fields.get("ENGINE", "").split("/"):
        if engine not in words["engine"]:
            yield f"ENGINE names {engine}"
    if (fields.get("RULES") == "none") != pair.legal:
        yield "RULES is `none' for a legal pair alone"
    cited = _SECTION.findall(fields.get("Rule", ""))
    for section in sorted(set(cited) - set(words["section"])):
        yield f"section {section} is not in vocabulary.txt"
    if "PTX ISA" not in fields.get("Rule", ""):
        yield "Rule cites no section of the PTX ISA"
    if pair.text.count("\n") >= LINES:
        yield f"{pair.text.count(chr(10))} lines"
    if len(pair.forms()) == 1 and not pair.legal:
        yield "neither a line `// MENDED: ...' nor one that ends in `// BUG'"
    if fields.get("ARGS", "").split()[:1] != [pair.name]:
        yield "ARGS names another kernel than the file"


def faults(chosen, words):
    """What is wrong with all, a line each."""
    for pair in chosen:
        for fault in own_faults(pair, words):
            yield f"{pair.name}: {fault}"
    same = collections.defaultdict(list)
    for pair in chosen:
        same[tuple(pair.fields.get(label, "") for label in ("MECHANISM", "EDGE", "ENGINE"))].append(pair.name)
    for key, names in same.items():
        if len(names) > 1:
            yield f"{', '.join(names)}: the same mechanism, edge and engines: {' | '.join(key)}"
    for mechanism, count in collections.Counter(key[0] for key, names in same.items() for _ in names).items():
        if count > EACH:
            yield f"{mechanism}: {count} pairs, at most {EACH}"
    used = {pair.fields.get("MECHANISM") for pair in chosen}
    used |= {engine for pair in chosen for engine in pair.fields.get("ENGINE", "").split("/")}
    used |= {s for pair in chosen for s in _SECTION.findall(pair.fields.get("Rule", ""))}
    for kind, known in words.items():
        for word in sorted(set(known) - used):
            yield f"vocabulary.txt: no pair has the {kind} {word}"


def unknown(chosen, page, missed):
    """The ids of labels that are no diagnostic of the emulator, a line each."""
    for pair in chosen:
        for rule in pair.ids():
            if pair.name not in missed and not re.search(rf"^## {re.escape(rule)}$", page, re.M):
                yield f"{pair.name}: RULES has {rule}, which docs/diagnostics.md does not have"


def main():
    chosen, page = catalogue.load(), read(os.path.join(ROOT, "docs", "diagnostics.md"))
    found = list(faults(chosen, vocabulary(read(VOCABULARY)))) + list(unknown(chosen, page, benchmark.misses()))
    missing = set(benchmark.misses()) - {pair.name for pair in chosen}
    found += [f"misses.txt: there is no pair {name}" for name in sorted(missing)]
    for fault in found:
        print(f"FAILED: {fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
