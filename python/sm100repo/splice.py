"""splice.py - a program with other PTX in it, without the host's compiler.

A program that nvcc made carries its kernels in a fat binary (emulator/cudart/loader/fatbin.h has the layout): entries
of machine code and of PTX in the section .nv_fatbin, found by the pointer in .nvFatBinSegment. A longer text has no
room there. So the copy gets a new container at the end of the file, with the same entries but for the PTX, the segment
of notes becomes the one that loads it, and the pointer leads there. ELF64, little-endian; only what the emulator reads
is right in the result: the machine code is still the old program's.
"""

import struct

PAGE = 4096
PT_LOAD, PT_NOTE, SHT_RELA = 1, 4, 4
WRAPPER_MAGIC, CONTAINER_MAGIC = 0x466243B1, 0xBA55ED50
KIND_PTX = 1


class Unfit(Exception):
    """The program is not built as this needs it."""


def unpack(layout, data, at):
    return struct.unpack_from("<" + layout, data, at)


def sections(data):
    """Name: (type, address, offset, size)."""
    table, entry, count, names = unpack("Q", data, 40)[0], *unpack("HHH", data, 58)
    raw = [unpack("IIQQQQ", data, table + i * entry) for i in range(count)]
    text = raw[names][4]
    found = {}
    for name, kind, _, address, offset, size in raw:
        end = data.index(b"\0", text + name)
        found[data[text + name : end].decode()] = (kind, address, offset, size)
    return found


def parts(data, offset):
    """What the container at offset holds: (kind, header, body) of each entry."""
    magic, _, header, size = unpack("IHHQ", data, offset)
    if magic != CONTAINER_MAGIC:
        raise Unfit("no fat binary where the wrapper points")
    at = offset + header
    while at < offset + header + size:
        kind, _, entry_header, payload = unpack("HHIQ", data, at)
        head = bytearray(data[at : at + entry_header])
        if kind == KIND_PTX and unpack("Q", head, 40)[0] & 0xA000:
            raise Unfit("the program's PTX is compressed: build with --no-compress")
        yield kind, head, data[at + entry_header : at + entry_header + payload]
        at += entry_header + payload


def the_ptx(data, offset):
    """The one PTX text of the container at offset."""
    texts = [body.rstrip(b"\0").decode() for kind, _, body in parts(data, offset) if kind == KIND_PTX]
    if len(texts) != 1:
        raise Unfit(f"{len(texts)} PTX texts in the program instead of one")
    return texts[0]


def container(data, offset, ptx):
    """The container at offset with `ptx` in place of its PTX."""
    magic, version, header, _ = unpack("IHHQ", data, offset)
    the_ptx(data, offset)
    entries = []
    for kind, head, body in parts(data, offset):
        if kind == KIND_PTX:
            body = ptx.encode() + b"\0"
            body += b"\0" * (-len(body) % 8)
            struct.pack_into("<Q", head, 8, len(body))
        entries.append(bytes(head) + body)
    body = b"".join(entries)
    return struct.pack("<IHHQ", magic, version, header, len(body)) + data[offset + 16 : offset + header] + body


def add_segment(data, body):
    """Puts body at the end of the file, loaded where nothing else is; returns its address."""
    data += b"\0" * (-len(data) % PAGE)
    table, entry, count = unpack("Q", data, 32)[0], *unpack("HH", data, 54)
    heads = [unpack("IIQQQQQQ", data, table + i * entry) for i in range(count)]
    loads = [i for i in range(count) if heads[i][0] == PT_LOAD]
    spare = [i for i in range(loads[-1] + 1, count) if heads[i][0] == PT_NOTE]
    if not spare:
        raise Unfit("no segment of notes behind the last one that is loaded")
    last = heads[loads[-1]]
    address = (last[3] + last[6] + 2 * PAGE - 1) // PAGE * PAGE
    struct.pack_into("<IIQQQQQQ", data, table + spare[0] * entry, PT_LOAD, 4, len(data), address, address, len(body),
                     len(body), PAGE)
    data += body
    return address


def fat_binary(data):
    """(offset of the container, of the pointer to it, of the relocation of that pointer or None)."""
    named = sections(data)
    if ".nv_fatbin" not in named or ".nvFatBinSegment" not in named:
        raise Unfit("the program carries no fat binary")
    _, base, offset, _ = named[".nv_fatbin"]
    _, wrapper, place, size = named[".nvFatBinSegment"]
    if size != 24 or unpack("I", data, place)[0] != WRAPPER_MAGIC:
        raise Unfit("the program carries several fat binaries")
    target, relocation = unpack("Q", data, place + 8)[0], None
    for kind, _, at, bytes_ in named.values():
        for i in range(at, at + bytes_ if kind == SHT_RELA else at, 24):
            if unpack("Q", data, i)[0] == wrapper + 8:  # a position-independent program: the addend counts
                relocation, target = i + 16, unpack("Q", data, i + 16)[0]
    return offset + target - base, place + 8, relocation


def ptx_of(program):
    """The PTX text that an ELF program carries."""
    return the_ptx(program, fat_binary(program)[0])


def spliced(program, ptx):
    """The bytes of an ELF program with `ptx` in its fat binary."""
    data = bytearray(program)
    offset, pointer, relocation = fat_binary(data)
    address = add_segment(data, container(data, offset, ptx))
    struct.pack_into("<Q", data, pointer, address)
    if relocation is not None:
        struct.pack_into("<Q", data, relocation, address)
    return bytes(data)
