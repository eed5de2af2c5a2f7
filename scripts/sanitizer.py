"""sanitizer.py [OPTION...] PROGRAMS LIST [NAME...]: what compute-sanitizer says of the correct kernels in LIST on the GPU
of this machine, a table of kernels by tools.

    clean       the tool reports nothing, and the kernel ends well with the results that it should have
    argued N    N reports, each of which LIST argues to be none of the kernel's
    TOLD N      N reports, not all of which LIST argues away
    WRONG       no report, but another exit code or other results
    HANGS       the time was over
    unsupported the tool says that it cannot watch this kernel

    --emulator PROGRAM   instead of the GPU and the tools: that emulator with --check=strict, whose findings are reports.
                         SAN_LIB is preloaded where it is set, the runtime of an instrumented emulator.
    --have               nothing is run: exit code 77, and what the machine lacks, or 0
    --jobs N --timeout SECONDS
    --logs DIR           a tool's whole output where it is not clean, a file each

PROGRAMS is the folder of what make has built for sm_90: PATH without its suffix is the program of a PATH.cu, and
tests/negative/launch_ptx runs a PATH.ptx with the words of its `// ARGS:' line, for sm_90; its `// EXPECT:' lines say what
the output has. NAME: the kernels with that word in their line.

LIST has a kernel a line, PATH ARGUMENT...; an indented line below it argues reports of one tool:

    TOOL "WORDS": why               the reports that have these words are none of the kernel's, because

Where the tool has ended the kernel behind a report, "Target application returned an error" is to be argued, too; there are
no results then.

Exit code: 0 where all is clean or argued, 1 where not, 2 for a bad command line or LIST, 77 where the machine lacks
something.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import sys
import tempfile

from sm100repo import read, write
from sm100repo.toolkit import arguments, cuda_program, fail, last_line, retargeted, timed

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
_LAUNCH = "tests/negative/launch_ptx"
# A report begins behind one blank, what belongs to it is further in. The kernel's own output may stand before it.
_REPORT = re.compile(r"========= (?!COMPUTE-SANITIZER|\w* ?SUMMARY: )(\S.*)$", re.M)
_SUMMARY = re.compile(r"========= (?:ERROR|RACECHECK) SUMMARY: ")
_UNSUPPORTED = re.compile(r"not supported|unsupported", re.I)
_ENDED = "Target application returned an error"
_FINDING = re.compile(r"^((?:error|warning|strict): .*)$", re.M)
_ARGUED = re.compile(r'^\s+(\w+) "([^"]+)": (.+)$')


class Kernel:
    """path, arguments; argued: (tool, words) of the reports that are none; expected: what is matched in the output."""

    def __init__(self, line):
        self.path, *self.arguments = line.split()
        self.name = " ".join([os.path.basename(self.path).rsplit(".", 1)[0]] + self.arguments)
        self.argued, self.expected = [], []

    def command(self, programs, folder):
        """The command that runs it; a .ptx is written to folder, for sm_90."""
        if not self.path.endswith(".ptx"):
            return [os.path.join(programs, self.path.rsplit(".", 1)[0])] + self.arguments
        text, copy = read(self.path), os.path.join(folder, os.path.basename(self.path))
        write(copy, retargeted(text, "sm_90"))
        self.expected = re.findall(r"^// EXPECT: *(.*)$", text, re.M)
        return [os.path.join(programs, _LAUNCH), copy, *(arguments(text) or []), *self.arguments]


def read_list(path):
    kernels = []
    for number, line in enumerate(read(path).splitlines(), 1):
        argued = _ARGUED.match(line)
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            kernels.append(Kernel(line))
        elif argued and kernels and argued.group(1) in TOOLS:
            kernels[-1].argued.append(argued.group(1, 2))
        else:
            fail("sanitizer.py", 2, f'{path}:{number}: neither a kernel nor TOOL "WORDS": why')
    return kernels


def lacking():
    """What this machine lacks, nothing where a Hopper GPU or a later one of a data centre and the tools are here."""
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    capability = timed(query, 60)[1] if shutil.which(query[0]) else ""
    if not re.search(r"^(9|10)\.\d", capability, re.M):
        return "a GPU of compute capability 9.0 or 10.x; nvidia-smi names none"
    if not cuda_program("compute-sanitizer"):
        return "compute-sanitizer, which the CUDA Toolkit has, on the PATH or in CUDA_HOME/bin"
    return None


def prefixes(options):
    """For each column of the table what stands before a kernel's command."""
    if not options.emulator:
        return {tool: [cuda_program("compute-sanitizer"), "--tool", tool] for tool in TOOLS}
    runtime = os.environ.get("SAN_LIB")
    leaks = "ASAN_OPTIONS=detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")
    preload = ["env", "LD_PRELOAD=" + runtime, leaks] if runtime else []
    return {"emulator": preload + [options.emulator, "--check=strict"]}


