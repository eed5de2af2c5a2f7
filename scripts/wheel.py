"""wheel.py BUILD: packs what make built in BUILD and python/ into build/sm100emu-VERSION-py3-none-PLATFORM.whl.

Written by hand, not by a build backend: the files are few and need no compiling by Python, a wheel is a zip file with
three texts beside them, and so the build needs nothing that is not here and no network. The bytes depend on the sources
and the C compiler alone: entries are sorted, their time is the commit's (SOURCE_DATE_EPOCH; where git tells none, the
time of VERSION, which in the tarball is the commit's too), and the binaries are stripped of what names the folder they
were built in.

A wheel holds no links, and copies of the library would each be an emulator of its own to a program that asks for two of
its names. So libcudart.so.12, libcudart.so.13, libcuda.so.1 and libcute_dsl_runtime.so are empty libraries here, which
need libsm100emu.so. Triton links its own host code with libcuda.so.1, and a linker that was told --as-needed, as
Ubuntu's, drops a library that defines nothing of what is asked for. So libcuda.so.1 is a filter (ELF, DT_FILTER): it has
the names, and the loader takes what they stand for from libsm100emu.so.
"""

import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from sm100repo import ROOT

NAMES = ["libcudart.so.12", "libcudart.so.13", "libcuda.so.1", "libcute_dsl_runtime.so"]
STATIC = "libsm100emu-static.so"
LIB = "sm100emu/lib/sm100emu/"


def read(path):
    return Path(ROOT, path).read_bytes()


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT, text=True).stdout


def epoch():
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    if os.path.exists(os.path.join(ROOT, ".git")):
        try:
            return int(run("git", "log", "-1", "--format=%ct"))
        except (OSError, subprocess.CalledProcessError):  # not installed, or the repository is another user's
            pass
    return int(os.stat(os.path.join(ROOT, "VERSION")).st_mtime)


def driver_names(library, stage):
    """A C file with a function for each of the driver's that `library` has. None of them is ever called."""
    names = re.findall(r" T (cu[A-Z]\w+)$", run("nm", "-D", "--defined-only", library), re.M)
    path = Path(stage, "libcuda.c")
    path.write_text("".join("int %s(void) { return 999; } /* CUDA_ERROR_UNKNOWN */\n" % name for name in names))
    return str(path)


def binaries(build, stage):
    """Name in the wheel: path, for the programs and the libraries; made in the folder `stage`."""
    shutil.rmtree(stage, ignore_errors=True)
    os.makedirs(stage)
    library = os.path.join(stage, "libsm100emu.so")
    made = {LIB + "libsm100emu.so": library}
    for name in "sm100emu", "sm100emu-log":
        made["sm100emu/bin/" + name] = shutil.copy(os.path.join(build, name), stage)
    shutil.copy(os.path.join(build, "emulator", "libsm100emu.so"), stage)
    made[LIB + "ptxas"] = shutil.copy(os.path.join(build, "emulator", "ptxas"), stage)
    made[LIB + STATIC] = shutil.copy(os.path.join(build, "emulator", STATIC), stage)
    filters = {"libcuda.so.1": ["-Wl,--filter=libsm100emu.so", driver_names(library, stage)]}
    for name in NAMES:  # with the runtime's version nodes, which a program asks this very file for
        made[LIB + name] = os.path.join(stage, name)
        run(*os.environ.get("CC", "cc").split(), "-shared", "-nostdlib", "-Wl,-soname," + name, "-Wl,--no-as-needed",
            "-Wl,-rpath,$ORIGIN", "-Wl,--version-script=emulator/cudart/runtime/exports.map", "-o", made[LIB + name],
            *filters.get(name, []), library)
    for path in made.values():  # the build id is a hash of the debug information too
        run("strip", "--strip-unneeded", "-R", ".note.gnu.build-id", path)
    return made


