"""racecheck.py [--jobs N] [--timeout SECONDS] LAUNCH_PTX FILE.ptx...: what compute-sanitizer's racecheck says of PTX
kernels on the GPU of this machine, a line each.

    told FILE: HAZARDS: message    it reports so many hazards; the first one's words
    silent FILE                    it reports none, and the kernel ends well
    failed FILE: message           it reports none, and the kernel fails
    hangs FILE                     the kernel does not end within the time
    refused FILE: message          ptxas has no such form for a Hopper GPU, or the file has no ARGS line

FILE's `.target' is taken for sm_90a, so tcgen05 and what else Hopper has not is refused. LAUNCH_PTX is the program of
tests/negative/launch_ptx.c; it gets what `// ARGS: KERNEL WORD...' of FILE says. ptxas and compute-sanitizer are
looked for on the PATH and in CUDA_HOME/bin. racecheck sees shared memory alone, and models no asynchronous proxy.

Exit code: 0 where every file has its line, 2 for a bad command line, 3 where a program is missing.
"""

import argparse
import concurrent.futures
import os
import re
import tempfile

from sm100repo import read, write
from sm100repo.toolkit import arguments, cuda_program, fail, last_line, retargeted, timed

_HAZARDS = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed")
_MESSAGE = re.compile(r"^=+ ((?:Error|Warning|Info): .*)$", re.M)


def _program(name):
    """The path of a program of the toolkit."""
    path = cuda_program(name)
    if not path:
        home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        fail("racecheck.py", 3, f"no {name} on the PATH or in {home}/bin")
    return path


def _verdict(programs, launch, path, seconds):
    """The line for one file, without its name: the word and the message."""
    text = read(path)
    if arguments(text) is None:
        return "refused", "no ARGS line"
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        write(ptx, retargeted(text, "sm_90a"))
        code, output = timed([programs["ptxas"], "-arch=sm_90a", "-lineinfo", "-o", cubin, ptx], seconds)
        if code != 0:
            return "refused", output.strip().splitlines()[0].replace(folder + "/", "") if output else "ptxas failed"
        kernel = [launch, cubin] + arguments(text)
        code, output = timed([programs["compute-sanitizer"], "--tool", "racecheck"] + kernel, seconds)
    if code is None:
        return "hangs", ""
    hazards, message = _HAZARDS.search(output), _MESSAGE.search(output)
    if not hazards:
        return "failed", last_line(output)
    if int(hazards.group(1)):
        return "told", f"{hazards.group(1)}: {message.group(1) if message else 'no words'}"
    return ("silent", "") if code == 0 else ("failed", last_line(output))


def main():
    parser = argparse.ArgumentParser(description="What racecheck says of PTX kernels.", allow_abbrev=False)
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    parser.add_argument("launch", metavar="LAUNCH_PTX")
    parser.add_argument("files", nargs="+", metavar="FILE.ptx")
    options = parser.parse_args()
    programs = {name: _program(name) for name in ("ptxas", "compute-sanitizer")}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda path: _verdict(programs, options.launch, path, options.timeout), options.files)
        for path, (word, message) in zip(options.files, verdicts):
            print(f"{word} {path}" + (f": {message}" if message else ""), flush=True)


if __name__ == "__main__":
    main()
