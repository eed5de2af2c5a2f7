#!/bin/sh
# wild.sh bug|ok SOURCE EMULATOR LAUNCH_PTX: runs one kernel of this folder as it was reported, or mended.
# wild.sh mend SOURCE: prints the mended kernel.
#
# SOURCE (.ptx) holds both forms; a line has the same number in each:
#
#     // MENDED: instruction    is in the mended kernel only
#     instruction // BUG        is in the reported kernel only
#
# It carries ARGS, EMU, EXIT and EXPECT lines as tests/negative/run.sh reads them, EXIT and EXPECT for the
# reported kernel, and a label:
#
#   // RULES: id [id...]   the diagnostics any of which finds the bug; `none': there is none, though one was reported
#   // CLASS: class        error, warning or strict: the level at which it is told; `none' with `RULES: none'
#
# bug: one of RULES is told, and unless its class is error the kernel ends well; with `none' nothing is told by default.
# ok: the kernel ends well, and nothing is told at --check=strict.
# WILD_CHECK=off asks only that the kernel ends well, whatever is told; a bug of class error is left out (exit code 77).
set -u
form=$1 source=$2

# field NAME: what follows `// NAME: '
field() {
    sed -n "s|^// $1: *||p" "$source"
}

mend() {
    sed -E 's|^( *)// MENDED: |\1|; s|^(.* // BUG)$|// \1|; /^\/\/ (EXIT|EXPECT):/s|^|// as reported: |' "$source"
}

if [ "$form" = mend ]; then
    mend
    exit 0
fi
emulator=$3 launch=$4
check=${WILD_CHECK:-on}
rules=$(field RULES)
class=$(field CLASS)
[ "$form$class$check" = bugerroroff ] && exit 77

# expected: the lines that run.sh goes by
expected() {
    if [ "$form" = ok ] || [ "$rules" = none ] || [ "$check" = off ]; then
        echo '// EXIT: 0'
    elif [ "$class" != error ] && [ -z "$(field EXIT)" ]; then
        echo '// EXIT: 3' # found, and the kernel goes on
    fi
    [ "$check" = off ] && return
    if [ "$form" = ok ] || [ "$class" = strict ]; then
        echo '// EMU: --check=strict'
    fi
    if [ "$form" = ok ] || [ "$rules" = none ]; then
        echo '// NEVER: ^(error|warning|strict): '
    else
        echo "// EXPECT: ^(error|warning|strict): .*\\[($(echo "$rules" | tr ' ' '|'))\\]\$"
    fi
}

# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/../../tools/shared.sh"
kernel=$scratch/$(basename "$source")
if [ "$form" = ok ]; then
    mend >"$kernel"
else
    cat "$source" >"$kernel"
fi
expected >>"$kernel"
sh "$(dirname "$0")/../../negative/run.sh" "$kernel" "$emulator" "$launch" "$kernel"
