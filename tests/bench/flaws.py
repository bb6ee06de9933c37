"""Small tasks with one flaw each and similar sound ones: what the rule reports on them."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from studio.domain.base import FileRef
from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, ExpectedArtifact, HiddenIntent, TaskSpec, Trigger
from tests.bench.own import LABELS


class FlawCase(NamedTuple):
    rule: str
    number: int
    flawed: bool
    findings: list[Finding]
    """Findings of this rule in the task."""


def own_flaws(name: str) -> list[FlawCase]:
    """All cases of the set ``name``."""
    rows = json.loads((LABELS / "own_flaws.json").read_text("utf-8"))
    return [
        FlawCase(row["rule"], number, row["flawed"], _findings(row))
        for number, row in enumerate(rows)
        if row["set"] == name
    ]


def _findings(row: dict[str, Any]) -> list[Finding]:
    texts = row.get("texts", {})
    before = [_task(f"before{n}", parts, texts) for n, parts in enumerate(row.get("before", ()))]
    persona = PersonaSpec(user_id="own", **{key: tuple(value) for key, value in row.get("persona", {}).items()})
    tasks = (*before, _task("t", {"intents": ["Metric units"]} | row["task"], texts))
    episode = EpisodeSpec(episode_id="own", persona=persona, tasks=tasks)
    known = {_sha(path): text for path, text in texts.items()}
    return [each for each in find_problems(episode, "t", texts=known) if each.rule == row["rule"]]


def _task(task_id: str, parts: dict[str, Any], texts: dict[str, str]) -> TaskSpec:
    return TaskSpec(
        task_id=task_id,
        title=parts.get("title", f"Title {task_id}"),
        initial_request=parts["request"],
        trigger=Trigger(**parts.get("trigger", {})),
        intents=tuple(HiddenIntent(uid=f"i{n}", content=text) for n, text in enumerate(parts.get("intents", ()))),
        checklist=tuple(ChecklistItem(uid=f"c{n}", criterion=text) for n, text in enumerate(parts.get("criteria", ()))),
        assets=tuple(FileRef(path=path, sha256=_sha(path), size=1) for path in parts.get("files", ())),
        files_read=tuple(parts.get("files_read", ())),
        expected_artifacts=tuple(ExpectedArtifact(path=path) for path in parts.get("expected_artifacts", ())),
        depends_on=tuple(Dependency(task_id=other) for other in parts.get("depends_on", ())),
    )


def _sha(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()
