#!/bin/sh
# diagnostics.sh [--check] ROOT: docs/diagnostics.md, an entry a diagnostic: what scripts/ledger.sh reads of it in the
# sources and the tests, and its line of docs/classes.txt. Needs what ledger.sh needs, and cmp.
#
# --check: nothing is written; the page must be as it would be.
# Exit 1 where it is not, or where docs/classes.txt lacks a diagnostic or has one that is none.
set -eu
check=0
[ "$1" != --check ] || { check=1; shift; }
root=$1
page=$root/docs/diagnostics.md
new=$(mktemp)
trap 'rm -f "$new"' EXIT

sh "$root/scripts/ledger.sh" --rows "$root" | awk -F '\t' -v reasons="$root/docs/classes.txt" '
function fail(text) {
    print text | "cat >&2"
    bad = 1
}
# A regular expression of a test as the text that it stands for, "..." where that may differ.
function plain(regex) {
    sub(/^\^/, "", regex)
    sub(/\$$/, "", regex)
    sub(/ *\+?\\\[[a-z0-9-]*\\\]$/, "", regex)
    gsub(/\\\./, "\001", regex)
    gsub(/\[[^]]*\]([+*]|\{[0-9,]+\})|\.[+*]|@[A-Z][A-Z0-9_]*@/, "...", regex)
    gsub(/\[AB\]/, "A", regex)
    gsub(/\\/, "", regex)
    while (match(regex, /[A-Za-z]\.s /)) regex = substr(regex, 1, RSTART) "\047" substr(regex, RSTART + 2)
    gsub(/\001/, ".", regex)
    return regex
}
function place(section) {
    return section == "-" ? "" : " (" (section ~ /^[0-9]/ ? "PTX ISA " : "") section ")"
}
function flush(   i, name) {
    if (last == "") return
    printf "\n## %s\n\n**%s**: %s\n\n", last, class, last in why ? why[last] : ""
    printf "%s", body
    if (message != "") printf "- Message: `%s`\n", message
    if (kernels != "") printf "- Kernel: %s\n", kernels
    else printf "- Tests: %s\n", tests
}
function begin(   i) {
    flush()
    last = $1
    class = $2
    body = kernels = message = ""
    tests = $6
    gsub(/ /, ", ", tests)
    for (i = 7; i < NF; i += 2) {
        if (message == "" && plain($(i + 1)) ~ /^(error|warning): [^.]/) {
            message = plain($(i + 1))
            kernels = link($i) (kernels == "" ? "" : ", " kernels)
        } else if (index(kernels, link($i)) == 0)
            kernels = kernels (kernels == "" ? "" : ", ") link($i)
    }
    if (!(last in why)) fail("docs/classes.txt: why is " last " of class " class "?")
    delete unused[last]
}
function link(file,   name) {
    name = file
    sub(/.*\//, "", name)
    return "[" name "](../" file ")"
}
BEGIN {
    while ((getline line < reasons) > 0) {
        if (line ~ /^(#|$)/) continue
        at = index(line, ": ")
        why[substr(line, 1, at - 1)] = unused[substr(line, 1, at - 1)] = substr(line, at + 2)
    }
    print "# Diagnostics\n"
    print "What the emulator says of a kernel, by the id at the end of the message. Made by `make rules` from the sources,"
    print "the tests and [classes.txt](classes.txt): do not edit.\n"
    print "| class | what it says | what happens |"
    print "| --- | --- | --- |"
    print "| **error** | the hardware traps, or every allowed order is wrong; or the emulator cannot go on | the kernel stops |"
    print "| **warning** | some allowed order changes a result | told, and the kernel goes on; `--check=error`: it stops |"
    print "| **strict** | the text forbids it, but no known chip or toolchain shows it, or well-kept kernels rely on it | the emulator does what the chip does; told with `--check=strict`, else counted in one line at the end |"
    print "\n`--check=off` tells errors alone."
}
{
    if ($1 != last) begin()
    if ($2 != class) fail($1 " has two classes")
    rule = "- Rule: " $4 place($3) "\n" ($5 == "-" ? "" : "- Fix: " $5 "\n")
    if (index(body, rule) == 0) body = body rule
}
END {
    flush()
    for (id in unused) fail("docs/classes.txt: " id " is no diagnostic of the emulator")
    close("cat >&2")
    exit bad
}' >"$new"

if cmp -s "$new" "$page"; then
    echo "diagnostics: docs/diagnostics.md has $(grep -c '^## ' "$new") entries and is up to date"
elif [ "$check" -eq 1 ]; then
    echo "docs/diagnostics.md is stale: run make rules, and commit it"
    diff "$page" "$new" | head -n 20
    exit 1
else
    cat "$new" >"$page"
    echo "diagnostics: docs/diagnostics.md is new"
fi
