"""Results of pilots as Every Eval Ever has them (``evaluation.runner.eee``)."""

from __future__ import annotations

import io
from typing import Any

from evaluation.judging.judgings import scoring_choices
from evaluation.models import Pilot, Session
from evaluation.models.pilots import ROLES
from evaluation.results.benchmark_results import Results, compute_results
from evaluation.runner.eee import Evaluated, SampleOf, Source, eee_files
from evaluation.store.evidence import load_turns
from studio.domain.episode import Split
from studio.domain.pack import write_archive


def eee_zip(results: Results) -> bytes:
    """Two files of each pilot that has a score."""
    files: dict[str, bytes] = {}
    for pilot in results.pilots:
        own = _evaluated(compute_results(results.benchmark, [pilot]), pilot)
        files |= eee_files(own) if own.has_score else {}
    into = io.BytesIO()
    write_archive(sorted(files.items()), into)
    return into.getvalue()


def _is_public(session: Session, task: str) -> bool:
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
        [
            SampleOf(row.key, loaded.task(session), load_turns(session))
            for loaded, session, row in results.played
            if row.result.outcome != "missing" and _is_public(session, row.result.task_id)
        ],
        Source(results.benchmark.name),
        pilot.number,
    )
