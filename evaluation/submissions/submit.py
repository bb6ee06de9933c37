"""Results of a release, played elsewhere, as a pilot: marked as submitted, and never evidence.

Its scores follow from the decisions that came with it, as those of every pilot do; the file's own are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any

from django.db.models import Q
from django.utils import timezone

from evaluation.audits.blindness import open_releases
from evaluation.grading.decided import Decided
from evaluation.judging.judgings import create_pilot, new_judging
from evaluation.models import HeldOutPack, Judging, Pilot, Release, Run, Session, SessionIntent, Submission, Verdict
from evaluation.models.calls import PART_BY_PURPOSE
from evaluation.models.endpoints import freeze_endpoint, imported_endpoint
from evaluation.models.pilots import ROLES
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.voice import freeze_user
from evaluation.results.scores import store_scores
from evaluation.runner.document import PlannedSession, RunDocument
from evaluation.store.rows import aside_to_json, insert_turns, new_turn
from evaluation.store.snapshots import take_snapshots
from evaluation.store.verdicts import verdict_rows
from evaluation.submissions.reading import Bundle, SubmittedSession, Used, read_bundle, read_sessions
from studio.access import require
from studio.domain.options import OptionsError
from studio.domain.phrases import count_of
from studio.domain.task import TaskSpec
from studio.imports.importer import upload_limits
from studio.models import Benchmark, Blob, PersonaRevision, Revision, User
from studio.models.transactions import atomic_with_retry

AT_ONCE = 100
"""Sessions that are stored together; of no more, what was read is in memory."""


@dataclass(frozen=True)
class Submitted:
    submission: Submission
    is_new: bool
    """Whether it was not here before."""


@dataclass(frozen=True)
class _Place:
    persona: PersonaRevision
    revision: Revision
    task: TaskSpec


def submit(data: bytes, *, by: User, release: Release | None = None) -> Submitted:
    """``release``: the only one it may be of; None: any that ``by`` may see. Raises OptionsError, and PermissionDenied
    if ``by`` may start no pilots there."""
    bundle = read_bundle(data, upload_limits())
    found = _release_of(bundle, by)
    if release is not None and found != release:
        whose = f"of {found}: import them there" if found else f"of a pack with the sha256 {bundle.run.pack.sha256}"
        raise OptionsError("bundle", f"These results are not of {release}, but {whose}.")
    if found is None:
        named = f"{bundle.run.pack.name} {bundle.run.pack.version}".strip()
        raise OptionsError(
            "bundle",
            f"These results are of “{named}”, whose pack (sha256 {bundle.run.pack.sha256}) is no release here. "
            "Run the pack as it was downloaded from this studio.",
        )
    require(by, found.benchmark, "pilot")
    return _store(bundle, found, by)


def verify(pilot: Pilot, *, by: User, verified: bool = True) -> None:
    """Answer under one's name for results that came from outside, or no longer. Raises OptionsError."""
    submission: Submission | None = getattr(pilot, "submission", None)
    if submission is None:
        raise OptionsError("", f"{pilot} was not submitted, so there is nothing to verify.")
    if (submission.verified_by_id is not None) == verified:
        return
    submission.verified_by = by if verified else None
    submission.save(update_fields=["verified_by"])
    done = "Verified" if verified else "No longer verified:"
    pilot.record("results_verified", f"{done} pilot {pilot.number}, which was submitted.", by)


def _release_of(bundle: Bundle, by: User) -> Release | None:
    """Whose archive was run, or what it unpacks to."""
    sha256 = bundle.run.pack.sha256
    of_pack = Q(sha256=sha256) | Q(sums=sha256)
    held_out = HeldOutPack.objects.filter(of_pack).values("release")
    return open_releases(by).filter(of_pack | Q(pk__in=held_out)).first()


@atomic_with_retry
def _store(bundle: Bundle, release: Release, by: User) -> Submitted:
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(pk=release.benchmark_id)
    if earlier := Submission.objects.filter(release=release, sha256=bundle.sha256).first():
        return Submitted(earlier, is_new=False)
    places = _places(release)
    run = bundle.run
    endpoints = {role: imported_endpoint(benchmark, getattr(run.models, role).model) for role in ROLES}
    pilot = create_pilot(
        benchmark,
        by,
        **endpoints,
        mode=run.mode,
        runs_wanted=run.runs,
        protocol=run.protocol,
        agent_loop=run.agent_loop,
        limits=run.limits,
        config=_config(run, release) | {role: _frozen(run, role, row) for role, row in endpoints.items()},
        scripted=any(getattr(run.models, role).scripted for role in ROLES),
        imported=f"submission sha256:{bundle.sha256}",
        state=Pilot.State.FINISHED,
        finished_at=timezone.now(),
    )
    submission = Submission.objects.create(pilot=pilot, release=release, sha256=bundle.sha256)
    number = 0
    runs: dict[tuple[str, int, int], Run] = {}
    read = read_sessions(bundle, {key: place.task for key, place in places.items()})
    while some := list(islice(read, AT_ONCE)):
        _store_sessions([(_run_of(runs, pilot, places, each.planned), each) for each in some], places, bundle)
        number += len(some)
    store_scores(pilot)
    what = f"{count_of(number, 'session')} of {release.version}"
    pilot.record("results_submitted", f"Submitted pilot {pilot.number}: {what}.", by)
    return Submitted(submission, is_new=True)


def _places(release: Release) -> dict[tuple[str, str], _Place]:
    personas = {row.persona_id: row for row in PersonaRevision.objects.filter(releases__release=release)}
    places = {}
    for revision in Revision.objects.filter(releases__release=release).select_related("task"):
        persona, task = personas[revision.task.persona_id], TaskSpec.model_validate(revision.spec)
        places[str(persona.spec["user_id"]), task.task_id] = _Place(persona, revision, task)
    return places


