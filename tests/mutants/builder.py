"""builder.py - makes the programs of the cases, as cheaply as can be.

Nearly all cases change device code alone: their PTX is made, by the flags of the Makefile, and spliced into the program
that make has built. A case marked `host` is built as a whole. Both are kept under build/mutants by a hash of all that
goes in, so that nothing is made twice.
"""

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from sm100repo import read, splice, write
from sm100repo.catalogue import CASES
from sm100repo.course.kernels import program_path, source_path
from sm100repo.toolkit import Failure, Toolkit, write_program

WEAKER = os.path.join(CASES, "weaker.cuh")


class Builder:
    """Programs by case. root: the repository; build: its build folder, where make has built the steps."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.kept = os.path.join(build, "mutants")
        self.toolkit = Toolkit(build, ["-include", WEAKER])
        self.weaker = read(WEAKER)
        names = re.findall(r"(\w+)\((?:uint32_t|void)", self.weaker)
        self.named = re.compile("|".join(rf"\b{name}\b" for name in names))
        self.sources, self.programs = {}, {}
        self.scratch = None
        for kind in ("ptx", "bin"):
            os.makedirs(os.path.join(self.kept, kind), exist_ok=True)

    def __enter__(self):
        self.scratch = tempfile.mkdtemp(prefix="tmp-", dir=self.kept)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def files(self, program):
        """Every source of a step or of a part of it, {path from the root: text}."""
        if program not in self.sources:
            paths = [path for folder in (os.path.dirname(source_path(program)), "common")
                     for path in sorted(Path(self.root, folder).iterdir()) if path.suffix in (".cu", ".cuh", ".h")]
            self.sources[program] = {os.path.relpath(path, self.root): read(path) for path in paths}
        return self.sources[program]

    def base(self, program):
        if program not in self.programs:
            self.programs[program] = Path(program_path(self.build, program)).read_bytes()
        return self.programs[program]

    def key(self, program, changed, host):
        """A hash of what the case's program is made of."""
        h = hashlib.sha256()
        for path, text in sorted({**self.files(program), **changed}.items()):
            h.update(f"{path}\0{text}\0".encode())
        words = self.toolkit.program("", "") if host else self.toolkit.ptx("", "")
        weaker = self.weaker if any(self.named.search(text) for text in changed.values()) else ""
        h.update(f"{weaker}\0{words[1:]}\0{self.toolkit.env.get('NVCC_VERSION')}".encode())
        return h.hexdigest()[:24]

    def compile(self, program, changed, command, out):
        """Runs nvcc on the changed sources, in a folder of their own."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            for path, text in {**self.files(program), **changed}.items():
                write(os.path.join(folder, path), text)
            made = os.path.join(folder, "made")
            source = os.path.join(folder, source_path(program))
            try:
                self.toolkit.run(command(source, made))
            except Failure as failure:
                raise Failure(str(failure).replace(folder + "/", "")) from None
            if command == self.toolkit.ptx:  # reports name the sources, not the copy
                write(made, read(made).replace(folder + "/", self.root + "/"))
            os.replace(made, out)  # two that make the same make the same bytes

    def make(self, program, changed, host):
        """(hash, path of the program to run, whether it is to be removed after the runs)."""
        key = self.key(program, changed, host)
        if host:
            path = os.path.join(self.kept, "bin", f"{os.path.basename(program)}-{key}")
            if not os.path.exists(path):
                self.compile(program, changed, self.toolkit.program, path)
            return key, path, False
        ptx = os.path.join(self.kept, "ptx", key + ".ptx")
        if not os.path.exists(ptx):
            self.compile(program, changed, self.toolkit.ptx, ptx)
        path = os.path.join(self.scratch, f"{os.path.basename(program)}-{key}-{os.urandom(4).hex()}")
        made = splice.spliced(self.base(program), read(ptx))
        write_program(path, made)
        return key, path, True
