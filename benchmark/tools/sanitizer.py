"""sanitizer.py - NVIDIA's compute-sanitizer as a tool of the benchmark: on a Hopper GPU, its four tools on a kernel.

The kernel's `.target' is taken for sm_90a, so ptxas refuses tcgen05 and what else Hopper does not have. ptxas and
compute-sanitizer are looked for on the PATH and in CUDA_HOME/bin; --program names another compute-sanitizer. Checks
that are off by default are on: shared memory in initcheck, tensor copies, deadlocks in racecheck.

A kernel counts as told if one of the four reports something. It does not count if the tool only repeats the error of a
CUDA call or the program's exit code: that is `failed', because the chip has said so, not the tool.
"""

import os
import re
import tempfile

from sm100repo import ROOT, read, write
from sm100repo.toolkit import cuda_program, fail, last_line, retargeted, timed

LEVELS = ["default"]

_TOOLS = {
    "memcheck": ["--report-api-errors", "no", "--check-tensor-ops", "yes"],
    "racecheck": ["--racecheck-deadlock-timeout", "3000"],
    "synccheck": [],
    "initcheck": ["--initcheck-address-space", "all"],
}
_REPORT = re.compile(r"^=+ (?!COMPUTE-SANITIZER|Program hit|Target application|\w* ?SUMMARY: )(\S.*)$", re.M)
_SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: ", re.M)
_CANNOT = re.compile(r"not supported|unsupported|Internal Sanitizer|Unable to|driver", re.I)


class Tool:
    """options: program."""

    name = "compute-sanitizer"
    names_rules = False

    def __init__(self, options):
        self.sanitizer = options.program or self._program("compute-sanitizer")
        self.ptxas = self._program("ptxas")
        self.launch = os.path.join(ROOT, options.build, "tests", "negative", "launch_ptx")
        version = re.search(r"Version (\S+)", timed([self.sanitizer, "--version"], 60)[1])
        self.version = version[1] if version else "unknown"
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        self.machine = last_line(timed(query, 60)[1]).replace(", ", ", driver ")
        self.options = [word for name, words in _TOOLS.items() for word in [name, *words]]

    @staticmethod
    def _program(name):
        path = cuda_program(name)
        if not path:
            fail("benchmark.py", 3, f"no {name} on the PATH or in CUDA_HOME/bin")
        return path

    def files(self):
        return [self.sanitizer, self.ptxas]

    def _one(self, tool, words, cubin, seconds):
        command = [self.sanitizer, "--tool", tool, *_TOOLS[tool], self.launch, cubin, *words]
        code, output = timed(["timeout", "-k", "1", str(seconds), *command], seconds + 30)
        reports = _REPORT.findall(output)
        if reports:
            return ("failed" if _CANNOT.search(reports[0]) else "told"), reports[0]
        if code in (None, 124, 137):
            return "hangs", ""
        if not _SUMMARY.search(output) or code != 0:
            return "failed", last_line(output)
        return "silent", ""

    def judge(self, ptx, words, seconds):
        """(word, names of the tools that told, message) for the kernel in the file ptx."""
        with tempfile.TemporaryDirectory() as folder:
            kernel, cubin = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
            write(kernel, retargeted(read(ptx), "sm_90a"))
            code, output = timed([self.ptxas, "-arch=sm_90a", "-lineinfo", "-o", cubin, kernel], 60)
            if code != 0:
                words = output.replace(folder + "/", "").strip().splitlines() or ["ptxas failed"]
                return "refused", [], words[0]
            said = {tool: self._one(tool, words, cubin, seconds) for tool in _TOOLS}
        told = [tool for tool, (word, _) in said.items() if word == "told"]
        for word in ("told", "hangs", "failed"):
            for tool, (one, message) in said.items():
                if one == word:
                    return word, told, f"{tool}: {message}" if message else tool
        return "silent", [], ""
