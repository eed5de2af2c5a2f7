#!/bin/sh
# small.sh EMULATOR PROGRAM: every kernel of PROGRAM's table, and what its label wants (README.md of the folder above):
#   legal           it ends well, and nothing is told at --check=strict
#   warning, error  one of the rules is told by default
#   strict          nothing is told by default, and one of the rules at --check=strict
#   order           nothing is told in the default order, and one of the rules in another (--explore)
#   open            it is not run
# Prints those that are not judged right; exit code 1 if there are. SAN_LIB is preloaded where it is set.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/../../tools/shared.sh"
emulator=$1 program=$2

# told LEVEL RULES...: the rules of them that a run tells, or, without rules, anything
told() {
    level=$1
    shift
    these=$(echo "$*" | tr ' ' '|')
    emulated "$emulator" --check="$level" --threads=1 "$program" "$name" "$variant" 2>&1 |
        grep -E "^(error|warning|strict): .*\\[(${these:-[a-z0-9-]+})\\]\$"
}

complain() { failed "$name $variant is $class: $1"; }

table=$(emulated "$emulator" "$program") || exit 1
while read -r name variant class rules; do
    # shellcheck disable=SC2086 # words on purpose
    case $class in
    legal)
        emulated "$emulator" --check=strict --threads=1 "$program" "$name" "$variant" >/dev/null 2>&1 ||
            complain "and told, or fails"
        ;;
    warning: | error:) told warn $rules >/dev/null || complain "and not told" ;;
    strict:)
        told warn >/dev/null && complain "and told by default"
        told strict $rules >/dev/null || complain "and not told"
        ;;
    order:)
        told strict >/dev/null && complain "and told in the default order"
        emulated "$emulator" --check=strict --explore=20 "$program" "$name" "$variant" 2>&1 |
            grep -qE "not under the default schedule: ($(echo "$rules" | tr ' ' '|')) at " ||
            complain "and told in no other order"
        ;;
    esac
done <<EOF_TABLE
$table
EOF_TABLE
exit $bad
