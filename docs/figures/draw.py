"""draw.py - draws the figures of lessons and pages: docs/figures/NAME.svg. `make docs` runs it.

    python3 -B docs/figures/draw.py --build build [--only NAME ...] [--check] [--out DIR]

Every figure is drawn from what programs of this repository print, log or compute when it is drawn (runs.py), by the
module of its group; book.py has the list. What is drawn are the same bytes on every machine; but where something on
the model clock is shown it depends on the compiler that made the programs, and the file says by which it was made.

    --only NAME    this figure alone; may be given again
    --check        compares with the files that are there and writes nothing; exit code 1 and a list where they differ.
                   Figures of the clock made by another compiler are counted, and not compared
    --out DIR      writes there
    --programs DIR where the programs are, if not in the folder of the emulator
    --list         the names
"""

import argparse
import os
import re
import sys

import barriers  # noqa: F401
import book
import clusters  # noqa: F401
import concepts  # noqa: F401
import course  # noqa: F401
import memory  # noqa: F401
import orders  # noqa: F401
import threads  # noqa: F401
import timelines  # noqa: F401
from runs import Failed, Runs
from svg import Bad

HERE = os.path.dirname(os.path.abspath(__file__))
MADE = re.compile(r"<!-- programs by nvcc (\S+) -->")
LARGEST = 60000


def drawn(figure, runs):
    """The text of its file."""
    drawing, title, desc = figure.make(runs)
    text = drawing.svg(title, desc)
    if figure.timed:
        text = text.replace("<style>", "<!-- programs by nvcc %s -->\n<style>" % runs.toolkit(), 1)
    if len(text) > LARGEST:
        raise Bad("%d bytes; at most %d" % (len(text), LARGEST))
    return text


def there(path):
    """What a file holds, or None."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return f.read()


def verdict(figure, text, old):
    """None, or in what the file differs from what was drawn; "other" where it is of another compiler."""
    if old is None:
        return "is missing"
    made, here = MADE.search(old), MADE.search(text)
    if made and here and made[1] != here[1]:
        return "other"
    return None if old == text else "differs from what is drawn now"


def main(argv=None):
    head, _, options = __doc__.partition("\n\n")
    p = argparse.ArgumentParser(
        prog="draw.py",
        description=head,
        epilog=options,
        usage="draw.py --build DIR [OPTIONS]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--build", default="build", help=argparse.SUPPRESS)
    p.add_argument("--programs", help=argparse.SUPPRESS)
    p.add_argument("--out", default=HERE, help=argparse.SUPPRESS)
    p.add_argument("--only", action="append", default=[], help=argparse.SUPPRESS)
    for option in "--check", "--list":
        p.add_argument(option, action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args(argv)
    unknown = [name for name in a.only if name not in book.FIGURES]
    if unknown:
        p.error("no figure is called %s; --list says which there are" % ", ".join(unknown))
    names = a.only or sorted(book.FIGURES)
    if a.list:
        print("\n".join(names))
        return 0
    return draw_all(names, Runs(os.path.abspath(a.build), os.path.abspath(a.programs or a.build)), a.out, a.check)


def draw_all(names, runs, out, check):
    """Writes or compares; the exit code."""
    wrong, others = 0, 0
    for name in names:
        figure, path = book.FIGURES[name], os.path.join(out, name + ".svg")
        try:
            text = drawn(figure, runs)
        except (Bad, Failed) as why:
            print("%s: %s" % (name, why), file=sys.stderr)
            wrong += 1
            continue
        old = there(path)
        if check:
            said = verdict(figure, text, old)
            others += said == "other"
            if said and said != "other":
                print("docs/figures/%s.svg %s; `make docs` draws it" % (name, said), file=sys.stderr)
                wrong += 1
        elif text != old:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            print(path)
    if others:
        print("%d figures of the clock are by another nvcc than %s: not compared" % (others, runs.toolkit()))
    if check and not wrong:
        print("%d figures are as drawn now" % (len(names) - others))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
