"""What of pilots is sealed to a person: sessions that ran in audited pilots, wherever they stand. Everything of a pilot
that holds one names the agent and the judge, or lets the reader infer what the judge decided; so do releases.

Every page, export, search and API view that shows a pilot, a session or evidence made of them asks here, and what it
shows of audited content is recorded (``annotations.seals`` has the rule).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from annotations.models import AuditCampaign
from annotations.seals import names_of, record_openings, sealed_to, sealing
from annotations.sources import PILOT
from evaluation import visibility
from evaluation.audits.campaigns import pilot_keys
from evaluation.models import Pilot, Release, Session
from studio.access import AnyUser, require
from studio.models import Benchmark, User


class BlindPilotError(PermissionDenied):
    """The pilot, its sessions or a release with it as evidence are closed to an auditor for now."""

    def __init__(self, what: str = "This pilot") -> None:
        super().__init__(
            f"{what} is closed to you while you judge its decisions blind. It opens once you have finished judging and "
            f"opened the audit’s results."
        )


def closed_pilots(user: AnyUser | None) -> set[int]:
    """Keys of the pilots that hold a session sealed to the person: it ran in them, or they took it over."""
    sealed = pilot_keys(sealed_to(user))
    return sealed | _takers(sealed) if sealed else sealed


def open_pilots(user: AnyUser) -> QuerySet[Pilot]:
    """The visible pilots without the closed ones."""
    return visibility.visible_pilots(user).exclude(pk__in=closed_pilots(user))


def open_sessions(user: AnyUser) -> QuerySet[Session]:
    return visibility.visible_sessions(user).exclude(run__pilot__in=closed_pilots(user))


def find_pilot(user: AnyUser, pk: int | str, action: str = "", *, pilots: QuerySet[Pilot] | None = None) -> Pilot:
    """The pilot, or Http404, or BlindPilotError if it is closed to the person, or PermissionDenied for members who may
    not do it."""
    pilot = get_object_or_404(visibility.visible_pilots(user) if pilots is None else pilots, pk=pk)
    if pilot.pk in closed_pilots(user):
        raise BlindPilotError
    record_look(user, [pilot])
    if action:
        require(user, pilot.benchmark, action)
    return pilot


def find_session(user: AnyUser, pk: int | str) -> Session:
    """The session, or Http404, or BlindPilotError if its pilot is closed to the person."""
    session = get_object_or_404(visibility.visible_sessions(user), pk=pk)
    if session.pilot.pk in closed_pilots(user):
        raise BlindPilotError("The pilot of this session")
    record_look(user, [session.pilot])
    return session


def record_look(user: AnyUser, pilots: Collection[Pilot]) -> None:
    """The person is shown something of pilots that are open to them: where sessions of them are audited, an opening."""
    if not isinstance(user, User) or not pilots:
        return
    audits = _unseen_audits(user, {pilot.benchmark_id for pilot in pilots})
    if not audits:
        return
    shown = {pilot.pk for pilot in pilots}
    shown |= set(_taken().filter(pilot__in=shown).values_list("session__run__pilot", flat=True))
    for pilot in shown:
        name = f"{PILOT}{pilot}"
        record_openings(user, [row for row in audits if name in names_of(row)], name)


def require_judges_open(user: AnyUser | None, benchmark: Benchmark, what: str = "How the judges do") -> None:
    """Raises BlindPilotError for a person to whom something of the benchmark is sealed: figures over its judges and
    audits would tell what they decided. Else they are shown them, which is recorded."""
    if is_evidence_closed(user, benchmark):
        raise BlindPilotError(what)


def is_evidence_closed(user: AnyUser | None, benchmark: Benchmark) -> bool:
    """Whether figures over all judges and audits of the benchmark are closed to the person. If not, they are shown
    them, which is recorded."""
    if not isinstance(user, User):
        return False
    closed = sealing(user).filter(benchmark=benchmark).exists()
    if not closed:
        record_openings(user, _unseen_audits(user, {benchmark.pk}), "evidence")
    return closed


def open_releases(user: AnyUser) -> QuerySet[Release]:
    """The visible releases without those that are closed to the person."""
    return visibility.visible_releases(user).exclude(pk__in=closed_releases(user))


def find_release(user: AnyUser, pk: int | str, action: str = "") -> Release:
    """The release, or Http404, or BlindPilotError if its evidence is closed to the person, or PermissionDenied for
    members who may not do it."""
    release = get_object_or_404(visibility.visible_releases(user), pk=pk)
    if release.pk in closed_releases(user):
        raise BlindPilotError("This release has evidence of a pilot, so it")
    record_look_at_release(user, release)
    if action:
        require(user, release.benchmark, action)
    return release


def record_look_at_release(user: AnyUser, row: Release) -> None:
    """The person is shown a release that is open to them: an opening, if it has figures of audits."""
    if isinstance(user, User) and _tells_of_audits(row.manifest.get("evidence", {})):
        record_openings(user, _unseen_audits(user, {row.benchmark_id}), f"release:{row.pk}")


def closed_releases(user: AnyUser) -> set[int]:
    """Keys of those that name a closed pilot, as evidence or in results, or have figures of audits while something of
    their benchmark is closed."""
    closed: dict[int, set[int]] = {row.benchmark_id: set() for row in sealing(user)} if isinstance(user, User) else {}
    if not closed:
        return set()
    for benchmark, number in Pilot.objects.filter(pk__in=closed_pilots(user)).values_list("benchmark", "number"):
        closed[benchmark].add(number)
    rows = Release.objects.filter(benchmark__in=closed).values_list(
        "pk", "benchmark", "manifest__evidence", "manifest__results"
    )
    return {
        pk
        for pk, benchmark, evidence, results in rows
        if _tells_of_audits(evidence or {}) or closed[benchmark] & _pilots_in(evidence or {}, results or ())
    }


def _tells_of_audits(evidence: Mapping[str, Any]) -> bool:
    audits = evidence.get("audits", {})
    return bool(audits.get("decisions") or audits.get("in_truth", {}).get("decisions"))


def _pilots_in(evidence: Mapping[str, Any], results: Iterable[Mapping[str, Any]]) -> set[int]:
    """Numbers."""
    named = [*evidence.get("pilots", ()), *evidence.get("left_out", ())]
    named += [pilot for view in results for pilot in view.get("pilots", ())]
    return {pilot["number"] for pilot in named}


def _takers(pilots: Collection[int]) -> set[int]:
    """Keys of those that took sessions of these over."""
    return set(_taken().filter(session__run__pilot__in=pilots).values_list("pilot", flat=True))


def _taken() -> QuerySet[Any]:
    return Pilot.taken_sessions.through.objects.all()


def _unseen_audits(user: User, benchmarks: Collection[int]) -> list[AuditCampaign]:
    """Of which the person has seen nothing yet."""
    return list(AuditCampaign.objects.filter(benchmark__in=benchmarks).exclude(openings__person=user))
