#!/bin/sh
# driver.sh ROOT LIBRARIES: what driver.py says of the Python packages that call the driver API, with the emulator's
# libcuda.so.1 in the folder LIBRARIES. The interpreter is $FRONTENDS_PYTHON, else python3: one whose packages are
# installed. Skipped (77) where it has none of them.
set -u
root=$1 libraries=$2
exec env ${SAN_LIB:+"LD_PRELOAD=$SAN_LIB"} ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" LD_LIBRARY_PATH="$libraries" \
    "${FRONTENDS_PYTHON:-python3}" "$root/tests/frontends/driver.py"
