"""Where each persistent intent can be learned."""

from __future__ import annotations

from typing import Any

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persistent_intents import IntentOrigin, persistent_intents
from studio.domain.persona import PersonaSpec
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExactCheck,
    HiddenIntent,
    Recovery,
    RecoveryKind,
    TaskSpec,
    ToolEvidence,
)


def persistent(*sources: tuple[RecoveryKind, str], text: str = "Dates in letters") -> HiddenIntent:
    recoveries = tuple(Recovery(kind=kind, ref=ref) for kind, ref in sources)
    return HiddenIntent(uid=text, content=text, scope="persistent", recoverable_from=recoveries)


def task(task_id: str, *intents: HiddenIntent, needs: tuple[str, ...] = (), **more: Any) -> TaskSpec:
    return TaskSpec(
        task_id=task_id, intents=intents, depends_on=tuple(Dependency(task_id=name) for name in needs), **more
    )


def summarize(*tasks: TaskSpec) -> list[tuple[int, IntentOrigin | None, tuple[int, ...]]]:
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks)
    return [(row.session, row.origin, row.used_in) for row in persistent_intents(episode)]


def test_origin_is_the_earliest_source():
    rows = summarize(
        task("a", persistent(("question", ""))),
        task("b"),
        task("c", persistent(("session", "b"), ("session", "a"), ("question", ""))),
    )

    assert rows == [(1, IntentOrigin(1, "question"), (3,)), (3, IntentOrigin(1, "session", "a"), ())]


def test_file_is_known_from_its_session_and_profile_from_the_start():
    stock = FileRef(path="stock.csv", sha256="a" * 64, size=1)

    rows = summarize(
        task("a", assets=(stock,)),
        task("b", persistent(("file", "stock.csv")), persistent(("profile", ""), text="Short")),
        task("c", persistent(("file", "unknown.csv"))),
    )

    assert [origin for _, origin, _ in rows] == [
        IntentOrigin(1, "file", "stock.csv"),
        IntentOrigin(0, "profile"),
        IntentOrigin(3, "file", "unknown.csv"),
    ]


def test_intent_without_source_originates_in_a_dependency():
    assert summarize(task("a"), task("b", persistent(), needs=("a",))) == [(2, IntentOrigin(1, "dependency"), ())]


def test_intent_without_origin_has_a_problem():
    episode = EpisodeSpec(
        episode_id="e",
        persona=PersonaSpec(user_id="p"),
        tasks=(
            task("a", persistent(("session", "b"))),
            task("b", persistent()),
            task("c", persistent(("session", "gone"))),
            task("d", persistent(("memory", ""))),
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


def test_session_local_intents_are_excluded():
    assert summarize(task("a", HiddenIntent(uid="x", content="x"))) == []
    assert summarize() == []


def test_tools_are_referenced_in_four_ways():
    task_with_tools = task(
        "a",
        persistent(("tool", "gmail__c.result.id")),
        tools=("gmail__a",),
        tool_evidence=(ToolEvidence(tool="mcp_appworld_gmail__b"),),
        checklist=(
            ChecklistItem(uid="i", criterion="x", grader="rule", rule=ExactCheck(kind="tool_called", tool="gmail__d")),
        ),
    )

    assert task_with_tools.tools_named == {"gmail__a", "gmail__b", "gmail__c", "gmail__d"}
