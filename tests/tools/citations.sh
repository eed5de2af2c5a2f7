#!/bin/sh
# citations.sh ROOT: what the lessons cite by line stands there. A breach is one line `page:line: ...`, and exit 1.
#
# A citation is `file:line` in a Markdown page, the file named from ROOT, and one of these:
#   in a report     --> file:line in KERNEL    the statement there holds the instruction of the report's `ptx:` line,
#                                              or is an assignment where that is a store
#                   from: a:1, b:2, c:3        each line calls the function that the line before it is in;
#                                              the last one is in KERNEL
#   within a line   ... at a:1 (from b:2)      the statement at a:1 holds an instruction that the line names, or is an
#                                              assignment where it says `stored at` or `loaded at`; b:2 calls its function
#   in prose        `file:line` `text`         the line holds the text
#   a link          [`text`](path#L12)         the same, the path seen from the page
# `line 12` alone says of no file what it is: refused. Lines of PTX are those of a program that the page had broken, and
# no file of the repository has them.
#
# First the check proves on a small tree that it can fail, then it looks at ROOT.
set -u
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0

check() { # TREE
    (cd "$1" && find . -name 'build*' -prune -o -name '.?*' -prune -o -name '*.md' -print | sed 's|^\./||' |
        LC_ALL=C sort | awk '
function breach(text) { printf "%s:%d: %s\n", page, row, text; bad++ }

# The name that a definition beginning at column 0 gives: of a function, or the suffix that a macro makes of two words.
function name_of(text,   words, part) {
    words = text
    sub(/\(.*/, "", words)
    if (words ~ /^[A-Z0-9_]+_$/) {
        split(substr(text, length(words) + 2), part, /[,)] */)
        return part[1] ~ /^[a-z][a-z0-9]*_/ ? part[1] : "_" part[1] "_" part[2]
    }
    sub(/.*[ *]/, "", words)
    return words
}
function load(file,   n, text, head, name, kernel) {
    if (file in lines) return lines[file]
    n = 0
    while ((getline text < file) > 0) {
        source[file, ++n] = text
        if (text ~ /^[A-Za-z_]/ && text !~ /;$/) { head = text; kernel = text ~ /^__global__/; name = "" }
        else if (head != "" && name == "") head = head text
        sub(/__launch_bounds__\([^)]*\)/, "", head)
        if (head ~ /\(/ && name == "") name = name_of(head)
        inside[file, n] = name
        launched[file, n] = kernel
        if (text ~ /^}/ || text ~ /^[a-z_].*}$/ || text ~ /^[A-Z0-9_]+\(.*\)$/) { head = name = ""; kernel = 0 }
    }
    close(file)
    return lines[file] = n
}
function exists(file, line) {
    if (load(file) >= line && line > 0) return 1
    breach(lines[file] ? file " has " lines[file] " lines, not " line : "there is no file " file)
    return 0
}
# The statement that the line is in, strings joined; a macro of the file is its own statement. Of an asm statement the
# compiler names the line of the last operands: another one gets nothing.
function statement(file, line,   text, i, named) {
    text = source[file, line]
    named = line
    if (text !~ /^[A-Z]/) {
        while (line > 1 && source[file, line - 1] !~ /([;{}]|\*\/)$/) line--
        text = source[file, line]
        i = line
        while (text !~ /([;{}]|\*\/)$/ && i < lines[file]) text = text source[file, ++i]
        if (text ~ /^ *asm/)
            for (; i >= line; i--)
                if (source[file, i] ~ /"[=+]?[a-z]"\(/) {
                    if (i != named) return ""
                    break
                }
    }
    gsub(/"[ \t\\]*"/, "", text)
    if (text ~ /__syncthreads\(/) text = text " bar.sync"
    return text
}
# Whether the statement is the instruction: literally, or by a macro whose first two words the instruction has in a row.
function holds(text, opcode,   part) {
    if (index(text, opcode)) return 1
    if (text !~ /^[A-Z0-9_]+_\(/) return 0
    sub(/^[^(]*\(/, "", text)
    split(text, part, /[,)] */)
    return index(opcode ".", "." part[1] "." part[2] ".") > 0
}
function called(file, line, from_file, from_line,   name) {
    name = inside[from_file, from_line]
    if (name == "" || !index(source[file, line], name "("))
        breach(file ":" line " does not call " name "(), which " from_file ":" from_line " is in")
}
function in_kernel(file, line) {
    if (kernel != "" && (inside[file, line] != kernel || !launched[file, line]))
        breach(file ":" line " is in " inside[file, line] "(), not in the kernel " kernel)
    kernel = ""
}
function ptx_line(text,   opcode) {
    opcode = text
    sub(/^ *ptx: *[^ ]* */, "", opcode)
    sub(/^@[^ ]* /, "", opcode)
    sub(/[ ;].*/, "", opcode)
    if (top_file != "" && !holds(statement(top_file, top_line), opcode) &&
        !(opcode ~ /^st\./ && stored(top_file, top_line)))
        breach(top_file ":" top_line " is not " opcode)
    top_file = ""
}
# Does an instruction named in `text` stand in the statement?
function named(text, file, line,   word, found) {
    while (match(text, /[a-z][a-z0-9_]*\.[a-z0-9_.:]*[a-z0-9_]/)) {
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (word !~ /\.(cu|cuh|c|h)(:|$)/ && index(statement(file, line), word)) found = 1
    }
    return found
}
function stored(file, line) { return statement(file, line) ~ /[^=!<>]=[^=]/ || statement(file, line) ~ /"st\./ }
function cited(file, line, before, after,   text) {
    count++
    if (!exists(file, line)) { last_file = ""; return }
    if (before ~ /--> $/) {
        kernel = after
        sub(/^ in /, "", kernel); sub(/[^A-Za-z0-9_].*/, "", kernel)
        if (top_file != "") breach("the report before this one shows no `ptx:` line")
        top_file = file; top_line = line
    } else if (before ~ /(from: |\(from |, )$/ && last_file != "") {
        called(file, line, last_file, last_line)
        if (after !~ /^, / && before !~ /\(/ && !nested) in_kernel(file, line)
    } else if (before ~ / at $/) {
        nested = 1
        if (before ~ /(stored|loaded) at $/ ? !stored(file, line) : !named($0, file, line))
            breach(file ":" line " is nothing that this line names")
    } else {
        text = after
        sub(/^`/, "", text)
        if (!match(text, /`[^`]+`/)) { breach(file ":" line ": quote beside it what stands there"); return }
        text = substr(text, RSTART + 1, RLENGTH - 2)
        if (!index(source[file, line], text)) breach(file ":" line " does not hold `" text "`")
    }
    last_file = file; last_line = line
}
function links(text,   quote, target, line) {
    while (match(text, /\[`[^`]+`\]\([^)]*#L[0-9]+\)/)) {
        target = substr(text, RSTART, RLENGTH)
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
        quote = target
        sub(/^\[`/, "", quote); sub(/`.*/, "", quote)
        sub(/.*\]\(/, "", target)
        line = target
        sub(/.*#L/, "", line); sub(/\)$/, "", line)
        sub(/#L.*/, "", target)
        target = folder target
        while (sub(/[^\/]+\/\.\.\//, "", target)) ;
        count++
        if (exists(target, line + 0) && !index(source[target, line + 0], quote))
            breach(target ":" line " does not hold `" quote "`")
    }
    if (text ~ /#L[0-9]/) breach("a link to a line quotes it: [`text`](path#L12)")
}
{
    page = $0
    folder = page
    if (!sub(/[^\/]*$/, "", folder)) folder = ""
    row = 0
    last_file = top_file = kernel = ""
    pages++
    while ((getline < page) > 0) {
        row++
        nested = 0
        plain = $0
        gsub(/\(ptx line [0-9]+/, "", plain)
        if (plain ~ /(^|[^a-z])[Ll]ines? [0-9]/) breach("write file:line, and beside it what stands there")
        links($0)
        if ($0 ~ /^ *ptx: /) { ptx_line($0); continue }
        last_file = $0 ~ /^ *from: / ? top_file : ""
        last_line = top_line
        rest = $0
        done = ""
        while (match(rest, /[A-Za-z0-9_.\/-]+\.(cu|cuh|c|h|def|sh|txt|md):[0-9]+/)) {
            where = substr(rest, RSTART, RLENGTH)
            done = done substr(rest, 1, RSTART - 1)
            rest = substr(rest, RSTART + RLENGTH)
            colon = index(where, ":")
            cited(substr(where, 1, colon - 1), substr(where, colon + 1) + 0, done, rest)
            done = done where
        }
        if ($0 ~ /^```/ && top_file != "") {
            breach("the report shows no `ptx:` line, so its first line cannot be checked")
            top_file = ""
        }
    }
    close(page)
}
END {
    if (!count) { print "citations: none found: is this the root of the repository?"; exit 1 }
    if (!bad) printf "citations: %d in %d pages stand where they say\n", count, pages
    exit bad > 0
}')
}

# A kernel that calls a wrapper, and a page that shows the report of it, quotes a line and links to one.
fresh() {
    mkdir -p "$tree/common" "$tree/01_step"
    printf '%s\n' '/* a */' 'static __device__ void tmem_alloc(uint32_t dst) {' \
        '    asm volatile("tcgen05.alloc.cta_group::1"' '                 ".sync" ::"r"(dst));' '}' \
        '#define LOAD_DEFINE_(shape, num) text' 'LOAD_DEFINE_(32x32b, x32)' >"$tree/common/a.cuh"
    printf '%s\n' '__global__ void __launch_bounds__(32)' '    k(int *p) {' '    tmem_alloc(1);' '    *p = 1;' \
        '    tmem_ld_32x32b_x32(p);' '}' >"$tree/01_step/k.cu"
    printf '%s\n' 'See `common/a.cuh:7` `x32`, [`*p = 1`](k.cu#L4).' '```' 'error: tcgen05.alloc is wrong' \
        '  --> common/a.cuh:4 in k' '   from: 01_step/k.cu:3' \
        '   ptx: k.ptx:65   tcgen05.alloc.cta_group::1.sync [%r9], %r6;' \
        'and 4 bytes, stored at 01_step/k.cu:4, tcgen05.alloc at common/a.cuh:4 (from 01_step/k.cu:3)' \
        '  --> 01_step/k.cu:4 in k' '   ptx: k.ptx:12   st.global.u32 [%rd1], 1;' \
        '  --> common/a.cuh:7 in k' '   from: 01_step/k.cu:5' \
        '   ptx: k.ptx:9   tcgen05.ld.sync.32x32b.x32.b32 %r1;' '```' >"$tree/01_step/README.md"
}
breach() { # SED TEXT: the page (or the file $3) changed so, the check fails and says TEXT
    fresh
    sed "$1" "$tree/01_step/${3:-README.md}" >"$tree/new" && mv "$tree/new" "$tree/01_step/${3:-README.md}"
    out=$(check "$tree")
    code=$?
    case $code:$out in
    1:*01_step/README.md:*"$2"*) ;;
    *)
        echo "FAILED: $1: exit code $code: $out"
        bad=1
        ;;
    esac
}

if check "$tree" >/dev/null; then
    echo "FAILED: an empty tree passes"
    bad=1
fi
fresh
check "$tree" >"$tree/said" || {
    echo "FAILED: a tree that keeps the rules: $(cat "$tree/said")"
    bad=1
}
breach 's/a.cuh:7` `x32/a.cuh:6` `x32/' 'common/a.cuh:6 does not hold `x32`'
breach 's/` `x32`/`/; s/, \[.*//' 'quote beside it what stands there'
breach 's/k.cu#L4/k.cu#L3/' '01_step/k.cu:3 does not hold `*p = 1`'
breach 's/^See/Line 12 of/' 'write file:line'
breach 's/--> common.a.cuh:4/--> common\/a.cuh:5/' 'common/a.cuh:5 is not tcgen05.alloc.cta_group::1.sync'
breach 's/--> common.a.cuh:4/--> common\/a.cuh:3/' 'common/a.cuh:3 is not tcgen05.alloc.cta_group::1.sync'
breach 's/--> common.a.cuh:4/--> common\/b.cuh:3/' 'there is no file common/b.cuh'
breach 's/--> common.a.cuh:4/--> common\/a.cuh:99/' 'common/a.cuh has 7 lines, not 99'
breach 's/from: 01_step.k.cu:3/from: 01_step\/k.cu:4/' '01_step/k.cu:4 does not call tmem_alloc()'
breach 's/from: 01_step.k.cu:5/from: 01_step\/k.cu:3/' '01_step/k.cu:3 does not call _32x32b_x32()'
breach 's/ in k$/ in other/' 'not in the kernel other'
breach 's/32x32b.x32.b32/32x32b.x64.b32/' 'common/a.cuh:7 is not tcgen05.ld.sync.32x32b.x64.b32'
breach 's/--> 01_step.k.cu:4/--> 01_step\/k.cu:3/' '01_step/k.cu:3 is not st.global.u32'
breach 's/st.global/ld.global/' '01_step/k.cu:4 is not ld.global.u32'
breach '/ptx: k.ptx:9/d' 'the report shows no `ptx:` line'
breach 's/stored at 01_step.k.cu:4/stored at 01_step\/k.cu:3/' '01_step/k.cu:3 is nothing that this line names'
breach 's/ at common.a.cuh:4/ at common\/a.cuh:5/' 'common/a.cuh:5 is nothing that this line names'
breach 's/(from 01_step.k.cu:3)/(from 01_step\/k.cu:5)/' '01_step/k.cu:5 does not call tmem_alloc()'
breach '1i\
' 'does not call' k.cu

check "$root" || bad=1
exit $bad
