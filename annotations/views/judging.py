"""Judging blind: nothing sealed is rendered before the judgment."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.campaigns import instructions_html
from annotations.forms import JudgmentForm, SessionJudgmentForm, known_answers
from annotations.judgments import (
    MAX_DRAFT_LENGTH,
    minutes_left,
    next_number,
    open_results,
    record_judgment,
    take_back,
    undo_last,
)
from annotations.leases import (
    autosave,
    has_begun,
    next_packet,
    read_draft,
    renew_lease,
)
from annotations.models import AuditCampaign, Packet
from annotations.packets import PacketContent
from annotations.visibility import find_assigned_campaign, find_packet, shares_of
from studio.access import SignedInRequest
from studio.domain.options import OptionsError
from studio.models import User

MAX_CAUSE_LENGTH = 20


@require_POST
def results(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_assigned_campaign(request.user, pk)
    try:
        open_results(row, request.user)
    except OptionsError as error:
        messages.warning(request, str(error))
    return redirect(row)


@require_GET
def judge_next(request: SignedInRequest, pk: int) -> HttpResponse:
    """The next packet; with ``?after=``, the page of the one after that position, which a script fetches ahead."""
    row = find_assigned_campaign(request.user, pk)
    if "after" in request.GET:
        return _page_ahead(request, row, request.GET["after"]) or HttpResponse(status=204)
    if row.instructions and "begin" not in request.GET and not has_begun(row, request.user):
        return redirect(f"{row.get_absolute_url()}#instructions")
    return redirect(_next_address(row, request.user))


@require_http_methods(["GET", "POST"])
def judge(request: SignedInRequest, pk: int, position: int) -> HttpResponse:
    row = find_assigned_campaign(request.user, pk)
    packet = find_packet(row, position)
    if request.method == "POST" and not _was_given(packet, request.user):
        typed = [text for name in ("comment", "evidence") if (text := request.POST.get(name, "").strip())]
        return render(request, "annotations/not_yours.html", {"campaign": row, "typed": typed}, status=409)
    content = PacketContent.model_validate(packet.content)
    form = _judgment_form(content, request.POST or None, _initial_values(packet, request.user))
    rejection = None
    if request.method == "POST" and form.is_valid():
        try:
            record_judgment(packet, form.handed_in(), auditor=request.user, number=form.cleaned_data["number"])
        except OptionsError as error:
            form.reject(error)
            rejection = error
        else:
            if shown := request.headers.get("X-Studio-After"):
                ahead = _page_ahead(request, row, shown)
                return JsonResponse({"page": ahead and ahead.content.decode()})
            if "X-Studio-Script" in request.headers:
                return JsonResponse({"address": _next_address(row, request.user)})
            return redirect("annotations:judge", row.pk)
    if not form.is_bound and (_is_over(packet) or not renew_lease(packet.pk, request.user)):
        return redirect("annotations:judge", row.pk)
    return _render_question(request, packet, content, form, status=409 if rejection and not rejection.field else 200)


@require_POST
def autosave_answers(request: SignedInRequest, pk: int, position: int) -> HttpResponse:
    """What was entered of a session so far; nothing is checked before the person hands it in."""
    row = find_assigned_campaign(request.user, pk)
    packet = find_packet(row, position)
    draft = {
        "answers": known_answers(PacketContent.model_validate(packet.content), request.POST),
        "evidence": request.POST.get("evidence", "")[:MAX_DRAFT_LENGTH],
        "comment": request.POST.get("comment", "")[:MAX_DRAFT_LENGTH],
        "confidence": request.POST.get("confidence", "")[:1],
        "cause": request.POST.get("cause", "")[:MAX_CAUSE_LENGTH],
    }
    held = not _is_over(packet) and autosave(packet.pk, request.user, draft)
    return HttpResponse(status=204 if held else 409)


@require_POST
def undo(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_assigned_campaign(request.user, pk)
    position = request.POST.get("position", "")
    chosen = find_packet(row, position if position.isdecimal() and len(position) < 10 else 0) if position else None
    try:
        packet = take_back(chosen, request.user) if chosen else undo_last(row, request.user)
    except OptionsError as error:
        messages.warning(request, str(error))
        return redirect("annotations:judge", row.pk)
    which = "That answer" if chosen else "Your last answer"
    messages.success(request, f"{which} was undone. Here is the question again.")
    return redirect("annotations:packet", row.pk, packet.position)


def _next_address(row: AuditCampaign, user: User) -> str:
    packet = next_packet(row, user)
    return reverse("annotations:packet", args=[row.pk, packet.position]) if packet else row.get_absolute_url()


def _page_ahead(request: SignedInRequest, row: AuditCampaign, position: str) -> HttpResponse | None:
    """The page of the packet after the one at the position, which the person sees now; None if there is none."""
    now = find_packet(row, position if position.isdecimal() and len(position) < 10 else 0)
    packet = next_packet(row, request.user, after=now.pk)
    if packet is None:
        return None
    content = PacketContent.model_validate(packet.content)
    form = _judgment_form(content, None, _initial_values(packet, request.user))
    return _render_question(request, packet, content, form, status=200, shown=now)


def _initial_values(packet: Packet, user: User) -> dict[str, object]:
    number = next_number(packet, user)
    undone = packet.judgments.filter(auditor=user, number=number - 2).first()
    values: dict[str, object] = {}
    if undone:
        values = {
            "evidence": "\n".join(undone.evidence),
            "comment": undone.comment,
            "answers": undone.by_question,
            "confidence": undone.confidence,
            "cause": undone.cause,
        }
    return {"number": number, **values, **read_draft(packet, user)}


def _judgment_form(content: PacketContent, data: QueryDict | None, initial: dict[str, object]) -> JudgmentForm:
    if content.kind == "session":
        return SessionJudgmentForm(content, data, initial=initial)
    return JudgmentForm(data, initial=initial)


def _was_given(packet: Packet, user: User) -> bool:
    """Whether the person holds the packet or has answered it: nobody reads others' by sending something to them."""
    return packet.seats.filter(auditor=user).exists() or packet.judgments.filter(auditor=user).exists()


def _is_over(packet: Packet) -> bool:
    return packet.campaign.state != AuditCampaign.State.OPEN or packet.adjudications.exists()


def _render_question(
    request: SignedInRequest,
    packet: Packet,
    content: PacketContent,
    form: JudgmentForm,
    *,
    status: int,
    shown: Packet | None = None,
) -> HttpResponse:
    """``shown``: the packet before the person now, which will have been judged when this one is shown. Its answer can
    already be stored: a page is fetched ahead while the answer is under way.
    """
    row = packet.campaign
    share = shares_of([row], request.user)[row.pk]
    total = share.done + len(share.pending)
    done = share.done + (shown is not None and shown.pk in share.pending)
    return render(
        request,
        "annotations/session.html" if content.kind == "session" else "annotations/judge.html",
        {
            "campaign": row,
            "packet": packet,
            "content": content,
            "instructions": instructions_html(row),
            "begins": not done,
            "form": form,
            "number": min(done + 1, total),
            "total": total,
            "done": done,
            "minutes": minutes_left(row, request.user, len(share.pending)),
        },
        status=status,
    )
