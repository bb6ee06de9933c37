"""Snapshots as rows: the workspace and the simulated apps as sessions of a run find and leave them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from django.db.models import QuerySet

from evaluation.models import Run, Session, Snapshot, Turn
from evaluation.workspaces.app_states import initial_apps
from evaluation.workspaces.manifests import Manifest
from studio.domain.persona import PersonaSpec


def take_snapshot(
    run: Run, manifest: Manifest, last: Snapshot | None = None, apps: Mapping[str, str] | None = None
) -> Snapshot:
    """Equal content in the same run yields the same row. ``last``: the one before in the same session."""
    states = dict(apps or {})
    if last is not None and last.manifest == manifest and last.apps == states:
        return last
    found = {"manifest": manifest, "apps": states}
    row, _ = Snapshot.objects.get_or_create(found, run=run, sha256=_digest(manifest, states))
    return row


def take_snapshots(taken: Sequence[tuple[Run, Manifest]]) -> list[Snapshot]:
    """Likewise, of many without apps at once, in order."""
    places = [(run.pk, _digest(manifest, {})) for run, manifest in taken]
    known = dict(zip(places, taken, strict=True))
    rows = [Snapshot(run=run, manifest=manifest, sha256=sha256) for (_, sha256), (run, manifest) in known.items()]
    Snapshot.objects.bulk_create(rows, ignore_conflicts=True)
    found = Snapshot.objects.filter(run__in={run for run, _ in known}, sha256__in={sha256 for _, sha256 in known})
    there = {(row.run_id, row.sha256): row for row in found}
    return [there[place] for place in places]


def _digest(manifest: Manifest, apps: Mapping[str, str]) -> str:
    hashed = [manifest, apps] if apps else manifest
    return hashlib.sha256(json.dumps(hashed, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def snapshot_before(session: Session) -> Snapshot | None:
    """The state that a session found: after the last turn before it, or the start of its run. None: the episode's
    initial state."""
    last = turns_of_run(session.run_id).filter(session__position__lt=session.position).first()
    return left_by(last) if last else session.run.start


def snapshot_after(session: Session) -> Snapshot | None:
    """The state that the next session of its run finds."""
    last = turns_of_run(session.run_id).filter(session__position__lte=session.position).first()
    return left_by(last) if last else session.run.start


def apps_before(session: Session, persona: PersonaSpec) -> dict[str, str]:
    """The apps to resume from: those after the run's last turn, up to this session's, or at the run's start."""
    seeds = initial_apps(persona)
    if not seeds and not any("__" in name for name in persona.tools):
        return {}
    found = snapshot_after(session)
    return seeds | (found.apps if found else {})


def final_manifest(session: Session) -> Manifest:
    """As the episode left it."""
    last = turns_of_run(session.run_id).first()
    return left_by(last).manifest if last else {}


def turns_of_run(run_id: int) -> QuerySet[Turn]:
    """Last first."""
    return (
        Turn.objects.filter(session__run=run_id)
        .select_related("snapshot", "session__left")
        .order_by("-session__position", "-number")
    )


def left_by(last: Turn) -> Snapshot:
    """The state after a session whose last turn this is."""
    return last.session.left or last.snapshot
