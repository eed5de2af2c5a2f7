"""grade_all.py - marks a whole class: make grade-all SUBMISSIONS=dir.

  course.grade_all --build build [--exercise NAMES] [--seeds FILE] [--csv FILE] [--shard I/N] SUBMISSIONS

One folder a student in SUBMISSIONS, with exercises/04/NAME/kernel.cuh beneath it, or 04/NAME/kernel.cuh, or
NAME/kernel.cuh; answers.txt likewise. Every file is marked once: what it got is kept in build/grade/kept by a hash of
all that the mark depends on, so a run that was stopped goes on where it was, and a second hand-in is marked alone. One
process a core, one run at a time in each; the marks are those of make grade-NN.

--shard 3/40: only the third of forty parts, for a batch system's array job; without it, whoever comes last writes the
CSV of all that is kept. Exit code: as of grade.py.
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import glob
import hashlib
import json
import os
import re
import sys
from pathlib import Path

from sm100repo import ROOT, read, write
from sm100repo.course import exercise as exercises, sandbox, submission
from sm100repo.course.grade import chosen, file_of, seed_of
from sm100repo.course.mark import Grader
from sm100repo.course.model import ANSWERS, KERNEL
from sm100repo.drift import Drift


@dataclasses.dataclass(frozen=True)
class Job:
    """One file of one student. key: of what its mark depends on."""

    student: str
    seed: str
    lesson: str
    name: str
    path: str
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
    parser.add_argument("--exercise", default="", help="only these: names or shell patterns, with commas between")
    parser.add_argument("--seeds", default="", help="a CSV of student,seed, all of them; else each folder's SEED")
    parser.add_argument("--draw", default="", help="a word of the teacher's, by which sizes and seeds are drawn")
    parser.add_argument("--csv", default="", help="default build/grade/marks.csv")
    parser.add_argument("--shard", type=lambda text: text and part(text), help="I/N: the I-th of N parts, no CSV")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="files at a time")
    parser.add_argument("submissions")
    return parser.parse_args(argv)


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


def read_seeds(path):
    if not path:
        return {}
    with open(path, newline="", encoding="utf-8-sig") as f:
        return {row[0].strip(): row[1].strip() for row in csv.reader(f) if len(row) >= 2}


def students_of(folder):
    return sorted(d for d in os.listdir(folder) if os.path.isdir(os.path.join(folder, d)) and not d.startswith("."))


def jobs_of(o, students, seeds):
    """(the students' jobs, the exercises by (lesson, seed)). A file of no exercise of its seed is told of."""
    machine, loaded, jobs = machinery(ROOT, o.build), {}, []
    for student in students:
        folder = os.path.join(o.submissions, student)
        for (lesson, name), path in files_of(folder).items():
            places = [os.path.join(folder, "exercises", lesson), os.path.join(folder, lesson), folder]
            seed = seeds.get(student) or seed_of(*places)
            if lesson not in exercises.lessons(ROOT):
                continue
            if (lesson, seed) not in loaded:
                loaded[lesson, seed] = {e.name: e for e in exercises.load(ROOT, lesson, seed)}
            exercise = loaded[lesson, seed].get(name)
            if not exercise:
                print(f"grade-all: {student}: {name} is no exercise of seed {seed}", file=sys.stderr)
            elif chosen([exercise], o.exercise) and os.path.basename(path) == file_of(exercise):
                try:
                    text = submission.read_submission(path)
                except (OSError, submission.Refused) as refused:
                    text = f"refused: {refused}"
                whole = "\0".join([machine, o.draw, repr(exercise), text])
                jobs.append(Job(student, seed, lesson, name, path, hashlib.sha256(whole.encode()).hexdigest()[:32]))
    return jobs, loaded


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
            "rules": sorted({f.rule for f in mark.findings}), "wrong": mark.wrong, "draw": mark.draw}
    write(f"{path}.{os.getpid()}", json.dumps(made, indent=1))
    os.replace(f"{path}.{os.getpid()}", path)
    return made


def work(build, word, job, exercise):
    mark = Grader(ROOT, build, word, jobs=1).grade(exercise, job.path)
    return keep(build, job, mark)


def finished(future):
    """(what came of a job, in words; whether it failed)"""
    try:
        return f"{future.result()['points']:g}", False
    except Exception as failure:  # whatever a file does to the grader, the others are marked
        return f"not marked: {failure}", True


def mark_all(o, jobs, loaded):
    """Marks what is not kept yet, and says after each how far it is; how many could not be."""
    todo, seen, failures = [], set(), 0
    for job in jobs:
        if job.key not in seen and kept(o.build, job) is None:
            todo.append(job)
        seen.add(job.key)
    print(f"grade-all: {len(jobs)} files, {len(todo)} to be marked, {o.jobs} at a time", flush=True)
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        try:
            running = {pool.submit(work, o.build, o.draw, j, loaded[j.lesson, j.seed][j.name]): j for j in todo}
            for done, future in enumerate(concurrent.futures.as_completed(running), 1):
                job, (said, failed) = running[future], finished(future)
                failures += failed
                print(f"  {done}/{len(todo)}  {job.student}  {job.name}  {said}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)  # none is begun any more
            raise
    return failures


def plain(text):
    """A name that a spreadsheet takes for a text, not for a formula."""
    return "'" + text if text.startswith(tuple("=+-@\t\r\n")) else text


def write_csv(o, path, students, jobs):
    """A line a student: the seed, how many files, points, then each exercise; blank where there is no file."""
    names = sorted({job.name for job in jobs})
    marks = {(job.student, job.name): kept(o.build, job) for job in jobs}
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as f:
        out = csv.writer(f)
        out.writerow(["student", "seed", "files", "points", "mean", *names])
        for student in students:
            got = [marks.get((student, name)) for name in names]
            points = [mark["points"] for mark in got if mark]
            mean = f"{sum(points) / len(points):.1f}" if points else ""
            seeds = " ".join(sorted({job.seed for job in jobs if job.student == student}))
            out.writerow([plain(student), plain(seeds), len(points), f"{sum(points):g}", mean,
                          *[f"{mark['points']:g}" if mark else "" for mark in got]])
    print(f"grade-all: {path}")


def main(argv):
    o = options(argv)
    o.build = os.path.realpath(o.build)
    if not o.submissions or not os.path.isdir(o.submissions):
        print("grade-all: SUBMISSIONS=dir names a folder with one folder a student in it", file=sys.stderr)
        return 2
    os.makedirs(os.path.join(o.build, "grade", "kept"), exist_ok=True)
    students, seeds = students_of(o.submissions), read_seeds(o.seeds)
    unknown = [student for student in students if student not in seeds]
    if o.seeds and unknown:
        print(f"grade-all: {o.seeds} has no seed for {', '.join(unknown)}", file=sys.stderr)
        return 2
    jobs, loaded = jobs_of(o, students, seeds)
    first, step = o.shard or (1, 1)
    failed = mark_all(o, jobs[first - 1::step], loaded)
    if not o.shard:
        write_csv(o, o.csv or os.path.join(o.build, "grade", "marks.csv"), students, jobs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # a folder's name may be of any bytes
    sandbox.finish("grade-all", main, "stopped; what is marked is kept, and the same command goes on",
                   RuntimeError, OSError, Drift)
