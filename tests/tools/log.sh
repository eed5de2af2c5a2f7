#!/bin/sh
# log.sh EMULATOR PROGRAMS EVERY STEP...: log.py beside this file; skipped (77) without python3.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
needs python3
root=$(dirname "$0")/../..
python "$root/tests/tools/log.py" "$@"
