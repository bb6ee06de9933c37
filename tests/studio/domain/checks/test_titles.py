"""How findings name tasks: people read title and number, programs the id."""

from __future__ import annotations

import pytest

from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from tests.studio.domain.checks.test_rules import after, check, scored, task


def only(rule: str, findings: list[Finding]) -> Finding:
    [found] = [each for each in findings if each.rule == rule]
    return found


def test_another_task_is_named_by_title_and_session_and_kept_by_id() -> None:
    found = only("dependency-scored", check(scored("a1", title="Late rota"), scored("t", depends_on=after("a1"))))

    assert (
        found.message
        == "“Late rota” (session 1) has its own scoring, but a task that others build on should be scored through them."
    )
    assert found.other == "a1"


def test_a_task_without_a_title_keeps_its_id_and_one_outside_the_episode_says_so() -> None:
    episode = EpisodeSpec(
        episode_id="e",
        persona=PersonaSpec(user_id="p"),
        tasks=(task("a", title=" "),),
        unplaced=(task("b", title="Left over"),),
    )

    assert episode.task_label("a") == "“a” (session 1)"
    assert episode.task_label("b") == "“Left over” (not placed)"
    assert episode.task_label("nowhere") == "“nowhere”"


def test_a_waiver_holds_when_the_other_task_gets_a_new_title_or_place() -> None:
    def found(*before: TaskSpec) -> str:
        return only("dependency-scored", check(*before, scored("t", depends_on=after("a")))).fingerprint

    assert found(scored("a", title="Late rota")) == found(scored("b"), scored("a", title="Rota for May"))


@pytest.mark.parametrize("title", ["Untitled", "New task", "Task 7", "session #3", "test", "Test 2", "???", "t_77"])
def test_a_title_any_task_could_have_says_nothing(title: str) -> None:
    assert only("empty-title", check(scored("t_77", title=title))).severity == "warning"


@pytest.mark.parametrize("title", ["Drug test", "Titles for the show", "Copy for the leaflet", "Task list for May"])
def test_a_title_that_says_something_is_left_alone(title: str) -> None:
    assert "empty-title" not in {each.rule for each in check(scored("t", title=title))}


def test_a_title_in_other_words_than_the_request_is_nobody_elses() -> None:
    episode = EpisodeSpec(
        episode_id="e",
        persona=PersonaSpec(user_id="p"),
        tasks=(
            scored("a", title="Reading list", initial_request="Find six novels for my Year 9 group. They liked Holes."),
            scored("b", title="Schedule", initial_request="Make a reading schedule for four weeks, please."),
        ),
    )

    assert "title-elsewhere" not in {each.rule for each in find_problems(episode)}
