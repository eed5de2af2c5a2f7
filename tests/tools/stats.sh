#!/bin/sh
# stats.sh ROOT EMULATOR PROGRAMS: what --time, --stats and --stats-json say of whole programs. The line of --time comes
# first and alone without --stats; the file is JSON as the man page has it, its sums agree with each other and with what
# the steps do, it is whole after a fault, and has the same bytes on any number of host threads. SAN_LIB is preloaded
# where it is set. Skipped (77) without python3.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
needs python3
root=$1 emulator=$2 programs=$3
unset SM100EMU_TIME SM100EMU_STATS SM100EMU_STATS_JSON SM100EMU_THREADS SM100EMU_SCHEDULE

# json EXPRESSION...: in python, of the whole file `d`, its first launch `x`, and that launch's `lines`
json() {
    python3 -IS - "$scratch/stats.json" "$@" <<'P' || failed "$what: --stats-json: $*"
import json, sys

d = json.load(open(sys.argv[1], encoding="utf-8"))
assert d["version"] == 1 and d["emulator"].startswith("sm100emu ") and set(d) == {"version", "emulator", "launches"}
LAUNCH = set("kernel fault process grid block cluster static_shared_bytes dynamic_shared_bytes ctas warps instructions "
             "bytes shared_accesses global_accesses ummas operations mbarriers barriers unseen model lines".split())
WAIT = set("role for cycles share warps waits".split())
COUNTS = "issued lanes no_lane part_of_warp split_branches".split()
for l in d["launches"]:
    assert set(l) == LAUNCH, set(l) ^ LAUNCH
    i = l["instructions"]
    assert sum(i["kinds"].values()) == i["issued"] and set(i) == set(COUNTS) | {"kinds"}
    for key in COUNTS:
        assert sum(line[key] for line in l["lines"]) == i[key], key
    for kind in ("shared", "global"):
        for key in l[kind + "_accesses"]:
            assert sum(line.get(kind, {}).get(key, 0) for line in l["lines"]) == l[kind + "_accesses"][key], (kind, key)
    for key in ("polls", "failed_polls", "waits"):
        assert sum(line.get("mbarrier", {}).get(key, 0) for line in l["lines"]) == l["mbarriers"][key], key
    assert l["shared_accesses"]["wavefronts"] >= l["shared_accesses"]["wavefronts_without_conflicts"]
    assert l["global_accesses"]["sectors"] >= l["global_accesses"]["sectors_needed"]
    for u in l["ummas"]:
        assert u["flop"] == 2 * u["m"] * u["n"] * u["k"] * u["count"], u
    m = l["model"]
    assert set(m) == set("why_not doubts cycles state counted ghz ns ns_low ns_high tensor_busy tma_busy hbm_busy sms l2_bytes hbm_bytes waits".split())
    assert abs(m["ns"] * m["ghz"] - m["cycles"]) <= 1e-6 * m["cycles"] and m["ns_low"] <= m["ns"] <= m["ns_high"], m
    for w in m["waits"]:
        assert set(w) == WAIT and 0 < w["share"] <= 1 and w["waits"] > 0 and 0 < w["cycles"] <= m["cycles"] * w["warps"], w
    assert [w["cycles"] for w in m["waits"]] == sorted((w["cycles"] for w in m["waits"]), reverse=True)
    assert len({(w["role"], w["for"]) for w in m["waits"]}) == len(m["waits"])
x = d["launches"][0] if d["launches"] else None
lines = x["lines"] if x else []
for e in sys.argv[2:]:
    assert eval(e), e
P
}

