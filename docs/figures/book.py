"""book.py - the list of figures: a module writes one down with @figure(NAME)."""

FIGURES = {}


class Figure:
    """make(runs) gives (Drawing, title, desc). timed: it shows an order or a time that the compiler's code decides."""

    def __init__(self, name, make, timed):
        self.name, self.make, self.timed = name, make, timed


def figure(name, timed=False):
    def note(make):
        FIGURES[name] = Figure(name, make, timed)
        return make

    return note
