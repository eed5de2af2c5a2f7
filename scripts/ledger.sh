#!/bin/sh
# ledger.sh [--check | --rows | --ids] ROOT: every diagnostic that the emulator can give, from the sources: its id, its class
# (base/diag.h), the section that states its rule, where it is defined, and the tests that expect it. Needs find, sort and
# awk.
#
# A diagnostic is a `struct diag` with a constant `.id`, or the use of a macro that makes one (`.id = "..."`, or
# `.id = PARAMETER` and the string given for it). One whose id cannot be read so is an error, and so is an id that stands
# elsewhere: what this lists is all there is.
#
# A test expects an id with `// EXPECT: ... \[id\]` in a kernel, with "[id]" or, where it has a hyphen, "id" in a unit
# test, or by comparing a field `id`, "id". Tests have CTest's names. `// NEVER:` expects nothing, but what it names must
# exist.
#
# --check: nothing but the errors: an id that no test expects, and one that a test names and no source has. Exit 1 where
# there is any error, with or without --check.
#
# --rows: for scripts/diagnostics.sh, a line a definition, by tabs: ID CLASS SECTION RULE HINT TESTS, then FILE REGEX of
# each kernel that expects it; what there is not is "-".
# --ids: the ids alone, in order; tests are not looked at.
set -eu
check=0
case $1 in
--check) check=1; shift ;;
--rows) check=2; shift ;;
--ids) check=3; shift ;;
esac
cd "$1"

