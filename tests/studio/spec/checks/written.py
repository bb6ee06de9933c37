"""For each rule that reads what people wrote: the smallest task that breaks it, and one much like it that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio.spec.base import FileRef
from studio.spec.episode import EpisodeSpec
from studio.spec.persona import PersonaSpec
from studio.spec.task import ChecklistItem, Dependency, HiddenIntent, TaskSpec


@dataclass(frozen=True)
class Case:
    """``flawed`` breaks ``rule`` at ``place`` in task ``t``; ``sound`` shares its words and does not."""

    rule: str
    flawed: dict[str, Any]
    sound: dict[str, Any]
    place: tuple[str, int | None]
    words: str | None = None
    """What the finding is about, where it is worth saying."""
    before: tuple[dict[str, Any], ...] = ()
    """Earlier tasks ``a``, ``b``, …"""
    other: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    """Contents of the files, by path."""


def build(case: Case, own: dict[str, Any]) -> tuple[EpisodeSpec, dict[str, str]]:
    """The episode, and the contents of its files by sha256."""
    shas = {path: f"{number:064x}" for number, path in enumerate(case.texts, 1)}
    tasks = [_task(name, parts, shas) for name, parts in zip("abcdefgh", case.before, strict=False)]
    tasks.append(_task("t", own, shas))
    episode = EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="Pilot"), tasks=tuple(tasks))
    return episode, {shas[path]: text for path, text in case.texts.items()}


def _task(task_id: str, parts: dict[str, Any], shas: dict[str, str]) -> TaskSpec:
    parts = {"title": f"Title {task_id}", "request": "Please help.", "intents": ("Metric units",)} | parts
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
        **{name: parts[name] for name in ("title", "files_read", "expected_artifacts") if name in parts},
    )


WRITTEN: tuple[Case, ...] = (
    Case(
        "intent-in-request",
        {
            "request": "Invite the choir. Keep it under 120 words, please.",
            "intents": ("The invitation is under 120 words.",),
        },
        {
            "request": "Invite the choir. Keep it under 120 words, please.",
            "intents": ("Members over seventy get it by post.",),
        },
        ("intents", 1),
        "The invitation is under 120 words.",
    ),
    Case(
        "intent-in-request",
        {
            "request": "Tell the volunteers about Saturday, and send it today rather than tomorrow.",
            "intents": ("A", "Send it today; say in it that the gate at the back is closed."),
        },
        {
            "request": "Tell the volunteers about Saturday, and send it today rather than tomorrow.",
            "intents": ("A", "The volunteers are told that the gate at the back is closed."),
        },
        ("intents", 2),
    ),
    Case(
        "criterion-not-atomic",
        {"criteria": ("The letter names the price, and it says when the offer ends.",)},
        {"criteria": ("The letter names the price that was agreed with Mr Ode and Sons.",)},
        ("checklist", 1),
        "and it says when the offer ends.",
    ),
    Case(
        "criterion-should-be-rule",
        {"criteria": ("The subject is exactly “Boiler repair”.",)},
        {"criteria": ("The letter explains why the “Boiler repair” cannot wait.",)},
        ("checklist", 1),
        "Boiler repair",
    ),
)
