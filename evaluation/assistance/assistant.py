"""Which model helps the authors of a benchmark, and how much of its budget is left."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum
from django.utils import timezone

from evaluation.llm import Budget
from evaluation.models import Helper, ModelEndpoint, SuggestionCall
from evaluation.protocol.participants import Tokens
from studio.models import Benchmark


class AssistanceError(Exception):
    """It cannot be done like this; the text says why and what to do."""


@dataclass(frozen=True)
class Spent:
    tokens: int
    cost: Decimal


def helper_of(benchmark: Benchmark) -> Helper | None:
    """Who helps; None where nobody does."""
    return Helper.objects.select_related("endpoint").filter(benchmark=benchmark, endpoint__isnull=False).first()


def help_in_sample(benchmark: Benchmark) -> None:
    """The scripted helper, so that the help can be tried at once and for nothing."""
    endpoint = ModelEndpoint.objects.filter(name="scripted-helper").first()
    if endpoint is not None:
        Helper.objects.get_or_create(benchmark=benchmark, defaults={"endpoint": endpoint})


def spent(helper: Helper) -> Spent:
    """What counts against the budget: every call of this month, or of all time, whatever came of it."""
    calls = SuggestionCall.objects.filter(suggestion__task__episode__persona__benchmark=helper.benchmark_id)
    if helper.period == Helper.Period.MONTH:
        now = timezone.now()
        calls = calls.filter(created_at__gte=now.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    used = calls.aggregate(prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"), cost=Sum("cost"))
    return Spent((used["prompt"] or 0) + (used["completion"] or 0), used["cost"] or Decimal(0))


def budget_of(helper: Helper) -> Budget:
    """The limits of a benchmark's help with what was used of them."""
    used = spent(helper)
    return Budget(
        max_tokens=helper.most_tokens, max_cost=helper.most_cost, tokens=Tokens(prompt=used.tokens), cost=used.cost
    )


def why_over_budget(helper: Helper) -> str:
    """A sentence where nothing more may be used; empty while something is left."""
    used = spent(helper)
    when = "this month's" if helper.period == Helper.Period.MONTH else "the whole"
    if helper.most_tokens and used.tokens >= helper.most_tokens:
        return f"AI help has used {when} budget of {helper.most_tokens:,} tokens. An owner can raise it."
    if helper.most_cost and used.cost >= helper.most_cost:
        return f"AI help has used {when} budget of ${helper.most_cost:.2f}. An owner can raise it."
    return ""
