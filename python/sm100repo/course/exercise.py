"""exercise.py - writes the exercises of a lesson into exercises/0N/, and load()s them for those who mark them.

  course.exercise [--seed S] [--force] [--to DIR] LESSON         make exercise-04 SEED=7; LESSON: 04, or all
  course.exercise --list [--seeds 1-30] [LESSON]                 what there is; who of a class gets what
  course.exercise --answers [--seeds 1-30] [LESSON]              make answers-04: for the teacher

Each exercise is a folder: TASK.md, a Makefile, and kernel.cuh or answers.txt. A file that nobody has edited is written
anew where another seed, or a newer repository, wants another text. An edited file stays where the exercise is the same.
Else nothing is changed, unless --force renames the edited files to *.orig first. Exit code: 0; 1 where an edited file
is in the way, a file cannot be written, or there is no C++ compiler; 2 where a step has drifted from its exercises.
"""

import argparse
import csv
import functools
import hashlib
import os
import re
import shlex
import signal
import sys
import textwrap

from sm100repo import ROOT, read, write
from sm100repo.course import fill_in, hints, kernels, predict, repair
from sm100repo.course.model import ANSWERS, FILL, KERNEL, PREDICT, REPAIR, TASK
from sm100repo.drift import Drift, each

SEED = "1"
LONGEST = 64  # characters of a seed
MARGIN = 120
SEED_FILE = "SEED"  # in exercises/0N: the seed that the lesson's exercises were written with
WRITTEN = ".written"  # beside it: what was written, a line `SHA-256  PATH` a file, as sha256sum has it
WRAPPERS = "The instructions' wrappers are in [`common/`](../../../common)."
WORK = """The tensor core, the TMA and tensor memory must do the work that they do in the lesson's kernel. Other methods
earn no marks."""
NUMBERS = """`17`, `0x11` and `0b10001` are the same number. So is
`1f` and `0x1f`: digits with a letter from a to f are hexadecimal, but `10` alone is ten."""
OF_SEED = ", seed "  # in a TASK, between the kind and the seed
KINDS = {FILL: "a hole to fill", REPAIR: "a mistake to mend", PREDICT: "questions to answer"}


def lessons(root):
    return sorted(kernels.steps(root))


def load(root, lesson, seed=SEED):
    """All exercises of a lesson: fill, repair, predict, with start and solution. The same for the same seed."""
    step, seed = kernels.steps(root)[lesson], str(seed or SEED)
    return sum(each(lambda load_kind: load_kind(), [lambda: fill_in.load(root, lesson),
                                                    lambda: repair.load(root, lesson, step, seed),
                                                    lambda: predict.load(root, lesson, seed)]), [])


@functools.lru_cache(maxsize=None)
def names(root, lesson):
    """Of a lesson's exercises, with the repairs of all seeds. Nothing is compiled for it."""
    mistakes = {repair.name_of(lesson, case) for case, _ in repair.usable(root, kernels.steps(root)[lesson])}
    return mistakes | {*fill_in.names(root, lesson)} | {*predict.names(root, lesson)}


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
    lines = [f"# {e.title}", "", f"Lesson {number}, {KINDS[e.kind]}{OF_SEED + e.seed if e.seed else ''}.", "",
             wrapped(e.text), ""]
    if e.kind == PREDICT:
        lines += [f"Write your answers into `{ANSWERS}`, after each `=` a number or a word. {NUMBERS}", ""]
        for q in e.questions:
            lines += [f"- `{q.key}`: {q.text}"]
        lines += ["", f"`make grade-{number} EXERCISE={e.name}` marks them."]
    else:
        words = " ".join(e.run)
        args = f" ARGS='{words}'" if words else ""
        path = kernels.source_path(e.step)
        strict = ", except `" + "`, `".join(e.strict) + "`" if e.strict else ""
        host = f"The host code is that of [`{path}`](../../../{path})."
        lines += [wrapped(f"Change only `{KERNEL}`. {WRAPPERS} {host} {WORK}"), "",
                  f"- `make run-{number} EXERCISE={e.name}{args}`",
                  "  runs it on the emulator. `make run` in this folder does the same. A finding of class *strict* costs",
                  f"  no points{strict}. `SM100EMU_CHECK=strict make run` shows them.",
                  f"- `make grade-{number} EXERCISE={e.name}` marks it. `HINT=1`, `HINT=2` or `HINT=3` gives a hint."]
        if e.timed:
            lines += ["", "The cycles on the model clock count if the answer is right, no rule is broken, and the",
                      "model does not doubt them. If it does, `make grade` says so."]
    return "\n".join(lines) + "\n"


