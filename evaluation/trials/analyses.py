"""Running grader scripts for the checks: every script once, by its content, and the findings that follow."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import transaction

from evaluation.sandbox import SandboxUnavailableError
from evaluation.trials.script_analysis import analyse_script
from studio.celery import app
from studio.domain.graders import ANALYSIS, GraderReport
from studio.findings.refresh import refresh_findings
from studio.models import Blob, GraderScript, Persona, ScriptReport

logger = logging.getLogger(__name__)
ANALYSE_SCRIPTS = "evaluation.tasks.analyse_scripts"
FORGOTTEN_AT_ONCE = 20


def analyse_scripts(scripts: Iterable[str]) -> None:
    """Make the report of each script, by sha256, where there is none; then check again whoever names one.

    A second call does nothing. Without a sandbox no report is made.
    """
    wanted = set(scripts)
    wanted -= set(ScriptReport.objects.filter(sha256__in=wanted, analysis=ANALYSIS).values_list("sha256", flat=True))
    made = []
    for sha256, content in Blob.objects.read(list(wanted)).items():
        try:
            report = _examine(sha256, content)
        except SandboxUnavailableError as problem:
            logger.warning("Grader scripts cannot be run: %s", problem)
            break
        _store(report)
        made.append(sha256)
    if made:
        using = GraderScript.objects.filter(blob__in=made).values("persona")
        refresh_findings(Persona.objects.filter(pk__in=using))


def analyse_later(scripts: Iterable[str]) -> None:
    """Have a worker do it once the transaction is stored. Where the queue cannot be reached, a sweep finds them."""
    wanted = list(scripts)
    transaction.on_commit(lambda: _send(wanted), robust=True)


def analyse_missing() -> None:
    """Scripts that no message reached us about, a few at a time: after an outage, or with a new analysis."""
    done = ScriptReport.objects.filter(analysis=ANALYSIS).values("sha256")
    rows = GraderScript.objects.exclude(blob__in=done).values_list("blob", flat=True)
    analyse_scripts(list(rows[:FORGOTTEN_AT_ONCE]))


def _examine(sha256: str, content: bytes) -> GraderReport:
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


def _send(scripts: list[str]) -> None:
    try:
        with app.connection_for_write(connect_timeout=2) as broker:
            app.send_task(ANALYSE_SCRIPTS, args=[scripts], connection=broker, retry=False, ignore_result=True)
    except Exception:  # the sweep finds them
        logger.warning("The queue cannot be reached; %d grader scripts wait.", len(scripts), exc_info=True)
