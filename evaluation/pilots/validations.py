"""What workers on sessions heed of validations: their budgets, and that they stop."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from evaluation.engine.budgets import Spent, check_limits
from evaluation.models import Session, Validation
from evaluation.pilots.budgets import spent_in


def spent_by_validation(validation_id: int) -> Spent:
    return spent_in(Session.objects.filter(probe__validation=validation_id))


def check_validation(row: Validation) -> bool:
    """Before a call is sent: whether its budget limits dollars. Raises BudgetSpentError."""
    budget = Validation.objects.values_list("budget", flat=True).get(pk=row.pk)
    if budget:
        check_limits("validation", budget, spent_by_validation(row.pk))
    return bool(budget.get("cost"))


def stop_validation(validation_id: int, reason: str, state: str = Validation.State.STOPPED) -> None:
    """Its sessions send no further call, and go on from where they stand if it is resumed."""
    with transaction.atomic():
        row = Validation.objects.select_for_update(no_key=True).get(pk=validation_id)
        if row.state != Validation.State.RUNNING:
            return
        row.state, row.reason = state, reason
        row.save(update_fields=["state", "reason"])
        Session.objects.filter(probe__validation=row, state=Session.State.RUNNING).take_away(
            state=Session.State.WAITING, retry_at=None, attempts=Greatest(F("attempts") - 1, 0)
        )
