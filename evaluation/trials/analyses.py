"""Analyses of grader scripts for the checks, one per content, and refreshing the findings that depend on them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from django.db import transaction

from evaluation.sandbox import SandboxUnavailableError
from evaluation.trials.script_analysis import analyse_script
from studio.celery import enqueue
from studio.domain.graders import ANALYSIS, GraderReport
from studio.findings.hooks import MAX_PARALLEL
from studio.findings.refresh import refresh_findings
from studio.models import Blob, GraderScript, Persona, ScriptReport

logger = logging.getLogger(__name__)
ANALYSE_SCRIPTS = "evaluation.tasks.analyse_scripts"
BATCH_SIZE = 20


def analyse_scripts(scripts: Iterable[str]) -> None:
    """Store missing reports of these scripts, by sha256, and refresh the findings of personas that use them.

    Idempotent. Without a sandbox, no report is stored.
    """
    missing = set(scripts)
    missing -= set(ScriptReport.objects.filter(sha256__in=missing, analysis=ANALYSIS).values_list("sha256", flat=True))
    analysed = []
    with ThreadPoolExecutor(MAX_PARALLEL) as pool:
        reports = [pool.submit(_analyse, *script) for script in Blob.objects.read(list(missing)).items()]
        try:
            for made in as_completed(reports):
                _store(report := made.result())
                analysed.append(report.sha256)
        except SandboxUnavailableError as error:
            logger.warning("Grader scripts cannot be run: %s", error)
            pool.shutdown(cancel_futures=True)
    if analysed:
        personas = GraderScript.objects.filter(blob__in=analysed).values("persona")
        refresh_findings(Persona.objects.filter(pk__in=personas))


def analyse_later(scripts: Iterable[str]) -> None:
    """Let a worker do it after the commit. If the queue is unreachable, a sweep does it."""
    hashes = list(scripts)
    transaction.on_commit(lambda: enqueue(ANALYSE_SCRIPTS, [hashes]), robust=True)


def analyse_missing() -> None:
    """Analyse scripts without a report, a few at a time: after an outage, or with a new version of the analysis."""
    done = ScriptReport.objects.filter(analysis=ANALYSIS).values("sha256")
    rows = GraderScript.objects.exclude(blob__in=done).values_list("blob", flat=True)
    analyse_scripts(list(rows[:BATCH_SIZE]))


def _analyse(sha256: str, content: bytes) -> GraderReport:
    try:
        return analyse_script(content.decode()).model_copy(update={"sha256": sha256})
    except UnicodeDecodeError:
        return GraderReport(sha256=sha256, problem="The script is not UTF-8 text.")


@transaction.atomic
def _store(report: GraderReport) -> None:
    ScriptReport.objects.bulk_create(
        [ScriptReport(sha256=report.sha256, analysis=ANALYSIS, report=report.to_json())], ignore_conflicts=True
    )
    GraderScript.objects.filter(blob=report.sha256).update(
        keys=list(report.keys) if report.keys else None, problem=report.problem
    )
