"""b200.py EMULATOR PROGRAMS quick|full: every step with --umma=b200, all types that it takes, K to 16384 (05: to
1048576). The steps' own verdict is PASS, and the error that it reports stays below the bound that a B200's sums have,
which is nearer than the steps': (K / 4 + 1.25 K / k + 1.5) 2^-23, k being one instruction's K
(unit/engines/test_b200_bound.c). Prints by how much. The option is heard: sums of f16 are not those of --umma=exact.
"""

import os
import re
import subprocess
import sys

TYPES = ["f16", "bf16", "tf32", "e4m3", "e5m2"]
QUICK = """02_simple_umma --m 128 --n 256 --k 16384 --type
03_tma_multicast --cluster 2x2 --m 256 --n 512 --k 4096 --type
04_pair_umma --cluster 2x1 --m 256 --n 256 --k 8192 --type
05_persistent_warpspec --m 200 --n 136 --k 16384 --type"""
ONCE = """01_tmem_alloc
parts/contend
parts/shapes
02_simple_umma --m 256 --n 512 --a-from tmem --type tf32
02_simple_umma --m 256 --n 512 --a-from tmem-st --alpha -1.5 --beta 0
04_pair_umma --mma-m 128 --cluster 2x1 --m 128 --n 256 --k 16384 --type bf16
05_persistent_warpspec --m 1 --n 8 --k 8
05_persistent_warpspec --m 528 --n 272 --k 2048 --a-major mn --b-major mn --d-type f16
05_persistent_warpspec --m 528 --n 272 --k 2048 --b-major mn --type bf16 --d-type bf16 --relu --alpha -1.5
05_persistent_warpspec --batch 3 --m 200 --n 104 --k 2048 --type tf32 --tile-n 128 --scheduler clc"""
FULL = """02_simple_umma --m 512 --n 1024 --k 16384 --type
03_tma_multicast --m 512 --n 1024 --k 16384 --type
04_pair_umma --m 512 --n 1024 --k 16384 --type
04_pair_umma --mma-m 128 --m 512 --n 1024 --k 16384 --type
05_persistent_warpspec --m 512 --n 1024 --k 16384 --type
05_persistent_warpspec --m 1 --n 8 --k 1048576 --type
05_persistent_warpspec --m 1024 --n 1024 --k 1024 --d-type f16 --verify full --type"""
# PASS  02_simple_umma 128x256x16384 f16: max relative error 7.89e-07 (bound 2.08e-03)
VERDICT = re.compile(r"^PASS +\S+ \d+x\d+x(\d+)\S* (\w+).*max relative error (\S+)", re.M)


def runs(chosen):
    each = [f"{line} {kind}" for kind in TYPES for line in chosen.splitlines()]
    return each + (ONCE.splitlines() if chosen == QUICK else [])


def bound(k, kind):
    at_once = 8 if kind == "tf32" else 32 if kind.startswith("e") else 16
    return (k / 4 + 1.25 * k / at_once + 1.5) / 2**23


def main(emulator, programs, chosen):
    script, bad, judged, least = os.path.join(os.path.dirname(__file__), "run.sh"), 0, 0, (float("inf"), "")

    def run(sums, line):
        name, *words = line.split()
        ran = subprocess.run(["sh", script, "0", emulator, "--umma=" + sums, os.path.join(programs, name), *words],
                             stdout=subprocess.PIPE, text=True)
        return ran.returncode, ran.stdout

    lines = runs({"quick": QUICK, "full": FULL}[chosen])
    for line in lines:
        code, said = run("b200", line)
        if code:
            print(said)
            bad += 1
        for k, kind, error in VERDICT.findall(said if not code else ""):
            nearer, error, judged = bound(int(k), kind), float(error), judged + 1
            if not error <= nearer:
                print(f"FAILED: {line}: error {error:g}, beyond the bound {nearer:g} of a B200")
                bad += 1
            elif error:
                least = min(least, (nearer / error, f"{kind} K {k}"))
    if judged < sum(not line.startswith(("01_", "parts/")) for line in lines):
        print(f"FAILED: {judged} verdicts of {len(lines)} runs")
        bad += 1
    print(f"{len(lines)} runs; errors are at most 1/{least[0]:.0f} of the bound of a B200 ({least[1]})")
    probe = "02_simple_umma --m 128 --n 256 --k 4096"
    if run("exact", probe) == run("b200", probe):
        print("FAILED: --umma=b200 sums as --umma=exact")
        bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
