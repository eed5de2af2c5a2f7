#!/bin/sh
# ledger.sh ROOT: scripts/ledger.sh reads every form of a diagnostic in a small tree, with its section, place and tests, and
# names each fault of one that is not as it should be.
set -u
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0

fresh() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/emulator/room" "$tree/tests/negative" "$tree/tests/unit/room"
    cat >"$tree/emulator/room/fault.h" <<'C'
struct diag {
    const char *id, *section;
};
#define FAULT(name_, rule_, section_) \
    ((struct diag){.id = (name_), .rule = (rule_), .section = (section_), .class = DIAG_WARNING})
C
    cat >"$tree/emulator/room/a.c" <<'C'
/* .id = "in-a-comment" and struct diag x = y; */
#define SECTION "PTX ISA 1.2"
static const struct diag constant = {
    .id = "a-constant",
    .rule = "a rule with {, \" and .id = \"nothing\"",
    .section = SECTION,
    .class = DIAG_STRICT,
};
#define HANG(rule_) \
    { .id = "hang", .rule = rule_ }
static const struct diag table[LAST] = {
    [ONE] = HANG("one"),
    [TWO] = {.section = "PTX ISA 3.4, "
                        "5.6", .id = "in-a-table"},
};
void f(const struct diag *d) {
    struct diag copy = *d, other = constant;
    copy = FAULT(
        "by-macro", d ? "a, (b)" : "c",
        "PTX ISA 7");
    report(&copy, &(struct diag){.id = "literal"});
}
C
    printf '%s\n' '// EXPECT: ^error: .* +\[a-constant\]$' '// EXPECT: \[hang\]' '// NEVER: \[literal\]' \
        >"$tree/tests/negative/a_constant.ptx"
    printf '%s\n' 'faults("k", "by-macro"); CHECK_HAS(log, "[literal]"); CHECK_HAS(log, "any text");' \
        'CHECK_STR(d->id, "hang"); faults("in-a-table");' >"$tree/tests/unit/room/test_a.c"
}

complain() {
    echo "FAILED: $1: exit code $code: $out"
    bad=1
}

# says WHAT TEXT...: the ledger is whole, and each TEXT a line of it, blanks folded
says() {
    out=$(sh "$root/scripts/ledger.sh" "$tree" 2>&1 | tr -s ' ') && code=0 || code=$?
    for text in "$@"; do
        printf '%s\n' "$out" | grep -qxF -e "$text" || complain "no line \`$text'"
    done
}

# breach FILE LINE TEXT: with LINE at the end of FILE the check fails, and says TEXT
breach() {
    fresh
    printf '%s\n' "$2" >>"$tree/$1"
    out=$(sh "$root/scripts/ledger.sh" --check "$tree" 2>&1) && code=0 || code=$?
    case $code:$out in
    1:*"$3"*) ;;
    *) complain "$1 with $2" ;;
    esac
}

fresh
says 'a-constant strict 1.2 emulator/room/a.c:3 negative.a_constant' \
    'by-macro warning 7 emulator/room/a.c:18 unit.room.a' \
    'hang error - emulator/room/a.c:12 negative.a_constant unit.room.a' \
    'in-a-table error 3.4, 5.6 emulator/room/a.c:13 unit.room.a' \
    'literal error - emulator/room/a.c:21 unit.room.a' \
    'ledger: 5 diagnostics, each expected by a test'

c=emulator/room/a.c cannot='the id of this diagnostic cannot be read'
breach $c 'static const struct diag untold = {.id = "untold"};' '[untold] is expected by no test'
breach $c 'static const struct diag d = {.rule = "no id"};' "a.c:23: $cannot"
breach $c 'static const struct diag d = {"hang", "by position"};' "a.c:23: $cannot"
breach $c 'static const struct diag d = {.id = "Not Words"};' "a.c:23: $cannot"
breach $c 'struct diag d = {.id = info.id};' "a.c:23: $cannot"
breach $c 'struct diag d = make("hang");' "a.c:23: $cannot"
breach $c 'static const struct diag more[] = {[ONE] = {.rule = "no id"}};' "a.c:23: $cannot"
breach $c 'void g(void) { report(&(struct diag){0}); }' "a.c:23: $cannot"
breach $c 'void g(void) { report(&FAULT(name, "a rule", NULL)); }' "a.c:23: $cannot"
breach $c 'struct diag d = {.id = "hang"}, e = {.id = "hang"};' 'a.c:23: an id that belongs to no struct diag'
breach $c 'void g(struct diag *d) { d->id = "hang"; }' 'a.c:23: an id that belongs to no struct diag'
breach $c 'static const struct diag d = {.id = "hang", .section = where};' 'a.c:23: the section of this'
breach $c '#define ODD(x) ((struct diag){.id = #x})' 'the id of the diagnostics that ODD makes cannot be read'
breach $c 'static const struct diag d = {.id = "hang", .class = kind};' 'a.c:23: the class of this'
breach $c 'static const struct diag d = {.id = "hang"' 'a.c:23: this bracket never closes'
breach tests/negative/a_constant.ptx '// EXPECT: \[a-ghost\]' 'a_constant.ptx:4: [a-ghost] is no diagnostic'
breach tests/negative/a_constant.ptx '// NEVER: \[a-ghost\]' 'a_constant.ptx:4: [a-ghost] is no diagnostic'
breach tests/unit/room/test_a.c 'faults("a-ghost");' 'test_a.c:3: [a-ghost] is no diagnostic'

rm -rf "${tree:?}"/*
mkdir "$tree/emulator" "$tree/tests"
out=$(sh "$root/scripts/ledger.sh" --check "$tree" 2>&1) && code=0 || code=$?
[ "$code" -eq 1 ] || complain "an empty tree passes"
exit $bad
