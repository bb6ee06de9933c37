"""Precision and recall of the checks stay above their floors (`make bench-checks` prints them)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.domain.checks import RULES, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from tests.bench.checks import FLAWED, OWN, Score, below, flaw_scores, read, scores, sentence_scores
from tests.bench.own import LABELS, own_findings, own_labels

FLOORS = json.loads((LABELS / "floors.json").read_text("utf-8"))


def test_leaks_in_own_sentences_stay_above_the_floor() -> None:
    assert below(sentence_scores(), FLOORS["sentences"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_own_tasks_stay_above_the_floor(name: str) -> None:
    assert below(scores(own_findings(name), own_labels(name)), FLOORS[f"own, {name}"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FLAWED)
def test_flaws_in_small_tasks_stay_above_the_floor(name: str) -> None:
    assert below(flaw_scores(name), FLOORS[f"flaws, {name}"]) == []


def test_development_data_stays_above_the_floor(pibench_data: Path) -> None:
    episode, texts = read(pibench_data, "law_trainee")
    labels = json.loads((LABELS / "law_trainee.json").read_text("utf-8"))
    findings = find_problems(episode, texts=texts)

    assert below(scores(findings, labels, episode, texts), FLOORS["law_trainee"]) == []
    assert not [each for each in findings if each.rule == "undeclared-dependency"]


def test_floor_is_missed_if_a_score_is_lower_or_not_measured() -> None:
    rows = [Score("half", {1, 2}, {2, 3})]

    assert below(rows, {"half": [0.5, 0.5]}) == []
    assert below(rows, {"half": [0.6, 0.5]}) == ["half: precision 0.5 is below 0.6"]
    assert len(below(rows, {"gone": [0.1, 0.1]})) == 2


@pytest.mark.parametrize("bit", ["a", "a/", "x.md ", "1-", "the word and, ", "“", '{"a":', "exactly 3 words "])
def test_repetitive_text_is_checked(bit: str) -> None:
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
