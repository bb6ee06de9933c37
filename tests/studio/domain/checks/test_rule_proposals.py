"""Exact checks proposed by “criterion-should-be-rule”."""

from __future__ import annotations

import pytest

from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec

TOOLS = ("gmail__send_email", "gmail__create_draft", "phone__send_text_message", "todoist__delete_project")


def finding(criterion: str, *, files: tuple[str, ...] = (), tools: tuple[str, ...] = TOOLS) -> Finding:
    task = TaskSpec(
        task_id="t",
        files_read=files,
        checklist=(ChecklistItem(uid="c", criterion=criterion),),
        expected_artifacts=files,
    )
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p", tools=tools), tasks=(task,))
    [proposal] = [each for each in find_problems(episode) if each.rule == "criterion-should-be-rule"]
    return proposal


@pytest.mark.parametrize(
    ("criterion", "files", "rule"),
    [
        ("plan.md exists.", (), ExactCheck(kind="file_exists", path="plan.md")),
        (
            "The heading is exactly “Cold chain”.",
            ("out/plan.md",),
            ExactCheck(kind="file_contains", path="out/plan.md", text="Cold chain"),
        ),
        (
            "plan.md contains “Cold chain”.",
            ("notes.md", "out/plan.md"),
            ExactCheck(kind="file_contains", path="out/plan.md", text="Cold chain"),
        ),
        (
            "The plan does not contain the word “soon”.",
            ("plan.md",),
            ExactCheck(kind="file_lacks", path="plan.md", text="soon"),
        ),
        ("The answer states “Cold chain”.", (), ExactCheck(kind="reply_contains", text="Cold chain")),
        ("The minutes are saved as minutes.md.", (), ExactCheck(kind="file_exists", path="minutes.md")),
        (
            "The ceiling is given as 14 euros.",
            ("plan.md",),
            ExactCheck(kind="file_contains", path="plan.md", text="14 euros"),
        ),
        (
            "The guest of honour is Ada Penhallow.",
            ("plan.md",),
            ExactCheck(kind="file_contains", path="plan.md", text="Ada Penhallow"),
        ),
        (
            "An SMS text message was sent to the keeper.",
            (),
            ExactCheck(kind="tool_called", tool="phone__send_text_message"),
        ),
        ("The temporary board was deleted.", (), ExactCheck(kind="tool_called", tool="todoist__delete_project")),
    ],
)
def test_unambiguous_criterion_gets_an_exact_check(criterion: str, files: tuple[str, ...], rule: ExactCheck) -> None:
    assert finding(criterion, files=files).proposal == rule


@pytest.mark.parametrize(
    ("criterion", "files"),
    [
        ("The heading is exactly “Cold chain”.", ("plan.md", "notes.md")),
        ("The subject of the e-mail is exactly “Cold chain”.", ()),
        ("The plan has exactly five paragraphs.", ("plan.md",)),
        ("The song was removed.", ()),
        ("No e-mail was sent.", ()),
        ("Each of the letters contains “Cold chain”.", ("plan.md",)),
    ],
)
def test_ambiguous_criterion_gets_no_exact_check(criterion: str, files: tuple[str, ...]) -> None:
    assert finding(criterion, files=files).proposal is None
