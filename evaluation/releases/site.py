"""A release with its results as static pages (``evaluation.runner.site``), zipped."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from django.db.models import Q, QuerySet

from evaluation.metrics.sessions import SessionRow
from evaluation.models import Pilot, Release
from evaluation.releases.errata import errata_said, names_of
from evaluation.releases.packing import open_archive
from evaluation.results.benchmark_results import Results, compute_results
from evaluation.results.eee import chain_of
from evaluation.runner.eee import tellable
from evaluation.runner.site import Entry, Ran, Site, Transcript, first_of_personas, site_files, site_of
from evaluation.store.evidence import load_turns
from studio.domain.pack import zipped


def pilots_of(release: Release, among: QuerySet[Pilot]) -> list[Pilot]:
    """Its evidence, and what was submitted to it."""
    numbers = [row["number"] for row in release.manifest["evidence"]["pilots"]]
    chosen = among.filter(Q(number__in=numbers) | Q(submission__release=release), benchmark=release.benchmark_id)
    return list(chosen.order_by("number"))


def site_zip(release: Release, pilots: Sequence[Pilot]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / release.file_name
        with open_archive(release) as archive, path.open("wb") as file:
            shutil.copyfileobj(archive, file)
        site = site_of(path)
    computed = [compute_results(release.benchmark, [pilot]) for pilot in pilots]
    over = " Scores are over all splits." if len(release.manifest.get("splits", ())) > 1 else ""
    published = names_of(release.manifest)
    own = [
        each
        for each in errata_said(release.benchmark)
        if each["version"] == release.version and (not each["tasks"] or published & set(each["tasks"]))
    ]
    site = replace(
        site,
        entries=[_entry(results, over) for results in computed],
        transcripts=[shown for results in computed for shown in _examples(site, results)],
        errata=[*own, *site.errata],
    )
    return zipped(site_files(site))


def _entry(results: Results, over: str) -> Entry:
    [pilot] = results.pilots
    notes = [
        f"judge {pilot.judge_name}, user {pilot.user_model_name}",
        "scripted models, not evidence" if pilot.scripted else "",
        "the agent’s model judged itself" if pilot.agent_judges_itself and not pilot.scripted else "",
    ]
    scores = {mode: results.whole_board(mode)[0] for mode in results.modes}
    tasks = frozenset((row.persona, row.result.task_id) for row in results.rows)
    return Entry(Ran(pilot.terms, pilot.mode, tasks), scores, "; ".join(filter(None, notes)) + "." + over)


def _examples(site: Site, results: Results) -> Iterator[Transcript]:
    released = {(each.persona.user_id, task.task_id) for each in site.pack.episodes for task in site.tasks(each)}
    [pilot] = results.pilots
    told = tellable(
        (each, chain_of(each[1], each[2], pilot), (each[2].persona, each[2].result.task_id) in released)
        for each in results.played
    )
    whole = ((row.persona, (loaded, session, row)) for loaded, session, row in told if _is_whole(row))
    for loaded, session, row in first_of_personas(whole):
        task, statuses = loaded.task(session), loaded.judged[session.pk].statuses
        how = [(intent.content, statuses.get(at)) for at, intent in enumerate(task.intents, 1)]
        ended = [(content, status.status if status else "open") for content, status in how]
        yield Transcript(row.agent, row.persona, task, load_turns(session), ended)


def _is_whole(row: SessionRow) -> bool:
    return row.result.outcome == "finished" and not row.result.setup
