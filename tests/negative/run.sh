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
#   // PROGRAM: name    of a .ptx: the program of tests/negative/ that runs it; without this line launch_ptx
#   // ARGS: words      appended to PROGRAM's arguments
#   // EMU: words       options of the launcher
#
# docs/diagnostics.md shows a message of some kernels (python/sm100repo/diagnostics.py): it must be in the output, too.
# SAN_LIB is preloaded where it is set (the emulator is instrumented, PROGRAM is not). The output is copied to the file
# SAID where that is set.
set -u
source=$1 emulator=$2
shift 2

# Few processes: hundreds of tests come through here.
expect='' never='' exit='' args='' emu='' newline='
'
while IFS= read -r text; do
    case $text in
    '// EXPECT: '*) expect=$expect${text#// EXPECT: }$newline ;;
    '// NEVER: '*) never=$never${text#// NEVER: }$newline ;;
    '// EXIT: '*) exit=${text#// EXIT: } ;;
    '// ARGS: '*) args="$args ${text#// ARGS: }" ;;
    '// EMU: '*) emu="$emu ${text#// EMU: }" ;;
    esac
done <<LINES
$(grep '^// [A-Z]*: ' "$source")
LINES

# numbered: sets text with each @NAME@ replaced by its line's number
numbered() {
    while case $text in *@[A-Z]*@*) mark=$(expr "$text" : '.*@\([A-Z][A-Z0-9_]*\)@') ;; *) false ;; esac; do
        line=$(grep -nE "// $mark\$" "$source" | sed 's/:.*//;q')
        if [ -z "$line" ]; then
            echo "$source: no line ends in \`// $mark'" >&2
            line=missing
        fi
        text=$(printf '%s\n' "$text" | sed "s/@$mark@/$line/g")
    done
}

toolkit=${1%/tests/*}/toolkit.env
out=$(mktemp)
trap 'rm -f "$out"' EXIT
# shellcheck disable=SC2086 # words on purpose
set -- timeout -k 5 600 env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} \
    ASAN_OPTIONS="detect_leaks=0:exitcode=124:${ASAN_OPTIONS:-}" UBSAN_OPTIONS="exitcode=124:${UBSAN_OPTIONS:-}" \
    TSAN_OPTIONS="exitcode=124:${TSAN_OPTIONS:-}" "$emulator" $emu "$@" $args
"$@" >"$out" 2>&1
code=$?
[ -z "${SAID:-}" ] || cp "$out" "$SAID"

bad=0
complain() {
    echo "FAILED: $1"
    bad=1
}

if [ -n "$exit" ]; then
    [ "$code" -eq "$exit" ] || complain "exit code $code, expected $exit"
elif [ "$code" -lt 1 ] || { [ "$code" -gt 123 ] && [ "$code" -ne 126 ]; }; then
    complain "exit code $code, expected a failure that is reported (1 to 123, or 126)"
fi

[ "$exit" = 0 ] || [ -n "$expect" ] || complain "$source has no \`// EXPECT:' line"
while IFS= read -r text; do
    numbered
    [ -z "$text" ] || grep -qE -e "$text" "$out" ||
        complain "not in the output: $text (after a message was reworded: make mend EXPECT=$source)"
done <<LINES
$expect
LINES
while IFS= read -r text; do
    numbered
    [ -z "$text" ] || ! grep -qE -e "$text" "$out" || complain "in the output: $text"
done <<LINES
$never
LINES

# What depends on the host and on nvcc is one sign: addresses, long numbers, which operand is read first; with another nvcc
# than the page's also the line that it gives a statement of several.
entry="- Kernel: [${source##*/}](../tests/${source#"${source%negative/*}"})"
shown=$(grep -F -B 1 -e "$entry" "${0%/*}/../../docs/diagnostics.md")
case $shown in
*'- Message: `'*)
    varies='0x[0-9a-f]+|[0-9]{4,}|matrix [AB]'
    grep -qsxF "NVCC_VERSION='13.0'" "$toolkit" || varies="$varies|:[0-9]+"
    masked=$(sed -E "s/ +\[[a-z0-9-]+\]\$//; s/$varies/#/g" "$out")
    while IFS= read -r message; do
        case $newline$masked$newline in
        *"$newline$message$newline"*) ;;
        *) complain "docs/diagnostics.md shows \`$message', not what this prints: run make rules, and commit the page" ;;
        esac
    done <<LINES
$(printf '%s\n' "$shown" | sed -nE "/^- Message: /{ s/^- Message: \`(.*)\`\$/\1/; s/$varies/#/g; p; }")
LINES
    ;;
esac

if [ $bad -ne 0 ]; then
    echo "--- $*"
    echo "--- output:"
    cat "$out"
fi
exit $bad