# ---- a kernel of 32 threads: each writes a row of 128 bytes, its first word, to shared memory: 32 ways
{
    printf '.version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n'
    printf '.shared .align 128 .b8 sm[4096];\n.reg .b32 %%r<4>;\n.reg .b64 %%d<2>;\n'
    printf 'mov.u32 %%r1, %%tid.x;\nshl.b32 %%r2, %%r1, 7;\nmov.u32 %%r3, sm;\nadd.u32 %%r2, %%r2, %%r3;\n'
    printf 'st.shared.u32 [%%r2], %%r1;\nld.param.u64 %%d1, [out];\nst.global.u32 [%%d1], 7;\nret;\n}\n'
} >"$scratch/k.ptx"
launch="$programs/tests/negative/launch_ptx"
args="k block=32 out:4"
line='^sm100emu: k: [0-9.]* s, 8 warp instructions, [0-9]* steps$'
# shellcheck disable=SC2086
{
    run 0 'with --time' "$emulator" --time "$launch" "$scratch/k.ptx" $args
    says "$line"
    silent 'lanes active'
    run 0 'with --stats' "$emulator" --check=off --stats "$launch" "$scratch/k.ptx" $args
    head -n 1 "$scratch/err" | grep -qE "$line" || failed 'the first line of --stats'
    says '^  warp instructions  *8  lanes active: 32.0 of 32'
    says '^    threads.* 32  wavefronts; 1 without bank conflicts: 32.00 times'
    says '^  most bank conflicts'
    says '^    32.00 times the wavefronts, 31 more  stored at .*k.ptx:13$'
    run 0 'with --stats-json alone' "$emulator" --check=off --stats-json="$scratch/stats.json" "$launch" "$scratch/k.ptx" $args
    [ ! -s "$scratch/err" ] || failed "it says something"
    json 'x["kernel"] == "k" and x["block"] == [32, 1, 1] and x["fault"] == 0 and len(d["launches"]) == 1' \
        'x["instructions"]["issued"] == 8 and x["instructions"]["kinds"]["parameters"] == 1' \
        'x["shared_accesses"] == {"requests": 1, "bytes": 128, "wavefronts": 32, "wavefronts_without_conflicts": 1}' \
        'x["global_accesses"] == {"requests": 1, "bytes": 128, "sectors": 1, "sectors_needed": 1}' \
        'x["bytes"]["global"] == {"threads": {"read": 0, "written": 128, "atomic": 0}}' \
        'x["bytes"]["global_different_written"] == 32 and x["bytes"]["global_different_read"] == 0' \
        '[(l["ptx_line"], l["text"]) for l in lines if "shared" in l] == [(13, "st.shared.u32 [%r2], %r1;")]'
    run 0 'a process in the name' "$emulator" --check=off --stats-json="$scratch/of-%p" "$launch" "$scratch/k.ptx" $args
    cmp -s "$scratch"/of-[0-9]* "$scratch/stats.json" || failed "the file with %p"
    sed -i 's/\], 7;$/&\ntrap;/' "$scratch/k.ptx"
    run 1 'a fault' "$emulator" --check=off --stats-json="$scratch/stats.json" "$launch" "$scratch/k.ptx" $args
    json 'x["fault"] not in (0, None) and x["instructions"]["issued"] == 8'
    run 1 'a file that cannot be' "$emulator" --stats-json=/nowhere/at/all "$launch" "$scratch/k.ptx" $args
    says '--stats-json: /nowhere/at/all: '
    run 2 'many processes' "$emulator" --explore=2 --stats-json="$scratch/stats.json" "$launch" "$scratch/k.ptx" $args
    says 'leave --stats-json'
}

