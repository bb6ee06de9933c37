"""Asking for second opinions in a worker. What the model does not answer usably stays as the words say."""

from __future__ import annotations

import logging
from functools import partial

from django.db import connection

from evaluation.assistance.assistant import assistant_model_of, budget_of, keep_free, why_over_budget
from evaluation.assistance.opinions import State, due_requests, opinions_of, store_opinions
from evaluation.assistance.worker import MAX_ANSWERS, MAX_ATTEMPTS, RETRY_POLICY, describe_failure
from evaluation.call_records import RecordOwnerDeletedError, opinion_record
from evaluation.leases import renewing
from evaluation.llm import RetryPolicy, TruncatedAnswerError, UnreadableAnswerError, UnusableJsonError
from evaluation.models import AssistantModel, ModelEndpoint, OpinionRequest
from evaluation.models.leased import LeaseLostError
from evaluation.protocol.participants import InfrastructureError
from studio.domain.checks.questions import batches, messages_for, questions_about, read_opinions, schema_for
from studio.domain.storable import storable_text
from studio.drafts.load import load_task
from studio.findings.refresh import refresh_findings
from studio.models import Task

logger = logging.getLogger(__name__)


def work_on(pk: int, *, retry_policy: RetryPolicy = RETRY_POLICY) -> None:
    """Ask about the task ``pk``, if asked to. Safe to call twice: a claimed request is skipped while its worker is
    alive, and a version saved in the meantime is asked about too."""
    token = due_requests().claim(pk, reserved=0)
    claimed = OpinionRequest.objects.filter(pk=pk, claimed_by=token)
    asked = claimed.first() if token else None
    if asked is None:
        return
    with renewing(asked):
        while asked:
            problem = _work(asked, retry_policy)
            state = State.FAILED if problem else State.ANSWERED
            done = {"state": state, "problem": storable_text(problem)[:2000], "claimed_by": "", "lease_until": None}
            claimed.filter(asked_at=asked.asked_at).update(**done)
            asked = claimed.first()


def _work(asked: OpinionRequest, retry_policy: RetryPolicy) -> str:
    """The problem, if there is one."""
    if asked.attempts > MAX_ATTEMPTS:
        return "The studio stopped several times while the model was working."
    try:
        task = Task.objects.select_related("persona__benchmark").get(pk=asked.pk)
        assistant = assistant_model_of(task.persona.benchmark)
        if assistant is None or assistant.endpoint is None or assistant.endpoint.scripted:
            return ""  # turned off in the meantime
        return _ask(asked, task, assistant, assistant.endpoint, retry_policy)
    except (Task.DoesNotExist, RecordOwnerDeletedError, LeaseLostError):
        logger.info("Task %d was deleted in the meantime.", asked.pk)
        return ""
    except Exception as error:
        logger.exception("The second opinion on task %d failed with an internal error.", asked.pk)
        connection.close_if_unusable_or_obsolete()
        return f"Internal error: {type(error).__name__}."


def _ask(
    asked: OpinionRequest, task: Task, assistant: AssistantModel, endpoint: ModelEndpoint, retry_policy: RetryPolicy
) -> str:
    benchmark = assistant.benchmark_id
    questions = list(questions_about(load_task(task)))
    known = opinions_of(benchmark, endpoint.pk, questions)
    missing = batches(question for question in questions if question.key not in known)
    if not missing:
        return ""
    if why := why_over_budget(assistant):
        return why
    client = opinion_record(asked, partial(keep_free, assistant, asked)).client(
        endpoint, "second_opinion", budget=budget_of(assistant), retry_policy=retry_policy
    )
    problem, answered = "", False
    try:
        for batch in missing:
            try:
                opinions, _ = client.ask_json(
                    messages_for(batch),
                    "second_opinion",
                    schema_for(batch),
                    partial(read_opinions, batch),
                    max_tries=MAX_ANSWERS,
                    temperature=0,
                )
            except (UnusableJsonError, TruncatedAnswerError, UnreadableAnswerError):
                problem = f"{endpoint.name} gave no usable answer."
                continue
            store_opinions(benchmark, endpoint.pk, opinions)
            answered = True
    except (InfrastructureError, ValueError) as error:
        problem = describe_failure(error, endpoint.name)
    if answered:
        refresh_findings([task.persona], ask=False)
    return problem
