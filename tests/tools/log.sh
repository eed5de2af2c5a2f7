#!/bin/sh
# log.sh EMULATOR PROGRAMS EVERY STEP...: log.py beside this file; skipped (77) without python3.
set -u
command -v python3 >/dev/null || exit 77
exec python3 "$(dirname "$0")/log.py" "$@"
