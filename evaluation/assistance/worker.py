"""What a worker does with a request for help: ask through the model client, read the answer, check it, store it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from evaluation.assistance.answers import read_answer
from evaluation.assistance.assistant import budget_of, helper_of
from evaluation.assistance.checks import check_rows
from evaluation.assistance.prompts import prompt_of
from evaluation.assistance.task_material import assignment_of, material_of
from evaluation.call_records import RecordOwnerDeletedError, suggestion_record
from evaluation.leases.heartbeat import heartbeat, lease_end
from evaluation.llm import (
    BudgetExceededError,
    ContextTooLongError,
    KeyRejectedError,
    MissingKeyError,
    QuotaExceededError,
    RequestRejectedError,
    RetryPolicy,
    UnusableJsonError,
)
from evaluation.models import Suggestion
from evaluation.protocol.participants import InfrastructureError
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

logger = logging.getLogger(__name__)
State = Suggestion.State
RETRY_POLICY = RetryPolicy(attempts=3, max_pause=15, max_seconds=60)
"""Somebody waits for it."""
TRIES = 3
"""Answers that may be unusable."""
FRESH_TEMPERATURE = 0.7
MOST_ATTEMPTS = 3
"""Workers that may die over it."""
ADVICE: tuple[tuple[type[Exception], str, str], ...] = (
    (BudgetExceededError, "", "An owner of the benchmark can raise the budget."),
    (UnusableJsonError, "", "Try again, or write it yourself. Nothing was saved from the answer."),
    (ContextTooLongError, "This is too long for {name}.", "Shorten the files, or ask about less."),
    (MissingKeyError, "{name} has no API key.", "An administrator can set it."),
    (KeyRejectedError, "{name} rejected its API key.", "An administrator can check the key."),
    (QuotaExceededError, "The account for {name} has no quota left.", "An administrator can check the account."),
    (RequestRejectedError, "{name} refused the request.", "An owner can choose another model."),
    (
        InfrastructureError,
        "{name} gave no answer.",
        "Try again in a moment. If this persists, an owner can choose another model.",
    ),
)
"""What happened, in place of the failure's own words where those speak of addresses and replies of a server, and what
to do."""


def work_on(pk: int, *, retry_policy: RetryPolicy = RETRY_POLICY) -> None:
    """Do what was asked for. Safe to call twice: what is taken up is not taken up again while its worker lives."""
    token = uuid.uuid4().hex
    free = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    taken = Suggestion.objects.filter(free, pk=pk, state=State.ASKED)
    if not taken.update(claimed_by=token, lease_until=lease_end(), attempts=F("attempts") + 1):
        return
    row = Suggestion.objects.select_related(
        "revision", "endpoint", "task__episode__persona__benchmark", "task__group"
    ).get(pk=pk)
    if row.attempts > MOST_ATTEMPTS:
        _finish(row, state=State.FAILED, problem="The studio stopped several times while the model was working.")
        return
    renewed = Suggestion.objects.filter(claimed_by=token)
    with heartbeat(lambda: renewed.update(lease_until=lease_end()), "suggestion"):
        try:
            _finish(row, **_answer(row, retry_policy))
        except (InfrastructureError, ValueError) as failure:
            said = {"problem": in_words(failure, row.endpoint.name), "detail": str(failure)}
            _finish(row, state=State.FAILED, **{name: storable(text)[:2000] for name, text in said.items()})
        except RecordOwnerDeletedError:
            logger.info("No one is waiting for suggestion %d any more.", pk)
        except Exception as error:
            logger.exception("Suggestion %d stopped by a defect of the studio.", pk)
            connection.close_if_unusable_or_obsolete()
            _finish(row, state=State.FAILED, problem=f"Internal error: {type(error).__name__}. Try again.")


def in_words(failure: Exception, name: str) -> str:
    """What happened when ``name`` was asked, and what an author can do."""
    told = next(((what, mend) for kind, what, mend in ADVICE if isinstance(failure, kind)), None)
    what, mend = told or ("", "An owner can choose another model.")
    return f"{what.format(name=name) or failure} {mend}"


def _answer(row: Suggestion, retry_policy: RetryPolicy) -> Mapping[str, Any]:
    spec = TaskSpec.model_validate(row.revision.spec)
    assignment, material = assignment_of(row, spec), material_of(row.task, spec)
    prompt = prompt_of(assignment, material)
    helper = helper_of(row.task.episode.persona.benchmark)
    if helper is None:
        raise ValueError("AI help was turned off in the meantime.")
    record = suggestion_record(row)
    client = record.client(row.endpoint, row.kind, budget=budget_of(helper), retry_policy=retry_policy)
    proposals, _ = client.ask_json(
        prompt.messages,
        f"assist_{row.kind}",
        prompt.schema,
        lambda answer: read_answer(assignment, material, answer),
        max_tries=TRIES,
        temperature=FRESH_TEMPERATURE if row.fresh else 0,
    )
    return {
        "state": State.READY,
        "rows": storable([one.to_json() for one in proposals]),
        "findings": storable(check_rows(row.task, spec, proposals, kind=row.kind)),
    }


def _finish(row: Suggestion, **changes: Any) -> None:
    """Write the end of it, unless somebody stopped waiting or another worker took over."""
    used = row.calls.aggregate(
        prompt_tokens=Sum("prompt_tokens"),
        completion_tokens=Sum("completion_tokens"),
        cost=Sum("cost"),
        milliseconds=Sum("milliseconds"),
    )
    changes |= {name: value or 0 for name, value in used.items()}
    _held(row).update(claimed_by="", lease_until=None, answered_at=timezone.now(), **changes)


def _held(row: Suggestion) -> QuerySet[Suggestion]:
    return Suggestion.objects.filter(pk=row.pk, state=State.ASKED, claimed_by=row.claimed_by)
