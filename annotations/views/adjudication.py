"""Adjudication: deciding where auditors have no majority, blind to the judge."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotations.adjudication import (
    FIRST_FIRST,
    STILL_SEALED,
    adjudicable_packets,
    adjudicate,
    open_questions,
    waits_for_first,
)
from annotations.campaigns import instructions_html
from annotations.forms import AdjudicationForm, SessionAdjudicationForm
from annotations.judgments import current_judgments
from annotations.models import AuditCampaign, Judgment
from annotations.packets import DECISION, PacketContent
from annotations.seals import sees_results
from annotations.visibility import find_campaign, find_packet, may_adjudicate, why_not_adjudicate
from studio.access import SignedInRequest
from studio.models import User

WHY = ("reason", "cause", "about", "request_changes")


@require_GET
def adjudicate_next(request: SignedInRequest, pk: int) -> HttpResponse:
    """The first decision that waits for this person, or the audit if none does."""
    row = find_campaign(request.user, pk)
    waiting = _positions_to_adjudicate(request.user, row)
    return redirect("annotations:adjudicate", pk, waiting[0]) if waiting else redirect(row)


@require_http_methods(["GET", "POST"])
def adjudication(request: SignedInRequest, pk: int, position: int) -> HttpResponse:
    row = find_campaign(request.user, pk)
    packet = find_packet(row, position)
    if not sees_results(request.user, row):
        raise PermissionDenied(STILL_SEALED)
    if waits_for_first(packet):
        raise PermissionDenied(FIRST_FIRST)
    if not may_adjudicate(request.user, packet):
        raise PermissionDenied(why_not_adjudicate(request.user, packet))
    content = PacketContent.model_validate(packet.content)
    whole = content.kind == "session"
    form: AdjudicationForm | SessionAdjudicationForm = (
        SessionAdjudicationForm(content, open_questions(packet), request.POST or None)
        if whole
        else AdjudicationForm(request.POST or None)
    )
    if request.method == "POST" and form.is_valid():
        why = {name: form.cleaned_data[name] for name in WHY if name in form.cleaned_data}
        with form.rejecting():
            adjudicate(packet, by=request.user, answers=form.answers(), **why)
            return _after_adjudication(request, row, position)
    return render(
        request,
        "annotations/adjudicate_session.html" if whole else "annotations/adjudicate.html",
        {
            "campaign": row,
            "packet": packet,
            "content": content,
            "asked": len(content.questions) - len(packet.known),
            "instructions": instructions_html(row),
            "judgments": [(row, _said(row, form)) for row in current_judgments(packet)],
            "form": form,
            "neighbors": _neighbors(position, _positions_to_adjudicate(request.user, row)),
        },
    )


def _said(judgment: Judgment, form: AdjudicationForm) -> str:
    """The answer, of a session to the open questions, by their numbers if there are several."""
    given = judgment.by_question
    if not isinstance(form, SessionAdjudicationForm):
        return given[DECISION].capitalize()
    answers = [given.get(row.key, "–") for row in form.questions]
    if len(answers) == 1:
        return answers[0]
    return ", ".join(f"{number}: {answer}" for number, answer in enumerate(answers, start=1))


def _after_adjudication(request: SignedInRequest, row: AuditCampaign, position: int) -> HttpResponse:
    """On to the next decision after this one, else to the first that is left, else to the results."""
    waiting = _positions_to_adjudicate(request.user, row)
    if not waiting:
        messages.success(request, "Your decision counts. Nothing else is left to adjudicate here.")
        return redirect(row)
    messages.success(request, f"Your decision counts. {len(waiting)} left.")
    later = [other for other in waiting if other > position]
    return redirect("annotations:adjudicate", row.pk, (later or waiting)[0])


def _positions_to_adjudicate(user: User, row: AuditCampaign) -> list[int]:
    return adjudicable_packets(user, only=row.pk).get(row, [])


def _neighbors(position: int, waiting: list[int]) -> dict[str, int | None]:
    return {
        "number": waiting.index(position) + 1 if position in waiting else None,
        "total": len(waiting),
        "previous": next((other for other in reversed(waiting) if other < position), None),
        "next": next((other for other in waiting if other > position), None),
    }
