"""workflow.py ROOT TOOLKIT: runs what course/github-classroom.yml runs, on a copy of the last commit and a student's
push.

Its steps with `run:` are given to the shell as GitHub does, from an empty workspace in which the two checkouts lie;
those with `uses:` are not run. The mark that the reporter would get is the student's.
"""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile

import schema
from sm100repo.course import exercise as exercises
from sm100repo.course.model import FILL

ROOT, TOOLKIT = sys.argv[1:3]
LESSON = "02"


def steps(text):
    """The shell texts of the steps that have one, in their order."""
    found = []
    for block in re.split(r"(?m)^      - ", text)[1:]:
        one = re.search(r"(?m)^(?:        )?run: (?!\|)(.+)$", block)
        many = re.search(r"(?m)^        run: \|\n((?:          .*\n)+)", block)
        if one or many:
            found.append(one[1] if one else re.sub(r"(?m)^          ", "", many[1]))
    return found


def main():
    with open(os.path.join(ROOT, "course", "github-classroom.yml"), encoding="utf-8") as f:
        shell = steps(f.read())
    with open(TOOLKIT, encoding="utf-8") as f:
        nvcc = re.search(r"NVCC='(.*)'", f.read())[1]
    one = next(e for e in exercises.load(ROOT, LESSON) if e.kind == FILL)
    with tempfile.TemporaryDirectory() as space:
        subprocess.run(["git", "clone", "-q", ROOT, os.path.join(space, "course")], check=True)
        folder = os.path.join(space, "handed-in", "exercises", LESSON, one.name)
        os.makedirs(folder)
        with open(os.path.join(folder, "kernel.cuh"), "w", encoding="utf-8") as f:
            f.write(one.solution)
        output = os.path.join(space, "output")
        for text in shell:
            ran = subprocess.run(["bash", "-e", "-c", text], cwd=space, capture_output=True, text=True, check=False,
                                 env={"PATH": os.environ["PATH"], "HOME": space, "NVCC": nvcc, "LESSON": LESSON,
                                      "GITHUB_OUTPUT": output})
            if ran.returncode:
                sys.exit(f"FAILED: {text}\n{ran.stdout}{ran.stderr}")
        with open(output, encoding="utf-8") as f:
            made = json.loads(base64.b64decode(f.read().strip().removeprefix("result=")))
    with open(os.path.join(ROOT, "course", "schemas", "classroom.json"), encoding="utf-8") as f:
        wrong = schema.wrong(json.load(f), made)
    scores = {t["name"]: t["score"] for t in made["tests"]}
    if wrong or scores.pop(one.name) != 100 or any(scores.values()):
        sys.exit(f"FAILED: {wrong} {json.dumps(made, indent=1)}")
    print(f"{len(shell)} steps; {one.name}: 100")


if __name__ == "__main__":
    main()
