#!/bin/sh
# sass.sh ROOT: scripts/sass.py finds a role's loop in machine code, counts what one round of it has, and with --hold
# stops at what orders memory dearly in a loop, and at that alone. The machine code is written here, the disassembler a
# `cat`.
set -u
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
mkdir "$scratch/bin"
printf '#!/bin/sh\ncat "$2"\n' >"$scratch/bin/nvdisasm"
printf '#!/bin/sh\nprintf " Function kernel:\\n  REG:83 STACK:0\\n"\n' >"$scratch/bin/cuobjdump"
chmod +x "$scratch/bin/nvdisasm" "$scratch/bin/cuobjdump"

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
# expect WHAT CODE PATTERN, of what stands in step.cubin
expect() {
    out=$(PATH="$scratch/bin:$PATH" python3 -ISB "$root/python/sm100repo" "$root/scripts/sass.py" --hold "$scratch/figures" \
        "$scratch/step.cubin" 2>&1)
    status=$?
    # shellcheck disable=SC2254
    case $status:$(printf '%s' "$out" | tr -s ' \n' ' ') in
    $2:$3) ;;
    *)
        echo "FAILED: $1: exit code $status: $out"
        bad=1
        ;;
    esac
}
printf '# said of them\nOTHER  mma 44\n' >"$scratch/figures"

code '' '' '' | listing >"$scratch/step.cubin"
expect "a loop" 0 '*registers step mma 7 7 1 0 0 1 0 0 0 0 83 OTHER mma 44'
code CCTL.IVALL '' MEMBAR.ALL.GPU | listing >"$scratch/step.cubin"
expect "dear, but once" 0 '* step mma 7 7 *'
for dear in CCTL.IVALL MEMBAR.ALL.GPU MEMBAR.SC.SYS ERRBAR; do
    code '' "@P0 $dear" '' | listing >"$scratch/step.cubin"
    expect "$dear in the loop" 1 "* step mma 7 7 * FAILED: in a loop of step: @P0 $dear"
done
code '' MEMBAR.ALL.CTA '' | listing >"$scratch/step.cubin"
expect "MEMBAR.ALL.CTA in the loop" 0 '* step mma 7 7 1 0 0 1 1 0 0 0 83 *'
code '' '' '' | sed 's/BRANCH_TARGETS .L_x_9,/BRANCH_TARGETS /' | listing >"$scratch/step.cubin"
expect "a loop that nothing leads to" 1 '*ValueError: kernel: how does control come to *SYNCS*'
code '' '' CCTL.IVALL | sed 's/^@P1 BRA/BRA/' | listing >"$scratch/step.cubin"
expect "code behind a jump" 1 '*ValueError: kernel: how does control come to *CCTL*'
code '' '' '' | sed 's/^UTCHMMA.*/NOP/' | listing >"$scratch/step.cubin"
expect "no UMMA" 1 '*FAILED: *step.cubin: no loop with a UMMA in it'
exit $bad
