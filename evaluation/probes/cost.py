"""What a validation will take, told before it starts."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from django.db.models import Count, Q

from evaluation.metrics.extrapolation import sum_of_known
from evaluation.models import ModelCall, ModelEndpoint
from evaluation.models.calls import PART_BY_PURPOSE
from evaluation.probes.validation import Plan, ValidationOptions, plan_validation
from evaluation.protocol.participants import UNTOLD, Tokens
from evaluation.store.usage import OF_USE, use_of
from studio.domain.options import OptionsError
from studio.models import Benchmark


class LikelyCost(NamedTuple):
    """By the mean of what these models used in this benchmark's sessions before."""

    tokens: Tokens = UNTOLD
    cost: Decimal | None = None
    """In US dollars; None: a price or a count is not known."""
    unknown: tuple[str, ...] = ()
    """Models that used nothing here before."""

    @property
    def sentence(self) -> str:
        if self.unknown:
            return f"What it will cost is not known: {' and '.join(self.unknown)} answered nothing here before."
        cost = "cost unknown" if self.cost is None else f"${self.cost:.2f}"
        return f"About {self.tokens.total:,} tokens, {cost}, by what these models used here before."


def told_before(benchmark: Benchmark, options: ValidationOptions) -> str:
    """What would be asked and what that will probably cost, or why nothing can be."""
    try:
        plan = plan_validation(benchmark, options)
    except OptionsError as error:
        return error.message
    return f"{plan.sentence} {likely_cost(benchmark, plan).sentence}" if plan.asks else plan.sentence


def likely_cost(benchmark: Benchmark, plan: Plan) -> LikelyCost:
    wanted = [
        (plan.agent, "agent", sum(each.kind.asks for each in plan.due)),
        (plan.judge, "judge", sum(each.judged for each in plan.due)),
    ]
    used = [(row, _mean(benchmark, row, part, number)) for row, part, number in wanted if number]
    if unknown := tuple(dict.fromkeys(row.label for row, tokens in used if tokens is None)):
        return LikelyCost(unknown=unknown)
    known = [(row, tokens) for row, tokens in used if tokens is not None]
    cost = sum_of_known(row.cost_of(tokens) for row, tokens in known)
    return LikelyCost(sum((tokens for _, tokens in known), start=UNTOLD), cost)


def _mean(benchmark: Benchmark, model: ModelEndpoint, part: str, number: int) -> Tokens | None:
    """Of so many sessions; None: there was none of it."""
    here = Q(session__probe__task__persona__benchmark=benchmark) | Q(session__run__pilot__benchmark=benchmark)
    purposes = [purpose for purpose, own in PART_BY_PURPOSE.items() if own == part]
    calls = ModelCall.objects.filter(here, endpoint=model, purpose__in=purposes, answered=True)
    row = calls.exclude(judging__round__number__gt=1).aggregate(sessions=Count("session", distinct=True), **OF_USE)
    return use_of(row).tokens.times(Decimal(number) / row["sessions"]) if row["sessions"] else None
