"""source.py - files that a log names as sources: a log names any file that its PTX did, so not each may be quoted."""

import os

SOURCES = (".cu", ".cuh", ".h", ".hpp", ".inl", ".c", ".cc", ".cpp", ".py", ".ptx")


def quotable(path):
    """The file's own path, or OSError: a log names any file that its PTX did (source_open in emulator/base/source.h)."""
    real, root = os.path.realpath(path), os.environ.get("SM100EMU_SOURCE_ROOT")
    below = root and os.path.commonpath([os.path.realpath(root), real]) == os.path.realpath(root)
    if not os.path.isfile(real) or not (below or os.path.splitext(real)[1] in SOURCES):
        raise OSError(f"{path} is no source")
    return real


def source_lines(path):
    """Its lines; none of a file that is not there, is no source or not in UTF-8."""
    try:
        with open(quotable(path), encoding="utf-8") as f:
            return f.read().splitlines()
    except (OSError, ValueError):  # ValueError: not UTF-8, or a zero byte in the path
        return []
