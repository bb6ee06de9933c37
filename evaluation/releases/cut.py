"""Cutting a release: freeze, pack, read back, and only then store."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.db import transaction

from evaluation.models import Release, ReleaseTask
from evaluation.releases.candidate import Candidate, candidate_of
from evaluation.releases.readiness import RELEASABLE, Blocker, blockers_of
from studio.domain.base import JsonDict
from studio.domain.episode import EpisodeSpec
from studio.domain.pack import write_pack
from studio.drafts.load import load_episodes
from studio.findings.refresh import refresh_findings, run_graders
from studio.imports.export import episode_files
from studio.models import Benchmark, Blob, Event, Finding, Persona, SetAside, Task, TaskState, User

VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")


class ReleaseError(Exception):
    """The version's name is unusable or taken, or a reason is missing where one is needed. The text says which."""


class ReleaseBlockedError(Exception):
    """Something stands in the way that nobody accepted."""

    def __init__(self, blockers: Sequence[Blocker]) -> None:
        super().__init__(f"{len(blockers)} blockers prevent a release.")
        self.blockers = tuple(blockers)


@transaction.atomic
def cut_release(
    benchmark: Benchmark, version: str, *, by: User | None, accept: str = "", signature: str = ""
) -> Release:
    """Freeze the benchmark as ``version``. Raises ReleaseError and ReleaseBlockedError; then nothing has changed.

    ``accept`` is the reason for which ``by`` takes what blocks the release upon themselves; ``signature`` is the
    name that stands beside it where it is not ``by``'s.
    """
    if not VERSION.fullmatch(version):
        raise ReleaseError(
            f"“{version}” is not a valid release version. Use up to 40 letters, "
            f"digits, dots, pluses and dashes, such as 1.0."
        )
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if benchmark.releases.filter(version=version).exists():
        raise ReleaseError(f"Release {version} already exists and cannot be changed. Choose the next version.")
    list(Task.objects.select_for_update().filter(episode__persona__benchmark=benchmark).order_by("pk"))
    personas = list(Persona.objects.filter(benchmark=benchmark).select_related("benchmark"))
    run_graders(personas, wait=True)
    refresh_findings(personas)
    candidate = candidate_of(benchmark)
    episodes = _episodes(personas, candidate)
    files = episode_files(episodes)
    blockers = blockers_of(candidate, files)
    if blockers and not (accept.strip() and all(blocker.acceptable for blocker in blockers)):
        raise ReleaseBlockedError(blockers)

    name = signature or (str(by) if by else "")
    if blockers and not name:
        raise ReleaseError("Say who waives the blockers; their name is recorded in the release.")
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
    approved = [row.pk for row in candidate.rows if row.state in RELEASABLE]
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


def _episodes(personas: Sequence[Persona], candidate: Candidate) -> list[EpisodeSpec]:
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


def _manifest(
    version: str, candidate: Candidate, episodes: Sequence[EpisodeSpec], exceptions: Sequence[JsonDict]
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


def _set_aside(candidate: Candidate) -> list[JsonDict]:
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
