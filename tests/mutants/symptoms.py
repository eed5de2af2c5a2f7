"""symptoms.py FILE [--of RULE] [--page PAGE]: what one sees of which mistake, from a run of mutants.py.

FILE comes from `mutants.py --level off --schedules "default eager lazy" --json FILE error warning none`: with
--check=off nothing is told but what stops a kernel, so a case is seen as one without a checker sees it:

  hangs     a deadlock, or no end          stops    an instruction that the chip would trap at, or that nobody defines
  wrong     FAIL: elements beyond the bound          right    PASS

A symptom is what the three schedules give together. Printed are the symptoms, each with the rules of
docs/diagnostics.md that its cases are told by at the default level, most frequent first, and of wrong
results how much of D is wrong.
--of RULE lists that rule's cases.
--page PAGE checks a page instead: a case that it names in back quotes exists; where a part of D stands behind it, as in
`02-copy-no-swizzle` (0.87 of D), that is what the case gave under the first schedule. FILE may be `-`: the names alone.
"""

import argparse
import collections
import json
import re
import sys

from sm100repo import catalogue, read

HANGS = {"deadlock", "watchdog", "launch-timeout"}


def seen(run):
    """What one sees of one run."""
    if run["outcome"] == "hang" or HANGS & set(run["ids"]):
        return "hangs"
    if run["ids"] or run["outcome"] == "crash":
        return "stops"
    return "right" if run["last"].startswith("PASS") else "wrong"


def symptom(case):
    """The symptom of a case, from all its runs."""
    kinds = [seen(run) for run in case["runs"].values()]
    if len(set(kinds)) == 1:
        return f"{kinds[0]} under all"
    if "right" in kinds:
        return "right under some, " + ", ".join(k for k in ("wrong", "stops", "hangs") if k in kinds) + " under others"
    return ", ".join(k for k in ("wrong", "stops", "hangs") if k in kinds) + ", by the schedule"


def part(run):
    """The part of D that is wrong, of a FAIL, or None."""
    size = re.search(r" (\d+)x(\d+)x\d+ ", run["last"])
    count = re.search(r": (\d+) elements", run["last"])
    return int(count[1]) / (int(size[1]) * int(size[2])) if size and count else None


def share(run):
    """How much of the result is wrong, of a FAIL."""
    wrong = part(run)
    if wrong is None:
        return "other"
    band = "all of D" if wrong > 0.9 else "a quarter to 9/10" if wrong > 0.24 else "less than a quarter"
    return band + (", NaN the worst" if "nan" in run["last"] else "")


def check_page(path, results):
    """The breaches of a page, as lines."""
    text = read(path)
    known = {case.name for case in catalogue.read_all(None)}
    named = list(re.finditer(r"`(0\d-[a-z0-9-]+)`(?: \((0\.\d\d)[^)]*\))?", text))
    for found in named:
        where = f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found[1]}"
        if found[1] not in known:
            yield f"{where} is no case of tests/mutants"
        elif found[2] and found[1] in results:
            got = part(next(iter(results[found[1]]["runs"].values())))
            if got is None or abs(got - float(found[2])) > 0.01:
                yield f"{where} gives {got}, not {found[2]}"
    if not named:
        yield f"{path} names no case"


def rules_of(case):
    return case["rules"][0] if case["rules"] else "no rule: class none"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    p.add_argument("--of", metavar="RULE", help="list the cases of this rule")
    p.add_argument("--page", help="check what a page says of cases")
    options = p.parse_args()
    cases = []
    if options.file != "-":
        cases = [case for case in json.loads(read(options.file))["cases"] if not case.get("unbuilt")]
    if options.page:
        bad = list(check_page(options.page, {case["name"]: case for case in cases}))
        print("\n".join(bad) or f"{options.page}: its cases are what it says")
        return bool(bad)
    if options.of:
        for case in cases:
            if options.of in case["rules"] or options.of == rules_of(case):
                print(f"{case['name']:<40} {symptom(case):<48} {case['why']}")
        return 0
    found = collections.defaultdict(collections.Counter)
    parts = collections.Counter()
    for case in cases:
        found[symptom(case)][rules_of(case)] += 1
        parts.update(share(run) for run in case["runs"].values() if seen(run) == "wrong")
    print(f"{len(cases)} cases")
    for name, rules in sorted(found.items(), key=lambda item: -sum(item[1].values())):
        print(f"\n{sum(rules.values()):4}  {name}")
        for rule, count in rules.most_common(12):
            print(f"      {count:4}  {rule}")
    print("\nof the wrong results, runs:")
    for name, count in parts.most_common():
        print(f"      {count:4}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
