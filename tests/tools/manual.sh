#!/bin/sh
# manual.sh ROOT EMULATOR: the man page has the options of `EMULATOR --help` and no other, each but --help, --version,
# --env, --require-complete and those of --explore with its variable of the environment, the launcher says the version in
# VERSION, and mandoc and groff, where they are installed, have nothing to warn of. The same of sm100emu-log, which has no
# such variables.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
page=$1/emulator/sm100emu.1

# equal WHAT WANTED GOT
equal() {
    [ "$2" = "$3" ] || failed "$(printf '%s: expected\n%s\nfound\n%s' "$1" "$2" "$3")"
}
helped=$("$2" --help | sed -n 's/^  --\([a-z-]*\).*/\1/p' | sort)
equal 'the options of the man page' "$helped" "$(sed -n 's/^\.It Fl -\([a-z-]*\).*/\1/p' "$page" | sort)"
[ "$(printf '%s\n' "$helped" | wc -l)" -ge 9 ] || equal 'the options of --help' '9 or more' "$helped"
equal "the man page's variables" \
    "$(printf '%s\n' "$helped" | grep -vx -e help -e version -e explore -e jobs -e ignore -e env -e require-complete |
        tr 'a-z-' 'A-Z_' | sed 's/^/SM100EMU_/')" \
    "$(sed -n 's/^\.It Ev \(SM100EMU_[A-Z_]*\)$/\1/p' "$page" | grep -vx SM100EMU_CACHE | sort)"
equal 'the options of the man page of sm100emu-log' "$("$2-log" --help | sed -n 's/^  --\([a-z-]*\).*/\1/p' | sort)" \
    "$(sed -n 's/^\.It Fl -\([a-z-]*\).*/\1/p' "$1/emulator/sm100emu-log.1" | sort)"
equal 'the version of sm100emu-log' "sm100emu-log $(cat "$1/VERSION")" "$("$2-log" --version)"
equal 'the version' "sm100emu $(cat "$1/VERSION")" "$("$2" --version)"
if command -v mandoc >/dev/null; then
    equal mandoc '' "$(mandoc -Tlint -Wwarning "$page" "${page%.1}-log.1")"
fi
if command -v groff >/dev/null; then
    equal groff '' "$(groff -mandoc -Tascii -ww -z "$page" "${page%.1}-log.1" 2>&1)"
fi
exit $bad
