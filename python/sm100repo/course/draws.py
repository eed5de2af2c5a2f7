"""draws.py - what a kernel is run with: sizes, types and seeds, drawn when its PTX is already made.

The draw comes from a hash of the exercise's name, the kernel's text and a word of the teacher's (--draw), so it can be
repeated, is the same on every machine, and is another for every text. Each kernel gets three problems, the second and
third with what the step's options can ask for besides, and each run of them another seed.
"""

import hashlib
import random
from dataclasses import dataclass

NARROW = ["bf16", "tf32", "e4m3", "e5m2"]
TILE_K = {"f16": 64, "bf16": 64, "tf32": 32, "e4m3": 128, "e5m2": 128}  # elements of a K tile, 128 bytes


@dataclass(frozen=True)
class Trial:
    """One run of a kernel."""

    problem: int  # which of the three
    schedule: str
    arguments: tuple[str, ...]  # of the program, the seed's among them


def words(options):
    return tuple(f"--{name}={value}" for name, value in options.items())


def tiles(r, options, m, n, k, most=2):
    """options with sizes of up to `most` tiles of m x n, and of k tiles of 128 bytes (k: from, to)."""
    kind = options.setdefault("type", "f16")
    sizes = {"m": m * r.randint(1, most), "n": n * r.randint(1, most), "k": TILE_K[kind] * r.randint(*k)}
    factors = {"alpha": r.choice(["1", "0.75", "-1.5"]), "beta": r.choice(["0.5", "-0.25", "1.25"])}
    return {**sizes, **options, **factors}


def sides(cluster):
    return int(cluster[0]), int(cluster[2])


def tensor_memory(r):
    return [tiles(r, {"type": kind, "a-from": a}, 128, 256, (3, 6), 3)
            for kind, a in (("f16", "smem"), (r.choice(NARROW), "smem"), ("f16", r.choice(["tmem-cp", "tmem-st"])))]


def clusters(r, options, rows):
    """options, with a cluster of CTAs that have so many rows each."""
    x, y = sides(options["cluster"])
    return tiles(r, options, rows * x, 256 * y, (3, 6), 1 if x * y > 4 else 2)


def multicast(r):
    plan = [("f16", "4x4"), (r.choice(NARROW), r.choice(["2x4", "4x2"])),
            ("f16", r.choice(["1x4", "4x1", "2x2", "2x1", "1x2"]))]
    return [clusters(r, {"type": kind, "cluster": cluster}, 128) for kind, cluster in plan]


def pairs(r):
    plan = [("f16", "4x4", 256), (r.choice(NARROW), r.choice(["2x4", "4x2"]), 256),
            ("f16", r.choice(["4x1", "2x2", "2x1"]), 128)]
    return [clusters(r, {"type": kind, "cluster": cluster, "mma-m": mma}, mma // 2) for kind, cluster, mma in plan]


def persistent(r):
    """A cluster makes four tiles or more of the first problem, so that every ring goes round."""
    first = {"m": 256 * r.randint(3, 4), "n": 256 * r.randint(2, 3), "k": 64 * r.randint(8, 11), "clusters": 1,
             "alpha": r.choice(["1", "0.75"]), "beta": r.choice(["0.5", "-0.25"])}
    second = {"m": 8 * r.randint(40, 70), "n": 8 * r.randint(60, 100), "k": 64 * r.randint(2, 5), "scheduler": "clc",
              "cluster": r.choice(["2x2", "4x1"]), "d-type": r.choice(["f16", "bf16"]),
              "type": r.choice(["f16", "bf16"]), "tile-n": 128}
    third = {"m": 32 * r.randint(9, 16), "n": 32 * r.randint(9, 16), "k": 64 * r.randint(2, 5), "batch": 2,
             "cluster": "4x2", "type": r.choice(["f16", "bf16", "e4m3", "tf32"]), "beta": "0", "clusters": 1,
             "tile-n": 128}
    return [first, second, third]


def rungs(r):
    return [{"m": 256 * m, "n": 256 * r.randint(2, 3), "k": 64 * r.randint(5, 9)}
            for m in r.sample([2, 4, 6], 3)]


def columns(r):
    return [{"columns": c} for c in r.sample([32, 64, 128, 256, 512], 3)]


def nothing(_):
    """It has no options: its own sizes, three times."""
    return [{}] * 3


PROBLEMS = {"01": columns, "contend": columns, "shapes": nothing, "02": tensor_memory, "03": multicast, "04": pairs,
            "05": persistent}


def problems(step, r):
    folder, _, name = step.rpartition("/")
    made = rungs if folder.endswith("/ladder") else PROBLEMS[name if folder else step[:2]]
    while True:  # three different ones: no kernel is right for the size of one
        found = made(r)
        if made is nothing or len({tuple(p.get(key) for key in ("m", "n", "k", "columns")) for p in found}) == 3:
            return found


def draw(step, name, text, word="", also=(), timing=()):
    """(the word that repeats the draw, the trials). The first has the cycles, in the order of the model's
    time; one launches more than once. also: the arguments under which the exercise's mistake shows, run, too.
    timing: those under which being slow shows; the first trial has them beside what is drawn."""
    seed = hashlib.sha256(f"{word}\0{name}\0{text}".encode()).hexdigest()[:16]
    r = random.Random(seed)
    drawn = problems(step, r)
    seeded = not step.startswith("01")  # its programs draw nothing
    drawn.append({**drawn[0], **dict(argument[2:].split("=") for argument in timing)})
    plan = [(3 if timing else 0, "model"), (0, "default"), (0, "lazy"), (0, f"random:{r.randrange(1 << 20)}"),
            (1, "default"), (1, "eager"), (1, f"pct:{r.randrange(1 << 20)},3"),
            (2, "lazy"), (2, f"random:{r.randrange(1 << 20)}")]
    made = []
    for problem, schedule in plan:
        options = dict(drawn[problem])
        if seeded:
            options["seed"] = r.getrandbits(64)
        made.append(Trial(problem, schedule, words(options)))
    if seeded:
        made.append(Trial(2, "default", words({**drawn[2], "seed": r.getrandbits(64), "time": 1})))
    for schedule in ("default", "lazy") if also else ():
        made.append(Trial(len(drawn), schedule, (*also, *(words({"seed": r.getrandbits(64)}) if seeded else ()))))
    return seed, made
