"""Small benchmarks to run pilots on."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence

from evaluation.models import ModelEndpoint, Pilot
from evaluation.models.releases import SignedArchive
from evaluation.pilots.start import PilotOptions, start_pilot
from evaluation.releases.candidate import load_candidate
from evaluation.releases.packing import open_archive
from evaluation.releases.readiness import Blocker, find_blockers
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, TaskSpec
from studio.drafts.load import load_episode
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.findings.refresh import refresh_findings
from studio.models import Benchmark, Persona, Task
from studio.models.transactions import atomic_with_retry
from studio.personas.create import create_persona
from tests.factories import stored

_numbers = itertools.count(1)


def file(path: str, text: str) -> FileRef:
    """A stored file."""
    return stored(path, text.encode())


def intents(*contents: str, provided: Sequence[int] = ()) -> tuple[HiddenIntent, ...]:
    return tuple(
        HiddenIntent(
            uid=str(uuid.uuid4()), content=text, initial_status="provided" if index in provided else "not_provided"
        )
        for index, text in enumerate(contents, start=1)
    )


def rubric(criterion: str, weight: float = 1.0) -> ChecklistItem:
    return ChecklistItem(uid=str(uuid.uuid4()), criterion=criterion, weight=weight)


def rule(criterion: str, rule: ExactCheck) -> ChecklistItem:
    return ChecklistItem(uid=str(uuid.uuid4()), criterion=criterion, grader="rule", rule=rule)


def task(name: str, *needs: str, **fields: object) -> TaskSpec:
    values: dict[str, object] = {
        "initial_request": f"Please write the note {name}.",
        "intents": intents(f"The note {name} must mention the harbour fee.", f"The note {name} ends with a signature."),
        "depends_on": tuple(Dependency(task_id=need) for need in needs),
    }
    return TaskSpec(task_id=name, **(values | fields))  # type: ignore[arg-type]  # fields are of mixed types


def benchmark_of(*tasks: TaskSpec, persona: PersonaSpec | None = None, into: Benchmark | None = None) -> Benchmark:
    number = next(_numbers)
    into = into or Benchmark.objects.create(
        slug=f"bench-{number}-{uuid.uuid4().hex[:6]}", name="Bench", licence="CC-BY-4.0", contributors=["Lovelace, Ada"]
    )
    row = create_persona(into, persona or PersonaSpec(user_id=f"clerk_{number}"), by=None)
    if tasks:
        _create_tasks(row, tasks)
    return into


@atomic_with_retry
def _create_tasks(persona: Persona, specs: Sequence[TaskSpec]) -> None:
    """At once, as imports do: one by one takes several times as long."""
    old = load_episode(persona)
    rows = [(Task(persona=persona, task_id=spec.task_id, position=n), spec) for n, spec in enumerate(specs, 1)]
    save_tasks(rows, by=None, verb="created")
    save_personas([(persona, old, old.model_copy(update={"tasks": tuple(specs)}))], by=None, verb="edited")
    refresh_findings([persona])


def endpoint(name: str, **fields: object) -> ModelEndpoint:
    values: dict[str, object] = {"base_url": "scripted:", "model": name, "scripted": True}
    return ModelEndpoint.objects.get_or_create(name=name, defaults=values | fields)[0]


def pilot_of(benchmark: Benchmark, agent: str = "scripted-helpful", **options: object) -> Pilot:
    parts = {"agent": agent, "user_model": "scripted-user", "judge": "scripted-judge"}
    endpoints = {part: options.pop(part, None) or endpoint(name) for part, name in parts.items()}
    named = {part: getattr(row, "name", row) for part, row in endpoints.items()}
    base = options.pop("base", None)
    given = {"protocol": "release", "base": getattr(base, "number", base)} | named | options
    return start_pilot(benchmark, PilotOptions.read(given), by=None)


def archive_of(release: SignedArchive) -> bytes:
    with open_archive(release) as file:
        return file.read()


def release_blockers(benchmark: Benchmark) -> list[Blocker]:
    return find_blockers(load_candidate(benchmark))
