"""Releases: what blocks one, and cutting it.

A release freezes every task that is not retired, packs all of them with what stood behind them, and reads
the pack back before anything is stored. What blocks it may be accepted by a person, with a reason; both
stand in the release ever after. Only what leaves no readable pack cannot be accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction

from evaluation.assisting.provenance import scripted_words
from evaluation.evidence import Evidence, gather_evidence
from evaluation.models import Release, ReleaseTask
from evaluation.queries import episodes_of
from studio import queries
from studio.drafts import load_episodes, refresh_findings, run_graders
from studio.exporting import episode_files
from studio.importing import find_reading_errors
from studio.models import (
    Benchmark,
    Blob,
    Event,
    Finding,
    GraderScript,
    Persona,
    Revision,
    SetAside,
    Task,
    TaskState,
    User,
)
from studio.spec.base import JsonDict
from studio.spec.episode import EpisodeSpec
from studio.spec.pack import write_pack
from studio.spec.persona import script_path

VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")
SETTLED = (TaskState.APPROVED, TaskState.RELEASED)
AUDITED_DECISIONS = 10
"""How many decisions people must have settled, unless the benchmark's ``release_limits`` say ``audited_decisions``."""
DISAGREEMENT = 0.1
"""The share of them in which people may hold the opposite of the judge, unless the limits say ``disagreement``.
The paper reports 2.7 % for checklists and 1.5 % for intents (Table 6)."""
WORDS = {"intents": "intent", "checklist": "item", "depends_on": "earlier session", "assets": "file"}


class Blocker(NamedTuple):
    """One thing that stands in the way of a release."""

    code: str
    """Stable name, e.g. ``task-not-approved``."""
    message: str
    persona: str = ""
    task: str = ""
    task_pk: int | None = None
    acceptable: bool = True
    """A person may take responsibility for it."""

    def to_json(self) -> JsonDict:
        return {"code": self.code, "message": self.message, "persona": self.persona, "task": self.task}


class ReleaseRefused(Exception):
    """The version's name is unusable or taken, or a reason is missing where one is needed. The text says which."""


class ReleaseBlocked(Exception):
    """Something stands in the way that nobody accepted."""

    def __init__(self, blockers: Sequence[Blocker]) -> None:
        super().__init__(f"{len(blockers)} things stand in the way of a release.")
        self.blockers = tuple(blockers)


class _Frozen(NamedTuple):
    """A Revision without its spec."""

    pk: int
    number: int
    sha256: str


class _Row(NamedTuple):
    """A Task without what a release does not ask."""

    pk: int
    name: str
    task_id: str
    state: str
    grader_path: str
    persona: Persona
    place: int
    """Of its persona in the benchmark."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class _Candidate:
    """What a release would be about, as it stands now. Contents are read only when one is cut."""

    benchmark: Benchmark
    rows: tuple[_Row, ...]
    revisions: Mapping[int, _Frozen]
    """The newest of each task, by the task's pk."""
    evidence: Evidence


def release_blockers(benchmark: Benchmark) -> list[Blocker]:
    """What stands in the way now, shortest first: by kind, the kind with the fewest first.

    Says what the last save's checks found. Cutting checks again, and reads the pack back besides.
    """
    return _blockers(_candidate(benchmark))


@transaction.atomic
def cut_release(
    benchmark: Benchmark, version: str, *, by: User | None, accept: str = "", signature: str = ""
) -> Release:
    """Freeze the benchmark as ``version``. Raises ReleaseRefused and ReleaseBlocked; then nothing has changed.

    ``accept`` is the reason for which ``by`` takes what blocks the release upon themselves; ``signature`` is the
    name that stands beside it where it is not ``by``'s.
    """
    if not VERSION.fullmatch(version):
        raise ReleaseRefused(
            f"“{version}” cannot name a release. Use up to 40 letters, digits, dots, pluses and dashes, such as 1.0."
        )
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if benchmark.releases.filter(version=version).exists():
        raise ReleaseRefused(f"Release {version} exists already and never changes. Choose the next number.")
    list(Task.objects.select_for_update().filter(episode__persona__benchmark=benchmark).order_by("pk"))
    personas = list(Persona.objects.filter(benchmark=benchmark).select_related("benchmark"))
    run_graders(personas, wait=True)
    refresh_findings(personas)
    candidate = _candidate(benchmark)
    episodes = _episodes(personas, candidate)
    files = episode_files(episodes)
    blockers = _blockers(candidate, files)
    if blockers and not (accept.strip() and all(blocker.acceptable for blocker in blockers)):
        raise ReleaseBlocked(blockers)

    name = signature or (str(by) if by else "")
    if blockers and not name:
        raise ReleaseRefused("Say who accepts what blocks the release: their name stands in it.")
    exceptions = [{"problem": b.to_json(), "reason": accept.strip(), "by": name} for b in blockers]
    manifest = _manifest(version, candidate, episodes, exceptions)
    archive = write_pack(manifest, files)
    sha256 = Blob.objects.keep([archive])[0]
    release = Release.objects.create(
        benchmark=benchmark,
        version=version,
        manifest=manifest,
        sha256=sha256,
        blob_id=sha256,
        exceptions=exceptions,
        created_by=by,
    )
    ReleaseTask.objects.bulk_create(
        [ReleaseTask(release=release, revision_id=candidate.revisions[row.pk].pk) for row in candidate.rows]
    )
    approved = [row.pk for row in candidate.rows if row.state in SETTLED]
    Task.objects.filter(pk__in=approved).update(state=TaskState.RELEASED)
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="released",
        summary=f"Released version {version} with {len(candidate.rows)} tasks"
        + (f", accepting {len(exceptions)} exceptions: {accept.strip()}" if exceptions else ""),
        data={"version": version, "sha256": sha256},
    )
    return release


