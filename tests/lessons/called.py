"""called.py - a script's main() without a Python of its own, for tests that call it often."""

import contextlib
import io
import sys
from unittest import mock


def called(main, *words):
    """(exit code, what it prints on stdout and stderr) of a script that is given these words."""
    said = io.StringIO()
    with mock.patch.object(sys, "argv", [main.__module__, *words]), contextlib.redirect_stdout(said), \
            contextlib.redirect_stderr(said):
        try:
            code = main()
        except SystemExit as end:
            code = end.code
    return (code or 0, said.getvalue()) if not isinstance(code, str) else (1, said.getvalue() + code)
