"""Verdicts that people corrected. Each correction is recorded; the verdict stays as it was."""

from __future__ import annotations

from evaluation.models import Verdict, VerdictCorrection
from studio.models import User


def correct_verdict(
    verdict: Verdict, met: bool, *, by: User | None, reason: str = "", source: str = ""
) -> VerdictCorrection:
    """People decided: the verdict counts as ``met`` from now on, and scores follow."""
    return VerdictCorrection.objects.create(verdict=verdict, met=met, by=by, reason=reason, source=source)
