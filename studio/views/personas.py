"""A persona's episode: the board, its order, new sessions."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from studio import access, drafts, queries
from studio.board import board_of
from studio.forms import personas as sheets
from studio.spec.task import TaskSpec


@login_required
def board(request: HttpRequest, slug: str, user_id: str) -> HttpResponse:
    """The episode. ``?task=`` names the card that is open beside it."""
    persona = access.find_persona(request.user, slug, user_id)
    shown = board_of(persona)
    chosen = request.GET.get("task", "")
    card = shown.card(int(chosen)) if chosen.isdigit() else None
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "board": shown,
        "card": card,
        "count": queries.persona_counts([persona])[persona.pk],
        "can": access.actions_in(request.user, persona.benchmark),
    }
    if card:
        context["findings"] = queries.findings_of_task(card.task)
        context["neighbours"] = _neighbours(shown, card)
    return render(request, "studio/board.html", context)


@login_required
@require_POST
def order(request: HttpRequest, slug: str, user_id: str) -> HttpResponse:
    """Move one session up or down, take it out of the episode or put it in. Refused with the reason."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    task = access.find_task(request.user, slug, user_id, _number(request.POST.get("task")))
    places = list(
        persona.episode.tasks.filter(position__isnull=False).order_by("position").values_list("task_id", flat=True)
    )
    move = request.POST.get("move", "")
    if task.task_id in places:
        here = places.index(task.task_id)
        to = here + {"up": -1, "down": 1}.get(move, 0)
        places.remove(task.task_id)
        if move != "out":
            places.insert(max(0, to), task.task_id)
    elif move == "in":
        places.append(task.task_id)
    try:
        drafts.save_order(persona.pk, places, by=request.user)
    except drafts.DraftRefused as refusal:
        messages.error(request, f"Not moved. {refusal}")
    return redirect(f"{persona.get_absolute_url()}?task={task.pk}")


@login_required
def new_task(request: HttpRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    suggested = f"{persona.user_id}_task_{persona.episode.tasks.count() + 1:03d}"
    form = sheets.NewTaskForm(request.POST or None, initial={"task_id": suggested})
    if request.method == "POST" and form.is_valid():
        spec = TaskSpec(user_id=persona.user_id, **form.cleaned_data)
        try:
            return redirect(drafts.create_task(persona, spec, by=request.user))
        except drafts.DraftRefused as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
    context = {"persona": persona, "benchmark": persona.benchmark, "form": form}
    return render(request, "studio/task_new.html", context)


def _neighbours(shown: Any, card: Any) -> tuple[Any, Any]:
    cards = [*shown.cards, *shown.unplaced]
    place = cards.index(card)
    return (cards[place - 1] if place else None, cards[place + 1] if place + 1 < len(cards) else None)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else 0
