"""model.py - what an exercise is, for those who write it out (exercise.py) and those who mark it (grade.py).

Three kinds. *fill*: a kernel with a hole in it; *repair*: a kernel with one mistake in its synchronisation, taken from
the mutants by a seed; *predict*: questions with short answers. Kernels are the steps' own, cut at the line where the
host's part begins, so that they cannot drift from the lessons.
"""

from dataclasses import dataclass, field

FILL, REPAIR, PREDICT = "fill", "repair", "predict"
KERNEL = "kernel.cuh"  # the one file of a fill or repair exercise that is marked
ANSWERS = "answers.txt"  # of a predict exercise
TASK = "TASK.md"  # what is asked, beside it


@dataclass(frozen=True)
class Question:
    """One line of answers.txt: `key = answer`."""

    key: str
    text: str
    answer: str  # as the reference gives it: worked out or run, not written down twice
    form: str  # number, hex, word: how two answers are compared


@dataclass(frozen=True)
class Exercise:
    """One exercise. The name is lesson, kind and a word: 04-fill-masks; a repair's word hides the mutant's name."""

    name: str
    lesson: str  # "04"
    kind: str
    title: str
    text: str  # the task, Markdown
    step: str = ""  # folder of the program that the kernel belongs to
    start: str = ""  # the file that the student gets
    solution: str = ""  # the file that gets full marks
    first: int = 0  # line of `start` at which the hole or mistake begins; last: at which it ends
    last: int = 0
    rules: tuple[str, ...] = ()  # ids of the diagnostics that may tell the mistake
    strict: tuple[str, ...] = ()  # ids of class strict, which cost nothing elsewhere: here the task asks for them
    run: tuple[str, ...] = ()  # arguments of the step's program under which the mistake or hole shows
    timed: bool = False  # modelled cycles count
    timing: tuple[str, ...] = ()  # and these arguments of the program, on top of what is drawn, when they are taken
    questions: tuple[Question, ...] = field(default=())
    seed: str = ""  # that drew it; none for a hole, which is the same for all
    place: int = 0  # of a repair: which of the lesson's, from 1: the same column of marks for all seeds

    @property
    def column(self):
        """Its name in a table of a class, where each student has other repairs."""
        return f"{self.lesson}-{REPAIR}-{self.place}" if self.place else self.name