def judge(kernel, tool, code, output):
    """The cell of the table, and the messages that are to be shown."""
    reports = (_REPORT if tool in TOOLS else _FINDING).findall(output)
    if code is None:
        return "HANGS", reports[:1]
    argued = [words for name, words in kernel.argued if name == tool]
    left = [report for report in reports if not any(words in report for words in argued)]
    if left:
        refused = _UNSUPPORTED.search(left[0])
        return ("unsupported" if refused else f"TOLD {len(left)}"), left
    if tool in TOOLS and not _SUMMARY.search(output):
        return "WRONG", ["no summary: " + last_line(output)]
    if any(report.startswith(_ENDED) for report in reports):
        return f"argued {len(reports)}", []
    missing = [regex for regex in kernel.expected if not re.search(regex, output, re.M)]
    if code != 0 or missing or re.search("^FAIL", output, re.M):
        return "WRONG", [f"exit code {code}"] + [f"not in the output: {regex}" for regex in missing]
    return (f"argued {len(reports)}" if reports else "clean"), []


def table(options, kernels):
    """Prints the table and what was told, and counts the cells that are neither clean nor argued."""
    columns = prefixes(options)
    width = max(len(kernel.name) for kernel in kernels)
    print(f"{'':{width}}  " + "".join(f"{tool:13}" for tool in columns).rstrip())
    told, bad, rows = [], 0, []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kernel in kernels:
            command = kernel.command(options.programs, folder)
            rows.append((kernel, {t: pool.submit(timed, columns[t] + command, options.timeout) for t in columns}))
        for kernel, row in rows:
            line = f"{kernel.name:{width}}  "
            for tool, future in row.items():
                code, output = future.result()
                cell, messages = judge(kernel, tool, code, output)
                line += f"{cell:13}"
                bad += cell.split()[0] not in ("clean", "argued")
                told += [f"{kernel.path}: {tool}: {message}" for message in messages[:3]]
                if options.logs and cell != "clean":
                    log = os.path.join(options.logs, f"{kernel.name.replace(' ', '_')}.{tool}")
                    write(log, f"{output}\nexit code {code}\n")
            print(line.rstrip(), flush=True)
    for message in told:
        print(message)
    return bad


def main():
    parser = argparse.ArgumentParser(description="compute-sanitizer on correct kernels.", allow_abbrev=False)
    parser.add_argument("--emulator", metavar="PROGRAM")
    parser.add_argument("--have", action="store_true")
    parser.add_argument("--jobs", type=int, default=4, metavar="N")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--logs", metavar="DIR")
    parser.add_argument("programs", metavar="PROGRAMS")
    parser.add_argument("list", metavar="LIST")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    kernels = [k for k in read_list(options.list) if not options.names or set(options.names) & set(k.name.split())]
    if not kernels:
        fail("sanitizer.py", 2, f"no kernel of {options.list} has that word")
    need = None if options.emulator else lacking()
    if need:
        fail("sanitizer.py", 77, f"this needs {need}")
    if options.have:
        return 0
    bad = table(options, kernels)
    print(f"{len(kernels)} kernels, {bad} not clean")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
