#!/bin/sh
set -eu
case ${1:-} in
backend)
    if nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -qE '^10\.[03]$'; then
        echo gpu
    else
        echo emulator
    fi
    ;;
need)
    shift
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || { echo "$tool is missing" >&2; exit 1; }
    done
    ;;
esac
