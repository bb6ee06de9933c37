"""What the checks promise in numbers, held against labels (`make bench-checks` prints them all)."""

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


def test_leaks_in_sentences_of_our_own_are_found_and_hardly_anything_else() -> None:
    assert below(sentence_scores(), FLOORS["sentences"]) == []


@pytest.mark.parametrize("name", OWN)
def test_tasks_of_our_own_keep_what_was_reached(name: str) -> None:
    assert below(scores(own_findings(name), own_labels(name)), FLOORS[f"own, {name}"]) == []


@pytest.mark.parametrize("name", FLAWED)
def test_small_flawed_tasks_are_told_from_sound_ones(name: str) -> None:
    assert below(flaw_scores(name), FLOORS[f"flaws, {name}"]) == []


def test_development_data_keeps_what_was_reached(pibench_data: Path) -> None:
    episode, texts = read(pibench_data, "law_trainee")
    labels = json.loads((LABELS / "law_trainee.json").read_text("utf-8"))
    findings = find_problems(episode, texts=texts)

    assert below(scores(findings, labels, episode, texts), FLOORS["law_trainee"]) == []
    assert not [each for each in findings if each.rule == "undeclared-dependency"]


def test_a_floor_is_missed_by_what_is_worse_and_by_what_is_not_measured() -> None:
    rows = [Score("half", {1, 2}, {2, 3})]

    assert below(rows, {"half": [0.5, 0.5]}) == []
    assert below(rows, {"half": [0.6, 0.5]}) == ["half: precision 0.5 is below 0.6"]
    assert len(below(rows, {"gone": [0.1, 0.1]})) == 2


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