def _candidate(benchmark: Benchmark) -> _Candidate:
    episodes = episodes_of(benchmark)
    places = {pk: place for place, pk in enumerate(episodes)}
    rows = [
        _Row(pk, title.strip() or task_id, task_id, state, grader_path, episodes[episode].persona, places[episode])
        for pk, title, task_id, state, grader_path, episode in Task.objects.filter(
            episode__persona__benchmark=benchmark
        )
        .exclude(state=TaskState.RETIRED)
        .order_by("position", "task_id")
        .values_list("pk", "title", "task_id", "state", "grader_path", "episode_id")
    ]
    newest = (
        Revision.objects.filter(task__episode__persona__benchmark=benchmark)
        .order_by("task_id", "-number")
        .distinct("task_id")
        .values_list("task_id", "pk", "number", "sha256")
    )
    revisions = {task: _Frozen(pk, number, sha256) for task, pk, number, sha256 in newest}
    return _Candidate(
        benchmark=benchmark,
        rows=tuple(sorted(rows, key=lambda row: row.place)),
        revisions=revisions,
        evidence=gather_evidence(benchmark, {revisions[row.pk].sha256 for row in rows}),
    )


def _episodes(personas: Sequence[Persona], candidate: _Candidate) -> list[EpisodeSpec]:
    """What is packed: the episodes without their retired tasks."""
    kept = {(row.persona.pk, row.task_id) for row in candidate.rows}
    loaded = load_episodes(personas)
    return [
        loaded[persona.pk].model_copy(
            update={
                place: tuple(task for task in getattr(loaded[persona.pk], place) if (persona.pk, task.task_id) in kept)
                for place in ("tasks", "unplaced")
            }
        )
        for persona in personas
    ]


def _blockers(candidate: _Candidate, files: Mapping[str, bytes] | None = None) -> list[Blocker]:
    if not candidate.rows:
        return [Blocker("no-tasks", "There is no task to release.", acceptable=False)]
    found = [
        *_unapproved(candidate),
        *_errors(candidate),
        *_ungraded(candidate),
        *_unreadable(files or {}),
        *_unpiloted(candidate),
        *_unaudited(candidate),
        *_scripted(candidate),
    ]
    sizes: dict[str, int] = {}
    for blocker in found:
        sizes[blocker.code] = sizes.get(blocker.code, 0) + 1
    return sorted(found, key=lambda blocker: (sizes[blocker.code], blocker.code))


def _unapproved(candidate: _Candidate) -> Iterable[Blocker]:
    for row in candidate.rows:
        if row.state not in SETTLED:
            state = TaskState(row.state).label.lower()
            yield _of(row, "task-not-approved", f"{row} is not approved: {state}.")


def _errors(candidate: _Candidate) -> Iterable[Blocker]:
    """Errors of the checks, but for those an owner set aside; the same findings the editor shows."""
    rows = {row.pk: row for row in candidate.rows}
    errors = (
        queries.open_findings()
        .filter(task__episode__persona__benchmark=candidate.benchmark, severity="error")
        .exclude(task__state=TaskState.RETIRED)
    )
    for finding in errors.order_by("task", "field", "item", "rule"):
        field = WORDS.get(finding.field, finding.field.replace("_", " "))
        place = (f"{field} {finding.item}" if finding.item else field).capitalize()
        message = f"{place}: {finding.message}" if place else finding.message
        yield _of(rows[finding.task_id], f"check-{finding.rule}", message)


