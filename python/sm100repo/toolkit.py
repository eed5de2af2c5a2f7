"""toolkit.py - nvcc as the Makefile calls it, and programs that are run as soon as they are written.

make leaves two files in the build folder: toolkit.env, where the Toolkit is, and nvcc.flags, what the steps are
compiled with.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
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


def cuda_program(name):
    """The path of a program of the CUDA Toolkit: on the PATH or in CUDA_HOME/bin, or None."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return shutil.which(name) or shutil.which(name, path=os.path.join(home, "bin"))


def timed(command, seconds):
    """Exit code, None where the time was over, and output of a command."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
    except subprocess.TimeoutExpired as over:
        return None, (over.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def fail(script, code, text):
    print(f"{script}: {text}", file=sys.stderr)
    sys.exit(code)


def last_line(text):
    return (text.strip().splitlines() or ["no output"])[-1]


def arguments(ptx):
    """The words of a test kernel's line `// ARGS: KERNEL WORD...', or None."""
    found = re.search(r"^// ARGS: *(.*)$", ptx, re.M)
    return found and found[1].split()


def retargeted(ptx, target):
    return re.sub(r"^\.target .*$", f".target {target}", ptx, flags=re.M)


def settings(build):
    """{name: value} of toolkit.env."""
    return dict(word.split("=", 1) for word in shlex.split(read(os.path.join(build, "toolkit.env"))))


class Toolkit:
    """build: make's build folder; `more` stands behind the flags."""

    def __init__(self, build, more=()):
        self.env = settings(build)
        flags = dict(re.findall(r"^(\w+)=(.*)$", read(os.path.join(build, "nvcc.flags")), re.M))
        self.nvcc = self.env["NVCC"]
        self.flags = [*shlex.split(flags["NVCC_FLAGS"]), *more]
        self.target = shlex.split(flags["NVCC_TARGET"])
        arch = re.search(r"arch=(\w+)", flags["NVCC_TARGET"])[1]
        self.device = [self.nvcc, *self.flags, "-arch=" + arch, "-x", "cu"]  # the device's part of a source alone

    def run(self, command, folder=None):
        """Runs nvcc. Failure has its words."""
        process = begin(command, cwd=folder)
        said, _ = process.communicate()
        if process.returncode:
            raise Failure(said)

    def ptx(self, source, out):
        return [*self.device, "-ptx", "-o", out, source]

    def program(self, source, out):
        return [self.nvcc, *self.flags, *self.target, "-Xlinker",
                f'"-rpath={self.env["CUDART_DIR"]}",--enable-new-dtags', "-L" + self.env["LINK_DIR"], "-o", out, source]
