"""machines.py - make machines: is the repository at home on machines that are not ours?

Each row of ROWS is a Debian system, changed in one way, in which an ordinary user gets the last commit of this checkout and
runs commands. A system is made once, by debootstrap and with the README's packages alone, and kept in the folder MACHINES;
a row works on an overlay of it, which is thrown away. docs/machines.md has the table that it printed.

  python3 -ISB python/sm100repo scripts/machines.py [--folder DIR] [--wheels DIR] [WORD...]    WORD: a row or a system

Needs root, a Debian machine (its own apt sources name the mirror; MIRROR=URL another), debootstrap, git and pip.
"""

import argparse
import glob
import os
import re
import resource
import shutil
import subprocess
import sys

from sm100repo import ROOT, read

SYSTEMS = {"bullseye": "Debian 11", "bookworm": "Debian 12", "trixie": "Debian 13", "sid": "Debian sid"}
WHOLE = "make run-02 && make exercise-02 && make test"
FIRST = "make run-02 && make exercise-02"
# Name: (system, packages beside the README's, what root does, where the user puts the repository, what the user runs).
# $WHEELS is the folder of the compiler's wheels, which make reads, too.
ROWS = {
    "debian12": ("bookworm", "", "", "sm100", WHOLE),
    "debian13": ("trixie", "", "", "sm100", WHOLE),
    "sid": ("sid", "", "", "sm100", WHOLE),
    "python3.9": ("bullseye", "", "", "sm100", FIRST + " && make grade-02 EXERCISE=02-predict-*"),
    "network": ("bookworm", "", "", "sm100", "unset WHEELS && make run-02"),
    "no network": ("bookworm", "", "", "sm100", FIRST),
    "gawk": ("bookworm", "gawk", "", "sm100", FIRST + " && make break-01-6"),
    "busybox awk": ("bookworm", "busybox", "ln -s /bin/busybox /usr/local/bin/awk", "sm100", FIRST + " && make break-01-6"),
    "sh is bash": ("bookworm", "", "ln -sf bash /bin/sh", "sm100", FIRST + " && make watch-02 TEXT=1"),
    "sh is busybox": ("bookworm", "busybox", "ln -sf busybox /bin/sh", "sm100", FIRST + " && make watch-02 TEXT=1"),
    "clang": ("bookworm", "clang", "", "sm100", "make CC=clang run-02 && make CC=clang exercise-02"),
    "clang alone": ("trixie", "clang", "apt-get remove -qq -y gcc g++ gcc-14 g++-14", "sm100", FIRST),
    "venv": ("bookworm", "python3-venv", "", "sm100", "python3 -m venv ~/venv && . ~/venv/bin/activate && "
             "pip install -q cmake build && cmake --version && make exercise-02 && make grade-02 EXERCISE=02-predict-* && "
             "make lessons LESSONS=examples/one_umma/README.md"),
    "turkish": ("bookworm", "locales", "localedef -i tr_TR -f UTF-8 tr_TR.UTF-8", "sm100",
                "export LC_ALL=tr_TR.UTF-8 && " + FIRST + " && make rules"),
    "german": ("bookworm", "locales", "localedef -i de_DE -f UTF-8 de_DE.UTF-8", "sm100",
               "export LC_ALL=de_DE.UTF-8 && " + FIRST + " && make watch-02 TEXT=1"),
    "umask 077": ("bookworm", "", "", "sm100", "umask 077 && " + FIRST),
    "path with spaces": ("bookworm", "", "", "my own sm100", FIRST),
    "CUDA 13.5": ("bookworm", "", "", "sm100", "python3 -m pip install -q --no-index --find-links $WHEELS --target ~/cuda "
                  "--no-deps -r scripts/toolkit-newer-requirements.txt && export NVCC=~/cuda/nvidia/cu13/bin/nvcc && " + FIRST),
}


def run(*command, **options):
    """Runs a command without its output; where it fails, the output's end is what this program ends with."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **options)
    if done.returncode:
        last = "".join(done.stdout.splitlines(True)[-8:])
        sys.exit(f"machines: {' '.join(command)} ends with {done.returncode}:\n{last}")
    return done.stdout


def needs():
    """What this machine lacks, in a line; nothing where all is there."""
    lacks = [tool for tool in ("debootstrap", "git", "chroot", "mount") if not shutil.which(tool)]
    if os.getuid():
        return "it needs root: sudo make machines"
    if not os.path.exists("/etc/debian_version"):
        return "it needs a Debian machine, whose roots debootstrap makes"
    return "apt-get install " + " ".join(lacks) if lacks else ""


def mirror():
    """The URL that this machine's apt takes Debian from."""
    texts = [read(path) for path in glob.glob("/etc/apt/sources.list") + glob.glob("/etc/apt/sources.list.d/*")]
    found = re.search(r"^(?:deb (?:\[[^]]*\] )?|URIs: *)(\S+/debian)/?\s", "\n".join(texts), re.M)
    return os.environ.get("MIRROR") or (found or sys.exit("machines: this machine's apt has no source of Debian's: say MIRROR=URL"))[1]


