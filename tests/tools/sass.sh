#!/bin/sh
# sass.sh ROOT: scripts/sass.py finds a role's loop in machine code, counts what one round of it has, and with --hold
# stops at what orders memory dearly in a loop, and at that alone. The machine code is written here, the disassembler a
# `cat`.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
mkdir "$scratch/bin"
echo 'cat "$2"' | stand_in "$scratch/bin/nvdisasm"
echo 'echo " Function kernel:"; echo "  REG:83 STACK:0"' | stand_in "$scratch/bin/cuobjdump"
PATH=$scratch/bin:$PATH

# Code from the kernel's first instruction on, an instruction or a label a line: made into a listing.
listing() {
    printf '.text.kernel:\n'
    sed 's/^\([^.].*\)$/        \/*0000*\/                   \1 ;/'
}
# The MMA loop of a role that is reached through a jump table: 7 instructions, and 3 more after a test that said no.
code() { # BEFORE INSIDE BEHIND
    cat <<EOF
${1:-NOP}
BRX R6 -0x10 (*"BRANCH_TARGETS .L_x_9,.L_x_8"*)
.L_x_8:
EXIT
.L_x_9:
MOV R1, RZ
.L_x_1:
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1+URZ], R2
@!P0 BRA \`(.L_x_3)
.L_x_2:
${2:-NOP}
UTCHMMA.2CTA gdesc[UR8], gdesc[UR10], tmem[UR23]
UTCBAR.2CTA.MULTICAST [UR12], URZ, UR22
@P2 NOP
@P1 BRA \`(.L_x_1)
${3:-NOP}
EXIT
.L_x_3:
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1+URZ], R2
@!P0 BRA \`(.L_x_3)
BRA \`(.L_x_2)
EOF
}
# shows WHAT CODE PATTERN BEFORE INSIDE BEHIND [SED]: what it says of code() with these, and changed so
shows() {
    code "$4" "$5" "$6" | sed "${7:-}" | listing >"$scratch/step.cubin"
    caught python "$root/scripts/sass.py" --hold "$scratch/figures" "$scratch/step.cubin"
    out=$(printf '%s' "$out" | tr -s ' \n' ' ')
    expect "$2" "$3" "$1"
}
printf '# said of them\nOTHER  mma 44\n' >"$scratch/figures"

shows "a loop" 0 '*registers step mma 7 7 1 0 0 1 0 0 0 0 83 OTHER mma 44' '' '' ''
shows "dear, but once" 0 '* step mma 7 7 *' CCTL.IVALL '' MEMBAR.ALL.GPU
for dear in CCTL.IVALL MEMBAR.ALL.GPU MEMBAR.SC.SYS ERRBAR; do
    shows "$dear in the loop" 1 "* step mma 7 7 * FAILED: in a loop of step: @P0 $dear" '' "@P0 $dear" ''
done
shows "MEMBAR.ALL.CTA in the loop" 0 '* step mma 7 7 1 0 0 1 1 0 0 0 83 *' '' MEMBAR.ALL.CTA ''
shows "a loop that nothing leads to" 1 '*ValueError: kernel: how does control come to *SYNCS*' \
    '' '' '' 's/BRANCH_TARGETS .L_x_9,/BRANCH_TARGETS /'
shows "code behind a jump" 1 '*ValueError: kernel: how does control come to *CCTL*' '' '' CCTL.IVALL 's/^@P1 BRA/BRA/'
shows "no UMMA" 1 '*FAILED: *step.cubin: no loop with a UMMA in it' '' '' '' 's/^UTCHMMA.*/NOP/'
exit $bad
