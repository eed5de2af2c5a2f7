#!/bin/sh
# findings.sh ROOT EMULATOR LIBRARIES LAUNCH_PTX: what becomes of a finding beside its report, in whole programs. LIBRARIES is
# the folder of the emulator's libraries, LAUNCH_PTX the driver of tests/negative. The exit code, with the launcher and
# without it; the file of --check-json, held to what the schema of SARIF 2.1.0 requires, after an exit, a fault and a
# kill; --suppress. SAN_LIB is preloaded where it is set. Skipped (77) without python3.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
needs python3
root=$1 emulator=$2 libraries=$3 driver=$4
cd "$root" || exit 2

# run COMMAND...: its output in $scratch/out, its exit code in $code
run() {
    emulated "$@" >"$scratch/out" 2>&1
    code=$?
}
# ends CODE WHAT; says REGEX WHAT; silent REGEX WHAT
ends() { [ "$code" -eq "$1" ] || failed "$2: expected $1, not $code: $(cat "$scratch/out")"; }
says() { grep -qE -e "$1" "$scratch/out" || failed "$2: it does not say $1: $(cat "$scratch/out")"; }
silent() { ! grep -qE -e "$1" "$scratch/out" || failed "$2: it says $1"; }

# json EXPRESSION...: in python, of the whole log, its only run `r` and its results `x`; the log has what the schema requires
json() {
    python3 -IS - "$scratch/log.json" "$@" <<'P' || failed "--check-json: $*"
import json, sys

LEVELS, KINDS = {"none", "note", "warning", "error"}, {"inSource", "external"}

def only(what, o, required, optional=""):
    names = set(o)
    assert set(required.split()) <= names, (what, "lacks", set(required.split()) - names)
    assert names <= set((required + " " + optional).split()), (what, "has", names - set((required + " " + optional).split()))

def message(o):
    only("message", o, "text")
    assert o["text"]

def location(o):
    only("location", o, "physicalLocation", "logicalLocations message")
    p = o["physicalLocation"]
    only("physicalLocation", p, "artifactLocation", "region")
    only("artifactLocation", p["artifactLocation"], "uri")
    assert p["artifactLocation"]["uri"] and " " not in p["artifactLocation"]["uri"]
    only("region", p.get("region", {}), "", "startLine startColumn")
    assert all(type(n) is int and n >= 1 for n in p.get("region", {}).values())
    for l in o.get("logicalLocations", []):
        only("logicalLocation", l, "kind fullyQualifiedName decoratedName")
    if "message" in o:
        message(o["message"])

log = json.load(open(sys.argv[1], encoding="utf-8"))
only("log", log, "version runs $schema")
assert log["version"] == "2.1.0" and len(log["runs"]) == 1
r = log["runs"][0]
only("run", r, "tool results properties")
only("tool", r["tool"], "driver")
only("driver", r["tool"]["driver"], "name version rules")
rules, x = r["tool"]["driver"]["rules"], r["results"]
assert len({rule["id"] for rule in rules}) == len(rules)
for rule in rules:
    only("rule", rule, "id shortDescription fullDescription help defaultConfiguration properties")
    for text in "shortDescription", "fullDescription", "help":
        if text != "help" or text in rule:
            message(rule[text])
    assert rule["defaultConfiguration"]["level"] in LEVELS
for result in x:
    only("result", result, "ruleId ruleIndex level message occurrenceCount partialFingerprints properties",
         "locations relatedLocations stacks suppressions")
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["level"] in LEVELS
    assert type(result["occurrenceCount"]) is int and result["occurrenceCount"] >= 1
    message(result["message"])
    for l in result.get("locations", []) + result.get("relatedLocations", []):
        location(l)
    for stack in result.get("stacks", []):
        only("stack", stack, "frames", "message")
        for frame in stack["frames"]:
            only("frame", frame, "location")
            location(frame["location"])
    for s in result.get("suppressions", []):
        only("suppression", s, "kind", "location")
        assert s["kind"] in KINDS
        location(s["location"])
for expression in sys.argv[2:]:
    assert eval(expression), (expression, log)
P
}

reuse=tests/negative/bulk_store_reuse.ptx
set -- "$driver" "$reuse" bulk_store_reuse buf:512

# ---- exit codes
run "$emulator" "$@"
ends 3 'a warning'
says '^warning: .*\[bulk-store-overwritten\]' 'a warning'
run env LD_LIBRARY_PATH="$libraries" "$@"
ends 0 'a warning without the launcher'
says '^warning: .*\[bulk-store-overwritten\]' 'a warning without the launcher'
run "$emulator" --check=off "$@"
ends 0 --check=off
run "$emulator" --check=error "$@"
ends 1 "the program's own code"
run "$emulator" "$driver" tests/negative/trap.ptx trap
ends 1 "the program's own code behind a fault"
run "$emulator" "$driver" tests/negative/publish_barrier.ptx no_such_kernel
ends 1 'no kernel at all'
run env LD_LIBRARY_PATH="$libraries" SM100EMU_LAUNCHED=1 "$@"
ends 0 'a child of the program that was launched'