def make_system(folder, suite):
    """The root of a system: debootstrap's, the packages that the README names, this machine's certificates, a user."""
    root = os.path.join(folder, suite)
    if os.path.exists(root + ".made"):
        return root
    packages = re.search(r"sudo apt-get install ([a-z0-9+ -]+?) *#", read(os.path.join(ROOT, "README.md")))[1]
    print(f"machines: debootstrap of {suite}", flush=True)
    shutil.rmtree(root, ignore_errors=True)
    run("debootstrap", "--variant=minbase", suite, root, mirror())
    with open(root + "/etc/apt/apt.conf.d/90host", "w") as f:  # its proxies and certificates, say
        f.writelines(line for line in run("apt-config", "dump").splitlines(True) if line.startswith("Acquire"))
    for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf"):
        if os.path.exists(path):
            shutil.copy(path, root + path)
    shutil.copytree("/usr/local/share/ca-certificates", root + "/usr/local/share/ca-certificates", dirs_exist_ok=True)
    install(root, packages)
    run("chroot", root, "useradd", "-m", "reader")
    open(root + ".made", "w").close()
    return root


def install(root, packages):
    run("chroot", root, "sh", "-c", "apt-get update -qq && apt-get install -y -qq --no-install-recommends " + packages,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def make_wheels(wheels):
    os.makedirs(wheels, exist_ok=True)
    for pins in glob.glob(os.path.join(ROOT, "scripts", "toolkit*requirements.txt")):
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-d", wheels, "-r", pins)


class Machine:
    """An overlay of a system, mounted while this is entered."""

    def __init__(self, folder, system, wheels):
        self.system, self.work = system, os.path.join(folder, "row")
        self.root = os.path.join(self.work, "root")
        self.binds = {"/proc": "/proc", "/dev": "/dev", "/dev/pts": "/dev/pts", wheels: "/wheels",
                      os.path.join(folder, "sm100.git"): "/sm100.git"}

    def __enter__(self):
        self.__exit__()
        for name in ("upper", "work", "root"):
            os.makedirs(os.path.join(self.work, name))
        run("mount", "-t", "overlay", "overlay", "-o",
            f"lowerdir={self.system},upperdir={self.work}/upper,workdir={self.work}/work", self.root)
        for source, place in self.binds.items():
            os.makedirs(self.root + place, exist_ok=True)
            run("mount", "--bind", source, self.root + place)
        return self.root

    def __exit__(self, *_):
        for place in (*reversed(self.binds.values()), ""):
            if os.path.ismount(self.root + place):
                run("umount", "-l", self.root + place)
        shutil.rmtree(self.work, ignore_errors=True)


def run_row(name, row, folder, wheels, log):
    """(exit code, CPU seconds) of the user's commands."""
    suite, packages, change, place, command = row
    with Machine(folder, make_system(folder, suite), wheels) as root:
        if packages:
            install(root, packages)
        if change:
            run("chroot", root, "sh", "-c", change)
        kept = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or "CA_BUNDLE" in k or "SSL_CERT" in k}
        env = {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "WHEELS": "/wheels", "LC_ALL": "C.UTF-8"}
        copy = f"umask {'077' if '077' in name else '022'} && cp -r /sm100.git ~/'{place}' && cd ~/'{place}' && "
        alone = ["unshare", "-n"] if name == "no network" else []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(log, "w") as out:
            code = subprocess.run([*alone, "chroot", root, "su", "reader", "-s", "/bin/bash", "-c", copy + command], env=env,
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return code, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description="the repository on other machines")
    parser.add_argument("--folder", default="/var/cache/sm100emu-machines", help="where the systems are kept")
    parser.add_argument("--wheels", default="", help="a folder of the compiler's wheels (fetched into the folder)")
    parser.add_argument("words", nargs="*", help="rows or systems; all without one: " + ", ".join(ROWS))
    options = parser.parse_args()
    lack = needs()
    if lack:
        sys.exit("machines: " + lack)
    words = set(options.words)
    rows = {n: row for n, row in ROWS.items() if not words or words & {n, n.replace(" ", "-"), row[0]}}
    if not rows:
        sys.exit("machines: there is no such row; there are: " + ", ".join(n.replace(" ", "-") for n in ROWS))
    folder = os.path.abspath(options.folder)
    wheels = os.path.abspath(options.wheels or os.path.join(folder, "wheels"))
    os.makedirs(folder, exist_ok=True)
    if not os.path.isdir(wheels):
        make_wheels(wheels)
    copy = os.path.join(folder, "sm100.git")
    shutil.rmtree(copy, ignore_errors=True)
    run("git", "clone", "-q", ROOT, copy)
    bad = 0
    print("| machine | system | what was run | result | CPU |\n|---|---|---|---|---|", flush=True)
    for name, row in rows.items():
        log = os.path.join(folder, name.replace(" ", "-") + ".log")
        code, seconds = run_row(name, row, folder, wheels, log)
        bad += code != 0
        result = "passes" if code == 0 else f"**fails**: {log}"
        shown = row[4].replace("|", "\\|")
        print(f"| {name} | {SYSTEMS[row[0]]} | `{shown}` | {result} | {seconds:.0f} s |", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
