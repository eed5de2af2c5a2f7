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
only("run", r, "tool invocations results properties")
for i in r["invocations"]:
    only("invocation", i, "executionSuccessful commandLine toolExecutionNotifications")
    assert i["executionSuccessful"] and all(n["level"] == "warning" for n in i["toolExecutionNotifications"])
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
run 3 'a warning' "$emulator" "$@"
says '^warning: .*\[bulk-store-overwritten\]'
run 0 'a warning without the launcher' env LD_LIBRARY_PATH="$libraries" "$@"
says '^warning: .*\[bulk-store-overwritten\]'
run 0 --check=off "$emulator" --check=off "$@"
run 1 "the program's own code" "$emulator" --check=error "$@"
run 1 "the program's own code behind a fault" "$emulator" "$driver" tests/negative/trap.ptx trap
run 1 'no kernel at all' "$emulator" "$driver" tests/negative/publish_barrier.ptx no_such_kernel

# ---- the file
run 3 --check-json "$emulator" --check-json="$scratch/log.json" "$@"
line=$(grep -n '// STORE' "$reuse" | sed 's/:.*//')
json 'len(x) == 1 and x[0]["ruleId"] == "bulk-store-overwritten" and x[0]["level"] == "warning"' \
    "x[0]['locations'][0]['physicalLocation']['region']['startLine'] == $line" \
    'x[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("bulk_store_reuse.ptx")' \
    'x[0]["occurrenceCount"] == 1 and x[0]["properties"]["reported"] and r["properties"]["launches"] == 1'
run 3 'a bug of 200 CTAs' "$emulator" --check-json="$scratch/log.json" "$driver" "$reuse" bulk_store_reuse grid=200 buf:512
says '^note: 199 more of \[bulk-store-overwritten\] at .*bulk_store_reuse.ptx:'"$line, last by CTA"
json 'x[0]["ruleId"] == "bulk-store-overwritten" and x[0]["occurrenceCount"] == 200'
run 1 'a trap' "$emulator" --check-json="$scratch/log.json" "$driver" tests/negative/trap.ptx trap
json 'len(x) == 1 and x[0]["level"] == "error" and x[0]["properties"]["ptx"].endswith("trap;")'
run 1 'no kernel at all' "$emulator" --check-json="$scratch/log.json" "$driver" tests/negative/publish_barrier.ptx no_such_kernel
json 'x == [] and r["properties"]["launches"] == 0'
run 1 'a file that cannot be written' "$emulator" --check-json="$scratch/none/log.json" "$@"
says '^sm100emu: [A-Za-z]*: --check-json: .*/none/log.json: No such file'
rm "$scratch/log.json"
cd "$scratch" || exit 2
run 3 'another folder' "$emulator" --check-json=log.json "$driver" "$root/$reuse" bulk_store_reuse buf:512
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
program=$(cat "/proc/$pid/task/$pid/children")
tr '\0' '\n' <"/proc/${program% }/environ" | grep -qxF "SM100EMU_CHECK_JSON=$scratch/log.json" || failed 'the path of the file'
kill -KILL "$pid"
wait "$pid" 2>/dev/null
tries=0
while kill -0 "${program% }" 2>/dev/null && [ $((tries += 1)) -le 300 ]; do sleep 0.1; done
[ $tries -le 300 ] || failed 'the program goes on without its launcher'
cd "$root" || exit 2
json 'len(x) == 1 and x[0]["ruleId"] == "bulk-store-overwritten"'

# ---- suppressions
# suppress CODE WHAT LIST: a run with this list
suppress() {
    printf '%b' "$3" >"$scratch/list"
    run "$1" "$2" "$emulator" --suppress="$scratch/list" --check-json="$scratch/log.json" --check=error "$driver" "$reuse" \
        bulk_store_reuse buf:512
}
suppress 0 'a suppressed warning' "# known\nbulk-store-overwritten *reuse.ptx:$line bulk_store*\n"
silent 'bulk-store-overwritten'
json 'len(x) == 1 and x[0]["suppressions"][0]["location"]["physicalLocation"]["region"]["startLine"] == 2' \
    'not x[0]["properties"]["reported"]'
suppress 1 'a suppression of another line' "bulk-store-overwritten *reuse.ptx:$((line + 1))\n"
says '^error: .*\[bulk-store-overwritten\]'
says '^sm100emu: --suppress: .*list:1: bulk-store-overwritten: no such finding'
suppress 2 'a suppression of no rule' 'bulk-store-overriden\n'
says '^sm100emu: --suppress: .*list:1: bulk-store-overriden: there is no such rule$'
run 1 'the same without the launcher' env LD_LIBRARY_PATH="$libraries" SM100EMU_SUPPRESS="$scratch/list" "$@"
says '^sm100emu: cu[A-Za-z]*: --suppress: .*: there is no such rule$'
run 2 'suppressions that never end' timeout 20 "$emulator" --suppress=/dev/zero "$driver" "$reuse" bulk_store_reuse buf:512
says '^sm100emu: --suppress: /dev/zero: longer than 1 MiB$'
exit $bad