# ---- the file
run "$emulator" --check-json="$scratch/log.json" "$@"
ends 3 --check-json
line=$(grep -n '// STORE' "$reuse" | sed 's/:.*//')
json 'len(x) == 1 and x[0]["ruleId"] == "bulk-store-overwritten" and x[0]["level"] == "warning"' \
    "x[0]['locations'][0]['physicalLocation']['region']['startLine'] == $line" \
    'x[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("bulk_store_reuse.ptx")' \
    'x[0]["occurrenceCount"] == 1 and x[0]["properties"]["reported"] and r["properties"]["launches"] == 1'
run "$emulator" --check-json="$scratch/log.json" "$driver" "$reuse" bulk_store_reuse grid=200 buf:512
says '^note: 199 more of \[bulk-store-overwritten\] at .*bulk_store_reuse.ptx:'"$line, last by CTA" 'a bug of 200 CTAs'
json 'x[0]["ruleId"] == "bulk-store-overwritten" and x[0]["occurrenceCount"] == 200'
run "$emulator" --check-json="$scratch/log.json" "$driver" tests/negative/trap.ptx trap
json 'len(x) == 1 and x[0]["level"] == "error" and x[0]["properties"]["ptx"].endswith("trap;")'
run "$emulator" --check-json="$scratch/log.json" "$driver" tests/negative/publish_barrier.ptx no_such_kernel
json 'x == [] and r["properties"]["launches"] == 0'
run "$emulator" --check-json="$scratch/none/log.json" "$@"
ends 1 'a file that cannot be written'
says '^sm100emu: [A-Za-z]*: --check-json: .*/none/log.json: No such file' 'a file that cannot be written'
rm "$scratch/log.json"
cd "$scratch" || exit 2
run "$emulator" --check-json=log.json "$driver" "$root/$reuse" bulk_store_reuse buf:512
cd "$root" || exit 2
json 'len(x) == 1'
[ "$(find "$scratch" -name '*.tmp')" = "" ] || failed 'a temporary file is left'
# an endless kernel, and the process killed while it runs; the file's name does not depend on where the process goes
sed 's/^    ret;/END: bra END;/' "$reuse" >"$scratch/endless.ptx"
rm "$scratch/log.json"
cd "$scratch" || exit 2
env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" "$emulator" --check-json=log.json \
    --timeout=600 "$driver" endless.ptx bulk_store_reuse buf:512 >"$scratch/out" 2>&1 &
pid=$!
code=none tries=0
until grep -qs bulk-store-overwritten log.json || [ $((tries += 1)) -gt 3000 ]; do sleep 0.2; done
tr '\0' '\n' <"/proc/$pid/environ" | grep -qxF "SM100EMU_CHECK_JSON=$scratch/log.json" || failed 'the path of the file'
kill -KILL "$pid"
wait "$pid" 2>/dev/null
cd "$root" || exit 2
json 'len(x) == 1 and x[0]["ruleId"] == "bulk-store-overwritten"'

# ---- suppressions
suppress() {
    printf '%b' "$1" >"$scratch/list"
    run "$emulator" --suppress="$scratch/list" --check-json="$scratch/log.json" --check=error "$driver" "$reuse" \
        bulk_store_reuse buf:512
}
suppress "# known\nbulk-store-overwritten *reuse.ptx:$line bulk_store*\n"
ends 0 'a suppressed warning'
silent 'bulk-store-overwritten' 'a suppressed warning'
json 'len(x) == 1 and x[0]["suppressions"][0]["location"]["physicalLocation"]["region"]["startLine"] == 2' \
    'not x[0]["properties"]["reported"]'
suppress "bulk-store-overwritten *reuse.ptx:$((line + 1))\n"
ends 1 'a suppression of another line'
says '^error: .*\[bulk-store-overwritten\]' 'a suppression of another line'
says '^sm100emu: --suppress: .*list:1: bulk-store-overwritten: no such finding' 'a suppression of another line'
suppress 'bulk-store-overriden\n'
ends 2 'a suppression of no rule'
says '^sm100emu: --suppress: .*list:1: bulk-store-overriden: there is no such rule$' 'a suppression of no rule'
run env LD_LIBRARY_PATH="$libraries" SM100EMU_SUPPRESS="$scratch/list" "$@"
ends 1 'the same without the launcher'
says '^sm100emu: cu[A-Za-z]*: --suppress: .*: there is no such rule$' 'the same without the launcher'
exit $bad