def platform_tag(paths):
    """The glibc that these files need, by the newest of the symbol versions they ask for (PEP 600)."""
    text = "".join(run("objdump", "-p", path) for path in paths)
    foreign = set(re.findall(r"NEEDED +(\S+)", text)) - {"libsm100emu.so"}
    if not all(re.match(r"(libc|libm|libdl|libpthread|ld-linux-[a-z0-9-]+)\.so", name) for name in foreign):
        sys.exit("wheel: these are more than glibc, which alone a wheel may count on: %s" % ", ".join(sorted(foreign)))
    versions = [tuple(map(int, v)) for v in re.findall(r"GLIBC_(\d+)\.(\d+)", text)]
    versions += [(2, 36)] * ("GLIBC_ABI_DT_RELR" in text)
    return "manylinux_%d_%d_%s" % (max(versions) + (platform.machine(),))


def metadata(version):
    pins = re.findall(r"^(\S+==\S+)", read("scripts/toolkit-requirements.txt").decode(), re.M)
    doc = re.match(r'"""(.*?)"""', read("python/sm100emu/__init__.py").decode(), re.S).group(1)
    head = ["Metadata-Version: 2.1", "Name: sm100emu", "Version: " + version, "Summary: " + doc.split(":")[0],
            "License: MIT", "License-File: LICENSE", "Requires-Python: >=3.8", "Description-Content-Type: text/plain",
            "Provides-Extra: cuda"]
    return "\n".join(head + ['Requires-Dist: %s; extra == "cuda"' % pin for pin in pins]) + "\n\n" + doc


def contents(build, version, tag, made):
    """Name in the wheel: bytes, all but RECORD."""
    info = "sm100emu-%s.dist-info/" % version
    files = {name: read(path) for name, path in made.items()}
    for name in "__init__.py", "__main__.py", "source.py", "tour.py", "watch.py":
        files["sm100emu/" + name] = read("python/sm100emu/" + name)
    files[LIB + "python/sitecustomize.py"] = read("python/hook/sitecustomize.py")
    for name in os.listdir(os.path.join(ROOT, "python/sm100emu/page")):
        if name.endswith((".html", ".css", ".js")):
            files["sm100emu/page/" + name] = read("python/sm100emu/page/" + name)
    files["sm100emu/link/libcudart.so"] = b"/* a script of the linker */\nINPUT(libcudart.so.13)\n"
    for page in "sm100emu.1", "sm100emu-log.1":
        files["sm100emu-%s.data/data/share/man/man1/%s" % (version, page)] = read(os.path.join(build, page))
    files[info + "LICENSE"] = read("LICENSE")
    files[info + "METADATA"] = metadata(version).encode()
    files[info + "WHEEL"] = ("Wheel-Version: 1.0\nGenerator: sm100emu (%s)\nRoot-Is-Purelib: false\nTag: py3-none-%s\n"
                             % (version, tag)).encode()
    files[info + "entry_points.txt"] = (b"[console_scripts]\nsm100emu = sm100emu:_main\n"
                                        b"sm100emu-nvcc = sm100emu:_nvcc_main\n")
    return files, info + "RECORD"


def main():
    build = os.path.join(ROOT, sys.argv[1])
    version = read("VERSION").decode().strip()
    made = binaries(build, os.path.join(build, "wheel"))
    tag = platform_tag(made.values())
    files, record = contents(build, version, tag, made)
    lines = ""
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        lines += "%s,sha256=%s,%d\n" % (name, digest, len(files[name]))
    files[record] = (lines + record + ",,\n").encode()
    when = time.gmtime(max(epoch(), 315532800))[:6]  # a zip file's time begins with 1980
    wheel = os.path.join(build, "sm100emu-%s-py3-none-%s.whl" % (version, tag))
    with zipfile.ZipFile(wheel + ".new", "w", zipfile.ZIP_DEFLATED) as z:
        for name in sorted(files, key=lambda n: (n == record, n)):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100755 if name in made else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, files[name])
    os.replace(wheel + ".new", wheel)
    print(os.path.relpath(wheel, ROOT))


main()
