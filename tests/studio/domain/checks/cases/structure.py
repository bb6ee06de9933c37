"""Cases of rules about structure: the findings of a small flawed episode, and where the flaw is."""

from __future__ import annotations

from studio.domain.base import FileRef
from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.task import ExactCheck, Recovery, TaskSpec, ToolEvidence, Trigger
from tests.studio.domain.checks.builders import after, check, file, intent, item, scored, task

CLOCK = FileRef(path="apps/clock.json", sha256="c" * 64, size=1)
SKILL = Skill(name="triage", files=(FileRef(path="_meta.json", sha256="d" * 64, size=1),))
TIMES = {"c" * 64: '{"now": "2026-04-13T09:00", "tasks": {"t": "2026-04-12T09:00"}}', "d" * 64: '{"publishedAt": 1e13}'}


def at_times(*tasks: TaskSpec) -> list[Finding]:
    persona = PersonaSpec(user_id="Pilot", files=(CLOCK,), skills=(SKILL,))
    return find_problems(EpisodeSpec(episode_id="ep", persona=persona, tasks=tasks), texts=TIMES)


SOUND = (task("t1"), scored("t2", depends_on=after("t1")))
"""Tasks of an episode without flaws."""

STRUCTURAL_CASES: list[tuple[str, list[Finding], tuple[str, str, int | None]]] = [
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
    (
        "tools-too-many",
        check(scored("t"), scored("u"), tools=tuple(f"a__b{number}" for number in range(129))),
        ("t", "tools", None),
    ),
    ("tool-unbound", check(scored("t", tools=("a__b",))), ("t", "tools", 1)),
    (
        "sign-in-missing",
        check(
            scored("t", initial_request="My Gmail is ada@example.com, password 'r4[in'."), tools=("gmail__send_email",)
        ),
        ("t", "initial_request", None),
    ),
    ("session-goes-back", at_times(scored("a"), scored("t")), ("t", "initial_request", None)),
    ("skill-from-later", at_times(scored("t")), ("t", "skills", None)),
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
        "rule-differs",
        check(
            scored(
                "t", checklist=(item("a.md exists.", grader="rule", rule=ExactCheck(kind="file_exists", path="b.md")),)
            )
        ),
        ("t", "checklist", 1),
    ),
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
"""Rule, findings, and the location of the flaw: task, field, 1-based item."""
