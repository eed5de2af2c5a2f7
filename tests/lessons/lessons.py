"""lessons.py - what a page shows is what a run prints: runs the commands of pages and compares.

  python3 -B tests/lessons/lessons.py [OPTIONS] [PAGE...]     PAGE: a path, or a test's name (01, docs.watching)

  --slow       also the blocks behind <!-- slow -->
  --list       the commands that would be run, and run none
  --tests      a line `NAME PATH QUICK SLOW LOCKS` for each page with commands, for tests/CMakeLists.txt
  --update     writes into the pages what was printed; what is elided there stays elided where it still matches. If a
               page differs, its slow blocks are run, too

page.py has the conventions. Commands run from the repository's root with sh, stdin empty, stderr beside stdout, and
an environment that holds nothing of a make around it. What make says while it builds is left out. The pages show what
comes of nvcc 13.0. Another one makes other code, which runs in another order of events: then a command must end as the
page says, and a line counts those that print something else; --update is refused. Exit code: 1 where a page differs, 2
for a page that is not there. The last line is the command that mends what differs.
"""

import argparse
import os
import re
import signal
import subprocess
import sys

import compare
import page
from sm100repo import ROOT, write
from sm100repo.toolkit import settings

KEPT = ["PATH", "HOME", "USER", "TMPDIR", "CC", "CFLAGS", "LDFLAGS", "OPT", "NVCC", "NVCC_CCBIN", "CUDA_HOME", "WHEELS",
        "WERROR"]
NVCC = "13.0"  # the pages show what it makes
LIMIT, SLOW_LIMIT = 1200, 7200  # seconds: the command hangs
ENDS = {signal.SIGTERM, signal.SIGINT}
BUILDS = re.compile(r"^  (building, \d+ to do for .+; V=1 shows the commands|\d+ of \d+)$")


def environment():
    """Steps run on the emulator, also where there is a GPU."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", "TERM": "dumb", "BACKEND": "emulator"}


def run(root, command, limit):
    """(exit code, lines printed). A command that takes too long has code None; its children end with it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # till it can be ended with us
    process = subprocess.Popen(["sh", "-c", command], cwd=root, env=environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True,
                               preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS))
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        printed, _ = process.communicate(timeout=limit)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, code = process.communicate()[0], None
    except BaseException:  # interrupted, or told to end
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return code, [line for line in printed.split("\n") if not BUILDS.match(line)]


def other_compiler(root):
    """The version of the nvcc that the programs are built by, if it is another than the pages'."""
    try:
        version = settings(os.path.join(root, "build"))["NVCC_VERSION"]
    except FileNotFoundError:
        return ""
    return version if version != NVCC else ""


def difference(path, command, printed):
    """The complaint about a command's output, or None."""
    if isinstance(command, page.Numbers):
        wrong = command.complaint(printed)
        return wrong and f"{path}:{command.line}: {wrong}"
    where = compare.differs([text for _, text in command.shown], printed)
    if not command.shown or where is None:
        return None
    shown, printed = command.shown, compare.trimmed(printed)
    i, j = where
    line = shown[i][0] if i < len(shown) else shown[-1][0]
    says = f"shown:   {shown[i][1]}" if i < len(shown) else "shown:   nothing more"
    prints = f"printed: {printed[j]}" if j < len(printed) else "printed: nothing more"
    if 0 < i < len(shown) and compare.is_gap(shown[i - 1][1]):
        prints = prints.replace("printed:", "printed: not this, from here on:")
    return f"{path}:{line}: `{command.text}` prints something else\n    {says}\n    {prints}"


