"""Asking for help: a row says what is wanted, a worker does it. The same question again is answered from the record."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from evaluation.assistance.assistant import AssistanceError, helper_of, why_over_budget
from evaluation.assistance.checks import check_rows
from evaluation.assistance.kinds import Assignment, is_askable
from evaluation.assistance.material import Material, texts_of
from evaluation.assistance.prompts import PROMPTS_VERSION, Prompt, prompt_of
from evaluation.assistance.proposals import Proposal, text_at
from evaluation.assistance.task_material import PASTED, material_of
from evaluation.leases.queue import enqueue
from evaluation.models import ModelEndpoint, Suggestion
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Task, User

RUN_SUGGESTION = "evaluation.tasks.run_suggestion"
State = Suggestion.State
FORGOTTEN = timedelta(seconds=30)
"""A message to the queue that nobody acted on is sent again after this."""


def ask(task: Task, *, by: User, assignment: Assignment, fresh: bool = False) -> Suggestion:
    """Ask the benchmark's helper about the newest version; who asked the same already gets the same row.

    ``fresh`` wants another answer than the one on record. Raises AssistanceError.
    """
    benchmark = task.episode.persona.benchmark
    helper = helper_of(benchmark)
    if helper is None or helper.endpoint is None:
        raise AssistanceError("AI help is off in this benchmark. An owner can turn it on.")
    revision = task.revisions.get(number=task.version)
    spec = TaskSpec.model_validate(revision.spec)
    _require_something(assignment, spec)
    material = material_of(task, spec)
    prompt = prompt_of(assignment, material)
    digest = _hash(helper.endpoint, prompt)
    same = Suggestion.objects.filter(request_hash=digest)
    if there := same.filter(task=task, state__in=[State.ASKED] if fresh else [State.ASKED, State.READY]).first():
        return there
    known = None
    if not fresh:
        answered = same.filter(rows__isnull=False, task__episode__persona__benchmark=benchmark)
        known = answered.exclude(state=State.ASKED).first()
    if known is None and (why := why_over_budget(helper)):
        raise AssistanceError(why)
    row = Suggestion(
        task=task,
        revision=revision,
        kind=assignment.kind,
        field=assignment.field,
        item=assignment.uid or None,
        options=_options(assignment),
        fresh=fresh,
        endpoint=helper.endpoint,
        model=f"{helper.endpoint.name} ({helper.endpoint.model})",
        scripted=helper.endpoint.scripted,
        request_hash=digest,
        cut=list(prompt.cut),
        asked_by=by,
    )
    if known is not None:
        _repeat(row, known, material)
    try:
        with transaction.atomic():
            _put_away(row, by)
            row.save()
            if row.state == State.ASKED:
                transaction.on_commit(lambda: enqueue(RUN_SUGGESTION, [row.pk]), robust=True)
    except IntegrityError:  # the same press of a button, twice
        return same.get(task=task, state=State.ASKED)
    return row


def send_forgotten() -> None:
    """Send again what a worker should have taken up by now: its message was lost, or it died."""
    now = timezone.now()
    waiting = Suggestion.objects.filter(state=State.ASKED).filter(
        Q(lease_until__lt=now) | Q(lease_until=None, asked_at__lt=now - FORGOTTEN)
    )
    enqueue(RUN_SUGGESTION, waiting.values_list("pk", flat=True))


def _require_something(assignment: Assignment, spec: TaskSpec) -> None:
    kind, field = assignment.kind, assignment.field
    if not is_askable(kind, field):
        raise AssistanceError("This kind of AI help is not available here.")
    if kind in ("split", "rule") and not (text_at(spec, field, assignment.uid) or "").strip():
        raise AssistanceError("This row is empty or no longer exists. Write it first.")
    if kind in ("reword", "leaks") and not spec.initial_request.strip():
        raise AssistanceError("Write the request first.")
    if kind in ("reword", "leaks") and not spec.intents:
        raise AssistanceError("Write the hidden intents first; without them, nothing can be given away.")
    if kind == "checklist" and not assignment.reference_text.strip():
        raise AssistanceError("Choose a reference or a text file, or paste a good result to derive items from.")
    if kind == "translate" and not texts_of(spec, field):
        raise AssistanceError("There is no text to translate yet.")


def _hash(endpoint: ModelEndpoint, prompt: Prompt) -> str:
    identity = [PROMPTS_VERSION, endpoint.name, endpoint.base_url, endpoint.model, endpoint.params, prompt.messages]
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _options(assignment: Assignment) -> dict[str, str]:
    named = {name: getattr(assignment, name) for name in ("language", "reference", "reference_text")}
    options: dict[str, str] = storable({name: text for name, text in named.items() if text})
    if assignment.reference != PASTED:
        options.pop("reference_text", None)  # it stands in the task
    return options


def _repeat(row: Suggestion, known: Suggestion, material: Material) -> None:
    """What was answered before is checked against the task as it is now."""
    row.state, row.rows, row.replay_of, row.scripted = State.READY, known.rows, known, known.scripted
    row.answered_at = timezone.now()
    proposals = [Proposal.model_validate(one) for one in known.rows or ()]
    row.findings = check_rows(row.task, material.task, proposals, kind=row.kind)


def _put_away(row: Suggestion, by: User) -> None:
    """One suggestion stands at a place: an older one that is open gives way."""
    older = Suggestion.objects.filter(
        task=row.task, kind=row.kind, field=row.field, item=row.item, state__in=[State.ASKED, State.READY, State.FAILED]
    )
    for one in older.select_for_update():
        one.state = State.TAKEN if one.result_id else State.DISMISSED
        one.decided_by, one.decided_at = by, timezone.now()
        one.save(update_fields=["state", "decided_by", "decided_at"])
