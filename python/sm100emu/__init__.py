"""Runs CUDA programs for data-center Blackwell (sm_100) on the CPU: the launcher `sm100emu` and its libraries.

    sm100emu PROGRAM [ARGS]                     runs a program; `sm100emu --help` lists the options
    python -m sm100emu PROGRAM [ARGS]           the same
    sm100emu-nvcc PROG.cu -o PROG               compiles one, with the compiler that `sm100emu[cuda]` brings
    python -m sm100emu.watch LOG -o DIR         a page of what happened, from the log that --trace=LOG wrote

The program is the very file that a B200 would run: it carries PTX for sm_100f or sm_100a and uses the shared CUDA
runtime. What the PTX ISA forbids is reported with the source line and the rule. Linux with glibc; no GPU, no root.
"""

import os
import signal
import sys

__all__ = ["launcher", "library_dir", "nvcc"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_TARGET = ["-gencode", "arch=compute_100f,code=[sm_100f,compute_100f]"]


def launcher():
    """The path of the launcher, a native program: subprocess.run([sm100emu.launcher(), "./prog"])."""
    return os.path.join(_HERE, "bin", "sm100emu")


def library_dir():
    """The folder of libcudart.so.12, libcudart.so.13 and libcuda.so.1; the launcher puts it into LD_LIBRARY_PATH."""
    return os.path.join(_HERE, "lib", "sm100emu")


def nvcc():
    """The CUDA compiler of `sm100emu[cuda]` and its flags, a list: a program so built runs here and on a B200.

    FileNotFoundError where the extra is not installed.
    """
    from importlib.util import find_spec

    spec = find_spec("nvidia")  # a namespace package, which may lie in several folders
    for folder in spec.submodule_search_locations if spec else []:
        home = os.path.join(folder, "cu13")
        if os.access(os.path.join(home, "bin", "nvcc"), os.X_OK):
            lib = os.path.join(home, "lib")
            # link/libcudart.so is the name that the linker asks for; the wheels carry libcudart.so.13 alone.
            return [os.path.join(home, "bin", "nvcc"), "-cudart", "shared", "--no-compress",
                    "-L" + os.path.join(_HERE, "link"), "-L" + lib, "-Xlinker", "-rpath," + lib + ",--enable-new-dtags"]
    raise FileNotFoundError("no CUDA compiler is installed here: pip install 'sm100emu[cuda]'")


def _become(command):
    # Python ignores these two, and a program that is exec'ed would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(command[0], command)


def _main():
    _become([launcher()] + sys.argv[1:])


def _nvcc_main():
    args = sys.argv[1:]
    chosen = any(a.lstrip("-").startswith(("gencode", "gpu-architecture", "arch")) for a in args)
    try:
        _become(nvcc() + ([] if chosen else _TARGET) + args)
    except FileNotFoundError as missing:
        sys.exit("sm100emu-nvcc: %s" % missing)
