"""Each rule on the smallest episode that breaks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.domain.base import FileRef
from studio.domain.checks import RULES, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import read_personas
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExactCheck,
    HiddenIntent,
    Recovery,
    TaskSpec,
    ToolEvidence,
    Trigger,
)


def intent(content: str = "Metric units", **more: Any) -> HiddenIntent:
    return HiddenIntent(uid=content or "empty", content=content, **more)


def item(criterion: str = "In metres", **more: Any) -> ChecklistItem:
    return ChecklistItem(uid=criterion or "empty", criterion=criterion, **more)


def task(task_id: str, **more: Any) -> TaskSpec:
    sound = {"title": f"Title {task_id}", "initial_request": "Please plan the week.", "intents": (intent(),)}
    return TaskSpec(task_id=task_id, **(sound | more))


def scored(task_id: str, **more: Any) -> TaskSpec:
    return task(task_id, **({"checklist": (item(),)} | more))


def file(path: str, content: str = "a") -> FileRef:
    return FileRef(path=path, sha256=content * 64, size=1)


def after(*task_ids: str) -> tuple[Dependency, ...]:
    return tuple(Dependency(task_id=task_id) for task_id in task_ids)


def check(*tasks: TaskSpec, unplaced: tuple[TaskSpec, ...] = (), **persona: Any) -> list[Finding]:
    episode = EpisodeSpec(
        episode_id="ep", persona=PersonaSpec(user_id="Pilot", **persona), tasks=tasks, unplaced=unplaced
    )
    return find_problems(episode)


SOUND = (task("t1"), scored("t2", depends_on=after("t1")))

BROKEN: list[tuple[str, list[Finding], tuple[str, str, int | None]]] = [
    ("no-intents", check(scored("t", intents=())), ("t", "intents", None)),
    ("empty-intent", check(scored("t", intents=(intent(), intent(" ")))), ("t", "intents", 2)),
    ("empty-criterion", check(scored("t", checklist=(item(), item("")))), ("t", "checklist", 2)),
    ("weight-not-positive", check(scored("t", checklist=(item(weight=-1),))), ("t", "checklist", 1)),
    ("empty-request", check(scored("t", initial_request=" ")), ("t", "initial_request", None)),
    ("dependency-itself", check(scored("t", depends_on=after("t"))), ("t", "depends_on", 1)),
    ("dependency-twice", check(task("a"), scored("t", depends_on=after("a", "a"))), ("t", "depends_on", 2)),
    ("dependency-unknown", check(scored("t", depends_on=after("x"))), ("t", "depends_on", 1)),
    ("dependency-order", check(scored("t", depends_on=after("a")), task("a")), ("t", "depends_on", 1)),
    ("dependency-scored", check(scored("a"), scored("t", depends_on=after("a"))), ("t", "depends_on", 1)),
    ("dependent-unscored", check(task("a"), task("t", depends_on=after("a"))), ("t", "checklist", None)),
    ("text-too-long", check(scored("t", intents=(intent(), intent("a " * 30_000)))), ("t", "intents", 2)),
    ("setup-unused", check(task("t")), ("t", "checklist", None)),
    (
        "scope-unmarked",
        check(
            task("a", intents=(intent("Sums are always shown below the figures"), intent("Today only the short form"))),
            scored("t", depends_on=after("a"), intents=(intent("The sums are shown below the figures"),)),
        ),
        ("a", "intents", 1),
    ),
    ("grader-missing", check(scored("t", grader_script="data/Pilot/scripts/x.py")), ("t", "grader_script", None)),
    ("grader-unreferenced", check(scored("t"), scripts=(file("scripts/t.py"),)), ("t", "grader_script", None)),
    ("files-read-absolute", check(scored("t", files_read=("/tmp/help.md",))), ("t", "files_read", 1)),
    ("files-read-unknown", check(scored("t", files_read=("plan.md",))), ("t", "files_read", 1)),
    ("tool-unbound", check(scored("t", tools=("a__b",))), ("t", "tools", 1)),
    ("skill-unknown", check(scored("t", skills=("triage",))), ("t", "skills", 1)),
    (
        "evidence-tool-unbound",
        check(scored("t", tool_evidence=(ToolEvidence(tool="write_file", call=("x",)), ToolEvidence(tool="a__b")))),
        ("t", "tool_evidence", 2),
    ),
    (
        "rule-tool-unbound",
        check(scored("t", checklist=(item(grader="rule", rule=ExactCheck(kind="tool_called", tool="a__b")),))),
        ("t", "checklist", 1),
    ),
    ("rule-incomplete", check(scored("t", checklist=(item(grader="rule"),))), ("t", "checklist", 1)),
    (
        "rule-incomplete",
        check(scored("t", checklist=(item(grader="rule", rule=ExactCheck(kind="file_contains", path="a")),))),
        ("t", "checklist", 1),
    ),
    ("empty-title", check(scored("t", title=" ")), ("t", "title", None)),
    ("duplicate-title", check(scored("a", title="Plan"), scored("t", title="plan ")), ("t", "title", None)),
    ("id-spaces", check(scored("t", source={"task_id": "t "})), ("t", "task_id", None)),
    (
        "too-many-groups",
        check(*(t for n in range(7) for t in (task(f"a{n}"), scored(f"t{n}", depends_on=after(f"a{n}"))))),
        ("a6", "depends_on", None),
    ),
    (
        "group-size",
        check(*(task(name) for name in "abc"), scored("t", depends_on=after("a", "b", "c"))),
        ("a", "depends_on", None),
    ),
    ("persistent-alone", check(scored("t", intents=(intent(scope="persistent"),))), ("t", "intents", 1)),
    (
        "recovery-unknown",
        check(scored("t", intents=(intent(recoverable_from=(Recovery(kind="session", ref="x"),)),))),
        ("t", "intents", 1),
    ),
    ("initial-status-provided", check(scored("t", intents=(intent(initial_status="provided"),))), ("t", "intents", 1)),
    ("trigger-payload", check(scored("t", trigger=Trigger(kind="feed"))), ("t", "trigger", None)),
    (
        "asset-overwrites",
        check(scored("a", assets=(file("x.csv"),)), scored("t", assets=(file("x.csv", "b"),))),
        ("t", "assets", 1),
    ),
    ("asset-reserved", check(scored("t", assets=(file("task.yaml"),))), ("t", "assets", 1)),
    ("unplaced", check(*SOUND, unplaced=(scored("t"),)), ("t", "task_id", None)),
    ("duplicate-intent", check(scored("t", intents=(intent("a b"), intent("A  b")))), ("t", "intents", 2)),
    ("duplicate-criterion", check(scored("t", checklist=(item("a b"), item("A  b")))), ("t", "checklist", 2)),
    (
        "secret-in-request",
        check(scored("t", initial_request="My mail password is hunter2.")),
        ("t", "initial_request", None),
    ),
    ("placeholder", check(scored("t", description="TODO describe")), ("t", "description", None)),
    ("broken-text", check(scored("t", intents=(intent("caf\ufffd"),))), ("t", "intents", 1)),
]


def test_sound_episode_has_no_findings() -> None:
    assert check(*SOUND) == []


@pytest.mark.parametrize(("name", "findings", "location"), BROKEN, ids=[name for name, _, _ in BROKEN])
def test_rule_reports_the_flaw_with_its_location(
    name: str, findings: list[Finding], location: tuple[str, str, int | None]
) -> None:
    [finding] = [finding for finding in findings if finding.rule == name]

    assert (finding.task, finding.field, finding.item) == location
    assert finding.severity == RULES[name].severity
    assert finding.persona == "Pilot"
    assert finding.message.endswith(".") and finding.mend.endswith(".")


def test_unfilled_placeholder_is_an_error_in_every_field() -> None:
    payload = {"event": "x", "rows": [{"deep": "<insert the order>"}]}
    unfilled = scored(
        "t",
        title="An XXX large order",
        initial_request="Order <3 boxes, a < b and <b>bold</b>.",
        trigger=Trigger(kind="webhook", payload=payload),
        depends_on=(Dependency(task_id="a", carries_over="<insert what>"),),
        checklist=(item("Names <insert the sum\nand why>."),),
    )

    findings = [finding for finding in check(scored("a"), unfilled) if finding.rule == "placeholder"]

    assert {(finding.field, finding.item, finding.severity) for finding in findings} == {
        ("title", None, "warning"),
        ("trigger", None, "error"),
        ("depends_on", 1, "error"),
        ("checklist", 1, "error"),
    }


def test_every_rule_has_a_description() -> None:
    assert {name for name, _, _ in BROKEN} <= RULES.keys()
    assert all(rule.about for rule in RULES.values())


def test_single_task_is_checked_within_its_episode() -> None:
    episode = EpisodeSpec(
        episode_id="ep", persona=PersonaSpec(user_id="Pilot"), tasks=(scored("a", title=""), scored("b", title=""))
    )

    assert {finding.task for finding in find_problems(episode, "b")} == {"b"}


def test_errors_come_first() -> None:
    assert [f.severity for f in check(scored("t", title="", intents=()))] == ["error", "warning"]


def test_signal_may_be_json_in_the_request() -> None:
    assert check(scored("t", trigger=Trigger(kind="webhook"), initial_request='{"event": "x"}')) == []


def test_fingerprint_survives_reordering_of_items() -> None:
    [before] = check(scored("t", checklist=(item(weight=-1), item("b"))))
    [after_move] = check(scored("t", checklist=(item("b"), item(weight=-1))))

    assert (before.item, after_move.item) == (1, 2)
    assert before.fingerprint == after_move.fingerprint


def test_sample_passes_every_rule() -> None:
    root = Path(__file__).parents[4] / "fixtures" / "sample"
    files = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "data").rglob("*") if path.is_file()
    }

    reading = read_personas(files)

    assert (reading.errors, reading.warnings) == ([], [])
    findings = [finding for episode in reading.episodes for finding in find_problems(episode)]
    assert [finding for finding in findings if finding.severity != "hint"] == []