# ID SECTION FILE LINE CLASS RULE HINT of every definition, by tabs. Headers come first: their macros are used in other files.
definitions() {
    { find emulator -type f -name '*.h' | LC_ALL=C sort; find emulator -type f -name '*.c' | LC_ALL=C sort; } | awk '
function fail(at, text) {
    printf "%s:%d: %s\n", file, line[at], text | "cat >&2"
    bad = 1
}

# Appends the tokens of a piece of C to tok[1 .. n]; numbers fall into characters, which does no harm here.
function lex(text, at) {
    while (text != "") {
        if (comment) {
            comment = !match(text, /\*\//)
            text = comment ? "" : substr(text, RSTART + 2)
        } else if (match(text, /^[ \t]+/)) {
            text = substr(text, RLENGTH + 1)
        } else if (text ~ /^\/\//) {
            return
        } else if (text ~ /^\/\*/) {
            comment = 1
            text = substr(text, 3)
        } else {
            if (!match(text, /^("([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|[A-Za-z_][A-Za-z_0-9]*)/)) RLENGTH = 1
            tok[++n] = substr(text, 1, RLENGTH)
            line[n] = at
            text = substr(text, RLENGTH + 1)
        }
    }
}
function is_name(t) { return t ~ /^[A-Za-z_]/ }
function is_string(t) { return t ~ /^"/ }

# The token that closes the bracket at `open`.
function closing(open,   i, depth) {
    for (i = open; i <= n; i++) {
        if (tok[i] ~ /^[({[]$/) depth++
        if (tok[i] ~ /^[)}\]]$/ && --depth == 0) return i
    }
    fail(open, "this bracket never closes")
    exit 1
}

# The text of a constant string at token i, which may lie in parentheses, come in pieces or be a macro; else "".
function constant(i,   s) {
    while (tok[i] == "(") i++
    for (s = ""; is_string(tok[i]) || tok[i] in text_of; i++)
        s = s (tok[i] in text_of ? text_of[tok[i]] : substr(tok[i], 2, length(tok[i]) - 2))
    return s
}
function words(i,   s) {
    s = i ? constant(i) : ""
    gsub(/\\"/, "\"", s)
    return s == "" ? "-" : s
}
# The token after `.name =` between two tokens, or 0.
function field(name, from, to,   i) {
    for (i = from; i < to; i++)
        if (tok[i] == "." && tok[i + 1] == name && tok[i + 2] == "=") return i + 3
    return 0
}
# One diagnostic; the others are the tokens where its section, class, rule and hint stand, 0 without one.
function emit(at, id, section, class, rule, hint,   name) {
    if (id !~ /^[a-z0-9]+(-[a-z0-9]+)*$/)
        fail(at, "the id of this diagnostic cannot be read: write .id = \"words-like-these\"")
    if (!section || tok[section] == "NULL") section = "-"
    else if ((section = constant(section)) == "") fail(at, "the section of this diagnostic cannot be read")
    name = class ? tok[class] : "DIAG_ERROR"
    if (name !~ /^DIAG_(ERROR|WARNING|STRICT)$/) fail(at, "the class of this diagnostic cannot be read")
    name = tolower(substr(name, 6))
    printf "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", id, section, file, line[at], name, words(rule), words(hint)
}

# #define NAME "text", and #define NAME(...) with a struct diag in it: which arguments are its id and section.
function define(text, at,   name, first, i, k, value) {
    if (!match(text, /^[ \t]*#[ \t]*define[ \t]+[A-Za-z_0-9]+\(?/)) return
    name = substr(text, 1, RLENGTH)
    first = n + 1
    lex(substr(text, RLENGTH + 1), at)
    sub(/.*[ \t]/, "", name)
    if (sub(/\($/, "", name)) {
        value = field("id", first, n)
        if (value) {
            while (tok[value] == "(") value++
            macro[name] = is_string(tok[value]) ? constant(value) : -argument(tok[value], first)
            if (macro[name] == 0) fail(n, "the id of the diagnostics that " name " makes cannot be read")
            for (k = 1; k <= 4; k++) {
                value = field(fields[k], first, n)
                while (tok[value] == "(") value++
                given_at[name, k] = value ? argument(tok[value], first) : 0
                given_as[name, k] = !value || given_at[name, k] ? "" : k == 2 ? tok[value] : "\"" constant(value) "\""
            }
        }
    } else if (is_string(tok[first]))
        text_of[name] = constant(first)
    n = first - 1
}
# The number of a parameter in the list that begins at token i, or 0.
function argument(name, i,   k) {
    for (k = 1; tok[i] != ")" && i <= n; i++) {
        if (tok[i] == name) return k
        k += tok[i] == ","
    }
    return 0
}
# The first token of argument k of the call whose `(` is token i.
function nth(i, k,   end) {
    end = closing(i)
    for (i++; k > 1 && i < end; i++) {
        if (tok[i] ~ /^[({[]$/) i = closing(i)
        else if (tok[i] == ",") k--
    }
    return i
}
# The token where field k of the diagnostic of a macro stands: an argument, or what the macro gives, put behind the last.
function given(i, k) {
    if (given_at[tok[i], k]) return nth(i + 1, given_at[tok[i], k])
    if (given_as[tok[i], k] == "") return 0
    tok[n + 2 * k] = given_as[tok[i], k]
    tok[n + 2 * k + 1] = ""
    return n + 2 * k
}
function macro_use(i,   name, id) {
    name = tok[i]
    id = macro[name] ~ /^-/ ? constant(nth(i + 1, -macro[name])) : macro[name]
    emit(i, id, given(i, 1), given(i, 2), given(i, 3), given(i, 4))
}

# The initialiser `{...}` of one diagnostic.
function braces(open, at,   end, id) {
    end = closing(open)
    id = field("id", open, end)
    seen[id] = 1
    emit(at, id ? constant(id) : "", field("section", open, end), field("class", open, end), field("rule", open, end),
         field("hint", open, end))
    return end
}
# `struct diag` at token i. Pointers, parameters and copies of another one define none.
function declaration(i,   at, list) {
    at = i
    i += 2
    if (tok[i] == ")" && tok[i + 1] == "{") braces(i + 1, at)
    if (!is_name(tok[i])) return
    list = tok[++i] == "["
    if (list) i = closing(i) + 1
    if (tok[i] != "=" || tok[i + 1] in macro || tok[i + 1] == "*") return
    if (tok[i + 1] != "{") {
        if (!is_name(tok[i + 1]) || tok[i + 2] != ";") fail(at, "the id of this diagnostic cannot be read")
    } else if (!list)
        braces(i + 1, at)
    else
        for (list = closing(++i); ++i < list;)
            if (tok[i] == "{") i = braces(i, i)
}
BEGIN { split("section class rule hint", fields, " ") }
{
    file = $0
    n = comment = at = 0
    for (i in seen) delete seen[i]
    for (i in text_of) delete text_of[i]
    while ((getline text < file) > 0) {
        at++
        if (comment || text !~ /^[ \t]*#/) {
            lex(text, at)
            continue
        }
        whole = text
        first = at
        while (whole ~ /\\$/ && (getline text < file) > 0) {
            at++
            whole = substr(whole, 1, length(whole) - 1) text
        }
        define(whole, first)
    }
    close(file)
    for (i = 1; i <= n; i++) {
        if (tok[i] in macro && tok[i + 1] == "(") macro_use(i)
        else if (tok[i] == "struct" && tok[i + 1] == "diag") declaration(i)
        else if (tok[i] == "DIAG" && tok[i + 4] == "=") braces(i + 5, i)
        else if (tok[i] == "id" && tok[i + 1] == "=" && is_string(tok[i + 2]) && !((i + 2) in seen))
            fail(i, "an id that belongs to no struct diag of a form that scripts/ledger.sh reads")
    }
}
END { exit bad }'
}

# ID TEST FILE:LINE EXPECT|NEVER REGEX of every id that a test names, by tabs.
expectations() {
    find tests -type f \( -name '*.cu' -o -name '*.ptx' -o -path 'tests/unit/*.[ch]' \) | LC_ALL=C sort | awk '
function named(regex, open, close_,   rest, id) {
    for (rest = text; match(rest, regex); rest = substr(rest, RSTART + RLENGTH)) {
        id = substr(rest, RSTART + open, RLENGTH - open - close_)
        printf "%s\t%s\t%s:%d\t%s\t%s\n", id, test, file, at, never ? "NEVER" : "EXPECT", unit ? "-" : text
    }
}
{
    file = test = $0
    sub(/^tests\//, "", test)
    unit = test ~ /^unit\//
    if (test !~ /\.h$/) {
        gsub(/\//, ".", test)
        sub(/\.test_/, ".", test)
        sub(/\.[a-z]+$/, "", test)
    }
    for (at = 1; (getline text < file) > 0; at++) {
        never = text ~ /^\/\/ NEVER:/
        if (unit) {
            named("\"[a-z][a-z0-9]*(-[a-z0-9]+)+\"", 1, 1)
            named("\"\\[[a-z][a-z0-9-]*\\]\"", 2, 2)
            named("[>.]id, \"[a-z0-9]+\"", 6, 1)
        } else if (never || text ~ /^\/\/ EXPECT:/)
            named("\\\\\\[[a-z][a-z0-9-]*\\\\\\]", 2, 2)
    }
    close(file)
}'
}

defined=$(definitions)
if [ $check = 3 ]; then
    printf '%s\n' "$defined" | cut -f 1 | LC_ALL=C sort -u
    exit
fi
{ printf '%s\n' "$defined" | LC_ALL=C sort -t '	' -k 1,1 -k 3,3 -k 4,4n; expectations; } | awk -F '\t' -v check=$check '
function error(text) { errors[++bad] = text }
function wider(width, text) { return length(text) > width ? length(text) : width }
NF == 7 {
    rows++
    id[rows] = $1
    class[rows] = $5
    rule[rows] = $6
    hint[rows] = $7
    section[rows] = $2
    where[rows] = $3 ":" $4
    ids += !($1 in known)
    known[$1]
    id_width = wider(id_width, $1)
    if (sub(/^PTX ISA /, "", section[rows])) section_width = wider(section_width, section[rows])
    where_width = wider(where_width, where[rows])
    next
}
!($1 in known) { error($3 ": [" $1 "] is no diagnostic of the emulator") }
$4 == "EXPECT" && !(($1, $2) in told) {
    told[$1, $2] = 1
    tests[$1] = tests[$1] " " $2
    sub(/:[0-9]+$/, "", $3)
    sub(/^\/\/ EXPECT: */, "", $5)
    if ($5 != "-") kernels[$1] = kernels[$1] "\t" $3 "\t" $5
}
END {
    if (!rows) {
        print "ledger: no diagnostic found: is this the root of the repository?"
        exit 1
    }
    if (check == 2) {
        for (i = 1; i <= rows; i++)
            printf "%s\t%s\t%s\t%s\t%s\t%s%s\n", id[i], class[i], section[i], rule[i], hint[i],
                   id[i] in tests ? substr(tests[id[i]], 2) : "-", kernels[id[i]]
        exit
    }
    row = "%-" id_width "s  %-7s  %-" section_width "s  %-" where_width "s %s\n"
    if (!check) printf row, "id", "class", "PTX ISA", "defined", " tests"
    for (i = 1; i <= rows; i++) {
        first = id[i] != id[i - 1]
        if (!check) printf row, id[i], class[i], section[i], where[i], !first ? " as above" : id[i] in tests ? tests[id[i]] : " none"
        if (first && !(id[i] in tests)) error(where[i] ": [" id[i] "] is expected by no test")
    }
    for (i = 1; i <= bad; i++) print errors[i]
    if (!bad) printf "ledger: %d diagnostics, each expected by a test\n", ids
    exit bad > 0
}'
