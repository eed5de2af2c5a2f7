"""grade_all.py - marks a whole class: make grade-all SUBMISSIONS=dir.

  course.grade_all --build build [--exercise NAMES] [--seeds FILE] [--weights KIND:N,...] [--csv FILE] [--shard I/N]
                   SUBMISSIONS

One folder a student in SUBMISSIONS, with exercises/04/NAME/kernel.cuh beneath it, or 04/NAME/kernel.cuh, or
NAME/kernel.cuh; answers.txt likewise. Every file is marked once: what it got is kept in build/grade/kept by a hash of
all that the mark depends on, so a run that was stopped goes on where it was, and a second hand-in is marked alone. One
process a core, one run at a time in each; the marks are those of make grade-NN.

--shard 3/40: only the third of forty parts, for a batch system's array job; without it, whoever comes last writes the
CSV of all that is kept, and the students' pages beside it (table.py). Exit code: as of grade.py.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import fnmatch
import glob
import hashlib
import json
import os
import re
import sys
from pathlib import Path

from sm100repo import ROOT, read, write
from sm100repo.course import exercise as exercises, repair, sandbox, submission, table
from sm100repo.course.grade import Handed, chosen, file_of, seed_of, words
from sm100repo.course.mark import Grader, refused
from sm100repo.course.model import ANSWERS, KERNEL, Exercise
from sm100repo.drift import Drift


FINDINGS = 8  # of a mark, that are kept for the student's page


@dataclasses.dataclass(frozen=True)
class Job:
    """One file of one student. key: of what its mark depends on."""

    student: str
    exercise: Exercise
    path: str
    why: str  # it is refused without being read; else nothing
    key: str


def part(text):
    """3/40 as (3, 40)."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text} is not I/N, the I-th of N parts from 1 to N")
    return int(found[1]), int(found[2])


def options(argv):
    parser = argparse.ArgumentParser(prog="grade_all.py", description="marks the folders of a class")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder")
    parser.add_argument("--exercise", default="", help="the exercises that were set: names or patterns")
    parser.add_argument("--seeds", default="", help="a CSV of student,seed (default: TASK.md names the seed)")
    parser.add_argument("--weights", default="", help="weights of the kinds in the total: predict:30,fill:40,repair:30")
    parser.add_argument("--draw", default="", help="the teacher's word, from which sizes and seeds are drawn")
    parser.add_argument("--csv", default="", help="default build/grade/marks.csv")
    parser.add_argument("--shard", type=lambda text: text and part(text), help="I/N: the I-th of N parts, no CSV")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="files at a time")
    parser.add_argument("submissions")
    o = parser.parse_args(argv)
    try:
        o.weights = table.weights_of(o.weights)
    except ValueError:
        parser.exit(2, f"grade-all: WEIGHTS={o.weights}: it is to be as WEIGHTS=predict:30,fill:40,repair:30\n")
    return o


def machinery(root, build):
    """A hash of the course, the programs of steps and rungs and the emulator: what changes a mark besides the file."""
    h = hashlib.sha256()
    programs = [os.path.join(build, name) for name in sorted(os.listdir(root)) if name[:2].isdigit()]
    paths = glob.glob(os.path.join(build, "ladder", "*"))
    for room in ("course", "python/sm100repo"):
        paths += glob.glob(os.path.join(root, room, "**"), recursive=True)
    for path in [*sorted(paths), *programs, os.path.join(build, "emulator", "libsm100emu.so")]:
        if os.path.isfile(path) and not path.endswith((".d", ".log", ".pyc")):
            h.update(Path(path).read_bytes())
    return h.hexdigest()


def files_of(folder):
    """{(lesson, name): path} of a student's kernels and answers, wherever they lie in the folder, but not by a link."""
    found, own = {}, os.path.realpath(folder) + os.sep
    for pattern in ("exercises/[0-9][0-9]/*", "[0-9][0-9]/*", "*"):
        for name in (KERNEL, ANSWERS):
            for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern, name))):
                exercise = os.path.basename(os.path.dirname(path))
                if exercise[:2].isdigit() and os.path.realpath(path).startswith(own):
                    found.setdefault((exercise[:2], exercise), path)
    return found


def students_of(folder):
    return sorted(d for d in os.listdir(folder) if os.path.isdir(os.path.join(folder, d)) and not d.startswith("."))


class Class:
    """The hand-ins of a class. jobs: what can be marked; seeds: {student: seeds}; left_out: {student: what cannot, and
    why}; exercises: {(student, name): exercise}."""

    def __init__(self, o, students, given):
        self.o, self.given, self.jobs, self.exercises = o, given, [], {}
        self.seeds, self.left_out = {s: set() for s in students}, {s: [] for s in students}
        self.handed, self.machine = Handed(ROOT), machinery(ROOT, o.build)
        for student in students:
            folder = os.path.join(o.submissions, student)
            if os.path.islink(folder):
                self.left_out[student].append("the folder is a link")
            elif os.path.isdir(folder):
                self.read(student, folder)

    def read(self, student, folder):
        given = self.given.get(student, "")
        for (lesson, name), path in files_of(folder).items():
            places = [os.path.join(folder, "exercises", lesson), os.path.join(folder, lesson), folder]
            seed = given or seed_of(*places)
            if lesson not in exercises.lessons(ROOT):
                continue
            exercise, why = self.handed.exercise(lesson, name, os.path.dirname(path), seed, given)
            if not exercise:
                self.left_out[student].append(f"{name} is no exercise of seed {seed}")
            elif os.path.basename(path) == file_of(exercise):
                self.exercises[student, name] = exercise
                self.seeds[student].add(exercise.seed or seed)
                if chosen([exercise], self.o.exercise):
                    self.jobs.append(self.job(student, exercise, path, why))

    def job(self, student, exercise, path, why):
        try:
            text = submission.read_submission(path)
        except (OSError, submission.Refused) as refusal:
            text = f"refused: {refusal}"
        whole = "\0".join([self.machine, self.o.draw, repr(exercise), why, text])
        return Job(student, exercise, path, why, hashlib.sha256(whole.encode()).hexdigest()[:32])

    def table(self, students):
        columns = {job.exercise.column: job.exercise.kind for job in self.jobs}
        if self.o.exercise:
            every = [e for lesson in exercises.lessons(ROOT) for e in self.handed.load(lesson, exercises.SEED).values()]
            columns.update({e.column: e.kind for e in chosen(every, self.o.exercise)})
        marks = {(job.student, job.exercise.column): kept(self.o.build, job) for job in self.jobs}
        rows = [table.Row(student, sorted(self.seeds[student]), {c: marks.get((student, c)) for c in columns},
                          self.left_out[student]) for student in students]
        return table.Table(rows, columns, self.o.weights)


