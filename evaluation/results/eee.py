"""Results of pilots as Every Eval Ever has them (``evaluation.runner.eee``)."""

from __future__ import annotations

import tempfile
from collections.abc import Hashable, Iterator
from typing import IO, Any

from evaluation.judging.judgings import scoring_choices
from evaluation.metrics.sessions import SessionRow
from evaluation.models import Pilot, Session
from evaluation.models.pilots import ROLES
from evaluation.protocol.modes import PilotMode
from evaluation.results.benchmark_results import Results, compute_results
from evaluation.runner.eee import Evaluated, SampleOf, Source, eee_files, tellable
from evaluation.store.evidence import stream_turns
from studio.domain.episode import Split
from studio.domain.pack import write_archive
from studio.models import Revision


def eee_zip(results: Results) -> IO[bytes]:
    """Two files of each pilot that has a score, as an archive. The caller closes it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    write_archive(_files(results), file)
    file.seek(0)
    return file


def _files(results: Results) -> Iterator[tuple[str, IO[bytes]]]:
    for pilot in results.pilots:
        own = _evaluated(compute_results(results.benchmark, [pilot]), pilot)
        if own.has_score:
            yield from eee_files(own)


def chain_of(session: Session, row: SessionRow, pilot: Pilot) -> Hashable:
    """Sessions over one state; of changed tasks, which start from states of the earlier pilot, all of a run."""
    return row.persona, row.run, 0 if pilot.mode == PilotMode.CHANGED else session.run.chain


def _was_public(session: Session, task: str) -> bool:
    splits = session.run.persona_revision.episode.get("splits", {})
    return bool(splits.get(task, Split.PUBLIC) == Split.PUBLIC)


def _evaluated(results: Results, pilot: Pilot) -> Evaluated:
    submission = getattr(pilot, "submission", None)
    release = submission.release if submission else None
    models: dict[str, dict[str, Any]] = {}
    for role in ROLES:
        model = pilot.endpoint(role)
        named = {"name": model.label, "model": model.model, "base_url": model.base_url}
        models[role] = {**named, "params": model.params, "effort": model.effort}
    choice = scoring_choices([pilot])[pilot.pk]
    played = {session.revision_id for _, session, _ in results.played}
    public = set(Revision.objects.filter(pk__in=played, task__split=Split.PUBLIC).values_list("pk", flat=True))
    tasks = {
        row.key: loaded.task(session)
        for loaded, session, row in tellable(
            (
                (loaded, session, row),
                chain_of(session, row, pilot),
                session.revision_id in public and _was_public(session, row.result.task_id),
            )
            for loaded, session, row in results.played
        )
        if row.result.outcome != "missing"
    }
    return Evaluated(
        results.benchmark.name,
        release.version if release else "",
        release.sha256 if release else "",
        pilot.terms,
        pilot.created_at,
        results.agents[pilot.pk],
        models,
        choice.round.prompts,
        {mode: results.board(mode)[0] for mode in results.modes},
        results.scored,
        (SampleOf(key, tasks[key], turns) for key, turns in stream_turns(tasks)),
        Source(results.benchmark.name),
        pilot.number,
    )
