"""mark.py - the mark of one exercise, from what the student's file does; a hundred points each.

fill, repair: results (D is right in every run), rules kept (the checker found nothing), and cycles where the exercise
is timed. Results are the gate: who has them wrong in one run, lets other units do the work than the step's own kernel,
or leaves in what the exercise asks to mend, has nothing. predict: each question the same.

Cycles are the model's, of the student's kernel and of the step's own with the same arguments: all points up to 5 %
more, which is less than the clock can tell apart, fewer up to 50 %. Where the model has a doubt of the step's own run,
they count for nobody, and the rest makes the hundred. A doubt of the student's run alone costs the points. They never
make a right kernel a wrong one.
"""

import functools
import os
import re
import tempfile
from dataclasses import dataclass, field

from sm100repo.course import draws, sandbox, submission, trial
from sm100repo.course.model import PREDICT, REPAIR
from sm100repo.toolkit import Toolkit

FULL, NONE = 1.05, 1.5  # of the step's own cycles: all points to here, none from there
POINTS = {False: {"results": 60, "rules": 40}, True: {"results": 50, "rules": 30, "cycles": 20}}


@dataclass
class Mark:
    """What a student's file gets, and what is to be said of it."""

    name: str
    kind: str
    state: str = "graded"  # or not begun, refused
    parts: dict[str, tuple[float, float]] = field(default_factory=dict)  # name: points, of how many
    notes: list[str] = field(default_factory=list)
    findings: list[trial.Finding] = field(default_factory=list)
    asides: list[trial.Finding] = field(default_factory=list)  # of class strict, where D is wrong and nothing else fell
    wrong: list[str] = field(default_factory=list)  # questions, by key
    said: str = ""  # of a run whose D is wrong
    waits: list[str] = field(default_factory=list)  # where the cycles went
    draw: str = ""

    @property
    def points(self):
        got, of = (sum(part[i] for part in self.parts.values()) for i in (0, 1))
        return round(100 * got / of, 1) if of else 0.0


@dataclass
class Grader:
    """What all exercises share. word: the teacher's, of the draw; jobs: runs at a time."""

    root: str
    build: str
    word: str = ""
    jobs: int = 2

    def __post_init__(self):
        self.root, self.build = os.path.realpath(self.root), os.path.realpath(self.build)
        self.emulator = os.path.join(self.build, "sm100emu")

    @functools.cached_property
    def toolkit(self):
        """Questions are marked without one."""
        return Toolkit(self.build)

    def grade(self, exercise, path, untouched=False, asides=False, shown=""):
        """The mark of the student's file at `path`, which is only read. untouched: a kernel that is as it was given is
        run, too, for what the checker finds; it has no points. asides: collect those. shown: what the file is called
        to the student, else its path from here."""
        if exercise.kind != PREDICT:
            submission.prepare(self.toolkit)
        shown = shown or os.path.relpath(path)
        try:
            return sandbox.limited(lambda: self.read_and_grade(exercise, path, untouched, asides, shown),
                                   cpu_seconds=submission.CPU_SECONDS, memory_mb=submission.MEMORY_MB)
        except sandbox.Over as over:
            return refused(exercise, f"to read it takes the grader more than {over}")

    def read_and_grade(self, exercise, path, untouched, asides, shown):
        mark, answers, asked = blank(exercise), {}, exercise.kind == PREDICT
        try:
            text = submission.read_submission(path)
            if asked:
                answers = read_answers(text)
            elif text != exercise.start or untouched:
                self.grade_kernel(mark, exercise, text, asides, shown)
            if text == exercise.start and not asked:
                mark.state, mark.notes = "not begun", []
                mark.parts = {name: (0, of) for name, (_, of) in mark.parts.items()}
        except FileNotFoundError:
            mark.state = "not begun"
        except submission.Refused as why:
            return refused(exercise, str(why))
        if asked:
            grade_answers(mark, exercise, answers)
        return mark

    def grade_kernel(self, mark, exercise, text, asides, shown):
        with tempfile.TemporaryDirectory(prefix="grade-") as scratch:
            scratch = os.path.realpath(scratch)
            program, folder = submission.make_program(self.root, self.build, self.toolkit, exercise.step, text, scratch,
                                                      shown)
            mark.draw, trials = draws.draw(exercise.step, exercise.name, text, self.word, exercise.run,
                                           exercise.timing)
            own = submission.program_path(self.build, exercise.step)
            references = self.references(own, trials, scratch)
            watchdog = 1_000_000 + 20 * max(launch["instructions"]["issued"]
                                            for result in references.values() for launch in result.launches)
            results = trial.run_all(self.emulator, program, trials, scratch, self.jobs, folder=folder,
                                    watchdog=watchdog, strict=exercise.strict)
            collect(mark, results, folder)
            wrong = next((t for t, result in zip(trials, results) if not result.right), None)
            if asides and wrong and not mark.findings:
                mark.asides = trial.run_one(self.emulator, program, wrong, scratch, folder=folder, watchdog=watchdog,
                                            strict=trial.ALL).findings
        judge(mark, exercise, trials, results, references)

    def references(self, program, trials, scratch):
        """The step's own runs of what was drawn, by problem and number of launches."""
        wanted = {key(t): draws.Trial(t.problem, order(t), unverified(t.arguments)) for t in reversed(trials)}
        results = trial.run_all(self.emulator, program, list(wanted.values()), scratch, self.jobs)
        for made, result in zip(wanted.values(), results):
            if not result.right:
                raise RuntimeError(f"{program} {' '.join(made.arguments)}: {result.said or 'the step itself fails'}")
        return dict(zip(wanted, results))


