"""The assistant model of a benchmark and its budget."""

from __future__ import annotations

import time
from decimal import Decimal

from django.db.models import Q, Sum
from django.utils import timezone

from evaluation.engine.budgets import BudgetSpentError, fits
from evaluation.llm import Budget, BudgetExceededError
from evaluation.models import AssistantModel, ModelCall, ModelEndpoint, OpinionRequest, Proposal
from evaluation.models.connections import give_back_connection
from evaluation.models.leased import free
from evaluation.store.usage import OF_USE, Use, use_of
from studio.domain.phrases import count_of
from studio.models import Benchmark
from studio.models.transactions import atomic_with_retry
from studio.tasks.delete import ever_in

ASK_AGAIN = 0.5
"""Seconds until a call that waits for others looks again."""


class AssistanceError(Exception):
    """The message says what is wrong and what to do."""


def assistant_model_of(benchmark: Benchmark) -> AssistantModel | None:
    """None if AI help is off."""
    rows = AssistantModel.objects.filter(benchmark=benchmark, endpoint__isnull=False)
    return rows.select_related("endpoint").order_by("pk").first()


def enable_in_sample(benchmark: Benchmark) -> None:
    endpoint = ModelEndpoint.objects.filter(name="scripted-helper").first()
    if endpoint is not None:
        AssistantModel.objects.get_or_create(benchmark=benchmark, defaults={"endpoint": endpoint})


def usage_of(assistant: AssistantModel) -> Use:
    """By proposals and second opinions."""
    tasks = ever_in(Benchmark.objects.filter(pk=assistant.benchmark_id))
    calls = ModelCall.objects.filter(Q(proposal__task__in=tasks) | Q(opinion_request__task__in=tasks), answered=True)
    if assistant.period == AssistantModel.Period.MONTH:
        now = timezone.now()
        calls = calls.filter(created_at__gte=now.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    return use_of(calls.aggregate(**OF_USE))


def budget_of(assistant: AssistantModel) -> Budget:
    used = usage_of(assistant)
    return Budget(
        max_tokens=assistant.max_tokens,
        max_cost=assistant.max_cost,
        tokens=used.tokens,
        cost=used.cost,
        without_cost=used.unpriced,
    )


def keep_free(assistant: AssistantModel, row: Proposal | OpinionRequest, worst: Decimal | None) -> None:
    """Before a call is sent for ``row``: what it costs at most is kept free until the call is stored or the row is no
    longer worked on. Waits while calls for others may use up what is left. Raises BudgetExceededError if that is less,
    and LeaseLostError."""
    while assistant.max_cost and worst is not None and not _reserve(assistant, row, worst):
        row.write(reserved=0)
        give_back_connection()
        time.sleep(ASK_AGAIN)


@atomic_with_retry
def _reserve(assistant: AssistantModel, row: Proposal | OpinionRequest, worst: Decimal) -> bool:
    # whoever reserves holds this row: of two at once, the second sees what the first has reserved
    limit = AssistantModel.objects.select_for_update(no_key=True).get(pk=assistant.pk).max_cost
    tasks, reserved = ever_in(Benchmark.objects.filter(pk=assistant.benchmark_id)), Decimal(0)
    for kind in (Proposal, OpinionRequest):
        others = kind.objects.filter(task__in=tasks, state=kind.LEASED).exclude(free())
        others = others.exclude(pk=row.pk) if isinstance(row, kind) else others
        reserved += others.aggregate(all=Sum("reserved"))["all"] or 0
    try:
        is_free = not limit or fits("AI help", limit, usage_of(assistant).cost, reserved, worst)
    except BudgetSpentError as error:
        raise BudgetExceededError(str(error)) from None
    if is_free:
        row.write(reserved=worst)
    return is_free


def why_over_budget(assistant: AssistantModel) -> str:
    used = usage_of(assistant)
    period = "this month's" if assistant.period == AssistantModel.Period.MONTH else "the whole"
    if assistant.max_tokens and used.tokens.total >= assistant.max_tokens:
        return f"AI help has used {period} budget of {assistant.max_tokens:,} tokens. An owner can raise it."
    if assistant.max_cost and used.unpriced:
        calls = count_of(used.unpriced, "call")
        return (
            f"AI help has {period} budget of ${assistant.max_cost:.2f}, and what {calls} cost is unknown. An owner can "
            "enter the model’s prices, or limit tokens instead."
        )
    if assistant.max_cost and used.cost >= assistant.max_cost:
        return f"AI help has used {period} budget of ${assistant.max_cost:.2f}. An owner can raise it."
    return ""
