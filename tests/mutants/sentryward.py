"""sentryward.py [--venv DIR] [--timeout SECONDS] FILE.ptx...: what SentryWard says of PTX kernels, a line each.

    told FILE: code: message       it reports a race, a synchronisation that may fail, or a use outside a lifetime
    silent FILE                    it has proved that there is none
    refused FILE: code: message    it has not decided: a form it does not know, a branch on data, a time limit

SentryWard is a static verifier from PyPI, of the version in sentryward-requirements.txt. It is put into a virtual
environment of its own, build/mutants/venv unless told otherwise, when it is not there. It wants the launch and the
scalar parameters; they come from FILE.json (`schema', `launch', `arguments' as SentryWard reads them) where that is,
else from the line `// ARGS: KERNEL WORD...' of FILE that tests/negative/run.sh goes by.

It takes buffers for distinct and unbounded, cancellations for failed, and models no fence: proxy fences, scopes and
tcgen05.fence cannot be told by it. A launch has whole warps.

Exit code: 0 where every file has its line, 2 for a bad command line, 3 where SentryWard is not to be had.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from sm100repo import ROOT, read, write
from sm100repo.toolkit import arguments, fail, last_line

_HERE = os.path.dirname(os.path.abspath(__file__))
_VENV = os.path.join(ROOT, "build", "mutants", "venv")
_REQUIREMENTS = os.path.join(_HERE, "sentryward-requirements.txt")

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
            fail("sentryward.py", 3, "SentryWard is not to be had: " + (lines[-1] if lines else f"{step[0]} failed"))
    return program


def _vector(word):
    return ([int(n) for n in word.split(",")] + [1, 1])[:3]


def _input(text):
    """SentryWard's input for the kernel that the ARGS line launches; None where there is no such line."""
    if arguments(text) is None:
        return None
    words = arguments(text)[1:]
    launch = {"grid_dim": [1, 1, 1], "block_dim": [32, 1, 1]}
    for word in words:
        name, _, value = word.partition("=")
        if name in ("grid", "block"):
            launch[name + "_dim"] = _vector(value)
        elif name == "dynamic":
            launch["dynamic_shared_bytes"] = int(value)
    cluster = re.search(r"\.reqnctapercluster +(\d+) *, *(\d+) *, *(\d+)", text)
    if cluster:
        launch["cluster_dim"] = [int(n) for n in cluster.groups()]
    params = re.findall(r"\.param +\.(\w+) +(\w+)", text)
    scalars = []
    for (kind, name), word in zip(params, [w for w in words if ":" in w]):
        what, _, value = word.partition(":")
        if what in ("u32", "u64"):
            scalars.append({"parameter": name, "type": kind, "value": int(value, 0)})
    return {"schema": "spverify.kernel-input/v1", "launch": launch, "arguments": scalars}


def _verdict(program, path, seconds):
    """The word and the message for one file."""
    given = os.path.splitext(path)[0] + ".json"
    with tempfile.TemporaryDirectory() as folder:
        if not os.path.exists(given):
            launch = _input(read(path))
            if launch is None:
                return "refused", "no_launch: neither a .json beside the file nor an ARGS line in it"
            given = os.path.join(folder, "input.json")
            write(given, json.dumps(launch))
        command = [program, path, "--input", given, "--timeout", str(seconds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        report = json.loads(done.stdout)
        result = report["result"]
    except (ValueError, KeyError):
        return "refused", "no_report: " + last_line(done.stderr)
    if result in _SILENT:
        return "silent", ""
    found = (report.get("diagnostics") or [{}])[0]
    message = f"{found.get('code', result)}: {found.get('message') or result}"
    return "told" if result in _TOLD else "refused", message


def main():
    parser = argparse.ArgumentParser(description="What SentryWard says of PTX kernels.", allow_abbrev=False)
    parser.add_argument("--venv", default=_VENV)
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    parser.add_argument("files", nargs="+", metavar="FILE.ptx")
    options = parser.parse_args()
    program = _program(options.venv)
    for path in options.files:
        word, message = _verdict(program, path, options.timeout)
        print(f"{word} {path}" + (f": {message}" if message else ""), flush=True)


if __name__ == "__main__":
    main()
