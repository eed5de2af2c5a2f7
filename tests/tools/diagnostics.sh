#!/bin/sh
# diagnostics.sh ROOT: scripts/diagnostics.sh makes the page of a small tree, and its check finds what is stale, what has no
# reason and what is no diagnostic.
set -u
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0
mkdir -p "$tree/emulator/room" "$tree/tests/negative" "$tree/tests/unit/room" "$tree/docs" "$tree/scripts"
cp "$root/scripts/ledger.sh" "$tree/scripts"
cat >"$tree/emulator/room/a.c" <<'C'
static const struct diag one = {
    .id = "rule-one",
    .rule = "a \"rule\" in "
            "two pieces",
    .section = "PTX ISA 1.2",
    .hint = "mend it",
    .class = DIAG_WARNING,
};
#define MADE(rule_, hint_) { .id = "made", .rule = rule_, .hint = hint_ }
static const struct diag made[] = {MADE("first", NULL), MADE("second", "so")};
C
printf '%s\n' '// EXPECT: ^warning: it.s 0x[0-9a-f]+ at .*a.ptx:@HERE@ \(so\) +\[rule-one\]$' >"$tree/tests/negative/a.ptx"
printf '%s\n' 'faults("[made]");' >"$tree/tests/unit/room/test_a.c"
printf '%s\n' '# a comment' 'made: since it is.' 'rule-one: it may happen.' >"$tree/docs/classes.txt"

# run EXPECTED-CODE TEXT [ARG]: the script ends so and says TEXT
run() {
    out=$(sh "$root/scripts/diagnostics.sh" ${3:+"$3"} "$tree" 2>&1) && code=0 || code=$?
    case $code:$out in
    "$1":*"$2"*) ;;
    *)
        echo "FAILED: expected $1, $2; exit code $code: $out"
        bad=1
        ;;
    esac
}

run 1 'is stale' --check
run 0 'is new'
run 0 '2 entries' --check
sed '1,/is counted\|tells errors alone/d' "$tree/docs/diagnostics.md" >"$tree/entries"
cat >"$tree/expected" <<'MD'

## made

**error**: since it is.

- Rule: first
- Rule: second
- Fix: so
- Tests: unit.room.a

## rule-one

**warning**: it may happen.

- Rule: a "rule" in two pieces (PTX ISA 1.2)
- Fix: mend it
- Message: `warning: it's 0x... at ...a.ptx:... (so)`
- Kernel: [a.ptx](../tests/negative/a.ptx)
MD
if ! diff "$tree/expected" "$tree/entries"; then
    echo "FAILED: the entries"
    bad=1
fi
sed -i 's/mend it/mend this/' "$tree/emulator/room/a.c"
run 1 'is stale' --check
echo 'ghost: none.' >>"$tree/docs/classes.txt"
run 1 'ghost is no diagnostic' --check
sed -i '/^rule-one/d' "$tree/docs/classes.txt"
run 1 'why is rule-one of class warning' --check
exit $bad
