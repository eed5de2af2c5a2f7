#!/bin/sh
# run.sh SOURCE EMULATOR PROGRAM [ARGS]: runs one kernel, which must fail unless it says `// EXIT: 0`, and compares its
# output with what SOURCE says.
# SOURCE (.cu or .ptx) carries these lines, `//` at their start:
#
#   // EXPECT: regex    (ERE) matched in the output; every such line must be. A kernel that must fail has one.
#                       @NAME@ stands for the number of the line of SOURCE that ends in `// NAME`.
#   // NEVER: regex     matched nowhere in the output
#   // EXIT: n          the exit code: 3 where a program that ends with 0 had a warning. Without this line 126, the
#                       launcher's refusal, or any from 1 to 123: a crash or a time-out never passes
#   // ARGS: words      appended to PROGRAM's arguments
#   // EMU: words       options of the launcher
#
# docs/diagnostics.md shows a message of some kernels (python/sm100repo/diagnostics.py): it must be in the output, too.
# SAN_LIB is preloaded where it is set (the emulator is instrumented, PROGRAM is not). The output is copied to the file
# SAID where that is set.
set -u
source=$1 emulator=$2
shift 2

# field NAME: what follows `// NAME: `, a line each
fields=$(grep '^// [A-Z]*: ' "$source")
field() {
    while IFS= read -r text; do
        case $text in
        "// $1: "*) printf '%s\n' "${text#"// $1: "}" ;;
        esac
    done <<LINES
$fields
LINES
}

# with_lines: @NAME@ replaced by line numbers
with_lines() {
    while IFS= read -r text; do
        while case $text in *@[A-Z]*@*) mark=$(expr "$text" : '.*@\([A-Z][A-Z0-9_]*\)@') ;; *) false ;; esac; do
            line=$(grep -nE "// $mark\$" "$source" | sed 's/:.*//;q')
            if [ -z "$line" ]; then
                echo "$source: no line ends in \`// $mark'" >&2
                line=missing
            fi
            text=$(printf '%s\n' "$text" | sed "s/@$mark@/$line/g")
        done
        printf '%s\n' "$text"
    done
}

# masked: what depends on the host and on nvcc is one sign: addresses, long numbers, which operand is read first; with
# another nvcc than the page's also the line that it gives a statement of several
varies='0x[0-9a-f]+|[0-9]{4,}|matrix [AB]'
grep -qsxF "NVCC_VERSION='13.0'" "${1%/tests/*}/toolkit.env" || varies="$varies|:[0-9]+"
masked() {
    sed -E "s/$varies/#/g"
}

out=$(mktemp)
trap 'rm -f "$out"' EXIT
# shellcheck disable=SC2046 # words on purpose
set -- timeout -k 5 600 env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} \
    ASAN_OPTIONS="detect_leaks=0:exitcode=124:${ASAN_OPTIONS:-}" UBSAN_OPTIONS="exitcode=124:${UBSAN_OPTIONS:-}" \
    TSAN_OPTIONS="exitcode=124:${TSAN_OPTIONS:-}" "$emulator" $(field EMU) "$@" $(field ARGS)
"$@" >"$out" 2>&1
code=$?
[ -z "${SAID:-}" ] || cp "$out" "$SAID"

bad=0
complain() {
    echo "FAILED: $1"
    bad=1
}

wanted=$(field EXIT)
if [ -n "$wanted" ]; then
    [ "$code" -eq "$wanted" ] || complain "exit code $code, expected $wanted"
elif [ "$code" -lt 1 ] || { [ "$code" -gt 123 ] && [ "$code" -ne 126 ]; }; then
    complain "exit code $code, expected a failure that is reported (1 to 123, or 126)"
fi

[ "$wanted" = 0 ] || [ -n "$(field EXPECT)" ] || complain "$source has no \`// EXPECT:' line"
while IFS= read -r regex; do
    [ -z "$regex" ] || grep -qE -e "$regex" "$out" ||
        complain "not in the output: $regex (after a message was reworded: make mend EXPECT=$source)"
done <<LINES
$(field EXPECT | with_lines)
LINES
while IFS= read -r regex; do
    [ -z "$regex" ] || ! grep -qE -e "$regex" "$out" || complain "in the output: $regex"
done <<LINES
$(field NEVER | with_lines)
LINES
page=$(dirname "$0")/../../docs/diagnostics.md
entry="- Kernel: [${source##*/}](../tests/${source#"${source%negative/*}"})"
while IFS= read -r message; do
    [ -z "$message" ] || sed -E 's/ +\[[a-z0-9-]+\]$//' "$out" | masked | grep -qxF -e "$message" ||
        complain "docs/diagnostics.md shows \`$message', not what this prints: run make rules, and commit the page"
done <<LINES
$(grep -F -B 1 -e "$entry" "$page" | sed -n 's/^- Message: `\(.*\)`$/\1/p' | masked)
LINES

if [ $bad -ne 0 ]; then
    echo "--- $*"
    echo "--- output:"
    cat "$out"
fi
exit $bad
