#!/bin/sh
# progress.sh ctest ARGUMENT...: runs it and shows how far it is, on a terminal in one line, elsewhere in a few. All that is
# not a step forward (failed and skipped tests, the summary) is shown as it comes. The exit code is ctest's.
set -u
if [ -t 1 ]; then
    exec "$@" --progress
fi
{
    "$@" 2>&1
    echo "progress.sh: exit $?"
} | while IFS= read -r line; do
    case $line in
    'progress.sh: exit '*)
        exit "${line##* }"
        ;;
    ' '*' Start '*) ;; # CTest: a test starts; it has passed
    *'00/'*' Test '*' Passed '*) echo "$line" ;;
    *[0-9]/[0-9]*' Test '*' Passed '*) ;;
    *) printf '%s\n' "$line" ;;
    esac
done
