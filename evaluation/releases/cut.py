"""Cutting a release: freeze, pack, read back, and only then store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from itertools import chain

from django.utils import timezone
from pydantic import Field

from evaluation.audits.blindness import require_judges_open
from evaluation.models import HeldOutPack, Release, ReleasePersona, ReleaseTask
from evaluation.models.releases import SignedArchive
from evaluation.releases.candidate import load_candidate
from evaluation.releases.evidence import without_pilots
from evaluation.releases.exceptions import EVIDENCE, Accepted, Exceptions, exception_json
from evaluation.releases.held_out import Cutting
from evaluation.releases.packing import Progress, contents_of, hash_of, store_files, store_sums
from evaluation.releases.pins import Pin, held_out_manifests, newest_pins, parts_of
from evaluation.releases.readiness import TOLD, Blocker, find_blockers
from evaluation.releases.signing import Signer, signer_of, why_unsigned
from evaluation.releases.told import told_in_pack, told_now
from studio.domain.base import JsonDict
from studio.domain.options import Options, OptionsError
from studio.domain.pack import read_sums
from studio.domain.splits import HELD_BACK, PUBLISHED
from studio.drafts.contents import refresh_contents
from studio.findings.refresh import refresh_findings, run_graders
from studio.imports.export import episode_files
from studio.imports.importer import find_reading_errors
from studio.models import Benchmark, Event, Persona, Task, TaskState, User
from studio.models.tasks import APPROVED
from studio.models.transactions import atomic_with_retry

VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")


class ReleaseOptions(Options):
    version: str = Field(max_length=40)
    """Such as 1.0. It never changes afterwards."""
    accept: str = Field(default="", title="Reason for the exceptions")
    """Release despite the blockers that can be accepted and that nobody accepted before. Recorded in this release under
    your name."""
    told: int = Field(default=0, ge=0)
    """How many files that tell of held-out tasks may be among the exceptions: some are found only while the release is
    made, so nobody accepts them before they were shown."""
    without_solutions: bool = Field(default=False, title="Leave reference solutions out of the packs")
    """Packs with them let everyone see, without a model, that each item can be earned. Agents are never given them."""
    changes: str = Field(default="", max_length=20_000, title="What changed")
    """For readers of the changelog. Which tasks changed, and what that means for scores, is added."""

    leave_out: str = Field(default="", max_length=4_000, title="Pilots that are not cited")
    """A pilot a line: its number, and why, such as “12 The judge’s key was wrong”. The pack tells both. Blank: all
    finished pilots of the released tasks are cited."""


class ReleaseBlockedError(Exception):
    """There are blockers that nobody accepted."""

    def __init__(self, blockers: Sequence[Blocker]) -> None:
        super().__init__(f"{len(blockers)} blockers prevent a release.")
        self.blockers = tuple(blockers)


def require_new_version(benchmark: Benchmark, version: str) -> None:
    """Raises OptionsError."""
    if not VERSION.fullmatch(version):
        raise OptionsError(
            "version",
            f"“{version}” is not a valid release version. Use up to 40 letters, "
            f"digits, dots, pluses and dashes, such as 1.0.",
        )
    if benchmark.releases.filter(version=version).exists():
        raise OptionsError("version", f"Release {version} already exists and cannot be changed. Choose the next one.")


@atomic_with_retry
def cut_release(
    benchmark: Benchmark,
    options: ReleaseOptions,
    *,
    by: User | None,
    signature: str = "",
    progress: Progress | None = None,
) -> Release:
    """Freeze the benchmark as a version. Raises OptionsError, ReleaseBlockedError, and BlindPilotError for a person to
    whom its evidence is closed; then nothing has changed.

    ``signature`` is the recorded name of who accepts exceptions if it is not ``by``'s.
    """
    version, accept = options.version, options.accept
    progress = progress or Progress()
    require_judges_open(by, benchmark, EVIDENCE)
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    require_new_version(benchmark, version)
    locked = Task.objects.select_for_update(no_key=True, of=("self",)).filter(persona__benchmark=benchmark)
    list(locked.order_by("pk").values_list("pk"))
    personas = list(Persona.objects.filter(benchmark=benchmark).select_related("benchmark"))
    progress.begin("Running graders and checks")
    run_graders(personas, wait=True)
    refresh_contents([persona.pk for persona in personas], by=by)  # an approval holds for nothing else
    refresh_findings(personas)
    name = signature or (str(by) if by else "")
    candidate = load_candidate(benchmark)
    candidate = replace(candidate, evidence=without_pilots(candidate.evidence, options.leave_out, name))
    pins = newest_pins(benchmark)
    if options.without_solutions:
        pins = [pin._replace(solutions={}) for pin in pins]
    progress.begin("Reading back what will be packed", len(pins))
    standing = Exceptions(benchmark)
    found = find_blockers(candidate, _reading_errors(pins, progress)) + told_now(benchmark)
    blockers, accepted = standing.split(found)
    if blockers and not (accept and all(blocker.acceptable for blocker in blockers)):
        raise ReleaseBlockedError(blockers)

    today = timezone.now().astimezone(UTC).date().isoformat()
    exceptions = [_standing(each) for each in accepted]
    exceptions += [exception_json(blocker, accept, name, today) for blocker in blockers]
    earlier = list(benchmark.releases.order_by("-pk"))
    cutting = Cutting(candidate, pins, version, today, options.changes, exceptions, earlier)
    signer = None if why_unsigned(benchmark) else signer_of(benchmark, by=by)
    held_out = None
    progress.begin("Packing", len(pins))
    if cutting.held:
        held_out = HeldOutPack(manifest=cutting.held_out_manifest())
        _pack(held_out, pins, held_out_manifests(earlier), signer, Progress())
    release = Release(benchmark=benchmark, version=version, manifest=cutting.manifest(held_out), created_by=by)
    _pack(release, pins, [row.manifest for row in earlier], signer, progress)
    in_pack = told_in_pack(pins, contents_of(read_sums(bytes(release.sums.content)))) if held_out else []
    told, passed = standing.split(blocker for blocker in in_pack if blocker not in found)
    telling = len(told) + sum(blocker.code == TOLD for blocker in blockers)
    if telling > options.told or (told and not accept):
        raise ReleaseBlockedError([*blockers, *told])
    if (blockers or told) and not name:
        raise OptionsError("accept", "Say who accepts the exceptions; their name is recorded in the release.")
    release.exceptions = exceptions + [_standing(each) for each in passed]
    release.exceptions += [exception_json(blocker, accept, name, today) for blocker in told]
    release.save()
    if held_out:
        held_out.release = release
        held_out.save()
    ReleasePersona.objects.bulk_create([ReleasePersona(release=release, revision_id=pin.persona) for pin in pins])
    ReleaseTask.objects.bulk_create(
        [
            ReleaseTask(release=release, revision_id=revision, solution_id=pin.solutions.get(revision))
            for pin in pins
            for revision in pin.tasks
        ]
    )
    approved = [row.pk for row in candidate.tasks if row.state in APPROVED]
    Task.objects.filter(pk__in=approved).update(state=TaskState.RELEASED)
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="released",
        # without exceptions and why, since auditors read it: some tell what judges decided
        summary=f"Released version {version} with {len(candidate.tasks)} tasks.",
        data={"version": version, "sha256": release.sha256},
    )
    return release


def _standing(each: Accepted) -> JsonDict:
    """That somebody accepted before."""
    row = each.by
    since = row.created_at.astimezone(UTC).date().isoformat()
    return exception_json(each.blocker, row.reason, str(row.by), since, row)


def _pack(
    pack: SignedArchive, pins: Sequence[Pin], earlier: Sequence[JsonDict], signer: Signer | None, progress: Progress
) -> None:
    """Store its files, and sign them. ``earlier``: manifests of the packs of its kind before."""
    if signer:
        pack.manifest["signed_by"] = signer.said()
    pack.sums = store_sums(store_files(pins, pack.manifest, earlier, progress))
    if signer:
        signer.sign_sums(pack)
    pack.sha256, pack.size = hash_of(pack)
    if signer:
        signer.sign_archive(pack)


def _reading_errors(pins: Sequence[Pin], progress: Progress) -> list[JsonDict]:
    """Why the packs could not be read back."""
    parts = chain(progress.each(parts_of(pins, PUBLISHED)), parts_of(pins, HELD_BACK))
    return [error for _, part in parts for error in find_reading_errors(episode_files([part]))]