# ---- a launch of which the checks keep less than they would have to (tests/bounds/ trips each bound): one line, a
# notification, and the exit code where it is asked for
{
    printf '.version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %%p;\n'
    printf '.reg .b32 %%r<2>;\n.reg .b64 %%d<2>;\nld.param.u64 %%d1, [out];\nmov.u32 %%r1, %%ctaid.x;\n'
    printf 'setp.ne.u32 %%p, %%r1, 0;\n@!%%p st.release.gpu.global.u32 [%%d1+64], 1;\nst.global.u32 [%%d1], %%r1;\nret;\n}\n'
} >"$scratch/words.ptx"
words='words.ptx k block=1 grid=2 buf:128'
# shellcheck disable=SC2086
{
    run 3 'few releases' "$emulator" --require-complete --stats-json="$scratch/stats.json" "$launch" "$scratch/"$words
    json 'x["unseen"] == []'
    silent 'did not see all'
    export SM100EMU_BOUNDS=FLAG_BYTES=0
    run 0 'many releases' "$emulator" --stats-json="$scratch/stats.json" --check-json="$scratch/found.json" "$launch" \
        "$scratch/"$words
    json 'len(x["unseen"]) == 1 and "races in global memory" in x["unseen"][0]'
    says '^sm100emu: note: the checks did not see all of a launch [(]races in global memory: it releases more .*[)]: run a'
    [ "$(grep -c 'did not see all' "$scratch/err")" = 1 ] || failed 'more than one line'
    grep -q '"commandLine": .*, "toolExecutionNotifications": \[{"level": "warning", .*races in global memory' \
        "$scratch/found.json" || failed 'no notification'
    run 4 'all must be seen' "$emulator" --require-complete "$launch" "$scratch/"$words
    run 4 'of a child, too' "$emulator" --require-complete sh -c '"$@"; exit 0' - "$launch" "$scratch/"$words
    unset SM100EMU_BOUNDS
}
run 2 'no exit code to change' "$emulator" --require-complete --env

# ---- steps: M x N x K, and what that asks for
# step NAME ARGS...
step() {
    name=$1 what="$*"
    shift
    run 0 "$what" "$emulator" --stats-json="$scratch/stats.json" --threads=1 "$programs/$name" "$@"
    for threads in 2 5; do
        run 0 "$what" "$emulator" --stats-json="$scratch/again.json" --threads=$threads "$programs/$name" "$@"
        cmp -s "$scratch/stats.json" "$scratch/again.json" || failed "$what: $threads host threads count otherwise"
    done
}
step parts/contend
step parts/shapes
run 0 'the launches' "$emulator" --time "$programs/parts/shapes"
launches=$(grep -c ' warp instructions, ' "$scratch/err")
json "len(d['launches']) == $launches > 1"
step 02_simple_umma --m 256 --n 512 --k 128
json 'sum(u["flop"] for u in x["ummas"]) == 2 * 256 * 512 * 128' '[u["kind"] for u in x["ummas"]] == ["f16"]' \
    'x["bytes"]["global"]["threads"] == {"read": 2 * (2 * 256 * 128 + 2 * 512 * 128) + 4 * 256 * 512, "written": 4 * 256 * 512 + 28, "atomic": 0}'
json '(x["model"]["why_not"], x["model"]["sms"]) == ("", 4) and x["model"]["cycles"] > 1000' \
    '{w["for"] for w in x["model"]["waits"]} == {"done", "CTA barrier 0", "tcgen05.ld"}'
step 03_tma_multicast
json 'x["bytes"]["multicast_saved"] > 0' \
    'x["bytes"]["shared"]["tma"]["written"] == x["bytes"]["global"]["tma"]["read"] + x["bytes"]["multicast_saved"]' \
    'x["mbarriers"]["bytes"] == x["bytes"]["shared"]["tma"]["written"]'
step 05_persistent_warpspec --m 512 --n 512 --k 256
json 'sum(u["flop"] for u in x["ummas"]) == 2 * 512 * 512 * 256' \
    '{(u["m"], u["n"], u["k"], u["cta_group"]) for u in x["ummas"]} == {(256, 256, 16, 2)}' \
    'x["bytes"]["global_different_read"] == 2 * 512 * 256 * 2 + 4 * 512 * 512' \
    'x["bytes"]["global_different_written"] == 4 * 512 * 512' \
    'x["bytes"]["global"]["tma"] == {"read": 2 * 2 * 2 * 512 * 256 + 4 * 512 * 512, "written": 4 * 512 * 512, "atomic": 0}' \
    'x["shared_accesses"]["wavefronts"] == x["shared_accesses"]["wavefronts_without_conflicts"]' \
    '{("mma", "full"), ("load", "empty"), ("epilogue", "acc_full"), ("c", "c_empty")} <= {(w["role"], w["for"]) for w in x["model"]["waits"]}' \
    '0 < x["model"]["tensor_busy"] < 1 and x["model"]["hbm_bytes"] >= 2 * 512 * 256 * 2 + 4 * 512 * 512'
exit $bad