def blank(exercise):
    """The mark of what has done nothing yet."""
    parts = {} if exercise.kind == PREDICT else {name: (0, of) for name, of in POINTS[exercise.timed].items()}
    return Mark(exercise.name, exercise.kind, parts=parts)


def refused(exercise, why):
    mark = blank(exercise)
    mark.state, mark.notes = "refused", [why]
    return mark


def order(made):
    """The schedule of the step's own run: the clock's for the cycles, by which no answer differs, else the default."""
    return made.schedule if made.schedule == "model" else "default"


def unverified(arguments):
    """The same without the host's product: of the step's own run the counters alone are asked for."""
    return (*arguments, "--verify=none") if any(word.startswith("--seed=") for word in arguments) else arguments


def key(made):
    return made.problem, any(word.startswith("--time=") for word in made.arguments)


def collect(mark, results, folder):
    """The findings of all runs, each bug once; the last words of the first run whose D is wrong."""
    found = {}
    for finding in (finding for result in results for finding in result.findings):
        found.setdefault(finding.print, finding)
    mark.findings += found.values()
    said = (result.said for result in results if not result.right and result.said)
    mark.said = next(said, "").replace(folder + "/", "")


def judge(mark, exercise, trials, results, references):
    """Results, rules, cycles."""
    failed = [(t, r) for t, r in zip(trials, results) if not r.right]
    if failed:
        first, result = failed[0]
        runs = f"in {len(failed)} of {len(results)} runs" if len(results) == len(trials) else "in its first run"
        where = ", first under" if len(failed) > 1 else ", under"
        mark.notes.append(f"{result.why}: {runs}{where} --schedule={first.schedule} " + " ".join(first.arguments))
        return
    lacking = sorted({name for t, r in zip(trials, results)
                      for name in trial.too_little(references[key(t)].launches, r.launches)})
    if lacking:
        mark.notes.append("D is right, but not by the work that is asked for: too little of " + ", ".join(lacking))
        return
    unseen = next((result.unseen for result in results if result.unseen), "")
    left = unmended(exercise, mark.findings, any(result.lost for result in results), unseen)
    if left:
        mark.notes.append("D is right, " + left)
        return
    of = POINTS[exercise.timed]
    mark.parts["results"] = (of["results"], of["results"])
    if unseen:
        mark.notes.append(f"right in all runs, but no points for rules: the checker could not see all of it: {unseen}")
        return
    if mark.findings:
        mark.notes.append("right in all runs, against the rules: " + ", ".join(sorted({f.rule for f in mark.findings})))
        return
    mark.parts["rules"] = (of["rules"], of["rules"])
    if exercise.timed:
        judge_cycles(mark, results[0].launches, references[key(trials[0])].launches, of["cycles"])


