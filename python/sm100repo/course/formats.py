"""formats.py - marks in the words of two services that hand them on.

gradescope: results.json, as Gradescope's specification of autograders has it (docs/specs.md of
github.com/gradescope/autograder_samples, https://gradescope-autograders.readthedocs.io/en/latest/specs/). classroom:
what GitHub Classroom's graders hand to its reporter, as JSON and as the base64 of it in a step's output `result`
(github.com/classroom-resources: autograding-io-grader and autograding-grading-reporter, both src/main.js). schemas/
holds both formats as JSON Schema.
"""

import base64
import json
import os

from sm100repo import write


def text_of(mark, hint_lines):
    return "\n".join([*mark.notes, *hint_lines])


def gradescope(lesson, marks, hints):
    """marks: [Mark]; hints: {name: lines}."""
    tests = []
    for number, mark in enumerate(marks, 1):
        parts = ", ".join(f"{name} {got:g}/{of:g}" for name, (got, of) in mark.parts.items())
        tests.append({
            "name": mark.name,
            "number": str(number),
            "score": mark.points,
            "max_score": 100.0,
            "status": "passed" if mark.points == 100 else "failed",
            "output": "\n".join(filter(None, [f"{mark.state}: {parts}", text_of(mark, hints.get(mark.name, []))])),
            "output_format": "text",
            "tags": [mark.kind, f"lesson-{lesson}"],
            "visibility": "visible",
        })
    return {
        "score": round(sum(m.points for m in marks), 1),
        "output": f"{len(marks)} exercises of lesson {lesson}, 100 points each",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def classroom(lesson, marks, hints):
    tests = []
    for mark in marks:
        status = "error" if mark.state == "refused" else "pass" if mark.points == 100 else "fail"
        tests.append({
            "name": mark.name,
            "status": status,
            "score": mark.points,
            "message": text_of(mark, hints.get(mark.name, [])) or mark.state,
            "test_code": f"make grade-{lesson} EXERCISE={mark.name}",
            "filename": "",
            "line_no": 0,
        })
    states = {t["status"] for t in tests}
    return {
        "version": 1,
        "status": "pass" if states <= {"pass"} else "fail",
        "max_score": 100 * len(tests),
        "tests": tests,
    }


FORMATS = {"gradescope": gradescope, "classroom": classroom}


def write_marks(name, path, lesson, marks, hints):
    """Writes the marks, and for GitHub the step's output `result`, too."""
    made = FORMATS[name](lesson, marks, hints)
    write(path, json.dumps(made, indent=1) + "\n")
    if name == "classroom" and os.environ.get("GITHUB_OUTPUT"):
        with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as f:
            f.write("result=" + base64.b64encode(json.dumps(made).encode()).decode() + "\n")
