"""submission.py - from a student's kernel.cuh to a program that may be run: compiled for the device alone, and put into
ours.

No host code of a student is ever compiled, so none can run. nvcc sees a fresh folder with the grader's own copy of
common/ and of the step's headers, and kernel.cuh in the step's place; its list of dependencies must name nothing else
but headers that the compilers themselves look for. The PTX has the step's kernels, by name and parameters, and takes
the place of the step's own in a copy of the program that make has built.
"""

import functools
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from sm100repo import read, splice, write
from sm100repo.course import sandbox
from sm100repo.course.kernels import program_path
from sm100repo.toolkit import write_program

MAX_BYTES = 256 * 1024  # of a kernel.cuh: five times the longest solution
CPU_SECONDS, MEMORY_MB = 30, 1024  # of a hand-in, outside of the emulator: each compiler's, and the grader's own


class Refused(Exception):
    """The file is not compiled, or not run. The text says why, to the student."""


def read_submission(path):
    """The text of a student's file: a plain file (no link), of a sensible size, in UTF-8."""
    kind = os.lstat(path).st_mode
    if not stat.S_ISREG(kind):
        raise Refused(f"{os.path.basename(path)} is not a plain file")
    with open(path, "rb") as f:
        data = f.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Refused(f"{os.path.basename(path)} has more than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise Refused(f"{os.path.basename(path)} is not text in UTF-8") from None


def home(root, step):
    """The folder of a step's source, from the root. A step is a folder with one program, a rung of a ladder a file."""
    return step if os.path.isdir(os.path.join(root, step)) else os.path.dirname(step)


def copy_headers(root, step, folder):
    """The grader's own headers: of common/, of the step, and of the folders above a rung."""
    places, place = ["common"], home(root, step)
    while place:
        places.append(place)
        place = os.path.dirname(place)
    for place in places:
        os.makedirs(os.path.join(folder, place), exist_ok=True)
        for name in sorted(os.listdir(os.path.join(root, place))):
            if name.endswith((".h", ".cuh")):
                shutil.copy(os.path.join(root, place, name), os.path.join(folder, place, name))


def dependencies(text):
    """The files behind the colon of a make rule."""
    words = re.split(r"(?<!\\)\s+", text.replace("\\\n", " ").partition(" : ")[2].strip())
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words if word]


@functools.lru_cache(maxsize=None)
def header_folders(compiler):
    """Where nvcc and its host's compiler look for <...>: they say so themselves. compiler: Toolkit.device."""
    asked = [*compiler, "-E", "-Xcompiler", "-v", os.devnull]
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=sandbox.environment(folder)).stderr
    found = re.findall(r"<\.\.\.> search starts here:\n((?: .*\n)+)", said)
    if not found:
        raise RuntimeError(f"the compiler does not say where its headers are:\n{said}")
    return tuple({line.strip(): None for part in found for line in part.splitlines()})


@functools.lru_cache(maxsize=None)
def links(places):
    """Where the links in these folders lead. Debian 13 has some of its headers behind them (asm/), and gcc lists a
    header by its own path where that is the shorter one."""
    paths = (os.path.join(at, name) for place in places for at, *names in os.walk(place) for name in sum(names, []))
    return [os.path.realpath(path) for path in paths if os.path.islink(path)]


def strangers(paths, folder, readable):
    """Those of the files that lie neither in the folder nor among the compilers' headers, their links resolved."""

    def outside(paths, places):
        places = tuple(os.path.join(os.path.realpath(place), "") for place in places)
        real = [os.path.join(os.path.realpath(os.path.join(folder, path)), "") for path in paths]
        return [path for path, at in zip(paths, real) if not at.startswith(places)]

    found = outside(paths, (folder, *readable))
    return outside(found, links(tuple(readable))) if found else []


def prepare(toolkit):
    """Asks the compilers where their headers are, once for all hand-ins: what was asked is kept."""
    links(header_folders(tuple(toolkit.device)))


def own_lines(said, source, alone):
    """What the compiler said, but no more than a screen; alone: lines that name the student's file or ours."""
    lines = [line for line in said.strip().splitlines() if not alone or line.startswith((source, "common/"))]
    return "\n".join(lines[:40]) or "(a file that it includes is not there, or is no header)"


def compile_kernel(root, toolkit, step, text, scratch, shown="kernel.cuh"):
    """The PTX of a student's text, whose lines of source name the step's folder with kernel.cuh in it. shown:
    what the compiler's words are to call it."""
    if "__has_include" in re.sub(r"\W", "", text):  # in one piece, or to be pasted together
        raise Refused("it asks by __has_include which files there are: only common/ and the step's headers are")
    folder = os.path.join(scratch, "source")
    copy_headers(root, step, folder)
    source = os.path.join(home(root, step), "kernel.cuh")
    write(os.path.join(folder, source), text)
    readable = header_folders(tuple(toolkit.device))
    # The list is made by a run in front: what reads a foreign file is not compiled, so no error shows its lines.
    for listed, words in (("read.d", ["-M"]), ("made.d", ["-ptx", "-MD", "-o", "made.ptx"])):
        ran = sandbox.run([*toolkit.device, "-I", ".", *words, "-MF", listed, source], folder,
                          seconds=10 * CPU_SECONDS, cpu_seconds=CPU_SECONDS, memory_mb=MEMORY_MB)
        if ran.code is None:
            raise Refused(f"it is not compiled within {CPU_SECONDS} s of CPU time")
        if ran.code:
            said = own_lines(ran.err or ran.out, source, "-M" in words)
            raise Refused("it does not compile:\n" + said.replace(source, shown))
        foreign = strangers(dependencies(read(os.path.join(folder, listed))), folder, readable)
        if foreign:
            raise Refused("it includes " + ", ".join(foreign) + ": only common/ and the step's headers may be included")
    return read(os.path.join(folder, "made.ptx")), folder


def entries(ptx):
    """The kernels of a PTX text: name to the types and sizes of their parameters. No pattern reads past the
    beginning of another kernel, so a text of many beginnings without an end takes no longer than others."""
    found = {}
    for name, parameters in re.findall(r"\.entry\s+([\w$]+)\s*\(([^()]*)\)", re.sub(r"//[^\n]*", "", ptx)):
        found[name] = [re.findall(r"\.[bfsu]\d+\b|\[\d+\]", word) for word in parameters.split(",") if word.strip()]
    return found


def check_kernels(wanted, got):
    """The step's kernels are there as its host launches them."""
    for name, parameters in wanted.items():
        if name not in got:
            raise Refused(f"the kernel {name} is not there: its name and its parameters are the step's")
        if got[name] != parameters:
            raise Refused(f"the kernel {name} has other parameters than the step's host gives it")


def make_program(root, build, toolkit, step, text, scratch, shown="kernel.cuh"):
    """(path of the program with the student's kernels, folder of its source); shown: as of compile_kernel. Raises
    Refused."""
    base = Path(program_path(build, step)).read_bytes()
    ptx, folder = compile_kernel(root, toolkit, step, text, scratch, shown)
    check_kernels(entries(splice.ptx_of(base)), entries(ptx))
    path = os.path.join(scratch, "program")
    write_program(path, splice.spliced(base, ptx))
    return path, folder