def answers(e):
    """The start of answers.txt."""
    title = e.title if e.title.endswith("?") else e.title + "."
    lines = [f"# {title} After each `=` write a number (17, 0x11 or 0b10001) or a word."]
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


def seed_in(task_text):
    """The seed that a TASK names, or None: fill exercises are the same for all seeds."""
    found = re.search(rf"^Lesson \d\d, [^,\n]*{OF_SEED}(.*)\.$", task_text, re.M)
    return found[1] if found and is_seed(found[1]) else None


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def text_of(path):
    """A file's text, whatever its bytes; None where there is no file."""
    if not os.path.lexists(path):
        return None
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
        return f.read()


def keep_aside(path):
    """Renames a file to PATH.orig, or PATH.orig.2 and so on where that is there; the new name."""
    name, number = path + ".orig", 1
    while os.path.lexists(name):
        number += 1
        name = f"{path}.orig.{number}"
    os.rename(path, name)
    return name


class Room:
    """exercises/0N: what lies there, what was written there last, and what is wanted there. All by paths from it."""

    def __init__(self, folder, wanted):
        self.folder, self.wanted, self.record = folder, wanted, {}
        for line in (text_of(os.path.join(folder, WRITTEN)) or "").splitlines():
            known, _, path = line.partition("  ")
            self.record[path] = known
        self.changes, self.mine, self.conflicts = {}, set(), []
        for path in sorted({*wanted, *self.record}):
            self.look(path, text_of(os.path.join(folder, path)), wanted.get(path))

    def look(self, path, there, wanted):
        """What is to be done at this path. changes: {path: text, or None to remove}."""
        if there == wanted:
            return
        edited = there is not None and digest(there) != self.record.get(path)
        if edited and wanted is not None and self.record.get(path) == digest(wanted):
            self.mine.add(path)
            return
        if edited:
            self.conflicts.append(path)
        self.changes[path] = wanted

    def update(self, seed):
        """Does it. The record comes last: what is cut off is begun again."""
        for path in self.conflicts:
            print(f"  {os.path.relpath(os.path.join(self.folder, path))} is kept as "
                  + os.path.basename(keep_aside(os.path.join(self.folder, path))))
        for path, text in self.changes.items():
            at = os.path.join(self.folder, path)
            if text is not None:
                write(at, text)
            elif os.path.lexists(at):
                os.unlink(at)
        for folder in {os.path.dirname(path) for path, text in self.changes.items() if text is None}:
            try:
                os.rmdir(os.path.join(self.folder, folder))
            except OSError:
                pass  # something of the student's is in it
        write(os.path.join(self.folder, SEED_FILE), seed + "\n")
        lines = [f"{digest(text)}  {path}\n" for path, text in sorted(self.wanted.items())]
        write(os.path.join(self.folder, WRITTEN), "".join(lines))


def write_lesson(o, lesson):
    """Writes the exercises of a lesson, and when all are there says what was done: `| head` may end this. False where
    an edited file is in the way."""
    folder = os.path.join(o.to, lesson)
    before = seed_of(folder)
    seed = o.seed or before or SEED
    found = load(ROOT, lesson, seed)
    room = Room(folder, {os.path.join(e.name, name): text for e in found for name, text in files(e).items()})
    if room.conflicts and not o.force:
        why = "belongs to " + (f"seed {before}" if before not in (None, seed) else "an older version of its exercise")
        print(f"exercise: what you have edited {why}. Nothing was changed:",
              *(f"  {os.path.relpath(os.path.join(folder, path))}" for path in room.conflicts),
              f"make exercise-{lesson} SEED={shlex.quote(seed)} FORCE=1 keeps each of them as *.orig", sep="\n",
              file=sys.stderr)
        return False
    room.update(seed)
    said = []
    for e in found:
        own = [path for path in files(e) if os.path.join(e.name, path) in room.mine]
        new = any(os.path.dirname(path) == e.name for path in room.changes)
        state = ("written" if new else "there") + (f"; yours stays: {', '.join(own)}" if own else "")
        said.append(f"  {os.path.relpath(os.path.join(folder, e.name))}  {e.title}  [{state}]")
    gone = sorted({os.path.dirname(path) for path, text in room.changes.items() if text is None})
    said += [f"  {os.path.relpath(os.path.join(folder, name))}  [seed {before}'s: removed]" for name in gone]
    first = os.path.relpath(os.path.join(folder, found[0].name, TASK))
    print("\n".join([*said, f"begin with {first}; make grade-{lesson} marks what you have done"]), flush=True)
    return True


