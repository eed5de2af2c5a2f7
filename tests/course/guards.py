"""guards.py - what keeps cheats from marks, each as a thing that a test can take away for a while.

GUARDS: name to a function of nothing whose answer is a list of (object, attribute, what stands in for it).
"""

import contextlib
import dataclasses
import os
import shutil
import subprocess
from unittest import mock

import fixture
from sm100repo.course import draws, mark, sandbox, submission, trial

TREASURE = os.path.join(fixture.ROOT, "build", "course", "cheats")  # what cheats bring along, for a while


def running(change):
    """sandbox.run with a Run, or a command, that `change` has had in hand."""
    run = sandbox.run

    def stand_in(command, folder, **options):
        command, after = change(command)
        return after(run(command, folder, **options))

    return [(sandbox, "run", stand_in)]


def with_code(when):
    def change(run):
        return run._replace(code=0) if run.code is not None and when(run) else run

    return running(lambda command: (command, change))


def printed():
    return with_code(lambda run: "PASS" in run.out)


def any_code():
    return with_code(lambda run: run.code == 1)


def faults():
    of_file = trial.of_file

    def stand_in(path, key):
        return [{**launch, "fault": 0} for launch in of_file(path, key) or [{"kernel": ""}]]

    return [(trial, "of_file", stand_in), (trial, "findings", lambda *_: ([], False))]


def drawn(change):
    draw = draws.draw

    def stand_in(*arguments):
        word, trials = draw(*arguments)
        return word, change(trials)

    return [(draws, "draw", stand_in)]


def default_size():
    sizes = {"m": 512, "n": 1024, "k": 256}
    return [(draws, "problems", lambda step, r: [sizes] * 3)]


def small():
    sizes = {"m": 128, "n": 256, "k": 64}
    return [(draws, "problems", lambda step, r: [sizes] * 3), *drawn(lambda trials: trials[:2])]


def no_second():
    return drawn(lambda trials: [t for t in trials if not any("--time" in word for word in t.arguments)])


def at_once():
    return drawn(lambda trials: [draws.Trial(t.problem, "eager", t.arguments) for t in trials])


def room():
    findings = trial.findings
    return [(trial, "findings", lambda *arguments: (findings(*arguments)[0], False))]


def unseen():
    run_one = trial.run_one
    return [(trial, "run_one", lambda *words, **more: dataclasses.replace(run_one(*words, **more), unseen=""))]


def rules_alone():
    def stand_in(exercise, found, *_):
        return ", ".join({f.rule for f in found} & set(exercise.rules))

    return [(mark, "unmended", stand_in)]


def unchecked():
    return running(lambda command: ([word.replace("--check=warn", "--check=off") for word in command], lambda run: run))


def more_headers():
    copy = submission.copy_headers

    def stand_in(root, step, folder):
        copy(root, step, folder)
        for name in ("04_pair_umma.cu", "own.cuh"):
            found = [p for p in (os.path.join(root, step, name), os.path.join(TREASURE, name)) if os.path.exists(p)]
            if found:
                shutil.copy(found[0], os.path.join(folder, step, name))

    return [(submission, "copy_headers", stand_in)]


def inherited():
    environment = sandbox.environment
    return [(sandbox, "environment", lambda folder: {**environment(folder), **os.environ})]


def whole_program():
    """The host's compiler makes the program, with the student's file where the kernel was."""

    def stand_in(root, build, toolkit, step, text, scratch, _):
        folder, path = os.path.join(scratch, "source"), os.path.join(scratch, "program")
        submission.copy_headers(root, step, folder)
        with open(os.path.join(root, step, step + ".cu"), encoding="utf-8") as f:
            host = f.read().partition(fixture.HOST)[2]
        source = os.path.join(folder, step, "program.cu")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text + fixture.HOST + host)
        subprocess.run([toolkit.nvcc, "-std=c++17", "-gencode", "arch=compute_100f,code=compute_100f", "-cudart",
                        "shared", "-o", path, source], check=True, capture_output=True)
        return path, folder

    return [(submission, "make_program", stand_in)]


GUARDS = {
    "stdout is not read": printed,
    "the exit code": any_code,
    "the faults": faults,
    "the rules": lambda: [(trial, "findings", lambda *_: ([], False))],
    "the room for findings": room,
    "what was not seen": unseen,
    "every finding of a repair": rules_alone,
    "the work": lambda: [(trial, "too_little", lambda *_: [])],
    "the draw": default_size,
    "the second launch": no_second,
    "the list of files": lambda: [(submission, "strangers", lambda *_: [])],
    "the headers": more_headers,
    "the device alone": whole_program,
    "the environment": inherited,
    "the schedules": at_once,
    "the checker": unchecked,
}


@contextlib.contextmanager
def without(*names):
    """The grader without these guards. mark.py and the others call all of them by their modules."""
    with contextlib.ExitStack() as stack:
        for name in names:
            for where, attribute, stand_in in (small if name == "small" else GUARDS[name])():
                stack.enter_context(mock.patch.object(where, attribute, stand_in))
        yield mark
