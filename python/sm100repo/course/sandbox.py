"""sandbox.py - what a hand-in may use: run() is for a command, limited() for the grader's own work with it.

Nothing of the caller's environment reaches a command but a PATH, so that no variable of nvcc's, of the compiler's or
of the emulator's changes a mark. Its limits are the shell's (ulimit), and when its time is over, its whole session
ends. What Python itself reads of a hand-in, it reads in a process of its own, whose end is no other hand-in's.
"""

import collections
import os
import pickle
import resource
import signal
import subprocess
import sys

PATH = os.environ.get("PATH") or "/usr/local/bin:/usr/bin:/bin"  # compilers may lie anywhere
SAID = 64 * 1024  # bytes of what it says that are kept


# What became of a command. code: its exit code, minus the number of a signal; None where its time was over: CPU time,
# or by the clock for what hangs.
Run = collections.namedtuple("Run", "code out err")


class Over(Exception):
    """A limit was reached. The text says which."""


def limited(work, *, cpu_seconds, memory_mb):
    """work(), done in a child process that has so much CPU time and memory: what it returns or raises, or Over.

    The limits are soft, so that run() can set others for a command; the CPU time of commands is not counted.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        done = (None, RuntimeError("nothing came back"))
        try:
            for what, most in ((resource.RLIMIT_CPU, cpu_seconds), (resource.RLIMIT_AS, memory_mb << 20)):
                hard = resource.getrlimit(what)[1]
                resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
            done = (work(), None)
        except MemoryError:
            done = (None, Over(f"{memory_mb >> 10} GiB of memory"))
        except BaseException as failure:  # the parent raises it
            done = (None, failure)
        with os.fdopen(writer, "wb") as f:
            f.write(pickle.dumps(done))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as f:
        said = f.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) == signal.SIGXCPU:
            raise Over(f"{cpu_seconds} s of CPU time")
        raise RuntimeError(f"the process that marked it ended by signal {os.WTERMSIG(status)}")
    made, failure = pickle.loads(said)
    if failure:
        raise failure
    return made


def finish(name, main, stopped, *failures):
    """Ends a script with main's exit code, or with what has failed in a sentence; stopped: what is said when it is."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no mistake
    try:
        sys.exit(main(sys.argv[1:]))
    except failures as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(f"{name}: {stopped}")


def tail(path):
    """The end of a text that may be anything: no control characters, no more than SAID bytes."""
    with open(path, "rb") as f:
        f.seek(max(0, os.path.getsize(path) - SAID))
        text = f.read().decode("utf-8", "replace")
    return "".join(c for c in text if c == "\n" or c.isprintable())


def environment(folder):
    return {"PATH": PATH, "HOME": folder, "TMPDIR": folder, "LC_ALL": "C"}


def run(command, folder, *, seconds, cpu_seconds, file_mb=64, memory_mb=None):
    """Runs `command` in `folder`; what it says goes to files there, which a limit bounds."""
    limits = [f"ulimit -t {cpu_seconds}", f"ulimit -f {file_mb * 2048}", "ulimit -c 0"]
    limits.append(f"ulimit -v {memory_mb * 1024}" if memory_mb else 'ulimit -S -v "$(ulimit -H -v)"')
    names = [os.path.join(folder, f"said-{os.urandom(6).hex()}") for _ in range(2)]
    with open(names[0], "wb") as out, open(names[1], "wb") as err:
        process = subprocess.Popen(["/bin/sh", "-c", "; ".join(limits) + '; exec "$@"', "sh", *command], cwd=folder,
                                   env=environment(folder), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        try:
            code = process.wait(seconds)
            code = None if code == -signal.SIGKILL else code  # the limit of CPU time
        except subprocess.TimeoutExpired:
            code = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    return Run(code, tail(names[0]), tail(names[1]))
