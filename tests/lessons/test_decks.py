"""test_decks.py - the decks of docs/slides/ as they are written: one for each session of docs/teaching.md, that asks its
questions, gives their answers to the speaker, names its commands and exercises, and takes its minutes; few words on a
slide, and a figure or an output on each that is no question and no exercise. And the handout: its table of instructions
is what common/ has, its figures are those of the pages.
"""

import os
import re
import unittest

import page
from sm100repo import ROOT, read

SLIDES, WORDS, MINUTES = range(12, 21), 40, 90
FIGURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
NOTE = re.compile(r"^> \*\*(\d+) min\.\*\* ")


def squeezed(text):
    return " ".join(text.split())


class Session:
    """One of docs/teaching.md. ends: the minute at which each row of its plan ends; asks: {number: question}; answers:
    likewise; names: the commands and exercises of the plan."""

    def __init__(self, text):
        rows = re.findall(r"^\| (\d+)-(\d+) \| (.*) \|$", text, re.M)
        self.begins, self.ends = [int(row[0]) for row in rows], [int(row[1]) for row in rows]
        self.names = {name for row in rows for name in re.findall(r"`([^`]+)`", row[2])}
        asked, _, answered = text.partition("<details>")
        self.asks, self.answers = ({number: squeezed(said) for number, said in
                                    re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^$|\Z)", part, re.M | re.S)}
                                   for part in (asked, answered))


class Slide:
    """title; note: the lines of what the speaker alone sees, minutes: how many those say; shown: the rest, without title."""

    def __init__(self, text):
        lines = text.split("\n")
        self.title = lines[0]
        quoted = [line for line in lines if line.startswith(">")]
        minutes = [NOTE.match(line) for line in quoted]
        self.minutes = [int(found[1]) for found in minutes if found]
        self.note = squeezed(re.sub(r"^> ?", "", "\n".join(quoted), flags=re.M))
        self.shown = "\n".join(line for line in lines[1:] if not line.startswith(">"))
        self.plain = self.title.startswith(("Question ", "Exercise: "))

    def words(self):
        text = re.sub(r"<!--.*?-->|```.*?```|^    .*?$", " ", self.shown, flags=re.S | re.M)
        return len(re.findall(r"\w\S*", re.sub(r"\]\([^)]*\)", "]", FIGURE.sub(" ", text))))


def slides(path):
    """Of a deck: a heading of the first or second level that is in no block begins one."""
    fenced, parts = False, []
    for line in read(path).split("\n"):
        fenced ^= bool(page.FENCE.match(line))
        if not fenced and re.match(r"##? ", line):
            parts.append([line.lstrip("# ")])
        else:
            parts[-1].append(line)
    return [Slide("\n".join(part)) for part in parts]


def figures(folder, text):
    """[(what the text says of it, path)] of its figures."""
    return [(squeezed(words), os.path.normpath(os.path.join(folder, target))) for words, target in FIGURE.findall(text)]


def alternatives():
    """{figure: what the pages say of it}, decks and handout left out. All are in docs/figures/."""
    found = {}
    for path in page.pages(ROOT):
        if not path.startswith(("docs/slides", "docs/handout")):
            for words, figure in figures(os.path.dirname(path), read(os.path.join(ROOT, path))):
                if figure.startswith("docs/figures/"):
                    found.setdefault(figure, set()).add(words)
    return found


