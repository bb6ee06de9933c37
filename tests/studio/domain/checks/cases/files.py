"""Cases of rules about assets, expected artifacts and files shown to judges."""

from __future__ import annotations

from studio.domain.task import ChecklistItem, ExactCheck, ExpectedArtifact
from tests.studio.domain.checks.cases.case import Case, artifact

PLAN_EXISTS = ExactCheck(kind="file_exists", path="plan.md")

FILES_CASES: tuple[Case, ...] = (
    Case(
        "files-read-input",
        {"request": "See notes.md.", "files": ("notes.md",), "files_read": ("notes.md",)},
        {
            "request": "See notes.md.",
            "files": ("notes.md",),
            "files_read": ("notes.md",),
            "expected_artifacts": ("notes.md",),
        },
        ("files_read", 1),
        "notes.md",
        texts={"notes.md": "Nothing yet."},
    ),
    Case(
        "output-unread",
        {"request": "Write the plan into plan.md.", "criteria": ("The plan has a date.",)},
        {"request": "Write the plan into plan.md.", "criteria": ("The plan has a date.",), "files_read": ("plan.md",)},
        ("initial_request", None),
        "plan.md",
    ),
    Case(
        "output-unread",
        {"intents": ("The answer is saved as answer.md.",), "criteria": ("The answer has a date.",)},
        {"intents": ("The answer comes from notes.md.",), "criteria": ("The answer has a date.",)},
        ("intents", 1),
        "answer.md",
    ),
    Case(
        "output-unread",  # another item's rule looks at the file, which judges do not see
        {
            "request": "Write the plan into plan.md.",
            "criteria": (
                ChecklistItem(uid="r", criterion="plan.md exists.", grader="rule", rule=PLAN_EXISTS),
                "The plan has a date.",
            ),
        },
        {
            "request": "Write the plan into plan.md.",
            "criteria": (
                ChecklistItem(uid="r", criterion="plan.md exists.", grader="rule", rule=PLAN_EXISTS),
                "The reply names the first day.",
            ),
        },
        ("initial_request", None),
        "plan.md",
    ),
    Case(
        "criterion-file-unmade",
        {"request": "Plan the week, please.", "criteria": ("week.md lists every shift.",)},
        {"request": "Plan the week in week.md, please.", "criteria": ("week.md lists every shift.",)},
        ("checklist", 1),
        "week.md",
    ),
    Case(
        "asset-unused",
        {"request": "Plan the week, please.", "files": ("tides.csv",)},
        {"request": "Plan the week by the tides, please.", "files": ("tides.csv",)},
        ("assets", 1),
        "tides.csv",
        texts={"tides.csv": "day,high\nMonday,9:40\n"},
    ),
    Case(
        "asset-overwrites",
        {"request": "See plan.md.", "files": ("plan.md",)},
        {"request": "See other.md.", "files": ("other.md",)},
        ("assets", 1),
        "plan.md",
        before=({"request": "Write plan.md, please.", "files_read": ("plan.md",)},),
        other="a",
        texts={"plan.md": "One.", "other.md": "Two."},
    ),
    Case(
        "asset-overwrites",
        {"request": "Write plan.md, please.", "expected_artifacts": ("plan.md",)},
        {"request": "Write plan.md, please.", "expected_artifacts": ("plan.md",), "depends_on": ("a",)},
        ("expected_artifacts", 1),
        "plan.md",
        before=({"request": "Write plan.md for the fair.", "files_read": ("plan.md",)},),
        other="a",
    ),
    Case(
        "artifact-is-input",
        {"files": ("log.csv",), "expected_artifacts": ("plan.md", "log.csv")},
        {
            "files": ("log.csv",),
            "expected_artifacts": ("plan.md", ExpectedArtifact(path="log.csv", note="One more line.")),
        },
        ("expected_artifacts", 2),
        "log.csv",
        texts={"log.csv": "a,b"},
    ),
    Case(
        "reference-unread",
        {"expected_artifacts": (artifact("plan.md", "a"),), "criteria": ("The reply names a day.",)},
        {"expected_artifacts": (artifact("plan.md", "a"),), "criteria": ("The first line of plan.md names a day.",)},
        ("expected_artifacts", 1),
        "plan.md",
    ),
    Case(
        "reference-unread",
        {"expected_artifacts": ("notes.md", artifact("out/plan.md", "a")), "files_read": ("out/plan.md",)},
        {
            "expected_artifacts": ("notes.md", artifact("out/plan.md", "a")),
            "files_read": ("out/plan.md",),
            "criteria": ("A day is named.",),
        },
        ("expected_artifacts", 2),
        "out/plan.md",
    ),
    Case(
        "reference-is-input",
        {"files": ("fees.md",), "expected_artifacts": (artifact("plan.md", f"{1:064x}"),)},
        {"files": ("fees.md",), "expected_artifacts": (artifact("plan.md", "another"),)},
        ("expected_artifacts", 1),
        "plan.md",
        texts={"fees.md": "The fee is twelve crowns."},
    ),
    Case(
        "reference-is-input",
        {"expected_artifacts": (artifact("plan.md", f"{1:064x}"),)},
        {"expected_artifacts": ("plan.md",)},
        ("expected_artifacts", 1),
        before=({"files": ("fees.md",)},),
        other="a",
        texts={"fees.md": "The fee is twelve crowns."},
    ),
)
