"""table.py [--write]: the tables of benchmark/README.md, made of results/ and of the pairs' labels.

They stand between lines `<!-- table: NAME -->' and `<!-- end -->'. Without --write nothing is changed, and the exit
code is 1 if one of them is not what it should be, or if a file of results/ has no outcome of a pair.
"""

import json
import os
import re
import sys

import benchmark
import pairs as catalogue
from sm100repo import ROOT, read, write

PAGE = os.path.join(ROOT, "benchmark", "README.md")
URL = r"https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+"
RESULTS = os.path.join(ROOT, "benchmark", "results")
RUNS = [("first-sm100emu-warn", "this emulator, first run of the blind pairs"),
        ("first-sm100emu-strict", "the same with `--check=strict`"),
        ("sm100emu-warn", "this emulator"), ("sm100emu-strict", "`--check=strict`"),
        ("sm100emu-explore", "`--explore=20`"), ("compute-sanitizer", "compute-sanitizer"),
        ("sentryward", "SentryWard")]


def result(name):
    return json.loads(read(os.path.join(RESULTS, name + ".json")))


def of(score, label, column):
    """`told of pairs', without the legal ones."""
    row = score[label]
    return f"{row[benchmark.COLUMNS.index(column)]} of {row[0] - (score['legal'][0] if label == 'all' else 0)}"


def runs():
    """What each run told, missed and told falsely."""
    yield "| run | error | warning | strict | all | refused | failed, hangs | false |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, words in RUNS:
        score = result(name)["score"]
        told = [of(score, label, "told") for label in ("error", "warning", "strict", "all")]
        row = dict(zip(benchmark.COLUMNS, score["all"]))
        yield f"| [{words}](results/{name}.json) | " + " | ".join(told) + \
            f" | {row['refused']} | {row['failed'] + row['hangs']} | {row['false']} of {row['pairs']} |"


def kinds():
    """What the tools told by the kind of the mistake, and of the pairs that a Hopper GPU runs."""
    chosen = [pair for pair in catalogue.load() if not pair.legal]
    names = [name for name, _ in RUNS if not name.startswith("first-")]
    yield "| kind | pairs | " + " | ".join(words for name, words in RUNS if name in names) + " |"
    yield "|---|---|" + "---|" * len(names)
    groups = [(kind, lambda pair, kind=kind: pair.kind == kind) for kind in catalogue.KINDS]
    groups.append(("`SM90: yes`", lambda pair: pair.sm90 == "yes"))
    found = {name: result(name)["outcomes"] for name in names}
    for words, wanted in groups:
        mine = [pair for pair in chosen if wanted(pair)]
        told = [str(sum(found[name][pair.name]["broken"][0] == "told" for pair in mine)) for name in names]
        yield f"| {words} | {len(mine)} | " + " | ".join(told) + " |"


def link(url):
    owner, name, _, number = re.match(r"https://github\.com/([^/]+)/([^/]+)/(issues|pull)/(\d+)", url).groups()
    return f"[{owner + '/' if name == 'triton' else ''}{name}#{number}]({url})"


def reported():
    """The pairs with a public report behind them."""
    yield "| kernel | report | rules | class | SentryWard | compute-sanitizer |"
    yield "|---|---|---|---|---|---|"
    found = {name: result(name)["outcomes"] for name in ("sentryward", "compute-sanitizer")}
    for pair in catalogue.load():
        urls = re.findall(URL, pair.fields.get("Reported", ""))
        said = [found[name][pair.name].get("broken", found[name][pair.name]["mended"])[0] for name in found]
        if pair.sm90 == "no":
            said[1] = ""
        if urls:
            rules = ", ".join(f"`{i}`" for i in pair.ids()) or "none"
            links = ", ".join(link(url) for url in dict.fromkeys(urls))
            cells = [f"[`{pair.name}`](pairs/{pair.name}.ptx)", links, rules, pair.fields["CLASS"], *said]
            yield "| " + " | ".join(cells) + " |"


def argued():
    """What the emulator misses, and why."""
    yield "| pair | missed at | why |"
    yield "|---|---|---|"
    for name, (level, reason) in sorted(benchmark.misses().items()):
        at = "default" if level == "warn" else "every level"
        yield f"| [`{name}`](pairs/{name}.ptx) | {at} | {reason} |"


TABLES = {"runs": runs, "kinds": kinds, "reported": reported, "misses": argued}


def stale():
    """Files of results/ that lack a pair, or whose score is not that of its outcomes by today's labels."""
    chosen = catalogue.load()
    for name, _ in RUNS:
        data = result(name)
        if name.startswith("first-"):
            continue
        for pair in chosen:
            if set(data["outcomes"].get(pair.name, {})) != set(pair.forms()):
                yield f"results/{name}.json has not both forms of {pair.name}"
                break
        else:
            rows = benchmark.score(chosen, data["outcomes"], "CLASS", catalogue.CLASSES)
            if {row[0]: row[1:] for row in rows} != data["score"]:
                yield f"results/{name}.json: the score is not that of the labels"


def rescore():
    """The scores of results/ by today's labels; the first run keeps its own."""
    chosen = catalogue.load()
    for name, _ in RUNS:
        path, data = os.path.join(RESULTS, name + ".json"), result(name)
        if not name.startswith("first-"):
            rows = benchmark.score(chosen, data["outcomes"], "CLASS", catalogue.CLASSES)
            score = json.dumps({row[0]: row[1:] for row in rows})
            write(path, re.sub(r'(?m)^ "score": .*,$', lambda _: f' "score": {score},', read(path)))


def main():
    if "--write" in sys.argv:
        rescore()
    page = read(PAGE)

    def fresh(found):
        return f"<!-- table: {found[1]} -->\n" + "\n".join(TABLES[found[1]]()) + "\n<!-- end -->"

    new = re.sub(r"<!-- table: (\w+) -->\n(?:.*\n)*?<!-- end -->", fresh, page)
    if "--write" in sys.argv and new != page:
        write(PAGE, new)
    faults = list(stale())
    if "--write" not in sys.argv and new != page:
        faults.append("README.md: its tables are stale: run make benchmark-tables")
    for fault in faults:
        print(f"FAILED: benchmark/{fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
