"""A model's second opinion replaces the verdict of the words."""

from __future__ import annotations

import json

import pytest

from studio.domain.checks import Known, find_problems
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import batches, questions_of, read_opinions, schema_for
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec

TASK = TaskSpec(
    task_id="t",
    initial_request="Write the invitation and leave out the budget.",
    intents=(
        HiddenIntent(uid="a", content="Leave out the budget."),
        HiddenIntent(uid="b", content="No money matters."),
    ),
    checklist=(ChecklistItem(uid="c", criterion="The letter names the price, and it says when the offer ends."),),
)
EPISODE = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(TASK,))
LEAK, HIDDEN, BUNDLE = questions_of(EPISODE)


def reported(rule: str, **opinions: Opinion) -> list[Finding]:
    keys = {"leak": LEAK.key, "hidden": HIDDEN.key, "bundle": BUNDLE.key}
    known = {keys[name]: opinion for name, opinion in opinions.items()}
    return [each for each in find_problems(EPISODE, known=Known(opinions=known)) if each.rule == rule]


def test_without_opinions_the_words_decide() -> None:
    assert [each.item for each in reported("intent-in-request")] == [1]
    assert [each.item for each in reported("criterion-not-atomic")] == [1]


def test_differing_opinion_replaces_the_verdict_and_is_named() -> None:
    opinion = Opinion(degree="partly", quote="leave out the budget")
    [finding] = reported("intent-in-request", leak=Opinion(degree="none"), hidden=opinion)

    assert (finding.item, finding.severity) == (2, "warning")
    assert "part of this already: “leave out the budget” (a model’s second opinion)" in finding.message
    assert reported("criterion-not-atomic", bundle=Opinion(count=1)) == []


def test_opinion_that_agrees_changes_nothing() -> None:
    assert reported("criterion-not-atomic", bundle=Opinion(count=2)) == reported("criterion-not-atomic")


def test_questions_are_asked_in_batches_and_each_text_once() -> None:
    twice = EPISODE.model_copy(update={"tasks": (TASK, TASK.model_copy(update={"task_id": "u"}))})

    assert [len(batch) for batch in batches(questions_of(twice))] == [2, 1]


def test_answer_is_read_by_number_and_a_wrong_quote_is_dropped() -> None:
    batch = [LEAK, HIDDEN]
    rows = {"1": {"degree": "wholly", "quote": "leave out the budget"}, "2": {"degree": "none", "quote": "never said"}}

    assert list(read_opinions(batch, json.dumps(rows)).values()) == [
        Opinion(degree="wholly", quote="leave out the budget"),
        Opinion(degree="none"),
    ]
    assert schema_for(batch)["required"] == ["1", "2"]


@pytest.mark.parametrize("answer", ["[]", "{}", '{"1": {"degree": "maybe"}}', "no"])
def test_unusable_answer_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match=r"object|must be|Expecting"):
        read_opinions([LEAK], answer)
