"""Cutting a release: freeze, pack, read back, and only then store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC

from django.db.models import F
from django.utils import timezone
from pydantic import Field

from evaluation.audits.blindness import require_judges_open
from evaluation.models import Release, ReleasePersona, ReleaseTask
from evaluation.releases.candidate import ReleaseCandidate, load_candidate
from evaluation.releases.comparison import compare
from evaluation.releases.errata import errata_said
from evaluation.releases.facts import Said, manifest_of
from evaluation.releases.packing import hash_of, store_files, store_sums
from evaluation.releases.pins import Pin, episodes_of, pins_of
from evaluation.releases.readiness import Blocker, find_blockers
from evaluation.releases.signing import signer_of, why_unsigned
from evaluation.results.selection import frozen_views
from studio.domain.base import JsonDict
from studio.domain.options import Options, OptionsError
from studio.findings.refresh import refresh_findings, run_graders
from studio.imports.export import episode_files
from studio.imports.importer import find_reading_errors
from studio.models import Benchmark, Event, Persona, PersonaRevision, Task, TaskState, User
from studio.models.tasks import APPROVED
from studio.models.transactions import atomic_with_retry

EVIDENCE = "The evidence of a release"
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")


class ReleaseOptions(Options):
    version: str = Field(max_length=40)
    """Such as 1.0. It never changes afterwards."""
    accept: str = Field(default="", title="Reason for the exceptions")
    """Release despite the blockers that can be accepted. Recorded in the release under your name."""
    changes: str = Field(default="", max_length=20_000, title="What changed")
    """For readers of the changelog. Which tasks changed, and what that means for scores, is added."""


class ReleaseBlockedError(Exception):
    """There are blockers that nobody accepted."""

    def __init__(self, blockers: Sequence[Blocker]) -> None:
        super().__init__(f"{len(blockers)} blockers prevent a release.")
        self.blockers = tuple(blockers)


@atomic_with_retry
def cut_release(benchmark: Benchmark, options: ReleaseOptions, *, by: User | None, signature: str = "") -> Release:
    """Freeze the benchmark as a version. Raises OptionsError, ReleaseBlockedError, and BlindPilotError for a person to
    whom its evidence is closed; then nothing has changed.

    ``signature`` is the recorded name of who accepts exceptions if it is not ``by``'s.
    """
    version, accept = options.version, options.accept
    require_judges_open(by, benchmark, EVIDENCE)
    if not VERSION.fullmatch(version):
        raise OptionsError(
            "version",
            f"“{version}” is not a valid release version. Use up to 40 letters, "
            f"digits, dots, pluses and dashes, such as 1.0.",
        )
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if benchmark.releases.filter(version=version).exists():
        raise OptionsError("version", f"Release {version} already exists and cannot be changed. Choose the next one.")
    list(Task.objects.select_for_update(no_key=True).filter(persona__benchmark=benchmark).order_by("pk"))
    personas = list(Persona.objects.filter(benchmark=benchmark).select_related("benchmark"))
    run_graders(personas, wait=True)
    refresh_findings(personas)
    candidate = load_candidate(benchmark)
    pins = _pins(personas, candidate)
    blockers = find_blockers(candidate, _reading_errors(pins))
    if blockers and not (accept and all(blocker.acceptable for blocker in blockers)):
        raise ReleaseBlockedError(blockers)

    name = signature or (str(by) if by else "")
    if blockers and not name:
        raise OptionsError("accept", "Say who accepts the exceptions; their name is recorded in the release.")
    exceptions = [{"problem": blocker.to_json(), "reason": accept, "by": name} for blocker in blockers]
    earlier = list(benchmark.releases.order_by("-pk"))
    changes = {"notes": options.changes, "tasks": compare(pins_of(earlier[0]), pins)} if earlier else None
    today = timezone.now().astimezone(UTC).date().isoformat()
    signer = None if why_unsigned(benchmark) else signer_of(benchmark, by=by)
    manifest = manifest_of(candidate, pins, Said(version, today, exceptions, changes))
    if results := frozen_views(benchmark):
        manifest["results"] = results
    if errata := errata_said(benchmark):
        manifest["errata"] = errata
    if signer:
        manifest["signed_by"] = signer.said()
    release = Release(benchmark=benchmark, version=version, manifest=manifest, exceptions=exceptions, created_by=by)
    release.sums = store_sums(store_files(pins, manifest, [row.manifest for row in earlier]))
    if signer:
        signer.sign_sums(release)
    release.sha256, release.size = hash_of(release)
    if signer:
        signer.sign_archive(release)
    release.save()
    ReleasePersona.objects.bulk_create([ReleasePersona(release=release, revision_id=pin.persona) for pin in pins])
    ReleaseTask.objects.bulk_create(
        [ReleaseTask(release=release, revision_id=revision) for pin in pins for revision in pin.tasks]
    )
    approved = [row.pk for row in candidate.tasks if row.state in APPROVED]
    Task.objects.filter(pk__in=approved).update(state=TaskState.RELEASED)
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="released",
        summary=f"Released version {version} with {len(candidate.tasks)} tasks"
        + (f", accepting {len(exceptions)} exceptions: {accept}" if exceptions else ""),
        data={"version": version, "sha256": release.sha256},
    )
    return release


def _pins(personas: Sequence[Persona], candidate: ReleaseCandidate) -> list[Pin]:
    newest = dict(
        PersonaRevision.objects.filter(persona__in=personas, number=F("persona__version")).values_list("persona", "pk")
    )
    tasks: dict[int, list[int]] = {persona.pk: [] for persona in personas}
    for row in candidate.tasks:
        tasks[row.persona.pk].append(candidate.revisions[row.pk].pk)
    return [Pin(newest[pk], revisions) for pk, revisions in tasks.items()]


def _reading_errors(pins: Sequence[Pin]) -> list[JsonDict]:
    """Why the pack could not be read back."""
    return [error for episode in episodes_of(pins) for error in find_reading_errors(episode_files([episode]))]
