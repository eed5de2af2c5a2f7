#!/bin/sh
# map.sh ROOT: emulator/README.md is a true map. Each of its links leads to a file; its table has every room of
# emulator/ and no other; the names in backquotes right behind a link are declared or defined in that file, and any
# other name with an underscore occurs in emulator/. A breach is one line, and exit 1.
set -u
root=$1

# named: the map's links with the names behind them, a line each: `file` or `file name`; other names as `- name`
named() {
    awk '
    function take(pattern) {
        if (!match(text, pattern)) return ""
        found = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        return found
    }
    function bare(name) {
        sub(/^[^`]*`/, "", name)
        sub(/`.*/, "", name)
        return name
    }
    { text = text " " $0 }
    END {
        while (match(text, /\]\([^)]*\)|`[A-Za-z]+_[A-Za-z0-9_]+`/)) {
            found = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            if (found ~ /^`/) {
                print "-", bare(found)
                continue
            }
            file = substr(found, 3, length(found) - 3)
            print file
            for (first = 1; (name = take(first ? "^ +`[A-Za-z_0-9]+`" : "^(,| and) +`[A-Za-z_0-9]+`")) != ""; first = 0)
                print file, bare(name)
        }
    }' README.md
}

# declares FILE NAME: at file level, as a macro, as an entry of a table or as an enumerator
declares() {
    grep -qE "^[A-Za-z_].*\\b$2(\\(|\\[|;| =| \\{)|^#define $2\\b|^[A-Z]+\\($2[,)]|^$2:|^ +$2(,| = )" "$1"
}

# wrong DIR: what the map of DIR/emulator says and is not so
wrong() (
    cd "$1/emulator" || exit 2
    named | while read -r file name; do
        if [ "$file" = - ]; then
            grep -rqw --include='*.[ch]' --include='*.def' -e "$name" . || echo "there is no $name in emulator/"
        elif [ ! -f "$file" ]; then
            echo "there is no file $file"
        elif [ -n "$name" ] && ! declares "$file" "$name"; then
            echo "$file does not declare $name"
        fi
    done
    named | grep -q '^[^-]' || echo 'no link found'
    find ./*/ -type f | cut -d/ -f2 | sort -u | while read -r room; do
        grep -q "^| \`$room/\` |" README.md || echo "the table lacks $room/"
    done
    sed -n 's/^| `\([^`]*\)\/` |.*/\1/p' README.md | while read -r room; do
        [ -n "$(find "$room" -type f 2>/dev/null)" ] || echo "$room/ is no room"
    done
)

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0

fresh() {
    mkdir -p "$tree/emulator/num" "$tree/emulator/ptx"
    printf '%s\n' '# A map' '| room | what |' '|---|---|' '| `num/` | numbers, [`op.def`](ptx/op.def) |' \
        '| `ptx/` | text |' 'See [`num/num.c`](num/num.c)' \
        '`num_add`, `NUM_RN` and `NUM_BITS`, then `sum_all`; [op](ptx/op.def) `mov`.' \
        >"$tree/emulator/README.md"
    printf '%s\n' '#define NUM_BITS 8' 'enum {' '    NUM_RN, /* nearest */' '};' 'int num_add(int a) {' \
        '    return sum_all(a);' '}' >"$tree/emulator/num/num.c"
    echo 'OP(mov, "mov")' >"$tree/emulator/ptx/op.def"
}

# breach SED TEXT [FILE]: with the map (or FILE) changed so, it is said that TEXT
breach() {
    fresh
    sed "$1" "$tree/emulator/${3:-README.md}" >"$tree/new" && mv "$tree/new" "$tree/emulator/${3:-README.md}"
    [ "$(wrong "$tree")" = "$2" ] || {
        echo "FAILED: $1 gives: $(wrong "$tree")"
        bad=1
    }
}

breach '' ''
breach 's/(num.num.c)/(num\/sum.c)/; s/`num_add`.*`NUM_BITS`//' 'there is no file num/sum.c'
breach 's/`num_add`/`sum_all`/' 'num/num.c does not declare sum_all'
breach 's/num_add/num_sub/' 'num/num.c does not declare num_add' num/num.c
breach 's/NUM_RN/NUM_RZ/' 'num/num.c does not declare NUM_RZ'
breach 's/NUM_BITS`/NUM_BYTES`/' 'num/num.c does not declare NUM_BYTES'
breach 's/`mov`/`add`/' 'ptx/op.def does not declare add'
breach 's/then `sum_all`/then `sum_none`/' 'there is no sum_none in emulator/'
breach '/^| `ptx/d' 'the table lacks ptx/'
breach 's/^| `ptx/| `isa\/` | |\n&/' 'isa/ is no room'
breach 's/\[[^]]*\]([^)]*)//g; s/`num_add`.*//' 'no link found'

found=$(wrong "$root")
[ -z "$found" ] || {
    echo "FAILED: emulator/README.md says what is not so:"
    echo "$found"
    bad=1
}
exit $bad
