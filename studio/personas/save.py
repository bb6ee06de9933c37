"""Saving personas and the order of their episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from studio.domain.arrangement import ArrangementError, apply_arrangement, arrangement_of, validate_arrangement
from studio.domain.persona import PersonaSpec
from studio.drafts.load import load_episodes
from studio.drafts.save_personas import save_personas
from studio.drafts.validate import DraftError, StaleDraftError
from studio.findings.refresh import refresh_findings
from studio.models import Persona, PersonaRevision, User
from studio.models.transactions import atomic_with_retry


@atomic_with_retry
def save_persona(
    persona_id: int,
    spec: PersonaSpec,
    *,
    by: User | None,
    note: str = "",
    base_version: int | None = None,
    verb: str = "edited",
) -> PersonaRevision:
    """File contents must be stored (``Blob``) before. Raises StaleDraftError, DraftError."""
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona_id)
    if base_version is not None and base_version != row.version:
        raise StaleDraftError(row.version)
    old = load_episodes([row])[row.pk]
    new = old.model_copy(update={"persona": spec})
    if save_personas([(row, old, new)], by=by, note=note, verb=verb)[0]:
        refresh_findings([row])
    return row.revisions.get(number=row.version)


@atomic_with_retry
def save_order(persona_id: int, order: Sequence[str], *, by: User | None, note: str = "") -> PersonaRevision:
    """Make ``order`` the task ids of the episode; tasks left out stay as unplaced drafts. Raises DraftError if a task
    would precede one it depends on, or leave while another depends on it."""
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona_id)
    old = load_episodes([row])[row.pk]
    tasks = {task.task_id: task for task in (*old.tasks, *old.unplaced)}
    if len(set(order)) < len(order) or not set(order) <= tasks.keys():
        raise DraftError("order", "Name every task of the episode once.")
    wanted = replace(arrangement_of(old), order=tuple(order))
    try:
        validate_arrangement(wanted, tasks)
    except ArrangementError as error:
        raise DraftError("order", str(error)) from None
    new = apply_arrangement(old, wanted)
    if save_personas([(row, old, new)], by=by, note=note, verb="reordered")[0]:
        refresh_findings([row])
    return row.revisions.get(number=row.version)