def check(root, found, commands, update):
    """Runs commands of a page and, to update it, writes what is new of what they print; returns the complaints of exit
    codes, those of what was printed, and {first line: (last line, new lines)} of what was written."""
    path, bad, other, new, lacks = found.path, [], [], {}, {}
    for command in commands:
        slow, needs = "slow" in command.block.notes, command.block.notes.get("needs")
        if needs and lacks.setdefault(needs, run(root, needs, LIMIT)[0]):
            print(f"{path}:{command.line}: not run, as `{needs}` fails")
            continue
        code, printed = run(root, command.text, SLOW_LIMIT if slow else LIMIT)
        where = f"{path}:{command.line}"
        if code is None:
            bad.append(f"{where}: `{command.text}` takes more than {SLOW_LIMIT if slow else LIMIT} s")
            continue
        if code != command.code:
            last = "".join(f"\n    {line}" for line in compare.trimmed(printed)[-5:])
            bad.append(f"{where}: `{command.text}` ends with {code}, not {command.code} (<!-- exit: {code} -->){last}")
        complaint = difference(path, command, printed)
        if complaint and update and command.shown:
            new[command.shown[0][0]] = (command.shown[-1][0], [
                command.block.indent + line if line else ""
                for line in compare.merged([text for _, text in command.shown], printed)])
        elif complaint:
            other.append(complaint)
    if new:
        rewrite(root, found, new)
    return bad, other, new


def rewrite(root, found, new):
    """Writes the new lines into the page, the last ones first, so that the numbers of the others stay right."""
    lines = found.lines
    for first in sorted(new, reverse=True):
        last, text = new[first]
        lines[first - 1 : last] = text
    write(os.path.join(root, found.path), "\n".join(lines))
    print(f"{found.path}: {len(new)} outputs are new")


def locks(commands):
    """What two tests may not use at the same time: the pages of watch, and the copies of a lesson's experiments."""
    words = " ".join(c.text for c in commands)
    copies = sorted(set(re.findall(r"make break-(\d\d)-|make watch-(\d\d).*BREAK=", words)))
    return ["watch"] * ("make watch-" in words) + ["lessons." + (a or b) for a, b in copies]


def show_tests(root):
    for path in page.pages(root):
        found = page.Page(root, path)
        every, quick = found.commands(True), found.commands(False)
        if every:
            print(page.test_name(path), path, len(quick), len(every) - len(quick), ",".join(locks(every)) or "-")


def chosen(root, words):
    paths = page.pages(root)
    if not words:
        return paths
    names = {page.test_name(path): path for path in paths}
    found = []
    for word in words:
        path = names.get(word, os.path.normpath(word))
        if path not in paths:
            print(f"lessons: there is no page {word}", file=sys.stderr)
            sys.exit(2)
        found.append(path)
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    for option in ("--slow", "--list", "--tests", "--update"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--root", default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    root = os.path.abspath(options.root)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.tests:
        return show_tests(root)
    other = other_compiler(root)
    if other and options.update:
        sys.exit(f"lessons: the pages show what nvcc {NVCC} makes, and this is {other}: make mend NVCC=fetch")
    bad, stale, count, unlike = [], [], 0, 0
    for path in chosen(root, options.pages):
        found = page.Page(root, path)
        commands = found.commands(options.slow)
        if options.list:
            for command in commands:
                print(f"{path}:{command.line}: {' '.join(command.text.split())}")
            continue
        complaints, differences, new = check(root, found, commands, options.update)
        if new and not options.slow:
            found = page.Page(root, path)
            slow = [c for c in found.commands(True) if "slow" in c.block.notes]
            more, unmended, _ = check(root, found, slow, True)
            complaints += more
            differences += unmended
        if other:
            unlike += len(differences)
        else:
            complaints += differences
        for complaint in complaints:
            print(complaint, flush=True)
        bad += complaints
        stale += [page.test_name(path)] * any(" prints something else\n" in complaint for complaint in complaints)
        count += len(commands)
    if not options.list and not bad:
        print(f"lessons: {count} commands do what the pages say" if not unlike else
              f"lessons: {count} commands end as the pages say; {unlike} print something else than with nvcc {NVCC}")
    if stale:
        print(f"mend: make mend PAGES='{' '.join(stale)}'")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
