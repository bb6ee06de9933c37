"""Cutting a release: freeze, pack, read back, and only then store."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from evaluation.audits.blindness import require_judges_open
from evaluation.models import Release, ReleaseTask
from evaluation.pilots.plans import said_by_task
from evaluation.releases.candidate import ReleaseCandidate, load_candidate
from evaluation.releases.readiness import Blocker, find_blockers
from evaluation.results.selection import frozen_views
from studio.domain.base import JsonDict
from studio.domain.dependencies import dependency_groups
from studio.domain.episode import EpisodeSpec
from studio.domain.options import Options, OptionsError
from studio.domain.pack import write_pack
from studio.domain.rule_scripts import rule_script_files
from studio.drafts.load import load_episodes
from studio.findings.refresh import refresh_findings, run_graders
from studio.imports.export import episode_files
from studio.models import Benchmark, Blob, ErrorWaiver, Event, Finding, Persona, Review, Task, TaskState, User
from studio.models.tasks import APPROVED
from studio.models.transactions import atomic_with_retry
from studio.reports.statistics import grader_checks

EVIDENCE = "The evidence of a release"
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")


class ReleaseOptions(Options):
    version: str = Field(max_length=40)
    """Such as 1.0. It never changes afterwards."""
    accept: str = Field(default="", title="Reason for the exceptions")
    """Release despite the blockers that can be accepted. Recorded in the release under your name."""


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
    episodes = _episodes(personas, candidate)
    files = episode_files(episodes)
    blockers = find_blockers(candidate, files)
    if blockers and not (accept and all(blocker.acceptable for blocker in blockers)):
        raise ReleaseBlockedError(blockers)

    name = signature or (str(by) if by else "")
    if blockers and not name:
        raise OptionsError("accept", "Say who accepts the exceptions; their name is recorded in the release.")
    exceptions = [{"problem": blocker.to_json(), "reason": accept, "by": name} for blocker in blockers]
    manifest = _manifest(version, candidate, episodes, exceptions)
    if results := frozen_views(benchmark):
        manifest["results"] = results
    archive = write_pack(manifest, files | rule_script_files(episodes))
    sha256 = Blob.objects.store([archive])[0]
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
        [ReleaseTask(release=release, revision_id=candidate.revisions[row.pk].pk) for row in candidate.tasks]
    )
    approved = [row.pk for row in candidate.tasks if row.state in APPROVED]
    Task.objects.filter(pk__in=approved).update(state=TaskState.RELEASED)
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="released",
        summary=f"Released version {version} with {len(candidate.tasks)} tasks"
        + (f", accepting {len(exceptions)} exceptions: {accept}" if exceptions else ""),
        data={"version": version, "sha256": sha256},
    )
    return release


def _episodes(personas: Sequence[Persona], candidate: ReleaseCandidate) -> list[EpisodeSpec]:
    included = {(row.persona.pk, row.task_id) for row in candidate.tasks}
    loaded = load_episodes(personas)
    return [
        loaded[persona.pk].model_copy(
            update={
                field: tuple(
                    task for task in getattr(loaded[persona.pk], field) if (persona.pk, task.task_id) in included
                )
                for field in ("tasks", "unplaced")
            }
        )
        for persona in personas
    ]


def _manifest(
    version: str, candidate: ReleaseCandidate, episodes: Sequence[EpisodeSpec], exceptions: Sequence[JsonDict]
) -> JsonDict:
    """``pack.json`` without its list of files. Independent of time and place."""
    tasks = [task for episode in episodes for task in (*episode.tasks, *episode.unplaced)]
    approvers = _approvers(candidate)
    said = said_by_task([row.pk for row in candidate.tasks])
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
            "grader_checks": sum(grader_checks({task.persona.pk for task in candidate.tasks}).values(), 0),
            "dependency_groups": sum(len(dependency_groups(episode.tasks)) for episode in episodes),
        },
        "tasks": [
            {
                "persona": row.persona.user_id,
                "task": row.task_id,
                "revision": candidate.revisions[row.pk].number,
                "sha256": candidate.revisions[row.pk].sha256,
                "approved_by": approvers.get(candidate.revisions[row.pk].pk, []),
                "said_in_request": said.get(row.pk, []),
            }
            for row in candidate.tasks
        ],
        "evidence": candidate.evidence.to_json(),
        "exceptions": list(exceptions),
        "set_aside": _dismissed_errors(candidate),
    }


def _approvers(candidate: ReleaseCandidate) -> dict[int, list[str]]:
    """Names of those who approved, by the key of the revision; only of tasks that count as approved."""
    approved = [candidate.revisions[row.pk].pk for row in candidate.tasks if row.state in APPROVED]
    decisions = (Review.Decision.APPROVED, Review.Decision.APPROVED_ELSEWHERE)
    names: dict[int, set[str]] = {}
    for review in Review.objects.filter(revision__in=approved, decision__in=decisions).select_related("reviewer"):
        names.setdefault(review.revision_id, set()).add(str(review.reviewer or "unknown"))
    return {revision: sorted(own) for revision, own in names.items()}


def _dismissed_errors(candidate: ReleaseCandidate) -> list[JsonDict]:
    """Errors that an owner dismissed, so that users of the release can judge the reasons."""
    tasks = {task.pk: task for task in candidate.tasks}
    current = set(Finding.objects.filter(task__in=tasks, severity="error").values_list("task_id", "fingerprint"))
    return [
        {
            "persona": tasks[dismissal.task_id].persona.user_id,
            "task": tasks[dismissal.task_id].task_id,
            "rule": dismissal.rule,
            "message": dismissal.message,
            "reason": dismissal.reason,
            "by": str(dismissal.by),
        }
        for dismissal in ErrorWaiver.objects.filter(task__in=tasks).select_related("by").order_by("task", "pk")
        if (dismissal.task_id, dismissal.fingerprint) in current
    ]
