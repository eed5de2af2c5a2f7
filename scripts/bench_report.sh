#!/bin/sh
# bench_report.sh RECORD PLOT: a table of what bench.sh wrote into RECORD, TFLOPS by program and size, and the same as an SVG
# in the file PLOT. Only what RECORD holds appears: a program that failed or was absent has a word in its place.
#
# The lines of RECORD (others are ignored):
#   TIME  NAME MxNxK IN->OUT: median U us, U to U, R runs, T TFLOPS on DEVICE
#   NONE  NAME MxNxK: WHY        FAILED  NAME MxNxK: WHY        CLOCKS before|after size S: TEXT
set -eu
awk -v plot="$2" '
function slot(name, size) {
    if (!(name in column)) { column[name] = ++names; name_of[names] = name }
    if (!(size in row)) { row[size] = ++sizes; size_of[sizes] = size }
}
function escaped(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); return text }
function shown(size) { split(size, part, "x"); return part[1] == part[2] && part[2] == part[3] ? part[1] : size }

$1 == "TIME" {
    slot($2, $3)
    type = $4; sub(/:$/, "", type)
    device_at = index($0, " TFLOPS on ")
    device = substr($0, device_at + 11)
    at = $2 SUBSEP $3
    median[at] = $6; least[at] = $8; most[at] = $10; sub(/,$/, "", most[at])
    runs = $11; tflops[at] = $13
    types[type]; devices[device]
    next
}
$1 == "NONE" || $1 == "FAILED" {
    size = $3; sub(/:$/, "", size)
    slot($2, size)
    word[$2 SUBSEP size] = $1 == "NONE" ? "absent" : "FAILED"
    note[++notes] = $0
}
$1 == "CLOCKS" { clock[++clocks] = $0 }

function table(title, kind,    i, j, at, text) {
    printf "%s\n  %-16s", title, "M = N = K"
    for (j = 1; j <= names; j++) printf " %24s", name_of[j]
    print ""
    for (i = 1; i <= sizes; i++) {
        printf "  %-16s", shown(size_of[i])
        for (j = 1; j <= names; j++) {
            at = name_of[j] SUBSEP size_of[i]
            if (!(at in median)) text = at in word ? word[at] : "-"
            else if (kind == "tflops") {
                text = sprintf(tflops[at] < 10 ? "%.2f" : "%.1f", tflops[at])
                if (("cublas" SUBSEP size_of[i]) in median && name_of[j] != "cublas")
                    text = text sprintf(" (%.2f)", tflops[at] / tflops["cublas" SUBSEP size_of[i]])
            } else text = sprintf("%.1f (%.1f-%.1f)", median[at], least[at], most[at])
            printf " %24s", text
        }
        print ""
    }
}

function draw(    i, j, at, top, x, y, left, bottom, width, height, path, colour, step) {
    split("#222222 #1f77b4 #ff7f0e #2ca02c #d62728 #9467bd #8c564b", colour, " ")
    left = 80; bottom = 400; width = 560; height = 340
    top = 0
    for (at in tflops) if (tflops[at] + 0 > top) top = tflops[at] + 0
    if (top <= 0) return
    step = exp(int(log(top / 6) / log(10) + 100) * log(10) - 100 * log(10)) # the power of ten below a sixth of the top
    step *= top / 6 / step < 1.5 ? 1 : top / 6 / step < 3.5 ? 2 : top / 6 / step < 7.5 ? 5 : 10
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 460\" font-family=\"sans-serif\" font-size=\"13\">\n" >plot
    printf "<rect width=\"900\" height=\"460\" fill=\"white\"/>\n" >plot
    printf "<text x=\"%d\" y=\"30\" font-size=\"16\">TFLOPS, %s, median of %d launches, %s</text>\n", left, escaped(type), runs, escaped(device) >plot
    for (y = 0; y <= top * 1.05; y += step)
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left, left + width, bottom - y / (top * 1.05) * height, bottom - y / (top * 1.05) * height, left - 8, bottom - y / (top * 1.05) * height + 4, y >plot
    for (i = 1; i <= sizes; i++)
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", left + width * (i - 0.5) / sizes, bottom + 22, shown(size_of[i]) >plot
    printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">M = N = K</text>\n", left + width / 2, bottom + 46 >plot
    for (j = 1; j <= names; j++) {
        path = ""
        for (i = 1; i <= sizes; i++) {
            at = name_of[j] SUBSEP size_of[i]
            if (!(at in tflops)) continue
            x = left + width * (i - 0.5) / sizes; y = bottom - tflops[at] / (top * 1.05) * height
            path = path sprintf("%.1f,%.1f ", x, y)
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s %s: %s TFLOPS</title></circle>\n", x, y, colour[(j - 1) % 7 + 1], escaped(name_of[j]), size_of[i], tflops[at] >plot
        }
        if (path != "") printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour[(j - 1) % 7 + 1] >plot
        printf "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s%s</text>\n", left + width + 20, 70 + 20 * j, colour[(j - 1) % 7 + 1], escaped(name_of[j]), path == "" ? " (not measured)" : "" >plot
    }
    print "</svg>" >plot
    close(plot)
    print "plot: " plot
}

END {
    for (x in types) kinds++
    for (x in devices) machines++
    if (kinds > 1 || machines > 1) {
        print "bench_report.sh: RECORD mixes types or devices; a table of them would mislead" >"/dev/stderr"
        exit 1
    }
    if (!machines) print "nothing was measured"
    else {
        if (device ~ /^Emulated/)
            print "These are times of the emulator on this computer, not of a GPU."
        table(sprintf("TFLOPS on %s, %s, beta 0, median of %d launches, each with fresh inputs and a cold L2 (in brackets: of cuBLAS)", device, type, runs), "tflops")
        table("microseconds, median (least-most)", "us")
        draw()
    }
    for (i = 1; i <= notes; i++) print note[i]
    for (i = 1; i <= clocks; i++) print clock[i]
}' "$1"