def _unreadable(files: Mapping[str, bytes]) -> Iterable[Blocker]:
    for error in find_reading_errors(files) if files else ():
        yield Blocker("pack-unreadable", f"{error['file']}: {error['message']} {error['mend']}", acceptable=False)


def _unpiloted(candidate: _Candidate) -> Iterable[Blocker]:
    for row in candidate.rows:
        if candidate.revisions[row.pk].sha256 not in candidate.evidence.piloted:
            yield _of(row, "task-not-piloted", f"No pilot by a real model has run {row} as it is now.")


def _ungraded(candidate: _Candidate) -> Iterable[Blocker]:
    """Tasks whose grader script cannot grade: part of their Comp would stay unknown for everyone."""
    scripts = {
        (script.persona_id, script.path): script
        for script in GraderScript.objects.filter(persona__benchmark=candidate.benchmark)
    }
    for row in candidate.rows:
        if not row.grader_path:
            continue
        persona = row.persona
        script = scripts.get((persona.pk, script_path(persona.user_id, row.grader_path)))
        if script is None:
            yield _of(row, "grader-missing", f"The grader script of {row}, {row.grader_path}, does not exist.")
        elif script.keys is None:
            why = script.problem or "it has not been run yet."
            yield _of(row, "grader-broken", f"The grader script of {row} grades nothing: {why}")


def _unaudited(candidate: _Candidate) -> Iterable[Blocker]:
    wanted = int(candidate.benchmark.release_limits.get("audited_decisions", AUDITED_DECISIONS))
    most = float(candidate.benchmark.release_limits.get("disagreement", DISAGREEMENT))
    audit = candidate.evidence.audit
    if audit.n < wanted:
        yield Blocker(
            "too-few-audited",
            f"People have settled {audit.n} decisions of real judges; a release needs {wanted}.",
        )
    if audit.value is not None and audit.value > most:
        yield Blocker(
            "judges-disagree",
            f"People disagree with {audit.percent} of the audited decisions; at most {most:.0%} is allowed.",
        )


def _scripted(candidate: _Candidate) -> Iterable[Blocker]:
    """Words a scripted model proposed and a person took as they were: a play with fixed roles wrote them."""
    rows = {row.pk: row for row in candidate.rows}
    places: dict[int, list[str]] = {}
    for one in scripted_words(candidate.benchmark, rows):
        places.setdefault(one.task_pk, []).append(one.place)
    for pk, found in places.items():
        yield _of(rows[pk], "scripted-words", f"{rows[pk]} has words of a scripted model: {', '.join(found)}.")


def _of(row: _Row, code: str, message: str) -> Blocker:
    return Blocker(code, message, row.persona.user_id, row.task_id, row.pk)


def _set_aside(candidate: _Candidate) -> list[JsonDict]:
    """Errors that an owner held to be wrong, and why: whoever uses the release can judge that, too."""
    rows = {row.pk: row for row in candidate.rows}
    standing = set(Finding.objects.filter(task__in=rows, severity="error").values_list("task_id", "fingerprint"))
    return [
        {
            "persona": rows[one.task_id].persona.user_id,
            "task": rows[one.task_id].task_id,
            "rule": one.rule,
            "message": one.message,
            "reason": one.reason,
            "by": str(one.by),
        }
        for one in SetAside.objects.filter(task__in=rows).select_related("by").order_by("task", "pk")
        if (one.task_id, one.fingerprint) in standing
    ]


def _manifest(
    version: str, candidate: _Candidate, episodes: Sequence[EpisodeSpec], exceptions: Sequence[JsonDict]
) -> JsonDict:
    """``pack.json`` but for its list of files. Nothing in it depends on when or where it is made."""
    tasks = [task for episode in episodes for task in (*episode.tasks, *episode.unplaced)]
    return {
        "format": "pi-bench-v2",
        "benchmark": {
            "slug": candidate.benchmark.slug,
            "name": candidate.benchmark.name,
            "description": candidate.benchmark.description,
        },
        "version": version,
        "totals": {
            "personas": len(episodes),
            "tasks": len(tasks),
            "hidden_intents": sum(len(task.intents) for task in tasks),
            "checklist_items": sum(len(task.scored_items) for task in tasks),
            "dependency_groups": sum(bool(task.depends_on) for task in tasks),
        },
        "tasks": [
            {
                "persona": row.persona.user_id,
                "task": row.task_id,
                "revision": candidate.revisions[row.pk].number,
                "sha256": candidate.revisions[row.pk].sha256,
            }
            for row in candidate.rows
        ],
        "evidence": candidate.evidence.to_json(),
        "exceptions": list(exceptions),
        "set_aside": _set_aside(candidate),
    }
