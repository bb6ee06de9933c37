"""A case of a rule: the smallest task that breaks it, and a similar one that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio.domain.base import Content, FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExpectedArtifact,
    HiddenIntent,
    Recovery,
    RecoveryKind,
    Scope,
    TaskSpec,
)


@dataclass(frozen=True)
class Case:
    """``flawed`` breaks ``rule`` at ``location`` in task ``t``; ``sound`` is similar and does not."""

    rule: str
    flawed: dict[str, Any]
    sound: dict[str, Any]
    location: tuple[str, int | None]
    """Field and 1-based item."""
    passage: str | None = None
    """The passage the finding quotes; None: not tested."""
    before: tuple[dict[str, Any], ...] = ()
    """Earlier tasks ``a``, ``b``, …"""
    other: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    """Contents of the files, by path."""
    persona: dict[str, Any] = field(default_factory=dict)
    """Fields of the persona; ``skills`` are texts by name."""
    tools: dict[str, str] = field(default_factory=dict)
    """Descriptions by tool name."""
    has_fix: bool = True
    """False: although the rule has a one-click fix, a person has to decide here."""


def build(case: Case, own: dict[str, Any]) -> tuple[EpisodeSpec, dict[str, str]]:
    """The episode, and the contents of its files by sha256."""
    shas = {path: f"{number:064x}" for number, path in enumerate(case.texts, 1)}
    tasks = [build_task(name, parts, shas) for name, parts in zip("abcdefgh", case.before, strict=False)]
    tasks.append(build_task("t", own, shas))
    skills = {f"{number:064x}": pair for number, pair in enumerate(case.persona.get("skills", {}).items(), 1_000)}
    persona = PersonaSpec(
        user_id="Pilot",
        skills=tuple(
            Skill(name=name, files=(FileRef(path="SKILL.md", sha256=sha, size=1),)) for sha, (name, _) in skills.items()
        ),
        **{name: value for name, value in case.persona.items() if name != "skills"},
    )
    texts = {shas[path]: text for path, text in case.texts.items()} | {sha: text for sha, (_, text) in skills.items()}
    return EpisodeSpec(episode_id="ep", persona=persona, tasks=tuple(tasks)), texts


def build_task(task_id: str, parts: dict[str, Any], shas: dict[str, str]) -> TaskSpec:
    parts = {"title": f"Title {task_id}", "request": "Please plan the week.", "intents": ("Metric units",)} | parts
    return TaskSpec(
        task_id=task_id,
        initial_request=parts["request"],
        intents=tuple(
            intent if isinstance(intent, HiddenIntent) else HiddenIntent(uid=f"{task_id}-i{number}", content=intent)
            for number, intent in enumerate(parts["intents"])
        ),
        checklist=tuple(
            item if isinstance(item, ChecklistItem) else ChecklistItem(uid=f"{task_id}-c{number}", criterion=item)
            for number, item in enumerate(parts.get("criteria", ()))
        ),
        depends_on=tuple(Dependency(task_id=other) for other in parts.get("depends_on", ())),
        assets=tuple(FileRef(path=path, sha256=shas[path], size=1) for path in parts.get("files", ())),
        **{
            name: parts[name]
            for name in ("title", "files_read", "expected_artifacts", "metadata", "grader_script")
            if name in parts
        },
    )


def artifact(path: str, sha256: str) -> ExpectedArtifact:
    return ExpectedArtifact(path=path, reference=Content(sha256=sha256, size=1))


def recoverable_intent(kind: RecoveryKind, ref: str, content: str, scope: Scope = "session_local") -> HiddenIntent:
    return HiddenIntent(uid=content, content=content, scope=scope, recoverable_from=(Recovery(kind=kind, ref=ref),))


WORKSPACE = {"tools": ("read_file", "write_file")}
"""A persona with the tools of the workspace only."""
