#!/bin/sh
# log.sh EMULATOR PROGRAMS EVERY STEP...: log.py beside this file; skipped (77) without python3.
set -u
command -v python3 >/dev/null || exit 77
here=$(dirname "$0")
exec python3 -ISB "$here/../../python/sm100repo" "$here/log.py" "$@"
