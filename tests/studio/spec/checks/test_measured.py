"""What the checks promise in numbers, held against labels (`make bench-checks` prints them all)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.spec.checks import RULES, find_problems
from studio.spec.episode import EpisodeSpec
from studio.spec.persona import PersonaSpec
from studio.spec.task import ChecklistItem, HiddenIntent, TaskSpec
from tests.bench.checks import LABELS, Score, own_scores, read, scores


def of(rows: list[Score], name: str) -> tuple[float, float]:
    row = next(each for each in rows if each.name == name)
    hits = len(row.wanted & row.found)
    return hits / len(row.found), hits / len(row.wanted)


def test_leaks_in_sentences_of_our_own_are_found_and_hardly_anything_else() -> None:
    rows = own_scores()

    assert min(of(rows, "wholly stated")) >= 0.8
    assert min(of(rows, "wholly or partly stated")) >= 0.75


def test_development_data_keeps_what_was_reached(pibench_data: Path) -> None:
    episode, texts = read(pibench_data, "law_trainee")
    labels = json.loads((LABELS / "law_trainee.json").read_text("utf-8"))

    rows = scores(episode, find_problems(episode, texts=texts), labels)

    assert min(of(rows, "intent-in-request: wholly (error)")) >= 0.9
    assert min(of(rows, "intent-in-request: wholly or partly")) >= 0.75
    assert of(rows, "criterion-not-atomic: warnings")[0] >= 0.85
    assert of(rows, "criterion-should-be-rule: warnings")[0] >= 0.85
    assert not [each for each in find_problems(episode, texts=texts) if each.rule == "undeclared-dependency"]


@pytest.mark.parametrize("bit", ["a", "a/", "x.md ", "1-", "the word and, ", "“", '{"a":', "exactly 3 words "])
def test_endless_text_comes_to_an_end(bit: str) -> None:
    text = bit * (8_000 // len(bit))
    task = TaskSpec(
        task_id="t",
        title=text,
        initial_request=text,
        intents=(HiddenIntent(uid="i", content=text),),
        checklist=(ChecklistItem(uid="c", criterion=text),),
    )

    findings = find_problems(EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(task,)))

    assert {finding.rule for finding in findings} <= RULES.keys()
