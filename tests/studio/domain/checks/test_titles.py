"""Titles of tasks in findings, and rules about titles."""

from __future__ import annotations

import pytest

from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from tests.studio.domain.checks.builders import after, check, scored, task


def only_finding(rule: str, findings: list[Finding]) -> Finding:
    [finding] = [each for each in findings if each.rule == rule]
    return finding


def test_message_names_another_task_by_title_and_position() -> None:
    finding = only_finding(
        "dependency-scored", check(scored("a1", title="Late rota"), scored("t", depends_on=after("a1")))
    )

    assert (
        finding.message
        == "“Late rota” (session 1) has its own scoring, but a task that others build on should be scored through them."
    )
    assert finding.other == "a1"


def test_label_of_untitled_and_unplaced_tasks() -> None:
    episode = EpisodeSpec(
        episode_id="e",
        persona=PersonaSpec(user_id="p"),
        tasks=(task("a", title=" "),),
        unplaced=(task("b", title="Left over"),),
    )

    assert episode.task_label("a") == "“a” (session 1)"
    assert episode.task_label("b") == "“Left over” (not placed)"
    assert episode.task_label("nowhere") == "“nowhere”"


def test_fingerprint_survives_new_title_or_position_of_another_task() -> None:
    def fingerprint(*before: TaskSpec) -> str:
        return only_finding("dependency-scored", check(*before, scored("t", depends_on=after("a")))).fingerprint

    assert fingerprint(scored("a", title="Late rota")) == fingerprint(scored("b"), scored("a", title="Rota for May"))


@pytest.mark.parametrize("title", ["Untitled", "New task", "Task 7", "session #3", "test", "Test 2", "???", "t_77"])
def test_generic_title_counts_as_empty(title: str) -> None:
    assert only_finding("empty-title", check(scored("t_77", title=title))).severity == "warning"


@pytest.mark.parametrize("title", ["Drug test", "Titles for the show", "Copy for the leaflet", "Task list for May"])
def test_descriptive_title_is_accepted(title: str) -> None:
    assert "empty-title" not in {each.rule for each in check(scored("t", title=title))}


def test_paraphrasing_title_is_not_attributed_to_another_task() -> None:
    episode = EpisodeSpec(
        episode_id="e",
        persona=PersonaSpec(user_id="p"),
        tasks=(
            scored("a", title="Reading list", initial_request="Find six novels for my Year 9 group. They liked Holes."),
            scored("b", title="Schedule", initial_request="Make a reading schedule for four weeks, please."),
        ),
    )

    assert "title-elsewhere" not in {each.rule for each in find_problems(episode)}
