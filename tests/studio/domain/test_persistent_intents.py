"""Where each persistent intent can be learned."""

from __future__ import annotations

from typing import Any

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persistent_intents import IntentOrigin, persistent_intents, referenced_tools
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, Recovery, TaskSpec, ToolEvidence


def lasting(*places: tuple[str, str], text: str = "Dates in letters") -> HiddenIntent:
    found = tuple(Recovery(kind=kind, ref=ref) for kind, ref in places)  # type: ignore[arg-type]
    return HiddenIntent(uid=text, content=text, scope="persistent", recoverable_from=found)


def task(task_id: str, *intents: HiddenIntent, needs: tuple[str, ...] = (), **more: Any) -> TaskSpec:
    return TaskSpec(
        task_id=task_id, intents=intents, depends_on=tuple(Dependency(task_id=name) for name in needs), **more
    )


def learned(*tasks: TaskSpec) -> list[tuple[int, IntentOrigin | None, tuple[int, ...]]]:
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks)
    return [(row.session, row.origin, row.used_in) for row in persistent_intents(episode)]


def test_an_intent_is_first_learned_in_the_earliest_session_that_tells_it():
    found = learned(
        task("a", lasting(("question", ""))),
        task("b"),
        task("c", lasting(("session", "b"), ("session", "a"), ("question", ""))),
    )

    assert found == [(1, IntentOrigin(1, "question"), (3,)), (3, IntentOrigin(1, "session", "a"), ())]


def test_files_are_known_from_the_session_that_brings_them_and_the_profile_from_the_start():
    sheet = FileRef(path="stock.csv", sha256="a" * 64, size=1)

    found = learned(
        task("a", assets=(sheet,)),
        task("b", lasting(("file", "stock.csv")), lasting(("profile", ""), text="Short")),
        task("c", lasting(("file", "unknown.csv"))),
    )

    assert [origin for _, origin, _ in found] == [
        IntentOrigin(1, "file", "stock.csv"),
        IntentOrigin(0, "profile"),
        IntentOrigin(3, "file", "unknown.csv"),
    ]


def test_without_a_place_a_dependency_is_where_it_comes_from():
    assert learned(task("a"), task("b", lasting(), needs=("a",))) == [(2, IntentOrigin(1, "dependency"), ())]


def test_what_nothing_can_teach_is_a_gap_with_its_reason():
    episode = EpisodeSpec(
        episode_id="e",
        persona=PersonaSpec(user_id="p"),
        tasks=(
            task("a", lasting(("session", "b"))),
            task("b", lasting()),
            task("c", lasting(("session", "gone"))),
            task("d", lasting(("memory", ""))),
        ),
    )

    rows = persistent_intents(episode)

    assert [row.problem for row in rows] == [
        "Its source is task 2, which does not come before task 1.",
        "It has no source, and the task builds on no earlier one.",
        "Its source is “gone”, which is not in the episode.",
        "",
    ]
    assert [row.origin is None for row in rows] == [True, True, True, False]


def test_intents_of_one_session_are_left_out_and_an_empty_episode_has_none():
    assert learned(task("a", HiddenIntent(uid="x", content="x"))) == []
    assert learned() == []


def test_a_task_names_tools_in_four_ways():
    found = task(
        "a",
        lasting(("tool", "gmail__c.result.id")),
        tools=("gmail__a",),
        tool_evidence=(ToolEvidence(tool="mcp_appworld_gmail__b"),),
        checklist=(
            ChecklistItem(uid="i", criterion="x", grader="rule", rule=ExactCheck(kind="tool_called", tool="gmail__d")),
        ),
    )

    assert referenced_tools(found) == {"gmail__a", "gmail__b", "gmail__c", "gmail__d"}
