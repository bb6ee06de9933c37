"""The rules that read prose, on their cases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.checks import RULES, Known, find_problems
from studio.domain.checks.disagreement import find_disagreement
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from tests.forgetting import forget_texts
from tests.studio.domain.checks.cases import CASES, Case, build
from tests.studio.domain.checks.cases.scripts import SCRIPT_CASES
from tests.studio.domain.checks.cases.structure import STRUCTURAL_CASES
from tests.studio.domain.checks.test_offered import OFFERED_RULES

IDS = [f"{case.rule}-{number}" for number, case in enumerate(CASES)]


def findings_of(case: Case, *, flawed: bool) -> list[Finding]:
    episode, texts = build(case, case.flawed if flawed else case.sound)
    findings = find_problems(episode, "t", texts=texts, known=Known(tools=case.tools))
    assert len({(finding.rule, finding.fingerprint) for finding in findings}) == len(findings)
    return [finding for finding in findings if finding.rule == case.rule]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_rule_reports_the_flawed_task_and_quotes_the_passage(case: Case) -> None:
    [finding] = findings_of(case, flawed=True)

    assert (finding.field, finding.item) == case.location
    assert finding.other == case.other
    assert case.passage is None or finding.passage == case.passage
    assert finding.message.endswith(".") and finding.fix.endswith(".")


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_rule_accepts_the_sound_task(case: Case) -> None:
    assert findings_of(case, flawed=False) == []


def test_every_rule_has_a_case_and_a_description() -> None:
    tested = {case.rule for case in (*CASES, *SCRIPT_CASES)} | {name for name, _, _ in STRUCTURAL_CASES}
    tested |= set(OFFERED_RULES)
    assert tested == RULES.keys()
    assert all(rule.about for rule in RULES.values())


ODD_TEXTS = st.text(max_size=60) | st.sampled_from(
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


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(ODD_TEXTS, min_size=6, max_size=6))
def test_arbitrary_text_raises_nothing_and_quotes_are_verbatim(texts: list[str]) -> None:
    tasks = tuple(
        TaskSpec(
            task_id=name,
            title=title,
            initial_request=request,
            intents=(HiddenIntent(uid="i", content=intent), HiddenIntent(uid="j", content=title + request)),
            checklist=(ChecklistItem(uid="c", criterion=request + intent),),
        )
        for name, title, request, intent in (("a", *texts[:3]), ("b", *texts[3:]))
    )
    episode = EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="Pilot"), tasks=tasks)

    findings = find_problems(episode)

    assert findings == find_problems(episode)
    for finding in findings:
        assert finding.passage in quoted_text(episode, finding), finding


def quoted_text(episode: EpisodeSpec, finding: Finding) -> str:
    task = episode.task(finding.task)
    assert task is not None
    if finding.field == "intents" and finding.item:
        return task.intents[finding.item - 1].content
    if finding.field == "checklist" and finding.item:
        return task.checklist[finding.item - 1].criterion
    if finding.field in ("title", "initial_request", "description"):
        return str(getattr(task, finding.field))
    return finding.passage


@pytest.mark.slow
def test_disagreement_is_found_whatever_is_still_cached() -> None:
    texts = "The programme names Dr Paula Marsh as the speaker.", "The speaker is Dr Lena Marsh."
    found = find_disagreement(*texts)

    forget_texts()

    assert found is not None and find_disagreement(*texts) == found
