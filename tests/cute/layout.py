"""layout.py - CuTe's layouts, as far as docs/cute.md needs them: written out, evaluated, divided, swizzled.

A layout is a shape and a stride of the same nesting, printed `shape:stride`. It maps a coordinate to the sum of
coordinate times stride, over all modes; a whole number stands for the coordinate that counts the first mode fastest.
Static numbers are printed with `_` before them and dynamic ones without: to the value that makes no difference, and
both are plain ints here. A stride `_64@1` counts in coordinate 1 of a tensor map, not in elements.
"""

import re
import sys


class Basis:
    """A stride `_n@i`: n steps of coordinate i."""

    def __init__(self, count, axis):
        self.count, self.axis = count, axis

    def __eq__(self, other):
        return isinstance(other, Basis) and (self.count, self.axis) == (other.count, other.axis)

    def __mul__(self, times):
        return Basis(self.count * times, self.axis)

    def __repr__(self):
        return f"_{self.count}@{self.axis}"


def product(shape):
    """The number of coordinates of a shape."""
    total = 1
    for mode in shape if isinstance(shape, tuple) else ():
        total *= product(mode)
    return total if isinstance(shape, tuple) else shape


def flat(tree):
    """The leaves of a nested tuple, from left to right."""
    return [leaf for mode in tree for leaf in flat(mode)] if isinstance(tree, tuple) else [tree]


def text_of(tree):
    if isinstance(tree, tuple):
        return "(" + ",".join(text_of(mode) for mode in tree) + ")"
    return str(tree) if isinstance(tree, Basis) else f"_{tree}"


def tree_of(text):
    """The nested tuple that a shape or a stride is written as."""
    words = re.findall(r"[(),]|_?\d+(?:@\d+)?", text)

    def read():
        word = words.pop(0)
        if word != "(":
            count, _, axis = word.lstrip("_").partition("@")
            return Basis(int(count), int(axis)) if axis else int(count)
        modes = [read()]
        while words.pop(0) == ",":
            modes.append(read())
        return tuple(modes)

    return read()


class Layout:
    """shape:stride."""

    def __init__(self, shape, stride):
        self.shape, self.stride = shape, stride

    @classmethod
    def parse(cls, text):
        shape, _, stride = text.replace(" ", "").partition(":")
        return cls(tree_of(shape), tree_of(stride))

    def __repr__(self):
        return f"{text_of(self.shape)}:{text_of(self.stride)}"

    def __eq__(self, other):
        return (self.shape, self.stride) == (other.shape, other.stride)

    def size(self):
        return product(self.shape)

    def cosize(self):
        """One more than the largest offset."""
        return 1 + sum((s - 1) * d for s, d in zip(flat(self.shape), flat(self.stride)))

    def coord(self, index):
        """The flat coordinate of a whole number, the first mode fastest."""
        found = []
        for extent in flat(self.shape):
            found.append(index % extent)
            index //= extent
        return found

    def __call__(self, *coord):
        """The offset of a whole number, or of a coordinate with one number for each leaf."""
        at = self.coord(coord[0]) if len(coord) == 1 else coord
        return sum(c * d for c, d in zip(at, flat(self.stride)))

    def __getitem__(self, mode):
        return Layout(self.shape[mode], self.stride[mode])


def bundle(*modes):
    """The layout whose modes are these layouts."""
    return Layout(tuple(m.shape for m in modes), tuple(m.stride for m in modes))


def mode(extent, stride):
    """A mode of one extent; CuTe writes stride 0 where there is but one element."""
    return Layout(extent, stride if extent > 1 else 0)


def divide(layout, tile):
    """A mode (extent:stride) in pieces of `tile`: the piece, and which piece. logical_divide of one mode."""
    assert layout.shape % tile == 0, f"{layout} in pieces of {tile}"
    return mode(tile, layout.stride), mode(layout.shape // tile, layout.stride * tile)


def swizzle(bits, base, shift, offset):
    """Sw<bits,base,shift>: `bits` bits from bit base + shift are XORed onto those from bit base."""
    return offset ^ (offset >> shift & ((1 << bits) - 1) << base)


def main():
    """layout.py LAYOUT [COORDINATE...]: its size, its extent in memory, and the offset of each coordinate."""
    layout = Layout.parse(sys.argv[1])
    print(f"{layout.size()} elements, offsets 0 to {layout.cosize() - 1}")
    for word in sys.argv[2:]:
        print(f"  ({word}) -> {layout(*map(int, word.split(',')))}")


if __name__ == "__main__":
    main()
