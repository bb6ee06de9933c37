"""The episode board and the moves on it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.arrangement import ArrangementError
from studio.domain.episode import Split
from studio.episodes import moves
from studio.episodes.board import Board, board_of
from studio.findings.queries import findings_of_task
from studio.forms.post_data import number_of
from studio.models import Persona
from studio.reports.statistics import counts_of
from studio.views.pages import persona_page, show


@persona_page()
def board(request: SignedInRequest, persona: Persona) -> HttpResponse:
    """``?task=`` is the card that is open."""
    return _page(request, persona, board_of(persona), request.GET.get("task", ""))


@persona_page("edit", "POST")
def arrange(request: SignedInRequest, persona: Persona) -> HttpResponse:
    current = board_of(persona)
    ids = {str(card.task.pk): card.task.task_id for card in (*current.cards, *current.unplaced)}
    posted = request.POST
    target = posted.get("place", "")
    move = moves.Move(
        action=posted.get("does", ""),
        tasks=tuple(ids.get(pk, f"#{pk}") for pk in posted.getlist("task")),
        target=ids.get(target) or (target if target in ("", moves.END) else f"#{target}"),
        group=posted.get("group", ""),
        name=posted.get("name", ""),
        carries_over=posted.get("words", ""),
        split=posted.get("split", ""),
    )
    open_card = posted.get("open") or (posted.getlist("task") or [""])[0]
    try:
        seen, confirmed = posted.get("seen", ""), "sure" in posted
        made = moves.make_move(persona.pk, move, by=request.user, seen=seen, confirmed=confirmed)
    except moves.BoardChangedError as error:
        return _page(request, persona, board_of(persona), open_card, refusal={"text": str(error)})
    except moves.ConfirmationNeededError as question:
        fields = [(name, value) for name, values in posted.lists() for value in values if name != "csrfmiddlewaretoken"]
        refusal = {"text": str(question), "task": question.tasks[0].pk, "sure": fields}
        return _page(request, persona, current, open_card, refusal=refusal)
    except ArrangementError as error:
        beside = next((int(pk) for pk, task_id in ids.items() if task_id == error.task_id), None)
        refusal = {"text": str(error), "task": beside, "not": "Not done."}
        return _page(request, persona, current, open_card, refusal=refusal)
    messages.success(request, made.summary)
    address = persona.get_absolute_url()
    return redirect(f"{address}?task={open_card}" if number_of(open_card) else address)


def _page(
    request: SignedInRequest, persona: Persona, board: Board, open_card: str, refusal: dict[str, Any] | None = None
) -> HttpResponse:
    card = board.card(number_of(open_card))
    context: dict[str, Any] = {
        "board": board,
        "card": card,
        "splits": list(Split),
        "count": counts_of(persona),
        "refusal": refusal,
    }
    if access.may(request.user, persona.benchmark, "edit"):
        context["undo"] = moves.to_undo(persona, request.user)
        context["redo"] = moves.to_redo(persona, request.user)
    if card:
        context["findings"] = findings_of_task(card.task)
        context["neighbours"] = board.neighbours(card)
        context["together"] = board.together(card)
        needed = {dependency.other.pk for dependency in card.needs}
        context["could_need"] = [
            other
            for other in board.cards
            if card.number and other.number and other.number < card.number and other.task.pk not in needed
        ]
    return show(request, persona, "studio/episodes/board.html", context, status=409 if refusal else 200)
