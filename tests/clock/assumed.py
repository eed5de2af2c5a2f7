#!/usr/bin/env python3
"""assumed.py [--check]: the costs of table.def by where they come from, and what hangs on those that are assumed.

Each assumed cost is halved and doubled, and the five steps are replayed with it; the table says by how much of itself a
step's cycles change, whichever change is larger. It goes to docs/performance.md, between its marks. --check changes
nothing: every cost has a kind, and the page lists the assumed ones."""
import os, re, subprocess, sys
sys.dont_write_bytecode = True
import rows

DOC = os.path.join(rows.ROOT, "docs", "performance.md")
BEGIN, END = "<!-- assumed: make clock -->", "<!-- assumed: end -->"
STEPS = ("01_tmem_alloc", "02_simple_umma", "03_tma_multicast", "04_pair_umma", "05_persistent_warpspec")
SIZE = ("--m", "2048", "--n", "2048", "--k", "2048")
KINDS = (("measured", r"\[|measured|held-out"), ("derived", "derived"), ("assumed", "assumed"))


def costs():
    """Name, value, kind and what the table says of each."""
    with open(os.path.join(rows.ROOT, "emulator/clock/table.def")) as f:
        text = f.read()
    for name, value, source in re.findall(r'^COST\((\w+), ([0-9.]+),\s*"[^"]*",((?:\s*"[^"]*")+)\)', text, re.M):
        says = "".join(re.findall(r'"([^"]*)"', source))
        kinds = [kind for kind, begins in KINDS if re.match(begins, says)]
        if len(kinds) != 1:
            sys.exit(f"table.def: {name}: {says!r}: is that measured, derived or assumed?")
        yield name, float(value), kinds[0], says


def logs():
    folder = os.path.join(rows.BUILD, "clock")
    os.makedirs(folder, exist_ok=True)
    for step in STEPS:
        path = os.path.join(folder, f"assumed-{step}.log")
        subprocess.run([os.path.join(rows.PRODUCTS, "sm100emu"), "--check=off", "--trace=" + path,
                        os.path.join(rows.BUILD, step), *(SIZE if step != STEPS[0] else ())], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield path


def table():
    found = list(costs())
    assumed = [(name, value, says) for name, value, kind, says in found if kind == "assumed"]
    lines = [""] + [f"{name}={value * by:.6g}" for name, value, _ in assumed for by in (0.5, 2)]
    base, *changed = rows.replay(list(logs()), lines)
    effects = []
    for i, (name, value, says) in enumerate(assumed):
        pairs = zip(base, changed[2 * i], changed[2 * i + 1])
        effects.append((name, value, says, [max(half / b - 1, twice / b - 1, key=abs) for b, half, twice in pairs]))
    effects.sort(key=lambda e: -max(abs(x) for x in e[3]))
    out = ["| cost | value | what it is | " + " | ".join(step[:2] for step in STEPS) + " |",
           "|---|---|---|" + "---|" * len(STEPS)]
    for name, value, says, by in effects:
        cells = [f"{100 * x:+.1f} %" if abs(x) >= 0.0005 else "" for x in by]
        out.append(f"| `{name}` | {value:g} | {says.split(': ', 1)[1]} | " + " | ".join(cells) + " |")
    counts = {kind: sum(k == kind for _, _, k, _ in found) for kind, _ in KINDS}
    out.append("")
    out.append(f"Of {len(found)} costs {counts['measured']} are measured, {counts['derived']} derived and"
               f" {counts['assumed']} assumed.")
    return out


def main(args):
    with open(DOC) as f:
        text = f.read()
    kept = text.split(BEGIN)[1].split(END)[0]
    if args == ["--check"]:
        listed = re.findall(r"^\| `(\w+)` \| ([0-9.e+]+) ", kept, re.M)
        want = sorted((name, f"{value:g}") for name, value, kind, _ in costs() if kind == "assumed")
        if sorted(listed) != want:
            print("docs/performance.md does not list what table.def assumes: run make clock")
        return sorted(listed) != want
    lines = table()
    with open(DOC, "w") as f:
        f.write(text.replace(BEGIN + kept + END, BEGIN + "\n" + "\n".join(lines) + "\n" + END))
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
