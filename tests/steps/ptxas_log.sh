#!/bin/sh
# ptxas_log.sh LOG...: nvcc's output for a step (-Xptxas -v,-warn-spills): compiled for the family, no warning, and each
# kernel and function says that it spills nothing.
set -u
bad=0
complain() {
    echo "FAILED: $1"
    bad=1
}
for log in "$@"; do
    grep -q "Compiling entry function .* for 'sm_100f'" "$log" || complain "$log: no kernel compiled for sm_100f"
    if grep -i 'warning' "$log"; then complain "$log: warnings"; fi
    spills=$(grep 'spill' "$log" | grep -v ' 0 bytes spill stores, 0 bytes spill loads')
    [ -z "$spills" ] || complain "$log: spills: $spills"
    grep -q ' 0 bytes spill stores, 0 bytes spill loads' "$log" || complain "$log: says nothing of spills"
done
exit $bad
