"""sm100emu.py - the emulator of this repository as a tool of the benchmark.

Level warn is its default. With --explore=N a bug counts as told, too, if only another schedule has the finding. SAN_LIB
is preloaded if it is set, the runtime of an instrumented emulator.
"""

import os
import re

from sm100repo import ROOT
from sm100repo.toolkit import fail, last_line, timed

LEVELS = ["warn", "strict", "off"]
HINT = "make tests"

_FINDING = re.compile(r"^(?:error|warning|strict): (.*) \[([a-z0-9-]+)\]$", re.M)
_EXPLORED = re.compile(r"not under the default schedule: ([a-z0-9-]+) at (.*)$", re.M)
_REFUSED = re.compile(r"^(unsupported: .*|.*: (?:error|unsupported): .*)$", re.M)


class Tool:
    """options: build, level, explore."""

    name = "sm100emu"
    names_rules = True  # what it tells has the ids of RULES

    def __init__(self, options):
        build = os.path.join(ROOT, options.build)
        self.emulator = options.program or os.path.join(build, "sm100emu")
        self.launch = os.path.join(build, "tests", "negative", "launch_ptx")
        for path in (self.emulator, self.launch):
            if not os.path.exists(path):
                fail("benchmark.py", 3, f"there is no {path}: run {HINT}")
        self.options = ["--check=" + options.level, "--threads=1"]
        self.options += [f"--explore={options.explore}", "--jobs=1"] if options.explore else []
        runtime, leaks = os.environ.get("SAN_LIB"), "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")
        self.before = ["env", "LD_PRELOAD=" + runtime, "ASAN_OPTIONS=" + leaks] if runtime else []
        self.version = timed([*self.before, self.emulator, "--version"], 60)[1].strip()
        self.machine = "any"

    def files(self):
        """What outcomes depend on besides the pair."""
        library = os.path.join(os.path.dirname(self.emulator), "emulator", "libsm100emu.so")
        return [path for path in (self.emulator, library) if os.path.exists(path)]

    def judge(self, ptx, words, seconds):
        """(word, names, message) for the kernel in the file ptx, launched with words."""
        code, output = timed([*self.before, self.emulator, *self.options, self.launch, ptx, *words], seconds)
        found = [(name, text) for text, name in _FINDING.findall(output)] + _EXPLORED.findall(output)
        if found:
            return "told", sorted({name for name, _ in found}), found[0][1]
        if code is None:
            return "hangs", [], ""
        if code == 0 or (code == 3 and "--explore" in " ".join(self.options)):
            return "silent", [], "" if code == 0 else "another schedule gives another output"
        refused = _REFUSED.search(output)
        return ("refused", [], refused[1]) if refused else ("failed", [], last_line(output))
