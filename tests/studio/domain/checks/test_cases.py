"""The rules that read what people wrote, on sentences of our own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.checks import RULES, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from tests.studio.domain.checks.cases import WRITTEN, Case, build
from tests.studio.domain.checks.graders import GRADERS
from tests.studio.domain.checks.reachability import REACHING
from tests.studio.domain.checks.test_rules import BROKEN

CASES = (*WRITTEN, *REACHING)
IDS = [f"{case.rule}-{number}" for number, case in enumerate(CASES)]


def findings_of(case: Case, *, flawed: bool) -> list[Finding]:
    episode, texts = build(case, case.flawed if flawed else case.sound)
    return [each for each in find_problems(episode, "t", texts=texts, tools=case.tools) if each.rule == case.rule]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_rule_finds_its_flaw_and_names_the_words(case: Case) -> None:
    found = findings_of(case, flawed=True)

    assert [(each.field, each.item) for each in found] == [case.place]
    assert found[0].other == case.other
    assert case.words is None or found[0].words == case.words
    assert found[0].message.endswith(".") and found[0].mend.endswith(".")


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_rule_leaves_alone_what_only_looks_alike(case: Case) -> None:
    assert findings_of(case, flawed=False) == []


def test_every_rule_is_tried_on_a_smallest_task() -> None:
    graders = {case.rule for case in GRADERS}
    assert {case.rule for case in CASES} | {name for name, _, _ in BROKEN} | graders == RULES.keys()
    assert all(rule.about for rule in RULES.values())


WILD = st.text(max_size=60) | st.sampled_from(
    [
        "",
        "   ",
        "“’\"'`",
        '{"a": 1, "b": "c", "d": [',
        "e.g. i.e. 5:00 p.m.; and, or: —",
        "and and and, and is; 12,5.3/7% x.md @.",
        "Exactly 3 words 'in the file' report.md as last time? Does it…",
        "日本語のテキスト、数字は１２３です。",
        "\ud800 \x00 \u202e",
        "a, b, c and d; and it must be, that",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(WILD, min_size=6, max_size=6))
def test_wild_text_raises_nothing_and_words_are_always_verbatim(texts: list[str]) -> None:
    tasks = tuple(
        TaskSpec(
            task_id=name,
            title=one,
            initial_request=two,
            intents=(HiddenIntent(uid="i", content=three), HiddenIntent(uid="j", content=one + two)),
            checklist=(ChecklistItem(uid="c", criterion=two + three),),
        )
        for name, one, two, three in (("a", *texts[:3]), ("b", *texts[3:]))
    )
    episode = EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="Pilot"), tasks=tasks)

    findings = find_problems(episode)

    assert findings == find_problems(episode)
    for finding in findings:
        assert finding.words in field_of(episode, finding), finding


def field_of(episode: EpisodeSpec, finding: Finding) -> str:
    task = episode.task(finding.task)
    assert task is not None
    if finding.field == "intents" and finding.item:
        return task.intents[finding.item - 1].content
    if finding.field == "checklist" and finding.item:
        return task.checklist[finding.item - 1].criterion
    if finding.field in ("title", "initial_request", "description"):
        return str(getattr(task, finding.field))
    return finding.words
