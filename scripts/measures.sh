#!/bin/sh
# measures.sh ROOT: the sizes of the house style that are counted in lines: none has more than 120 columns and no file more
# than 600 lines, in C and CUDA, and no room of the emulator holds more than 30% of it. A breach is one line, and exit 1;
# the rooms' shares are printed. Needs find, sort and awk.
#
# A URL may be longer, and what a test says after `// EXPECT:`, `// NEVER:` or `// NVCC:` stands in one line.
set -eu
cd "$1"

find emulator common tests [0-9][0-9]_* -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null |
    LC_ALL=C sort | LC_ALL=C awk '
function breach(text) {
    print text
    bad++
}
{
    file = $0
    for (n = 0; (getline text < file) > 0; n++)
        if (length(text) > 120 && text !~ /:\/\// && text !~ /^\/\/ (EXPECT|NEVER|NVCC): /)
            breach(file ":" n + 1 ": " length(text) " columns; the margin is 120")
    close(file)
    if (n > 600) breach(file ": " n " lines; a file has 600 at most")
    if (split(file, part, "/") > 2 && part[1] == "emulator") {
        if (!(part[2] in lines)) room[++rooms] = part[2]
        lines[part[2]] += n
        emulator += n
    }
}
END {
    if (!rooms) {
        print "measures: no room of the emulator found: is this the root of the repository?"
        exit 1
    }
    for (i = 1; i <= rooms; i++) {
        share = 100 * lines[room[i]] / emulator
        printf "measures: %-8s %6d lines, %4.1f%%\n", room[i], lines[room[i]], share
        if (share > 30) breach("emulator/" room[i] "/ holds more than 30% of the emulator")
    }
    exit bad > 0
}'
