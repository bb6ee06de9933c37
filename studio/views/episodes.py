"""The episode board: what it shows, and every step somebody makes on it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.domain.arrangement import ArrangementError
from studio.episodes import moves, undo
from studio.episodes.board import Board, board_of
from studio.findings.queries import findings_of_task
from studio.forms.post_data import number_of
from studio.models import Persona
from studio.reports import counts


@login_required
def board(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """The episode. ``?task=`` names the card that is open beside it."""
    persona = access.find_persona(request.user, slug, user_id)
    return _page(request, persona, board_of(persona), request.GET.get("task", ""))


@login_required
@require_POST
def arrange(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """One step. Refused, the board is shown again with the reason beside the card."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    shown = board_of(persona)
    ids = {str(card.task.pk): card.task.task_id for card in (*shown.cards, *shown.unplaced)}
    posted = request.POST
    place = posted.get("place", "")
    move = moves.Move(
        action=posted.get("does", ""),
        tasks=tuple(ids.get(pk, f"#{pk}") for pk in posted.getlist("task")),
        target=ids.get(place) or (place if place in ("", moves.END) else f"#{place}"),
        group=posted.get("group", ""),
        name=posted.get("name", ""),
        carries_over=posted.get("words", ""),
    )
    stays = posted.get("open") or (posted.getlist("task") or [""])[0]
    try:
        seen, confirmed = posted.get("seen", ""), "sure" in posted
        made = moves.make_move(persona.pk, move, by=request.user, seen=seen, confirmed=confirmed)
    except moves.BoardChangedError as refusal:
        return _page(request, persona, board_of(persona), stays, refusal={"text": str(refusal)})
    except moves.ConfirmationNeededError as question:
        kept = [(name, value) for name, values in posted.lists() for value in values if name != "csrfmiddlewaretoken"]
        asked = {"text": str(question), "task": question.tasks[0].pk, "sure": kept}
        return _page(request, persona, shown, stays, refusal=asked)
    except ArrangementError as refusal:
        beside = next((int(pk) for pk, task_id in ids.items() if task_id == refusal.task_id), None)
        return _page(request, persona, shown, stays, refusal={"text": str(refusal), "task": beside, "not": "Not done."})
    messages.success(request, made.summary)
    return redirect(f"{persona.get_absolute_url()}?task={stays}" if number_of(stays) else persona.get_absolute_url())


def _page(
    request: SignedInRequest, persona: Persona, shown: Board, open_card: str, refusal: dict[str, Any] | None = None
) -> HttpResponse:
    card = shown.card(number_of(open_card))
    context: dict[str, Any] = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "board": shown,
        "card": card,
        "count": counts.persona_counts([persona])[persona.pk],
        "can": access.actions_in(request.user, persona.benchmark),
        "refusal": refusal,
    }
    if "edit" in context["can"]:
        context["undo"] = undo.to_undo(persona, request.user)
        context["redo"] = undo.to_redo(persona, request.user)
    if card:
        context["findings"] = findings_of_task(card.task)
        context["neighbours"] = shown.neighbours(card)
        needed = {need.other.pk for need in card.needs}
        context["could_need"] = [
            other
            for other in shown.cards
            if card.number and other.number and other.number < card.number and other.task.pk not in needed
        ]
    return render(request, "studio/episodes/board.html", context, status=409 if refusal else 200)
