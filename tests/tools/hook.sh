#!/bin/sh
# hook.sh ROOT: what Python does first under the emulator (python/hook/sitecustomize.py) where it cannot do it: a Python
# without ctypes runs, and the user's sitecustomize with it; a cuda-bindings of another version is refused by name.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
hook=$1/python/hook
needs python3
mkdir -p "$scratch/site/cuda/bindings" "$scratch/without" || exit 1
echo 'print("their sitecustomize")' >"$scratch/site/sitecustomize.py"
echo 'raise ImportError("no _ctypes here")' >"$scratch/without/_ctypes.py"
: >"$scratch/site/cuda/__init__.py"
redirect='import runpy, sys; runpy.run_path(sys.argv[1] + "/sitecustomize.py")["redirect"](None)'

# python WHAT_IT_FINDS ARGUMENT... (Unbuffered: what is printed comes before the traceback.)
python() {
    found=$1
    shift
    caught env PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONPATH="$hook:$found$scratch/site" python3 "$@"
}

gives 0 'their sitecustomize' 'Python without ctypes' python "$scratch/without:" -c pass
echo '__version__ = "13.0.1"' >"$scratch/site/cuda/bindings/__init__.py"
gives 1 '*ImportError: cuda-bindings does not run on sm100emu in a Python without ctypes: no _ctypes here' \
    'cuda-bindings without ctypes' python "$scratch/without:" -c "$redirect" "$hook"
echo '__version__ = "14.0.0"' >"$scratch/site/cuda/bindings/__init__.py"
gives 1 '*ImportError: cuda-bindings 14.0.0 does not run on sm100emu: install version 12 or 13' 'cuda-bindings 14' \
    python '' -c "$redirect" "$hook"
exit $bad
