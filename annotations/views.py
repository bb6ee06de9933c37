"""The audit pages. Nothing sealed is rendered before the judgment."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations import reports
from annotations.adjudication import AdjudicationError, adjudicable_packets, adjudicate, undecided_packets
from annotations.campaigns import close_campaign
from annotations.forms import AdjudicationForm, JudgmentForm
from annotations.judgments import JudgmentError, next_number, open_results, record_judgment, undo_last
from annotations.leases import next_packet, renew_lease
from annotations.models import AuditCampaign, Packet
from annotations.packets import GUIDES, PacketContent
from annotations.results import summarize
from annotations.visibility import (
    benchmarks_to_audit,
    is_auditor,
    may_adjudicate,
    sees_results,
    shares_of,
    visible_campaigns,
    why_not_adjudicate,
)
from studio.access import SignedInRequest, may, require
from studio.models import User


@login_required
@require_GET
def campaigns(request: SignedInRequest) -> HttpResponse:
    visible = visible_campaigns(request.user)
    if slug := request.GET.get("benchmark"):
        visible = visible.filter(benchmark__slug=slug)
    rows = list(visible)
    shares = shares_of(rows, request.user)
    return render(
        request,
        "annotations/campaigns.html",
        {
            "campaigns": [(row, shares[row.pk]) for row in rows],
            "may_open": benchmarks_to_audit(request.user).exists(),
        },
    )


@login_required
@require_GET
def campaign(request: SignedInRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(visible_campaigns(request.user), pk=pk)
    share = shares_of([row], request.user)[row.pk]
    context = {
        "campaign": row,
        "share": share,
        "percent": 100 * share.resolved // share.packets if share.packets else 0,
        "may_close": row.state == AuditCampaign.State.OPEN and may(request.user, row.benchmark, "plan_audit"),
    }
    if sees_results(request.user, row):
        context |= {
            "summary": (summary := summarize([row])),
            "chart": reports.draw_chart(summary),
            "weighted": round(100 * (summary.weighted or 0), 1),
            "between": round(100 * (summary.between_auditors or 0), 1),
            "undecided": reports.list_undecided(row, request.user),
            "disagreements": reports.list_disagreements(row),
        }
    return render(request, "annotations/campaign.html", context)


@login_required
@require_POST
def close(request: SignedInRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(visible_campaigns(request.user), pk=pk)
    require(request.user, row.benchmark, "plan_audit")
    close_campaign(row, by=request.user)
    return redirect(row)


@login_required
@require_POST
def results(request: SignedInRequest, pk: int) -> HttpResponse:
    row = _find_assigned_campaign(request, pk)
    try:
        open_results(row, request.user)
    except JudgmentError as error:
        messages.warning(request, str(error))
    return redirect(row)


@login_required
@require_GET
def judge_next(request: SignedInRequest, pk: int) -> HttpResponse:
    row = _find_assigned_campaign(request, pk)
    packet = next_packet(row, request.user)
    if packet is None:
        return redirect(row)
    return redirect("annotations:packet", row.pk, packet.position)


@login_required
@require_http_methods(["GET", "POST"])
def judge(request: SignedInRequest, pk: int, position: int) -> HttpResponse:
    row = _find_assigned_campaign(request, pk)
    packet = get_object_or_404(row.packets.select_related("campaign"), position=position)
    form = JudgmentForm(request.POST or None, initial=_initial_values(packet, request.user))
    rejection = None
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            record_judgment(
                packet,
                auditor=request.user,
                answer=data["answer"],
                number=data["number"],
                evidence=form.passages(),
                comment=data["comment"],
                milliseconds=data["milliseconds"],
            )
        except JudgmentError as error:
            form.add_error(error.field or None, str(error))
            rejection = error
        else:
            if "X-Studio-Script" in request.headers:
                return JsonResponse({"address": reverse("annotations:judge", args=[row.pk])})
            return redirect("annotations:judge", row.pk)
    if not form.is_bound and (_is_over(packet) or not renew_lease(packet.pk, request.user)):
        return redirect("annotations:judge", row.pk)
    return _render_question(request, row, packet, form, status=409 if rejection and not rejection.field else 200)


@login_required
@require_POST
def undo(request: SignedInRequest, pk: int) -> HttpResponse:
    row = _find_assigned_campaign(request, pk)
    try:
        packet = undo_last(row, request.user)
    except JudgmentError as error:
        messages.warning(request, str(error))
        return redirect("annotations:judge", row.pk)
    messages.success(request, "Your last answer was undone. Here is the question again.")
    return redirect("annotations:packet", row.pk, packet.position)


@login_required
@require_GET
def adjudicate_next(request: SignedInRequest, pk: int) -> HttpResponse:
    """The first decision that waits for this person, or the audit if none does."""
    row = get_object_or_404(visible_campaigns(request.user), pk=pk)
    waiting = _positions_to_adjudicate(request.user, row)
    return redirect("annotations:adjudicate", pk, waiting[0]) if waiting else redirect(row)


@login_required
@require_http_methods(["GET", "POST"])
def adjudication(request: SignedInRequest, pk: int, position: int) -> HttpResponse:
    row = get_object_or_404(visible_campaigns(request.user), pk=pk)
    packet = get_object_or_404(row.packets.select_related("campaign"), position=position)
    if not sees_results(request.user, row) and packet.pk not in undecided_packets(row):
        raise PermissionDenied("This decision is still being judged, perhaps by you: it is not to be adjudicated yet.")
    if not may_adjudicate(request.user, packet):
        raise PermissionDenied(why_not_adjudicate(request.user, packet))
    form = AdjudicationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            adjudicate(packet, by=request.user, decision=data["decision"] == "yes", reason=data["reason"])
        except AdjudicationError as error:
            form.add_error(error.field or None, str(error))
        else:
            return _after_adjudication(request, row, position)
    content = PacketContent.model_validate(packet.content)
    return render(
        request,
        "annotations/adjudicate.html",
        {
            "campaign": row,
            "packet": packet,
            "content": content,
            "guide": GUIDES[content.kind],
            "judgments": reports.current_judgments(packet),
            "form": form,
            "neighbors": _neighbors(position, _positions_to_adjudicate(request.user, row)),
        },
    )


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
    return adjudicable_packets(user, AuditCampaign.objects.filter(pk=row.pk)).get(row, [])


def _neighbors(position: int, waiting: list[int]) -> dict[str, int | None]:
    return {
        "number": waiting.index(position) + 1 if position in waiting else None,
        "total": len(waiting),
        "previous": next((other for other in reversed(waiting) if other < position), None),
        "next": next((other for other in waiting if other > position), None),
    }


def _find_assigned_campaign(request: SignedInRequest, pk: int) -> AuditCampaign:
    """Raises Http404, or PermissionDenied unless the person is an auditor of the campaign."""
    row = get_object_or_404(visible_campaigns(request.user), pk=pk)
    require(request.user, row.benchmark, "audit")
    if not is_auditor(request.user, row):
        raise PermissionDenied("Other auditors were chosen for this audit. Whoever opened it can open one for you.")
    return row


def _initial_values(packet: Packet, user: User) -> dict[str, object]:
    number = next_number(packet, user)
    undone = packet.judgments.filter(auditor=user, number=number - 2).first()
    values = {"evidence": "\n".join(undone.evidence), "comment": undone.comment} if undone else {}
    return {"number": number, **values}


def _is_over(packet: Packet) -> bool:
    return packet.campaign.state != AuditCampaign.State.OPEN or packet.adjudications.exists()


def _render_question(
    request: SignedInRequest, row: AuditCampaign, packet: Packet, form: JudgmentForm, *, status: int
) -> HttpResponse:
    share = shares_of([row], request.user)[row.pk]
    content = PacketContent.model_validate(packet.content)
    total = share.done + len(share.pending)
    return render(
        request,
        "annotations/judge.html",
        {
            "campaign": row,
            "packet": packet,
            "content": content,
            "guide": GUIDES[content.kind],
            "form": form,
            "number": min(share.done + 1, total),
            "total": total,
            "done": share.done,
            "minutes": reports.minutes_left(row, request.user, len(share.pending)),
        },
        status=status,
    )
