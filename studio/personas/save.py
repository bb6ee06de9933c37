"""Saving personas and the order of their episodes."""

from __future__ import annotations

from studio.domain.persona import PersonaSpec
from studio.drafts.load import load_episodes
from studio.drafts.save_personas import save_personas
from studio.drafts.validate import StaleDraftError
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
