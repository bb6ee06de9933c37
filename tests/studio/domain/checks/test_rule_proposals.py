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


def test_a_finding_offers_the_rule_that_decides_the_whole_criterion() -> None:
    found = finding("plan.md contains “Cold chain”.", files=("notes.md", "out/plan.md"))

    assert found.proposal == ExactCheck(kind="file_contains", path="out/plan.md", text="Cold chain")
    assert found.fix == "Make it a rule: “out/plan.md” contains “Cold chain”."


def test_a_finding_without_an_offer_says_which_words_a_rule_would_lose() -> None:
    found = finding("plan.md contains “Cold chain” in bold.", files=("plan.md",))

    assert found.proposal is None
    assert found.message == "An exact check could decide part of this."
    assert found.fix.startswith("A rule would decide “plan.md contains Cold chain” and lose “in bold”.")


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
        "The record says that the 16 doses of Canivac L4 that are left are enough for Saturday.",
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
