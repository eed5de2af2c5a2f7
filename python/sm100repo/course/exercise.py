"""exercise.py - writes the exercises of a lesson into exercises/0N/, and load()s them for those who mark them.

  course.exercise [--build DIR] [--seed S] [--to DIR] LESSON     make exercise-04 SEED=7; LESSON: 04, or all
  course.exercise --list [--seeds 1-30] [LESSON]                 what there is; who of a class gets what

Each exercise is a folder: TASK.md, a Makefile, and kernel.cuh or answers.txt. What lies there already stays; where it
is not what would be written, that is said. Exit code: 0; 1 where a file cannot be written, or there is no C++ compiler;
2 where a step has drifted from its exercises.
"""

import argparse
import os
import re
import signal
import sys
import textwrap

from sm100repo import ROOT, read, write
from sm100repo.course import fill_in, kernels, predict, repair
from sm100repo.course.model import ANSWERS, FILL, KERNEL, PREDICT, REPAIR, TASK
from sm100repo.drift import Drift, each

SEED = "1"
LONGEST = 64  # characters of a seed
MARGIN = 120
SEED_FILE = "SEED"  # in exercises/0N: the seed that the lesson's exercises were written with
WRAPPERS = "The instructions' wrappers are in [`common/`](../../../common)."
WORK = """The tensor core, the TMA and tensor memory must do the work that they do in the lesson's kernel. Other methods
earn no marks."""
KINDS = {FILL: "a hole to fill", REPAIR: "a mistake to mend", PREDICT: "questions to answer"}


def lessons(root):
    return sorted(kernels.steps(root))


def load(root, lesson, seed=SEED):
    """All exercises of a lesson: fill, repair, predict, with start and solution. The same for the same seed."""
    step, seed = kernels.steps(root)[lesson], str(seed or SEED)
    return sum(each(lambda load_kind: load_kind(), [lambda: fill_in.load(root, lesson),
                                                    lambda: repair.load(root, lesson, step, seed),
                                                    lambda: predict.load(root, lesson, seed)]), [])


def is_seed(text):
    """What a seed may be: a number or a name, of any letters."""
    return 0 < len(text) <= LONGEST and text.isprintable()


def seed_of(folder):
    """The seed that exercises/0N was written with, or None."""
    path = os.path.join(folder, SEED_FILE)
    return read(path).strip() if os.path.exists(path) else None


def wrapped(text):
    """The paragraphs of text, refilled: what was drawn for a question may be long."""
    return "\n\n".join(textwrap.fill(part, MARGIN, break_long_words=False, break_on_hyphens=False)
                       for part in re.split(r"\n\s*\n", text.strip()))


def task(e):
    """TASK.md of an exercise."""
    number = e.lesson
    lines = [f"# {e.title}", "", f"Lesson {number}, {KINDS[e.kind]}.", "", wrapped(e.text), ""]
    if e.kind == PREDICT:
        lines += [f"Write your answers into `{ANSWERS}`: after each `=` a number (`17` or `0x11`) or a word.", ""]
        for q in e.questions:
            lines += [f"- `{q.key}`: {q.text}"]
        lines += ["", f"`make grade-{number} EXERCISE={e.name}` marks them."]
    else:
        words = " ".join(e.run)
        args = f" ARGS='{words}'" if words else ""
        path = kernels.source_path(e.step)
        strict = ", but for `" + "`, `".join(e.strict) + "`" if e.strict else ""
        host = f"The host code is that of [`{path}`](../../../{path})."
        lines += [wrapped(f"Change only `{KERNEL}`. {WRAPPERS} {host} {WORK}"), "",
                  f"- `make run-{number} EXERCISE={e.name}{args}`",
                  "  runs it on the emulator. `make run` in this folder does the same. Findings of class *strict* cost",
                  f"  no points{strict}. `SM100EMU_CHECK=strict make run` shows them.",
                  f"- `make grade-{number} EXERCISE={e.name}` marks it. `HINT=1`, `HINT=2` or `HINT=3` gives a hint."]
        if e.timed:
            lines += ["", "The cycles on the model's clock count if the answer is right, no rule is broken, and the",
                      "model does not doubt them. If it does, `make grade` says so."]
    return "\n".join(lines) + "\n"


