"""Stored findings, so that lists can count them without checking again."""

from __future__ import annotations

from collections.abc import Iterable

from studio.drafts.loading import load_episodes
from studio.drafts.syncing import sync
from studio.models import Finding, Persona, Task
from studio.spec import findings
from studio.spec.checks import find_problems

FIELDS = ["rule", "severity", "field", "item", "words", "message", "mend", "other"]


def check_personas(personas: Iterable[Persona]) -> list[findings.Finding]:
    """What the checks say now of every task of these personas, read from the drafts. Personas come with their
    ``benchmark``, whose plan the checks hold an episode to."""
    personas = list(personas)
    episodes = load_episodes(personas)
    return [
        finding for persona in personas for finding in find_problems(episodes[persona.pk], plan=persona.benchmark.plan)
    ]


def refresh_findings(personas: Iterable[Persona]) -> None:
    """Check these personas and store what was found in place of what stood there."""
    personas = list(Persona.objects.filter(pk__in=[p.pk for p in personas]).select_related("benchmark"))
    tasks = {
        (persona, task_id): pk
        for pk, persona, task_id in Task.objects.filter(episode__persona__in=personas).values_list(
            "pk", "episode__persona__user_id", "task_id"
        )
    }
    wanted = {}
    for finding in check_personas(personas):
        row = Finding(
            task_id=tasks[(finding.persona, finding.task)],
            fingerprint=finding.fingerprint,
            **{name: getattr(finding, name) for name in FIELDS},
        )
        wanted[_key(row)] = row
    sync(
        Finding.objects.filter(task__in=list(tasks.values())),
        list(wanted.values()),
        key=_key,
        fields=FIELDS,
    )


def _key(row: Finding) -> tuple[int, str, str, int | None]:
    return (row.task_id, row.rule, row.fingerprint, row.item)
