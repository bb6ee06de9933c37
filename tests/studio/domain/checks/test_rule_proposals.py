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
        ("The agent calls gmail__send_email.", (), ExactCheck(kind="tool_called", tool="gmail__send_email")),
        ("The agent calls write_file.", (), ExactCheck(kind="tool_called", tool="write_file")),
        ("The tool write_file was called.", (), ExactCheck(kind="tool_called", tool="write_file")),
        ("“Cold chain” appears in plan.md.", (), ExactCheck(kind="file_contains", path="plan.md", text="Cold chain")),
        (
            "The agent calls write_file to save plan.md.",
            (),
            ExactCheck(kind="tool_called", tool="write_file", arguments={"path": "plan.md"}),
        ),
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
        ("An SMS text message was sent to the keeper.", ()),
        ("The temporary board was deleted.", ()),
        ("The order was placed using the “Carla Crossing” address.", ()),
        ("The agent calls gmail__send_email with a friendly subject.", ()),
        ("The agent never calls gmail__send_email and calls gmail__create_draft.", ()),
        (
            "order_4b.md exists and lists enoxaparin, and all packs are full, and the tone is friendly.",
            (),
        ),
        ("plan.md exists in Danish.", ()),
        ("A friendly plan of five pages is saved as plan.md.", ()),
        ("One headline includes either “Medical-grade” or “AI Dynamic”.", ()),
        ("The plan names “Cold chain”, “Ice” and “Salt”.", ("plan.md",)),
        ("The songs should be “classical”.", ()),
        ("The price agreed is below 900 euros.", ()),
        ("At the end of the letter, the fee is stated as 900 euros.", ("letter.md",)),
        ("The song was removed.", ()),
        ("No e-mail was sent.", ()),
        ("Each of the letters contains “Cold chain”.", ("plan.md",)),
        ("The file contains “Cold chain” in its first line.", ("plan.md",)),
        ("The plan contains “Cold chain” at least twice.", ("plan.md",)),
        ("The plan contains “Ice” unless it is winter.", ("plan.md",)),
        ("The plan contains “Ice” when it is cold.", ("plan.md",)),
        ("The reply says “yes” politely.", ()),
    ],
)
def test_ambiguous_criterion_gets_no_exact_check(criterion: str, files: tuple[str, ...]) -> None:
    assert finding(criterion, files=files).proposal is None


def test_prose_that_mentions_no_tool_gets_no_finding() -> None:
    task = TaskSpec(task_id="t", checklist=(ChecklistItem(uid="c", criterion="The agent logs into Amazon."),))
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p", tools=TOOLS), tasks=(task,))

    assert "criterion-should-be-rule" not in {each.rule for each in find_problems(episode)}


@pytest.mark.parametrize(
    "criterion",
    [
        "plan.md exists and is new.",
        "Has either “a” or “b”.",
        "The heading is “Ice” / “Salt”.",
        "Songs should be “new”.",
    ],
)
def test_what_a_rule_cannot_decide_is_not_called_a_rule(criterion: str) -> None:
    task = TaskSpec(task_id="t", checklist=(ChecklistItem(uid="c", criterion=criterion),))
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(task,))

    for each in find_problems(episode):
        assert "Make it a rule" not in each.fix


@pytest.mark.parametrize(
    ("criterion", "rule", "differs"),
    [
        ("plan.md exists.", ExactCheck(kind="file_exists", path="plan.md"), False),
        ("list.md exists.", ExactCheck(kind="file_exists", path="plan.md"), True),
        ("The fee is 15 euros.", ExactCheck(kind="reply_contains", text="14 euros"), True),
        ("The fee is 14 euros.", ExactCheck(kind="reply_contains", text="14 euros"), False),
        ("The heading is “Ice”.", ExactCheck(kind="reply_contains", text="Cold chain"), True),
        (
            "“Ice” does not occur.",
            ExactCheck(kind="record_exists", app="todoist", table="tasks", text="Ice", path="a.md"),
            False,
        ),
        ("The heading is right.", ExactCheck(kind="reply_contains", text="Cold chain"), False),
        ("The word “soon” does not occur.", ExactCheck(kind="reply_contains", text="soon"), True),
        ("The word “soon” does not occur.", ExactCheck(kind="reply_lacks", text="soon"), False),
        ("plan.md exists and its tone is friendly.", ExactCheck(kind="file_exists", path="plan.md"), True),
    ],
)
def test_rule_and_criterion_that_no_longer_agree_are_reported(criterion: str, rule: ExactCheck, differs: bool) -> None:
    item = ChecklistItem(uid="c", criterion=criterion, grader="rule", rule=rule)
    task = TaskSpec(task_id="t", checklist=(item,))
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(task,))

    assert any(each.rule == "rule-differs" for each in find_problems(episode)) == differs
