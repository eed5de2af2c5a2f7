"""kernels.py - the kernel of a step as a file of its own, and the program that a changed one makes.

  course.kernels --build build FILE STEP OUT     OUT becomes STEP's program with the kernels of FILE

A step's kernel is its .cu up to the line where the host's part begins, with what it includes named from the root of the
repository. The program is the one that make has built of the step, with the PTX of the changed kernel spliced in:
neither the host's part nor the machine code is compiled again, so an exercise is built in the time of nvcc -ptx.
"""

import argparse
import glob
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

from sm100repo import ROOT, read, splice, write
from sm100repo.toolkit import Failure, Toolkit, write_program

HOST = ("/* ---------------------------------------------------------------- host", "int main(")
HOST_HEADERS = {"cmdline.h", "cuda_check.h", "gemm_host.h", "tensor_map.h", "launch.h", "problem.h", "verify.h",
                "stdio.h", "stdlib.h", "string.h"}


def steps(root):
    """{number of the lesson: folder of its step}."""
    folders = sorted(os.path.basename(path) for path in glob.glob(os.path.join(root, "[0-9][0-9]_*")))
    return {f[:2]: f for f in folders if os.path.exists(os.path.join(root, source_path(f)))}


def source_path(step):
    """The .cu of a step, of a part, 01_tmem_alloc/parts/shapes, or of a rung, 05_persistent_warpspec/ladder/1_ring."""
    return f"{step}.cu" if "/" in step else f"{step}/{step}.cu"


def program_path(build, step):
    """What make builds of it: build/01_tmem_alloc, build/parts/shapes, build/ladder/1_ring."""
    return os.path.join(build, *step.split("/")[-2:])


def included(step):
    """re.sub's answer to an #include: nothing for what the host alone needs, else the path from the root."""

    def answer(found):
        path = found[2]
        if os.path.basename(path) in HOST_HEADERS:
            return ""
        if found[1] == "<":
            return found[0]
        return f'#include "{os.path.normpath(os.path.join(os.path.dirname(source_path(step)), path))}"\n'

    return answer


def cut(step, text):
    """The kernel in the text of a step's .cu. ValueError where it has no host's part."""
    at = next((place for place in (text.find(mark) for mark in HOST) if place >= 0), -1)
    if at < 0:
        raise ValueError(f"{source_path(step)}: no line begins with `{HOST[0]}`")
    text = re.sub(r'#include ([<"])([^>"]+)[>"]\n', included(step), text[:at])
    text = re.sub(r'(#include ".*"\n)+', lambda found: "".join(sorted(found[0].splitlines(True))), text, count=1)
    text = re.sub(r"^ \* README\.md walks through it\..*\n", "", text, flags=re.M)
    text = re.sub(r"\n \*\n \*/", "\n */", text, count=1)
    return text.rstrip() + "\n"


def kernel(root, step):
    return cut(step, read(os.path.join(root, source_path(step))))


class Kernels:
    """Programs with kernels of one's own. root: the repository; build: its build folder, where the steps are built."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.toolkit = Toolkit(build, ["-I", root])
        self.kept = os.path.join(build, "course", "ptx")
        os.makedirs(self.kept, exist_ok=True)

    def compile(self, source, out):
        """PTX of a file. Failure has nvcc's words."""
        self.toolkit.run(self.toolkit.ptx(source, out), self.root)

    def ptx(self, text):
        """PTX of a kernel's text, kept by a hash of all that goes in."""
        tool, words = self.toolkit, hashlib.sha256()
        for path in sorted(glob.glob(os.path.join(self.root, "common", "*")) +
                           glob.glob(os.path.join(self.root, "0*", "**", "*.*h"), recursive=True)):
            words.update(f"{path}\0{read(path)}\0".encode())
        words.update(f"{text}\0{tool.device}\0{tool.env.get('NVCC_VERSION')}".encode())
        kept = os.path.join(self.kept, words.hexdigest()[:24] + ".ptx")
        if not os.path.exists(kept):
            with tempfile.TemporaryDirectory(dir=self.kept) as folder:
                source, made = os.path.join(folder, "kernel.cuh"), os.path.join(folder, "made")
                write(source, text)
                self.compile(source, made)
                os.replace(made, kept)
        return read(kept)

    def program(self, step, ptx, out):
        """Writes STEP's program with this PTX."""
        made = splice.spliced(Path(program_path(self.build, step)).read_bytes(), ptx)
        os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
        write_program(out + ".new", made)
        os.replace(out + ".new", out)


def main():
    p = argparse.ArgumentParser(prog="kernels.py", description="a step's program with the kernels of a file")
    p.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder (build)")
    p.add_argument("file", help="the kernels, from the repository's root")
    p.add_argument("step", help="the step's folder; a rung without its .cu")
    p.add_argument("out", help="the program to make")
    o = p.parse_args()
    kernels = Kernels(ROOT, os.path.abspath(o.build))
    try:
        with tempfile.TemporaryDirectory(dir=kernels.kept) as folder:
            made = os.path.join(folder, "ptx")
            kernels.compile(o.file, made)
            kernels.program(o.step, read(made), os.path.abspath(o.out))
    except Failure as failure:
        sys.stderr.write(str(failure))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
