"""sentryward.py - SentryWard, a static verifier of PTX from PyPI, as a tool of the benchmark.

The version is that of sentryward-requirements.txt, in a virtual environment of its own under the build folder, which
is made if it is not there. `refused' is a kernel of which it has not decided: a form that it does not know, a branch on
data, a time limit. It takes buffers for distinct and unbounded and cancellations for failed, and models no fence: it
cannot report proxy fences, scopes and tcgen05.fence. A launch has whole warps.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from sm100repo import ROOT, read, write
from sm100repo.toolkit import fail, last_line

LEVELS = ["default"]

_REQUIREMENTS = os.path.join(ROOT, "benchmark", "tools", "sentryward-requirements.txt")
_TOLD = {"potential_race", "not_wellsynced", "invalid_lifecycle"}
_SILENT = {"race_free", "verified"}


def _program(venv):
    """The verifier's command in VENV, which is made if need be."""
    program = os.path.join(venv, "bin", "sentryward")
    if os.path.exists(program):
        return program
    pip = [os.path.join(venv, "bin", "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    pins = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", _REQUIREMENTS]
    for step in [sys.executable, "-m", "venv", venv], pip + pins:
        done = subprocess.run(step, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            fail("benchmark.py", 3, "SentryWard is not to be had: " + (lines[-1] if lines else f"{step[0]} failed"))
    return program


def _vector(word):
    return ([int(n) for n in word.split(",")] + [1, 1])[:3]


def _input(text, words):
    """SentryWard's input for the kernel and the words that it is launched with."""
    words = words[1:]
    launch = {"grid_dim": [1, 1, 1], "block_dim": [32, 1, 1]}
    for word in words:
        name, _, value = word.partition("=")
        if name in ("grid", "block"):
            launch[name + "_dim"] = _vector(value)
        elif name == "dynamic":
            launch["dynamic_shared_bytes"] = int(value)
    cluster = re.search(r"\.reqnctapercluster +(\d+)(?: *, *(\d+))?(?: *, *(\d+))?", text)
    if cluster:
        launch["cluster_dim"] = [int(n or 1) for n in cluster.groups()]
    params = re.findall(r"\.param +\.(\w+) +(\w+)", text)
    scalars = []
    for (kind, name), word in zip(params, [w for w in words if ":" in w]):
        what, _, value = word.partition(":")
        if what in ("u32", "u64"):
            scalars.append({"parameter": name, "type": kind, "value": int(value, 0)})
    return {"schema": "spverify.kernel-input/v1", "launch": launch, "arguments": scalars}


class Tool:
    """options: build, program."""

    name = "sentryward"
    names_rules = False

    def __init__(self, options):
        self.program = options.program or _program(os.path.join(ROOT, options.build, "benchmark", "venv"))
        self.version = re.search(r"sentryward==(\S+)", read(_REQUIREMENTS))[1]
        self.machine, self.options = "any", []

    def files(self):
        return [_REQUIREMENTS]

    def judge(self, ptx, words, seconds):
        """(word, [its code], message) for the kernel in the file ptx, launched with words."""
        with tempfile.TemporaryDirectory() as folder:
            given = os.path.join(folder, "input.json")
            write(given, json.dumps(_input(read(ptx), words)))
            command = [self.program, ptx, "--input", given, "--timeout", str(seconds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            report = json.loads(done.stdout)
            result = report["result"]
        except (ValueError, KeyError):
            return "refused", [], "no_report: " + last_line(done.stderr)
        if result in _SILENT:
            return "silent", [], ""
        found = (report.get("diagnostics") or [{}])[0]
        message = f"{found.get('code', result)}: {found.get('message') or result}"
        return "told" if result in _TOLD else "refused", [found.get("code", result)], message
