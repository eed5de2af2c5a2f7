"""fixture.py - exercises by hand, of steps 02 and 04, for the tests of the grader: each kind, and a timed one."""

import os

from sm100repo import ROOT
from sm100repo.course.model import FILL, PREDICT, REPAIR, Exercise, Question

HOST = "/* ---------------------------------------------------------------- host"


def kernel_of(step):
    with open(os.path.join(ROOT, step, step + ".cu"), encoding="utf-8") as f:
        return f.read().partition(HOST)[0]


def changed(text, old, new):
    if text.count(old) != 1:
        raise ValueError(f"{text.count(old)} places instead of one are `{old}`")
    return text.replace(old, new)


PAIR, SIMPLE = kernel_of("04_pair_umma"), kernel_of("02_simple_umma")

FREE = "mbarrier_init(smem_address(&s->free), sharers);"
ARRIVALS = Exercise(name="04-fill-arrivals", lesson="04", kind=FILL, title="who frees a tile", text="",
                    step="04_pair_umma", solution=PAIR, start=changed(PAIR, FREE, FREE.replace("sharers", "1")),
                    rules=(), timed=True)
ISSUE = "            issue_k_tile(g, s->tmem_base, a_desc, b_desc, kt == 0);\n"
COMMIT = ("            umma_pair_commit_multicast(free, share->commit); "
          "/* tells the writers of our pair's tiles */\n")
EARLY = Exercise(name="04-repair-a", lesson="04", kind=REPAIR, title="one mistake", text="", step="04_pair_umma",
                 solution=PAIR, start=changed(PAIR, ISSUE + COMMIT, COMMIT + ISSUE), first=149, last=150,
                 rules=("copy-overwrites", "tcgen05-smem-in-flight", "tcgen05-operand-overwritten"))
PRODUCT = Exercise(name="02-fill-product", lesson="02", kind=FILL, title="one product", text="", step="02_simple_umma",
                   solution=SIMPLE, start=changed(SIMPLE, "__global__ void", "/* TODO */ __global__ void"))
FENCE = ("        fence_proxy_async_shared(); "
         "/* each writer: my generic stores, before the tensor core's async reads */\n")
PROXY = Exercise(name="02-repair-a", lesson="02", kind=REPAIR, title="one mistake", text="", step="02_simple_umma",
                 solution=SIMPLE, start=changed(SIMPLE, FENCE, ""), rules=("missing-proxy-fence", ))
WITNESS = "witness[cluster_rank()] = w;"
RACE = Exercise(name="04-repair-b", lesson="04", kind=REPAIR, title="one mistake", text="", step="04_pair_umma",
                solution=PAIR, start=changed(PAIR, WITNESS, "witness[0] = w;"), rules=("global-race", ))
MASKS = Exercise(name="03-predict-masks", lesson="03", kind=PREDICT, title="masks", text="", questions=(
    Question("mask.a", "the mask of A in CTA 5 of a cluster of 2 x 4", "0x00aa", "hex"),
    Question("arrivals", "arrivals that free a tile", "5", "number"),
    Question("leader", "who issues", "even CTA", "word"),
    Question("bytes", "expected", "49152", "number")))
ALL = [ARRIVALS, EARLY, PRODUCT, PROXY, MASKS]