def answers(e):
    """The start of answers.txt."""
    title = e.title if e.title.endswith("?") else e.title + "."
    lines = [f"# {title} After each `=` write a number (17 or 0x11) or a word."]
    for q in e.questions:
        lines += ["", "# " + re.sub(r"\s+", " ", q.text), f"{q.key} ="]
    return "\n".join(lines) + "\n"


def makefile(e):
    """What `make run` does in the exercise's folder."""
    words = " ".join(e.run)
    targets = "grade" if e.kind == PREDICT else "run check watch grade"
    args = f" ARGS='$(or $(ARGS),{words})'" if words else ""
    command = f"@MAKELEVEL= $(MAKE) --no-print-directory -C ../../.. $@-{e.lesson} EXERCISE={e.name}{args}"
    return f"# In this folder: {targets.replace(' ', ', ')}.\n{targets}: ; {command}\n"


def files(e):
    """{name: text} of an exercise's folder."""
    made = {TASK: task(e), "Makefile": makefile(e)}
    made[ANSWERS if e.kind == PREDICT else KERNEL] = answers(e) if e.kind == PREDICT else e.start
    return made


def write_exercise(e, folder):
    """Writes what is not there; returns (how many files were written, those that are there and differ)."""
    os.makedirs(folder, exist_ok=True)
    written, kept = 0, []
    for name, text in files(e).items():
        path = os.path.join(folder, name)
        try:
            with open(path, "x") as f:
                f.write(text)
            written += 1
        except FileExistsError:
            if read(path) != text:
                kept.append(name)
    return written, kept


def write_lesson(o, lesson):
    """Writes the exercises of a lesson, and when all are there says what was done: `| head` may end this."""
    room = os.path.join(o.to, lesson)
    before = seed_of(room)
    seed, said = o.seed or before or SEED, []
    for e in load(ROOT, lesson, seed):
        folder = os.path.join(room, e.name)
        written, kept = write_exercise(e, folder)
        state = "written" if written else "there"
        if kept:
            state += "; yours stays: " + ", ".join(kept)
        said.append(f"  {os.path.relpath(folder)}  {e.title}  [{state}]")
    write(os.path.join(room, SEED_FILE), seed + "\n")
    print("\n".join(said), flush=True)


def seeds_of(text):
    """1-30, or ada,bob: the seeds of a class."""
    found = re.fullmatch(r"(\d+)-(\d+)", text)
    return [str(i) for i in range(int(found[1]), int(found[2]) + 1)] if found else text.split(",")


def show(o, lesson):
    """The exercises of a lesson; for a class, the repair exercises of each seed, with the mutant's name."""
    if not o.seeds:
        for e in load(ROOT, lesson, o.seed):
            print(f"{e.name:<28} {e.title}{'  (cycles count)' if e.timed else ''}")
        return
    found = repair.usable(ROOT, kernels.steps(ROOT)[lesson])
    for seed in seeds_of(o.seeds):
        names = [case.name for case, _ in repair.chosen(found, repair.draw(seed))]
        print(f"{lesson}  SEED={seed:<8} {'  '.join(names)}")


def main():
    p = argparse.ArgumentParser(prog="exercise.py", description="writes the exercises of a lesson")
    p.add_argument("--build", default="build", help="the build folder (build); not needed to write exercises")
    p.add_argument("--seed", default="", help="which repair exercises and numbers: a number or a name (1)")
    p.add_argument("--to", default=os.path.join(ROOT, "exercises"), help="where to (exercises)")
    p.add_argument("--list", action="store_true", help="list them, write nothing")
    p.add_argument("--seeds", default="", help="with --list: A-B or names with commas: a class's repair exercises")
    p.add_argument("lesson", nargs="?", default="all", help="01 and so on, or all")
    o = p.parse_args()
    o.seed = o.seed.strip()
    if o.seed and not is_seed(o.seed):
        print(f"exercise: a seed is a number or a name of at most {LONGEST} characters", file=sys.stderr)
        return 2
    known = lessons(ROOT)
    o.chosen = known if o.lesson == "all" else [o.lesson.zfill(2)]
    if not set(o.chosen) <= set(known):
        print(f"exercise: there is no lesson {o.lesson}; there are: {' '.join(known)}, all", file=sys.stderr)
        return 2
    try:
        each(lambda lesson: (show if o.list else write_lesson)(o, lesson), o.chosen)
    except Drift as drift:
        print(drift, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"exercise: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no mistake
    sys.exit(main())