def _config(run: RunDocument, release: Release) -> dict[str, Any]:
    said: dict[str, dict[str, list[int]]] = {}
    packs = [pack.manifest for pack in (release, release.held_out_pack) if pack]
    for row in (task for manifest in packs for task in manifest["tasks"]):
        said.setdefault(row["persona"], {})[row["task"]] = list(row.get("said_in_request", ()))
    name = run.models.agent.name[:80]
    return {
        "agent_kind": {"name": run.agent.named(name), "kind": run.agent.kind, "params": dict(run.agent.params)},
        "user": freeze_user(run.user_style, run.protocol),
        "said_in_requests": said,
    }


def _frozen(run: RunDocument, role: str, endpoint: Any) -> dict[str, Any]:
    used = getattr(run.models, role)
    named = {"name": used.name, "model": used.model, "effort": used.effort, "params": used.params}
    return freeze_endpoint(endpoint) | named | {"scripted": used.scripted}


def _run_of(
    runs: dict[tuple[str, int, int], Run],
    pilot: Pilot,
    places: Mapping[tuple[str, str], _Place],
    planned: PlannedSession,
) -> Run:
    """Made for its first session."""
    key = planned.persona, planned.run, planned.chain
    if key not in runs:
        persona = places[planned.persona, planned.task].persona
        runs[key] = Run.objects.create(pilot=pilot, persona_revision=persona, number=planned.run, chain=planned.chain)
    return runs[key]


def _store_sessions(
    played: Sequence[tuple[Run, SubmittedSession]], places: Mapping[tuple[str, str], _Place], bundle: Bundle
) -> None:
    now = timezone.now()
    sessions = [_session(run, each, places[each.planned.persona, each.planned.task], now) for run, each in played]
    Session.objects.bulk_create(sessions)
    SessionIntent.objects.bulk_create(
        SessionIntent(session=session, index=index, uid=intent.uid, status="provided", turn=0)
        for session, (_, each) in zip(sessions, played, strict=True)
        for index, intent in enumerate(places[each.planned.persona, each.planned.task].task.intents, start=1)
        if intent.initial_status == "provided"
    )
    taken = [(session, at) for session, (_, each) in zip(sessions, played, strict=True) for at in each.turns]
    closed = [(session, each.closing) for session, (_, each) in zip(sessions, played, strict=True) if each.closing]
    manifests = [(session.run, dict(at.files)) for session, at in taken]
    manifests += [(session.run, dict(closing.files)) for session, closing in closed]
    _keep_files(bundle, [manifest for _, manifest in manifests])
    snapshots = take_snapshots(manifests)
    insert_turns(
        [
            (new_turn(session, found, at), at)
            for (session, at), found in zip(taken, snapshots[: len(taken)], strict=True)
        ]
    )
    for (session, closing), left in zip(closed, snapshots[len(taken) :], strict=True):
        session.left, session.closing = left, aside_to_json(closing.aside)
    Session.objects.bulk_update([session for session, _ in closed], ["left", "closing"])
    decided: list[tuple[Judging, Sequence[Decided]]] = []
    for session, (_, each) in zip(sessions, played, strict=True):
        on_intents = [one for checkpoint in each.turns for one in checkpoint.decided]
        for scoring, rows in [("", on_intents), *each.decided.items()]:
            decided.append((new_judging(session, scoring, state=Judging.State.FINISHED, finished_at=now), rows))
    Judging.objects.bulk_create(judging for judging, _ in decided)
    Verdict.objects.bulk_create(row for judging, rows in decided for row in verdict_rows(judging, rows, {}))


def _session(run: Run, submitted: SubmittedSession, place: _Place, now: datetime) -> Session:
    """Not saved."""
    ended, failed = submitted.ending != "", submitted.ending == "failed"
    graded = {f"graded_{mode}_at": now for mode in submitted.decided if not failed}
    finished = ended and ScoringMode.STRICT in submitted.decided
    states = Session.State
    return Session(
        run=run,
        revision=place.revision,
        position=submitted.planned.position,
        state=states.FAILED if failed else states.FINISHED if finished else states.ERROR,
        reason=submitted.reason if failed else "" if finished else "It was not finished when it was submitted.",
        blocked=submitted.reason if submitted.ending == "blocked" else "",
        turn_count=len(submitted.turns),
        intent_count=len(place.task.intents),
        started_at=now,
        ended_at=now if ended else None,
        **graded,
        **_spent(submitted.used),
    )


def _keep_files(bundle: Bundle, manifests: Iterable[Mapping[str, str]]) -> None:
    """Only contents that came in the bundle: naming one that is another benchmark's does not show it."""
    wanted = {sha256 for manifest in manifests for sha256 in manifest.values()}
    there = set(Blob.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    contents = [content for sha256 in sorted(wanted - there) if (content := bundle.content(sha256)) is not None]
    Blob.objects.store(contents)


def _spent(used: Mapping[str, Used]) -> dict[str, Any]:
    """By column of the session."""
    tokens = {f"{part}_tokens": 0 for part in set(PART_BY_PURPOSE.values())}
    for purpose, row in used.items():
        tokens[f"{PART_BY_PURPOSE[purpose]}_tokens"] += row.tokens
    judged = {f"{mode}_tokens": used.get(f"checklist_{mode}") for mode in ScoringMode}
    tokens |= {column: row.tokens for column, row in judged.items() if row}
    return tokens | {
        "calls": sum(row.calls for row in used.values()),
        "cost": sum((row.cost for row in used.values()), start=Decimal(0)),
        "unpriced": sum(row.unpriced for row in used.values()),
    }
