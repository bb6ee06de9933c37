"""Requesting a proposal. A worker fulfils the request; a repeated request is answered from the record."""

from __future__ import annotations

import hashlib
import json

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from evaluation.assistance.assistant import AssistanceError, assistant_model_of, why_over_budget
from evaluation.assistance.checks import check_rows
from evaluation.assistance.kinds import ProposalRequest, is_available
from evaluation.assistance.material import Material, translatable_texts
from evaluation.assistance.opinions import said_of_leaks
from evaluation.assistance.prompts import PROMPTS_VERSION, Prompt, build_prompt
from evaluation.assistance.proposals import ProposedChange, text_of
from evaluation.assistance.task_material import PASTED, load_material
from evaluation.leases import wake_workers
from evaluation.models import ModelEndpoint, Proposal, ProposalDecision
from evaluation.models.leased import LeasedRows, free
from studio.domain.checks.questions import is_written
from studio.domain.checks.sources import opening_text
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Task, User

State = Proposal.State


@transaction.atomic
def request_proposal(task: Task, *, by: User, request: ProposalRequest, fresh: bool = False) -> Proposal:
    """Request a proposal for the newest version of the task; an identical open request is returned instead.

    ``fresh`` asks for a new answer rather than the recorded one. Raises AssistanceError.
    """
    benchmark = task.persona.benchmark
    assistant = assistant_model_of(benchmark)
    if assistant is None or assistant.endpoint is None:
        raise AssistanceError("AI help is off in this benchmark. An owner can turn it on.")
    revision = task.revisions.get(number=task.version)
    spec = TaskSpec.model_validate(revision.spec)
    _validate_request(request, spec)
    if fresh:
        _dismiss_open(task, request, by)
    material = load_material(task, spec, request, read=False)
    prompt = build_prompt(request, material)
    digest = _hash(assistant.endpoint, prompt)
    same = Proposal.objects.filter(request_hash=digest)
    if existing := same.filter(
        task=task, state__in=[State.REQUESTED] if fresh else [State.REQUESTED, State.READY]
    ).first():
        return existing
    recorded = None
    if not fresh:
        answered = same.filter(rows__isnull=False, task__persona__benchmark=benchmark)
        recorded = answered.exclude(state=State.REQUESTED).first()
    said = None if fresh or recorded else said_of_leaks(request, spec, assistant)
    if recorded is None and said is None and (why := why_over_budget(assistant)):
        raise AssistanceError(why)
    proposal = Proposal(
        task=task,
        revision=revision,
        kind=request.kind,
        field=request.field,
        item=request.uid or None,
        options=_options(request),
        fresh=fresh,
        endpoint=assistant.endpoint,
        model=f"{assistant.endpoint.name} ({assistant.endpoint.model})",
        scripted=assistant.endpoint.scripted,
        request_hash=digest,
        requested_by=by,
    )
    if recorded is not None:
        _replay(proposal, recorded, material)
    elif said is not None:
        proposal.state, proposal.rows, proposal.answered_at = (
            State.READY,
            [row.to_json() for row in said],
            timezone.now(),
        )
    try:
        with transaction.atomic():
            _close_older(task, request, by)
            proposal.save()
            if proposal.state == State.REQUESTED:
                wake_workers()
    except IntegrityError:  # the button was clicked twice
        return same.get(task=task, state=State.REQUESTED)
    return proposal


def due_proposals() -> LeasedRows[Proposal]:
    return Proposal.objects.filter(free(), state=State.REQUESTED)


def _validate_request(request: ProposalRequest, spec: TaskSpec) -> None:
    kind, field = request.kind, request.field
    if not is_available(kind, field):
        raise AssistanceError("This kind of AI help is not available here.")
    if kind in ("split", "rule") and not is_written(text_of(spec, field, request.uid) or ""):
        raise AssistanceError("This row is empty or no longer exists. Write it first.")
    if kind == "reword" and not spec.initial_request.strip() and spec.trigger.payload:
        raise AssistanceError(
            "Nobody writes anything here: what is given away stands in the event's data. Change it there."
        )
    if kind in ("reword", "leaks") and not opening_text(spec).strip():
        raise AssistanceError("Write the request first.")
    if kind in ("reword", "leaks") and not any(is_written(intent.content) for intent in spec.intents):
        raise AssistanceError("Write the hidden intents first; without them, nothing can be given away.")
    if kind == "checklist" and not request.reference_text.strip():
        raise AssistanceError(
            "Attach a good result to a file the task leaves behind, or paste one here, to derive items from."
        )
    if kind == "translate" and not translatable_texts(spec, field):
        raise AssistanceError("There is no text to translate yet.")


def _hash(endpoint: ModelEndpoint, prompt: Prompt) -> str:
    """``prompt``: with hashes of files instead of texts."""
    identity = [PROMPTS_VERSION, endpoint.name, endpoint.base_url, endpoint.model, endpoint.params, prompt.messages]
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _options(request: ProposalRequest) -> dict[str, str]:
    values = {name: getattr(request, name) for name in ("language", "reference", "reference_text")}
    options: dict[str, str] = storable({name: text for name, text in values.items() if text})
    if request.reference != PASTED:
        options.pop("reference_text", None)  # it is part of the task
    return options


def _replay(proposal: Proposal, recorded: Proposal, material: Material) -> None:
    proposal.state, proposal.rows, proposal.scripted = State.READY, recorded.rows, recorded.scripted
    proposal.replay_of, proposal.answered_at = recorded, timezone.now()
    proposal.truncated_files = recorded.truncated_files
    changes = [ProposedChange.model_validate(row) for row in recorded.rows or ()]
    proposal.findings = check_rows(proposal.task, material.task, changes, kind=proposal.kind)


def _open(task: Task, request: ProposalRequest) -> QuerySet[Proposal]:
    return Proposal.objects.filter(
        task=task,
        kind=request.kind,
        field=request.field,
        item=request.uid or None,
        state__in=[State.REQUESTED, State.READY, State.FAILED],
    )


def _dismiss_open(task: Task, request: ProposalRequest, by: User) -> None:
    """Another answer is wanted: what an open proposal still offers is not."""
    for row in _open(task, request).filter(state=State.READY).select_for_update(no_key=True):
        decided = set(row.decisions.values_list("row", flat=True))
        ProposalDecision.objects.bulk_create(
            [
                ProposalDecision(proposal=row, row=number, accepted=False, field=change["field"], by=by)
                for number, change in enumerate(row.rows or ())
                if number not in decided
            ]
        )


def _close_older(task: Task, request: ProposalRequest, by: User) -> None:
    """Each field or row has at most one open proposal of a kind."""
    for row in _open(task, request).select_for_update(no_key=True):
        row.state = State.ACCEPTED if row.result_id else State.DISMISSED
        row.decided_by, row.decided_at = by, timezone.now()
        row.save(update_fields=["state", "decided_by", "decided_at"])
