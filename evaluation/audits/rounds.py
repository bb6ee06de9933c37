"""Which judging of a pilot an audit is about: a pilot that was judged again has several rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import QuerySet

from evaluation.judging.judgings import scoring_choice
from evaluation.models import Judging, JudgingRound, Pilot
from evaluation.models.judgings import Purpose
from studio.domain.options import OptionsError

Rounds = Mapping[int, JudgingRound]
"""By pilot."""
Numbers = int | Mapping[int, int]
"""Of a round in each pilot, or by pilot."""


def auditable_rounds(pilots: Iterable[Pilot]) -> QuerySet[JudgingRound]:
    """Those whose judgings are all finished, without what models answered in audits."""
    unfinished = Judging.objects.filter(round__number__gt=1).exclude(state=Judging.State.FINISHED)
    rows = JudgingRound.objects.filter(pilot__in=pilots).exclude(purpose=Purpose.AUDIT)
    return rows.exclude(pk__in=unfinished.values("round")).order_by("number", "pilot__number")


def choose_rounds(pilots: Iterable[Pilot], numbers: Numbers | None = None) -> Rounds:
    """Pilots without a number are audited in the round that scores them. Raises OptionsError."""
    pilots = list(pilots)
    wanted = dict.fromkeys((row.pk for row in pilots), numbers) if isinstance(numbers, int) else dict(numbers or {})
    if strange := wanted.keys() - {row.pk for row in pilots}:
        raise OptionsError("round", f"{min(strange)} is none of the pilots to audit.")
    found = {(row.pilot_id, row.number): row for row in auditable_rounds(pilots)} if wanted else {}
    missing = [(row, wanted[row.pk]) for row in pilots if row.pk in wanted and (row.pk, wanted[row.pk]) not in found]
    for pilot, number in missing:
        raise OptionsError(
            "round",
            f"Pilot {pilot.number} has no finished round {number}. Choose another round, or leave that pilot out.",
        )
    return {row.pk: found[row.pk, wanted[row.pk]] if row.pk in wanted else scoring_choice(row).round for row in pilots}
