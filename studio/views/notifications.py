"""The inbox and its settings."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from studio.access import SignedInRequest
from studio.models import Notification, NotificationChoice
from studio.notifications.inbox import address_of, choices_of, inbox_of, mark_read, save_choices

PAGE = 50


def inbox(request: SignedInRequest) -> HttpResponse:
    unread = request.GET.get("unread") == "1"
    rows = inbox_of(request.user)
    page = Paginator(rows.filter(read_at=None) if unread else rows, PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "only_unread": unread, "query": "unread=1" if unread else ""}
    return render(request, "studio/notifications/inbox.html", context)


@require_POST
def read(request: SignedInRequest, pk: int) -> HttpResponse:
    """Mark as read and open the page it is about; with ``stay``, return to the inbox."""
    row = get_object_or_404(inbox_of(request.user), pk=pk)
    mark_read(request.user, only=pk)
    return redirect("studio:inbox") if "stay" in request.POST else redirect(address_of(row))


@require_POST
def read_all(request: SignedInRequest) -> HttpResponse:
    mark_read(request.user)
    return redirect("studio:inbox")


def choices(request: SignedInRequest) -> HttpResponse:
    if request.method == "POST":
        save_choices(request.user, request.POST.dict())
        messages.success(request, "Saved.")
        return redirect("studio:notification_choices")
    chosen = choices_of(request.user)
    context = {
        "kinds": [(kind, label, chosen[kind]) for kind, label in Notification.Kind.choices],
        "ways": NotificationChoice.How.choices,
    }
    return render(request, "studio/notifications/choices.html", context)
