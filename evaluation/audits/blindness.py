"""Pilots that are closed to a person who judges their decisions: everything of them names the agent and the judge, or
lets the reader infer what the judge decided.

Every page, export, search and API view that shows a pilot, a session or evidence made of them asks here.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from annotations.visibility import blind_sources
from evaluation import visibility
from evaluation.audits.campaigns import pilot_keys, source_of
from evaluation.models import Pilot, Release, Session
from studio.access import AnyUser
from studio.models import Benchmark, User


class BlindPilotError(PermissionDenied):
    """The pilot, its sessions or a release with it as evidence are closed to an auditor for now."""

    def __init__(self, what: str = "This pilot") -> None:
        super().__init__(
            f"{what} is closed to you while you judge its decisions blind. It opens once you have finished judging and "
            f"opened the audit’s results."
        )


def closed_pilots(user: AnyUser | None) -> set[int]:
    """Keys of the pilots some of whose decisions the person is asked to judge, until they open the audit's results."""
    if not isinstance(user, User):
        return set()
    return pilot_keys(blind_sources(user))


def is_closed(user: AnyUser, pilot: Pilot) -> bool:
    return isinstance(user, User) and source_of(pilot) in blind_sources(user)


def open_pilots(user: AnyUser) -> QuerySet[Pilot]:
    """The visible pilots without the closed ones."""
    return visibility.visible_pilots(user).exclude(pk__in=closed_pilots(user))


def open_sessions(user: AnyUser) -> QuerySet[Session]:
    return visibility.visible_sessions(user).exclude(run__pilot__in=closed_pilots(user))


def find_pilot(user: AnyUser, pk: int | str, pilots: QuerySet[Pilot] | None = None) -> Pilot:
    """The pilot, or Http404, or BlindPilotError if it is closed to the person."""
    pilot = get_object_or_404(visibility.visible_pilots(user) if pilots is None else pilots, pk=pk)
    if is_closed(user, pilot):
        raise BlindPilotError
    return pilot


def find_session(user: AnyUser, pk: int | str) -> Session:
    """The session, or Http404, or BlindPilotError if its pilot is closed to the person."""
    session = get_object_or_404(visibility.visible_sessions(user), pk=pk)
    if is_closed(user, session.pilot):
        raise BlindPilotError("The pilot of this session")
    return session


def require_judges_open(user: AnyUser, benchmark: Benchmark) -> None:
    """Raises BlindPilotError for a person who still judges something of the benchmark blind: how its judges do would
    tell what they decided.
    """
    if Pilot.objects.filter(pk__in=closed_pilots(user), benchmark=benchmark).exists():
        raise BlindPilotError("How the judges do")


def find_release(user: AnyUser, pk: int | str) -> Release:
    """The release, or Http404, or BlindPilotError if its evidence is of a pilot that is closed to the person."""
    release = get_object_or_404(visibility.visible_releases(user), pk=pk)
    numbers = {pilot.get("number") for pilot in _pilots_in(release)}
    closed = Pilot.objects.filter(pk__in=closed_pilots(user), benchmark=release.benchmark_id)
    if numbers & set(closed.values_list("number", flat=True)):
        raise BlindPilotError("This release names the agent and the judge of a pilot, so it")
    return release


def _pilots_in(release: Release) -> Iterable[dict[str, object]]:
    pilots: Iterable[dict[str, object]] = release.manifest.get("evidence", {}).get("pilots", ())
    return pilots
