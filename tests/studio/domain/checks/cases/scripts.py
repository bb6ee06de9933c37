"""Cases of rules about grader scripts: a script that breaks the rule in a task, and a similar one that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio.domain.base import FileRef
from studio.domain.checks import Known, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.graders import GraderReport
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec

SHA = "5" * 64
TOOLS = ("gmail__send_email", "gmail__create_draft", "simple_note__create_note")
REQUEST = "Please note the three repairs of the lift and mail them to the caretaker, kurt@haus.example."

NOTE = """
def score(tools_history):
    text = ""
    for item in tools_history:
        if item.get("tool_name") == "simple_note__create_note":
            text += str(item.get("call", {}).get("content", "")).lower()
    return {"note_names_the_repairs": int(%s)}
"""
MAIL = """
def score(tools_history):
    sent = 0
    for item in tools_history:
        if item["tool_name"] %s:
            %s
            sent = 1
    return {"mail_sent": sent}
"""


@dataclass(frozen=True)
class ScriptCase:
    rule: str
    flawed: str
    sound: str
    message: str
    """Part of the finding's message."""
    report: dict[str, Any] = field(default_factory=dict)
    """Report on the flawed script; empty: not run."""
    sound_report: dict[str, Any] = field(default_factory=dict)
    criteria: tuple[str, ...] = ()
    location: tuple[str, int | None] = ("grader_script", None)
    severity: str = "warning"


def findings_of_script(source: str, report: dict[str, Any] | None = None, **parts: Any) -> list[Finding]:
    """Findings of a task with this script, which was run only if there is a ``report``."""
    task = TaskSpec(
        task_id="t",
        title="The lift",
        initial_request=parts.get("request", REQUEST),
        intents=(HiddenIntent(uid="i", content="Name the date of each repair"),),
        checklist=tuple(ChecklistItem(uid=f"c{n}", criterion=c) for n, c in enumerate(parts.get("criteria", ()))),
        grader_script="data/Pilot/scripts/lift.py",
        assets=parts.get("assets", ()),
    )
    script = FileRef(path="scripts/lift.py", sha256=SHA, size=len(source))
    persona = PersonaSpec(user_id="Pilot", tools=TOOLS, scripts=(script,), role_text="A landlord of four houses")
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(*parts.get("before", ()), task))
    reports = {SHA: GraderReport(sha256=SHA, tried=20, **({"keys": ("a",)} | report))} if report is not None else {}
    return find_problems(episode, "t", texts={SHA: source}, known=Known(reports=reports))


SCRIPT_CASES: tuple[ScriptCase, ...] = (
    ScriptCase("grader-syntax", NOTE % "'repair' in", NOTE % "'repair' in text", "line 7", severity="error"),
    ScriptCase(
        "grader-syntax", "def grade(h):\n    return {'a': 0}", NOTE % "'repair' in text", "“score”", severity="error"
    ),
    ScriptCase(
        "grader-no-keys",
        NOTE % "'repair' in text",
        NOTE % "'repair' in text",
        "the script raised KeyError in line 3",
        report={"keys": None, "problem": "score([]) gave no keys: the script raised KeyError in line 3: 'x'."},
        severity="error",
    ),
    ScriptCase(
        "grader-key-unknown",
        NOTE % "'repair' in text",
        NOTE % "'repair' in text",
        "note_names_the_date",
        report={"keys": ("note_names_the_repairs",)},
        sound_report={"keys": ("note_names_the_date",)},
        criteria=("The dates are right, beyond [tools] note_names_the_date",),
        location=("checklist", 1),
    ),
    ScriptCase(
        "grader-key-always",
        NOTE % "'repair' in text",
        NOTE % "'repair' in text",
        "“a”",
        report={"always": ("a",)},
        sound_report={"never": ("a",)},
    ),
    ScriptCase(
        "grader-key-never",
        NOTE % "'repair' in text",
        NOTE % "len(text.split()) > 3 and 'repair' in text",
        "“a”",
        report={"never": ("a",)},
        sound_report={"never": ("a",)},
        severity="hint",
    ),
    ScriptCase(
        "grader-word-unasked",
        NOTE % "'repair' in text and 'warranty' in text",
        NOTE % "'repairs' in text and any(word in text for word in ('warranty', 'caretaker'))",
        "“warranty” (line 7)",
    ),
    ScriptCase(
        "grader-word-unasked",
        NOTE % "all(word in text for word in ('repair', 'lift', 'houses'))",
        NOTE % "all(word in text for word in ('repair', 'lift', 'date'))",
        "mentioned but not asked for",
        severity="hint",
    ),
    ScriptCase(
        "grader-tool-unbound",
        MAIL % ("== 'gmail__send_mail'", "who = item['call']['email_addresses']"),
        MAIL % ("in ('gmail__send_mail', 'mcp_appworld_gmail__send_email')", "who = item['call']['email_addresses']"),
        "“gmail__send_mail” (line 5)",
    ),
    ScriptCase(
        "grader-accepts-draft",
        MAIL % ("in ('gmail__send_email', 'gmail__create_draft')", "who = item['call']['email_addresses']"),
        MAIL % ("== 'gmail__send_email'", "who = item['call']['email_addresses']"),
        "“mail_sent” is earned by a draft",
        report={"keys": ("mail_sent",), "by_draft": ("mail_sent",), "by_anyone": ("mail_sent",)},
        sound_report={"keys": ("mail_sent", "body_is_short"), "by_draft": ("body_is_short",)},
    ),
    ScriptCase(
        "grader-accepts-draft",
        MAIL % ("== 'gmail__send_email'", "subject = item['call']['subject']"),
        MAIL % ("== 'gmail__send_email'", "subject = item['call']['recipients']"),
        "never at who gets them",
    ),
    ScriptCase(
        "grader-contradicts",
        NOTE % "'karl@haus.example' in text",
        NOTE % "'kurt@haus.example' in text",
        "“karl@haus.example” (line 7), and the task has “kurt@haus.example”",
    ),
    ScriptCase(
        "grader-contradicts",
        NOTE % "'caretakre' in text and 'INV-2034' in text",
        NOTE % "'caretaker' in text and 'INV-9180' in text",
        "“INV-2034” (line 7), and the task has “INV-2043”",
        criteria=("The note quotes the invoice INV-2043.",),
    ),
    ScriptCase(
        "grader-contradicts",
        NOTE % "'10:45' in text",
        NOTE % "'10:15' in text",
        "“10:45” (line 7), and the task has “10:15”",
        criteria=("The note says when the lift is back: at 10:15.",),
        severity="hint",
    ),
    ScriptCase(
        "grader-contradicts",
        NOTE % "len(text.split()) <= 80",
        NOTE % "len(text.split()) < 121",
        "at most 80 words (line 7), and checklist item 1 says “at most 120 words”",
        criteria=("The note has at most 120 words.",),
    ),
    ScriptCase(
        "grader-contradicts",
        NOTE % "4 < len(text.splitlines()) <= 6",
        NOTE % "2 < len(text.splitlines())",
        "5 to 6 lines (line 7), and checklist item 1 says “at least 3 lines”",
        criteria=("The note has at least 3 lines.",),
    ),
)