def read_seeds(path):
    """{student: seed} of a teacher's CSV of `student,seed`, with these two words as its first line or without."""
    with open(path, newline="", encoding="utf-8-sig") as f:
        rows = [(n, [cell.strip() for cell in row]) for n, row in enumerate(csv.reader(f), 1) if any(row)]
    if rows and [cell.lower() for cell in rows[0][1][:2]] == ["student", "seed"]:
        del rows[0]
    for n, row in rows:
        if len(row) < 2 or not all(row[:2]):
            raise RuntimeError(f"{path}:{n}: expected student,seed")
    return {row[0]: row[1] for _, row in rows}


def seeds_of(text):
    """{who: seed} of a class: 1-30, or ada,bob, or a CSV of `student,seed`."""
    if os.path.isfile(text):
        return read_seeds(text)
    found = re.fullmatch(r"(\d+)-(\d+)", text)
    seeds = [str(i) for i in range(int(found[1]), int(found[2]) + 1)] if found else text.split(",")
    return {seed: seed for seed in seeds}


def show(o, lesson):
    """The exercises of a lesson; for a class, the repair exercises of each seed, with the mutant's name."""
    if not o.seeds:
        for e in load(ROOT, lesson, o.seed):
            print(f"{e.name:<28} {e.title}{'  (cycles count)' if e.timed else ''}")
        return
    found = repair.usable(ROOT, kernels.steps(ROOT)[lesson])
    for seed in seeds_of(o.seeds).values():
        names = [case.name for case, _ in repair.chosen(found, repair.draw(seed))]
        print(f"{lesson}  SEED={seed:<8} {'  '.join(names)}")


def answer_lines(e):
    """What an exercise's answer is: of a kernel the lines that mend it, at their places in the file as given."""
    if e.kind == PREDICT:
        return [f"{q.key} = {q.answer}" for q in e.questions]
    rules = f"; the checker reports: {', '.join(e.rules)}" if e.rules else ""
    return [f"{KERNEL}:{e.first}-{e.last}{rules}",
            *(line for _, hunk in hints.hunks(e.start, e.solution, around=0) for line in hunk[1:])]


def print_answers(o, lesson):
    """The answers of each seed. Holes are the same for all, so they are printed once."""
    printed = set()
    for who, seed in seeds_of(o.seeds or o.seed or SEED).items():
        print(f"lesson {lesson}, {who if who == seed else f'{who}, seed {seed}'}")
        for e in load(ROOT, lesson, seed):
            if e.name not in printed or e.seed:
                print(f"  {e.name}", *answer_lines(e), sep="\n      ")
            printed.add(e.name)


def main():
    p = argparse.ArgumentParser(prog="exercise.py", description="writes the exercises of a lesson")
    p.add_argument("--seed", default="", help="a number or a name; it chooses repair exercises and numbers (1)")
    p.add_argument("--to", default=os.path.join(ROOT, "exercises"), help="the folder to write to (exercises)")
    p.add_argument("--force", action="store_true", help="rename edited files to *.orig")
    p.add_argument("--list", action="store_true", help="list them, write nothing")
    p.add_argument("--answers", action="store_true", help="print the answers, write nothing: for the teacher")
    p.add_argument("--seeds", default="", help="with --list or --answers, of a class: A-B, names with commas, or a CSV "
                   "of student,seed")
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
    task_of = show if o.list else print_answers if o.answers else write_lesson
    try:
        done = each(lambda lesson: task_of(o, lesson), o.chosen)
    except Drift as drift:
        print(drift, file=sys.stderr)
        return 2
    except (OSError, RuntimeError) as error:
        print(f"exercise: {error}", file=sys.stderr)
        return 1
    return 1 if False in done else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no mistake
    sys.exit(main())
