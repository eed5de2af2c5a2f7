#!/bin/sh
# progress.sh COMMAND...: runs CMake's build of the tests, or ctest, and shows how far it is, on a terminal in one line, elsewhere
# in a few. All that is not a step forward (warnings, failed and skipped tests, the summary) is shown as it comes. The exit
# code is COMMAND's.
set -u
terminal=
[ -t 1 ] && terminal=yes
if [ -n "$terminal" ] && [ "$1" = ctest ]; then
    exec "$@" --progress
fi
{
    "$@" 2>&1
    echo "progress.sh: exit $?"
} | while IFS= read -r line; do
    case $line in
    'progress.sh: exit '*)
        [ -z "$terminal" ] || printf '\033[K'
        exit "${line##* }"
        ;;
    '['*%'] '*) # CMake: 100% stands beside the last step
        [ -z "$terminal" ] || printf '  %s %s\033[K\r' "${line%%]*}]" "${line##*[ /]}"
        ;;
    ' '*' Start '*) ;; # CTest: a test starts; it has passed
    *'00/'*' Test '*' Passed '*) echo "$line" ;;
    *[0-9]/[0-9]*' Test '*' Passed '*) ;;
    *) printf '%s\n' "$line" ;;
    esac
done
