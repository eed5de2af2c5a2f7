"""predict.py - predict exercises: questions with short answers, which the project's own headers work out.

course/predict/0N.txt has them, a key and its text a line; `#` begins a comment:

  include PATH              a header that the answers need, of those that host compilers take
  lift PATH NAME...         a function, a struct (struct.NAME where a function has its name) or an enum (by one of its
                            names) taken out of a source
  stub TEXT                 C++ in front of what is lifted: what stands in for the machine there
  behind PATH               a header behind what is lifted
  ask WORD                  an exercise; title TEXT and text TEXT as in fill/
  vary NAME = VALUE...      one of these, drawn by the seed; $NAME stands for it in what follows
  given TEXT                C++ in front of the answers: declarations, calls
  take PATH TEXT            the statement that begins with TEXT in a source, in front of the answers
  q KEY FORM = TEXT         a question: its answer is this expression; FORM: number, hex, word
  ? TEXT                    what is asked

The answers of a lesson are printed by one C++ program, so that none is written down a second time.
"""

import os
import random
import re
import subprocess
import tempfile

from sm100repo import read, write
from sm100repo.catalogue import Lines, region
from sm100repo.course.model import PREDICT, Exercise, Question
from sm100repo.drift import Drift, each, missing, no_function

DEVICE = """#include <stdint.h>
#include <stdio.h>
#define __host__
#define __device__
#define __forceinline__ inline
"""


class Ask:
    """One exercise of the catalogue."""

    def __init__(self, word, where):
        self.word, self.where, self.title = word, where, ""
        self.text, self.vary, self.given, self.questions = [], [], [], []

    def drawn(self, lesson, seed):
        """{name: value} for a seed."""
        return {name: random.Random(f"{seed} {lesson} {self.word} {name}").choice(values) for name, values in self.vary}


def filled(text, values):
    for name in sorted(values, key=len, reverse=True):
        text = text.replace("$" + name, values[name])
    return text


def lifted(where, path, text, name):
    """A definition's text out of a source. where: catalogue and line."""
    name = name.removeprefix("struct.") if (of_struct := name.startswith("struct.")) else name
    place = None if of_struct else region(text, name)
    if place:
        return text[place[0] : place[1]].rstrip() + ("\n}\n" if not text[: place[1]].endswith("}\n") else "\n")
    found = re.search(rf"^struct {name} \{{.*?^\}};", text, re.M | re.S)
    if not found:
        bodies = re.finditer(r"^enum (?:\w+ )?\{.*?\};", text, re.M | re.S)
        found = next((body for body in bodies if re.search(rf"\b{name}\b", body[0])), None)
    if not found:
        raise no_function(where, path, name, text)
    return found[0] + "\n"


class Questions(Lines):
    """The questions of a lesson. root: the repository."""

    def __init__(self, root, path):
        super().__init__(path)
        self.root, self.head, self.stubs, self.lifts, self.asks = root, [], [], [], []
        each(lambda line: self.take(*line), self)

    def take(self, key, rest):
        if key == "include":
            self.head.append(f'#include "{rest}"')
        elif key == "behind":
            self.lifts.append(f'#include "{rest}"\n')
        elif key == "stub":
            self.stubs.append(rest)
        elif key == "lift":
            path, *names = rest.split()
            text = read(os.path.join(self.root, path))
            self.lifts += each(lambda name: lifted(self.where(), path, text, name), names)
        elif key == "ask":
            self.asks.append(Ask(rest, self.where()))
        elif not self.asks:
            self.fail(f"`{key}` outside of an exercise")
        else:
            self.detail(self.asks[-1], key, rest)

    def detail(self, ask, key, rest):
        if key == "title":
            ask.title = rest
        elif key == "text":
            ask.text.append(rest)
        elif key == "vary":
            name, values = rest.split(" = ")
            ask.vary.append((name, values.split()))
        elif key == "given":
            ask.given.append(rest)
        elif key == "take":
            path, _, begin = rest.partition(" ")
            text = read(os.path.join(self.root, path))
            found = list(re.finditer(re.escape(begin) + r"[^;]*;", text))
            if len(found) != 1:
                raise missing(self.where(), path, begin, text, found=found)
            ask.given.append(found[0][0])
        elif key == "q":
            found = re.fullmatch(r"(\w+) (number|hex|word) = (.*)", rest)
            if not found:
                self.fail("a question is `KEY FORM = TEXT`")
            ask.questions.append([*found.groups(), []])
        elif key == "?" and ask.questions:
            ask.questions[-1][3].append(rest)
        else:
            self.fail(f"`{key}` is no key here")

    def program(self, lesson, seed):
        """C++ that prints a line `word key answer` for every question."""
        lines = [DEVICE, *self.head, *self.stubs, *self.lifts, "int main(void) {"]
        formats = {"number": '%lld\\n", (long long)(', "hex": '0x%llx\\n", (unsigned long long)(', "word": '%s\\n", ('}
        for ask in self.asks:
            values = ask.drawn(lesson, seed)
            lines += ["{", *(filled(line, values) for line in ask.given)]
            for key, form, answer, _ in ask.questions:
                lines.append(f'printf("{ask.word} {key} {formats[form]}{filled(answer, values)}));')
            lines.append("}")
        return "\n".join([*lines, "return 0;", "}"])

    def answers(self, lesson, seed):
        """{(word, key): answer}: what the program prints."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "answers.cc"), os.path.join(folder, "answers")
            write(source, self.program(lesson, seed))
            command = [os.environ.get("CXX") or "c++", "-std=gnu++2a", "-w", "-I", self.root, "-o", program, source]
            try:
                made = subprocess.run(command, capture_output=True, text=True)
            except FileNotFoundError:
                raise OSError(f"{command[0]} is not there: the answers need a C++ compiler, which CXX names") from None
            if made.returncode:
                told = re.search(r"[‘'](\w+)[’'].* did you mean [‘'](\w+)[’']", made.stderr)
                raise Drift(f"{os.path.relpath(self.path)}: {made.stderr.replace(folder + '/', '')}",
                            " ".join(told.groups()) if told else "")
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        return {tuple(line.split(" ", 2)[:2]): line.split(" ", 2)[2] for line in said.splitlines()}


def questions_of(root, lesson):
    """The questions of a lesson, or None."""
    path = os.path.join(root, "course", "predict", lesson + ".txt")
    return Questions(root, path) if os.path.exists(path) else None


def name_of(lesson, ask):
    return f"{lesson}-predict-{ask.word}"


def names(root, lesson):
    catalogue = questions_of(root, lesson)
    return [name_of(lesson, ask) for ask in catalogue.asks] if catalogue else []


def load(root, lesson, seed):
    """The predict exercises of a lesson for a seed."""
    catalogue, made = questions_of(root, lesson), []
    if not catalogue:
        return []
    answers = catalogue.answers(lesson, seed)
    for ask in catalogue.asks:
        values = ask.drawn(lesson, seed)
        questions = tuple(Question(key, filled(" ".join(text), values), answers[ask.word, key], form)
                          for key, form, _, text in ask.questions)
        made.append(Exercise(name=name_of(lesson, ask), lesson=lesson, kind=PREDICT, title=ask.title,
                             text=filled("\n".join(ask.text), values) + "\n", questions=questions, seed=seed))
    return made