class Decks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = read(os.path.join(ROOT, "docs", "teaching.md"))
        plan = re.search(r"^## Four sessions$(.*?)^## ", text, re.M | re.S)[1]
        cls.sessions = [Session(part) for part in re.split(r"^### \d: ", plan, flags=re.M)[1:]]
        decks = [slides(os.path.join(ROOT, "docs", "slides", f"{n}.md")) for n in range(1, len(cls.sessions) + 1)]
        cls.decks = list(enumerate(zip(cls.sessions, decks), 1))

    def test_a_deck_for_each_session(self):
        self.assertEqual(len(self.decks), 4)
        there = sorted(name for name in os.listdir(os.path.join(ROOT, "docs", "slides")) if name.endswith(".md"))
        self.assertEqual(there, ["%d.md" % n for n in range(1, 5)])
        for number, (_, deck) in self.decks:
            with self.subTest(f"docs/slides/{number}.md"):
                self.assertIn(len(deck), SLIDES)
                self.assertEqual(len({slide.title for slide in deck}), len(deck))

    def test_questions_and_answers(self):
        """Word for word. A question has a slide of its own, and the answer is its speaker's."""
        self.assertEqual(sorted(int(n) for s in self.sessions for n in s.asks), list(range(1, 10)))
        for number, (session, deck) in self.decks:
            with self.subTest(f"docs/slides/{number}.md"):
                self.assertEqual(set(session.asks), set(session.answers))
                asked = {slide.title: slide for slide in deck if slide.title.startswith("Question ")}
                self.assertEqual(sorted(asked), sorted("Question " + number for number in session.asks))
                for number, question in session.asks.items():
                    slide = asked["Question " + number]
                    self.assertTrue(squeezed(slide.shown).startswith(question), question)
                    self.assertTrue(slide.note.endswith(session.answers[number]), session.answers[number])

    def test_minutes(self):
        """They add up to the session's, and each row of its plan begins with a slide."""
        for number, (session, deck) in self.decks:
            with self.subTest(f"docs/slides/{number}.md"):
                self.assertEqual([slide.title for slide in deck if len(slide.minutes) != 1], [])
                reached = [sum(slide.minutes[0] for slide in deck[:n]) for n in range(len(deck) + 1)]
                self.assertEqual(session.begins, [0, *session.ends[:-1]])
                self.assertEqual((reached[-1], session.ends[-1]), (MINUTES, MINUTES))
                self.assertEqual([end for end in session.ends if end not in reached], [])

    def test_commands_and_exercises(self):
        for number, (session, deck) in self.decks:
            with self.subTest(f"docs/slides/{number}.md"):
                self.assertTrue(any(slide.title.startswith("Exercise: ") for slide in deck))
                text = "\n".join(slide.shown + slide.note for slide in deck)
                self.assertEqual([name for name in sorted(session.names) if name not in text], [])

    def test_slides(self):
        """Few words; a figure or an output; figures are those of the pages, and say what the pages say."""
        known = alternatives()
        for number, (_, deck) in self.decks:
            with self.subTest(f"docs/slides/{number}.md"):
                for slide in deck:
                    self.assertLessEqual(slide.words(), WORDS, slide.title)
                shown = [slide for slide in deck[1:-1] if not slide.plain]
                self.assertEqual([s.title for s in shown if not FIGURE.search(s.shown) and "```console" not in s.shown], [])
                for words, path in figures("docs/slides", "\n".join(slide.shown for slide in deck)):
                    self.assertIn(words, known.get(path, ()), path)


class Handout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = read(os.path.join(ROOT, "docs", "handout", "handout.md"))

    def test_figures(self):
        known, shown = alternatives(), figures("docs/handout", self.text)
        self.assertGreater(len(shown), 5)
        for words, path in shown:
            self.assertIn(words, known.get(path, ()), path)

    def test_instructions(self):
        """What its table names is an instruction of common/, and what a warp issues is .sync.aligned there."""
        heads = [path for path in page.files(ROOT, ".cuh") if path.startswith("common/")]
        code = re.sub(r"/\*.*?\*/", "", "\n".join(read(os.path.join(ROOT, path)) for path in heads), flags=re.S)
        there = re.findall(r"\b((?:tcgen05|cp|mbarrier)\.[\w.:]+)", " ".join(re.findall(r'"(.*?)"', code)))
        rows = re.findall(r"^\| (`.*?) \| (one warp|one thread) \| (.*) \|$", self.text, re.M)
        self.assertGreater(len(rows), 5)
        for names, issuer, complete in rows:
            for name in re.findall(r"`([^`]+)`", names + complete):
                forms = [form for form in there if form == name or form.startswith(name + ".")]
                self.assertTrue(forms, name)
                if f"`{name}`" in names:
                    aligned = {".sync.aligned" in form for form in forms}
                    self.assertEqual(aligned, {issuer == "one warp"}, name)


if __name__ == "__main__":
    unittest.main()
