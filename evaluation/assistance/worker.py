"""Fulfilling a request in a worker: call the model, read and check its answer, store the proposal."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import Count, Q, Sum
from django.utils import timezone

from evaluation.assistance.answers import read_answer
from evaluation.assistance.assistant import AssistanceError, assistant_model_of, budget_of, keep_free
from evaluation.assistance.checks import check_rows
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.opinions import record_leaks
from evaluation.assistance.prompts import build_prompt
from evaluation.assistance.proposals import ProposedChange
from evaluation.assistance.requests import due_proposals
from evaluation.assistance.task_material import load_material, request_of
from evaluation.call_records import RecordOwnerDeletedError, proposal_record
from evaluation.leases import renewing
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
from evaluation.models import Proposal
from evaluation.models.leased import LeaseLostError
from evaluation.protocol.answers import UnusableAnswerError
from evaluation.protocol.participants import InfrastructureError
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

logger = logging.getLogger(__name__)
State = Proposal.State
RETRY_POLICY = RetryPolicy(attempts=3, max_pause=15, max_seconds=60)
"""Short: an author is waiting."""
MAX_ANSWERS = 3
"""Answers to ask for until one is usable."""
FRESH_TEMPERATURE = 0.7
MAX_ATTEMPTS = 3
"""Workers that may die on one request."""
ADVICE: tuple[tuple[type[Exception], str, str], ...] = (
    (AssistanceError, "", "Attach another good result, or paste one."),
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
"""Exception type; a description, where its own message contains addresses or server replies; and what to do."""


class CancelledError(Exception):
    """Nobody waits for the answer any more."""


def work_on(pk: int, *, retry_policy: RetryPolicy = RETRY_POLICY) -> None:
    """Fulfil a request. Safe to call twice: a claimed request is skipped while its worker is alive."""
    token = due_proposals().claim(pk, reserved=0)
    rows = Proposal.objects.select_related("revision", "endpoint", "task__persona__benchmark")
    proposal = rows.filter(claimed_by=token).first() if token else None
    if proposal is None:
        return
    if proposal.attempts > MAX_ATTEMPTS:
        _finish(proposal, state=State.FAILED, problem="The studio stopped several times while the model was working.")
        return
    with renewing(proposal):
        try:
            _finish(proposal, **_call_model(proposal, retry_policy))
        except (AssistanceError, InfrastructureError, ValueError) as error:
            texts = {"problem": describe_failure(error, proposal.endpoint.name), "detail": str(error)}
            _finish(proposal, state=State.FAILED, **{name: storable(text)[:2000] for name, text in texts.items()})
        except (CancelledError, LeaseLostError):
            logger.info("Proposal %d was cancelled.", pk)
        except RecordOwnerDeletedError:
            logger.info("Proposal %d was deleted in the meantime.", pk)
        except Exception as error:
            logger.exception("Proposal %d failed with an internal error.", pk)
            connection.close_if_unusable_or_obsolete()
            _finish(proposal, state=State.FAILED, problem=f"Internal error: {type(error).__name__}. Try again.")


def describe_failure(error: Exception, name: str) -> str:
    known = next(((what, fix) for kind, what, fix in ADVICE if isinstance(error, kind)), None)
    what, fix = known or ("", "An owner can choose another model.")
    return f"{what.format(name=name) or error} {fix}"


def _call_model(proposal: Proposal, retry_policy: RetryPolicy) -> Mapping[str, Any]:
    spec = TaskSpec.model_validate(proposal.revision.spec)
    request = request_of(proposal, spec)
    if request.kind == "checklist" and not request.reference_text.strip():
        raise AssistanceError(f"There is no text in {request.reference}.")
    material = load_material(proposal.task, spec, request)
    prompt = build_prompt(request, material)
    assistant = assistant_model_of(proposal.task.persona.benchmark)
    if assistant is None:
        raise ValueError("AI help was turned off in the meantime.")
    record = proposal_record(proposal, partial(keep_free, assistant, proposal))
    client = record.client(proposal.endpoint, proposal.kind, budget=budget_of(assistant), retry_policy=retry_policy)
    changes, completion = client.ask_json(
        prompt.messages,
        f"assist_{proposal.kind}",
        prompt.schema,
        partial(_read, proposal, request, material),
        max_tries=MAX_ANSWERS,
        temperature=FRESH_TEMPERATURE if proposal.fresh else 0,
    )
    record_leaks(proposal, spec, changes, completion.text)
    return {
        "state": State.READY,
        "truncated_files": list(prompt.truncated),
        "rows": storable([change.to_json() for change in changes]),
        "findings": storable(check_rows(proposal.task, spec, changes, kind=proposal.kind)),
    }


def _read(proposal: Proposal, request: ProposalRequest, material: Material, answer: str) -> tuple[ProposedChange, ...]:
    """Raises UnusableAnswerError, upon which the model is asked again, unless nobody waits for it any more."""
    try:
        return read_answer(request, material, answer)
    except UnusableAnswerError:
        if not Proposal.objects.filter(pk=proposal.pk, state=State.REQUESTED).exists():
            raise CancelledError from None
        raise


def _finish(proposal: Proposal, **changes: Any) -> None:
    """Store the outcome, unless the request was cancelled or another worker has claimed it."""
    used = proposal.calls.aggregate(
        prompt_tokens=Sum("prompt_tokens"),
        completion_tokens=Sum("completion_tokens"),
        paid=Sum("cost"),
        milliseconds=Sum("milliseconds"),
        unpriced=Count("pk", filter=Q(cost=None)),
    )
    paid, unpriced = used.pop("paid"), used.pop("unpriced")
    changes |= {name: value or 0 for name, value in used.items()} | {"cost": None if unpriced else paid or 0}
    proposal.release(answered_at=timezone.now(), **changes)
