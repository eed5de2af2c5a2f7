"""toolkit.py - nvcc as the Makefile calls it, and programs that are run as soon as they are written.

make leaves two files in the build folder: toolkit.env, where the Toolkit is, and nvcc.flags, what the steps are
compiled with.
"""

import os
import re
import shlex
import subprocess
import threading

from sm100repo import read

# A process begun while a program is being written holds the file open until its own exec: the program cannot be run
# then (ETXTBSY). So one thread at a time begins a process, or writes a program.
_BEGIN = threading.Lock()


class Failure(Exception):
    """A source does not compile; the compiler's words."""


def begin(command, **options):
    """subprocess.Popen, while no program is being written."""
    with _BEGIN:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def write_program(path, data):
    with _BEGIN, open(path, "wb") as f:
        f.write(data)
    os.chmod(path, 0o755)


class Toolkit:
    """build: make's build folder; `more` stands behind the flags."""

    def __init__(self, build, more=()):
        self.env = dict(re.findall(r"^(\w+)='(.*)'$", read(os.path.join(build, "toolkit.env")), re.M))
        flags = dict(re.findall(r"^(\w+)=(.*)$", read(os.path.join(build, "nvcc.flags")), re.M))
        self.nvcc = self.env["NVCC"]
        self.flags = [*shlex.split(flags["NVCC_FLAGS"]), *more]
        self.target = shlex.split(flags["NVCC_TARGET"])
        arch = re.search(r"arch=(\w+)", flags["NVCC_TARGET"])[1]
        self.device = [self.nvcc, *self.flags, "-arch=" + arch, "-x", "cu"]  # the device's part of a source alone

    def ptx(self, source, out):
        return [*self.device, "-ptx", "-o", out, source]

    def program(self, source, out):
        return [self.nvcc, *self.flags, *self.target, "-Xlinker",
                f'"-rpath={self.env["CUDART_DIR"]}",--enable-new-dtags', "-L" + self.env["LINK_DIR"], "-o", out, source]