def unmended(exercise, found, more, unseen):
    """Why the work is not done, or nothing. A program to be mended is to have no finding at all, as before its one
    mistake. more: not all findings were kept, and those of the exercise may be among the rest; unseen: the checker kept
    too little to see whether the mistake is mended."""
    rules = {f.rule for f in found}
    left = sorted(rules if exercise.kind == REPAIR else rules & set(exercise.rules))
    if more:
        return "but the checker finds more than the emulator can list"
    if left:
        return "by luck: the checker still finds what is to be mended: " + ", ".join(left)
    if unseen and exercise.kind == REPAIR:
        return f"but whether the mistake is mended the checker could not see: {unseen}"
    return ""


def judge_cycles(mark, own, reference, of):
    (took, doubt), (wanted, other) = trial.cycles(own), trial.cycles(reference)
    if other:
        del mark.parts["cycles"]
        mark.notes.append(f"cycles count for nobody here: the model doubts the step's own: {other.partition(';')[0]}")
        return
    if doubt:
        mark.notes.append("no points for cycles: the model can time the step's own kernel, and not this one: "
                          + doubt.partition(";")[0])
        return
    ratio = took / wanted
    share = min(1.0, max(0.0, (NONE - ratio) / (NONE - FULL)))
    mark.parts["cycles"] = (round(of * share, 1), of)
    mark.notes.append(f"cycles, by the model: {took:.0f}, the step's own kernel {wanted:.0f} ({ratio:.2f} times)")
    if share < 1:
        mark.waits = [f"{w['role']} waits for {w['for']}: {w['share']:.0%} of its time"
                      for launch in own for w in (launch["model"].get("waits") or [])[:3]]


# ---------------------------------------------------------------- questions


def read_answers(text):
    """{key: answer} of lines `key = answer`; what stands behind a # is a comment."""
    pairs = (line.partition("#")[0].partition("=") for line in text.splitlines())
    return {left.strip(): right.strip() for left, equals, right in pairs if equals}


SPELLINGS = ((10, r"[0-9]+"), (16, r"0x[0-9a-f]+"), (2, r"0b[01]+"), (8, r"0o[0-7]+"), (16, r"[0-9]*[a-f][0-9a-f]*"))
LONGEST = 80  # characters of a number


def number(text):
    """17, 0x11, 0b10001, 0o21; digits with a letter from a to f are hexadecimal; 16,384 and 1_000 and 1111 0000 have
    separators. None where it is no number."""
    text = re.sub(r"(?<=\w)[_,' ](?=\w)", "", text[:LONGEST + 1].strip().lower())
    return next((int(text, base) for base, digits in SPELLINGS
                 if len(text) <= LONGEST and re.fullmatch(digits, text, re.A)), None)


def same(form, given, wanted):
    """Whether two answers are one: numbers by value, in whatever base; words by their letters."""
    if form in ("number", "hex"):
        return number(given) is not None and number(given) == number(wanted)
    return " ".join(given.lower().split()) == " ".join(wanted.lower().split()) and given != ""


def grade_answers(mark, exercise, answers):
    if mark.state == "graded" and not any(answers.get(q.key) for q in exercise.questions):
        mark.state = "not begun"
    for question in exercise.questions:
        given = answers.get(question.key, "")
        right = same(question.form, given, question.answer)
        mark.parts[question.key] = (float(right), 1.0)
        if not right:
            mark.wrong.append(question.key)
        if given and question.form != "word" and number(given) is None:
            mark.notes.append(f"no number: {question.key} = {given[:40]}")
    if mark.wrong and mark.state == "graded":
        mark.notes.append(f"not right: {len(mark.wrong)} of {len(exercise.questions)} answers")
