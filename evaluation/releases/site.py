"""A release with its results as static pages (``evaluation.runner.site``), zipped."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from django.db.models import Q, QuerySet

from evaluation.models import Pilot, Release
from evaluation.releases.errata import names_of
from evaluation.releases.packing import open_archive
from evaluation.results.benchmark_results import Results, compute_results
from evaluation.runner.site import EXAMPLES, Entry, Site, Transcript, site_files, site_of
from evaluation.store.evidence import load_turns
from studio.domain.pack import write_archive


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
    each = [compute_results(release.benchmark, [pilot]) for pilot in pilots]
    published = names_of(release.manifest)
    own = [
        {
            "version": release.version,
            "number": row.number,
            "published": row.published.isoformat(),
            "tasks": row.tasks,
            "text": row.text,
            "effect": row.effect,
        }
        for row in release.errata.all()
        if not row.tasks or published & set(row.tasks)
    ]
    site = replace(
        site,
        entries=[_entry(results) for results in each],
        transcripts=[shown for results in each for shown in _examples(site, results)],
        errata=[*own, *site.errata],
    )
    into = io.BytesIO()
    write_archive(sorted(site_files(site).items()), into)
    return into.getvalue()


def _entry(results: Results) -> Entry:
    [pilot] = results.pilots
    notes = [
        f"judge {pilot.judge_name}, user {pilot.user_model_name}",
        "scripted models, not evidence" if pilot.scripted else "",
        "the agent’s model judged itself" if pilot.agent_judges_itself and not pilot.scripted else "",
    ]
    scores = {mode: results.whole_board(mode)[0] for mode in results.modes}
    return Entry(pilot.terms, scores, "; ".join(filter(None, notes)) + ".")


def _examples(site: Site, results: Results) -> Iterator[Transcript]:
    """The first session of each persona, as far as there is room."""
    released = {(each.persona.user_id, task.task_id) for each in site.pack.episodes for task in site.tasks(each)}
    shown: set[str] = set()
    for loaded, session, row in results.played:
        place, task = (row.persona, row.result.task_id), loaded.task(session)
        is_shown = row.persona not in shown and len(shown) < EXAMPLES and row.result.outcome == "finished"
        if is_shown and not task.is_setup and place in released:
            shown.add(row.persona)
            statuses = loaded.judged[session.pk].statuses
            how = [(intent.content, statuses.get(at)) for at, intent in enumerate(task.intents, 1)]
            ended = [(content, status.status if status else "open") for content, status in how]
            yield Transcript(row.agent, row.persona, task, load_turns(session), ended)