def kept_path(build, job):
    return os.path.join(build, "grade", "kept", job.key + ".json")


def kept(build, job):
    try:
        return json.loads(read(kept_path(build, job)))
    except (OSError, ValueError):
        return None


def keep(build, job, mark):
    """Whole or not at all: two that mark the same file write the same."""
    path = kept_path(build, job)
    made = {"name": mark.name, "state": mark.state, "points": mark.points, "parts": mark.parts, "notes": mark.notes,
            "findings": [f"{KERNEL}:{f.line}: {f.text} [{f.rule}] {f.section}" for f in mark.findings[:FINDINGS]],
            "wrong": mark.wrong, "draw": mark.draw}
    write(f"{path}.{os.getpid()}", json.dumps(made, indent=1))
    os.replace(f"{path}.{os.getpid()}", path)
    return made


def work(build, word, job):
    if job.why:
        return keep(build, job, refused(job.exercise, job.why))
    shown = os.path.join(job.exercise.name, os.path.basename(job.path))
    return keep(build, job, Grader(ROOT, build, word, jobs=1).grade(job.exercise, job.path, shown=shown))


def finished(future):
    """(what came of a job, in words; whether it failed)"""
    try:
        return f"{future.result()['points']:g}", False
    except Exception as failure:  # whatever a file does to the grader, the others are marked
        return f"not marked: {failure}", True


def mark_all(o, jobs):
    """Marks what is not kept yet, and says after each how far it is; how many could not be."""
    todo, seen, failures = [], set(), 0
    for job in jobs:
        if job.key not in seen and kept(o.build, job) is None:
            todo.append(job)
        seen.add(job.key)
    print(f"grade-all: {len(jobs)} files, {len(todo)} to be marked, {o.jobs} at a time", flush=True)
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        try:
            running = {pool.submit(work, o.build, o.draw, job): job for job in todo}
            for done, future in enumerate(concurrent.futures.as_completed(running), 1):
                job, (said, failed) = running[future], finished(future)
                failures += failed
                print(f"  {done}/{len(todo)}  {table.shown(job.student)}  {job.exercise.name}  {said}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)  # none is begun any more
            raise
    return failures


def write_table(made, path):
    kept_as, pages = made.write_csv(path), os.path.splitext(path)[0]
    if kept_as:
        print(f"grade-all: the table that was there has marks that this one lacks; it is kept as {kept_as}")
    made.write_pages(pages)
    print(f"grade-all: {path}, and a page for each student in {pages}/")


def main(argv):
    o = options(argv)
    o.build = os.path.realpath(o.build)
    if not o.submissions or not os.path.isdir(o.submissions):
        print("grade-all: SUBMISSIONS=dir names a folder with one folder a student in it", file=sys.stderr)
        return 2
    os.makedirs(os.path.join(o.build, "grade", "kept"), exist_ok=True)
    given = exercises.read_seeds(o.seeds) if o.seeds else {}
    there = students_of(o.submissions)
    unknown = [table.shown(student) for student in there if student not in given]
    if o.seeds and unknown:
        print(f"grade-all: {o.seeds} has no seed for {', '.join(unknown)}", file=sys.stderr)
        return 2
    known = {name for lesson in exercises.lessons(ROOT) for name in exercises.names(ROOT, lesson)}
    known |= {f"{lesson}-repair-{place}" for lesson in exercises.lessons(ROOT) for place in range(1, repair.EACH + 1)}
    for word in words(o.exercise):
        if not fnmatch.filter(known, word):
            near = difflib.get_close_matches(word, known)
            print(f"grade-all: EXERCISE={word}: there is no exercise of this name"
                  + (f"; did you mean {' or '.join(near)}?" if near else ""), file=sys.stderr)
            return 2
    students = sorted({*there, *given})
    found = Class(o, students, given)
    for student, what in found.left_out.items():
        for why in what:
            print(f"grade-all: {table.shown(student)}: {table.shown(why)}", file=sys.stderr)
    first, step = o.shard or (1, 1)
    failed = mark_all(o, found.jobs[first - 1::step])
    if not o.shard:
        write_table(found.table(students), o.csv or os.path.join(o.build, "grade", "marks.csv"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # a folder's name may be of any bytes
    sandbox.finish("grade-all", main, "stopped; what is marked is kept, and the same command goes on",
                   RuntimeError, OSError, Drift)
