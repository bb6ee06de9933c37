"""Tools of a person in the assistant's seat: each as a form, and mail as a mailbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from evaluation.models import Rehearsal
from evaluation.protocol.participants import ToolRecord
from evaluation.rehearsals.calls import Desk, desk_of, make_call, offered_tools, response_of, why_without_shell
from evaluation.rehearsals.lifecycle import RehearsalError
from evaluation.rehearsals.mailbox import APP, LISTS, THREADS_SHOWN, load_mailbox, mail_tools
from evaluation.rehearsals.tool_forms import ToolField, fields_of, read_arguments
from evaluation.rehearsals.transcript import load_rehearsal
from evaluation.views.rehearsals import find_own_rehearsal
from studio.access import SignedInRequest
from studio.domain.app_data import record_kinds
from studio.domain.tool_names import WORKSPACE, bare_tool_name, tool_domain, tool_label

PREFIX = "arg."
FieldRow = tuple[ToolField, str, str]
"""A field, what stands in it and what is wrong with it."""


@require_http_methods(["GET", "POST"])
def tools(request: SignedInRequest, pk: int) -> HttpResponse:
    """POST makes the call that a form asks for."""
    row = find_own_rehearsal(request, pk)
    offered = _offered(row)
    name = request.POST.get("tool", "") or request.GET.get("tool", "")
    errors, answer = _call(request, row, offered, name) if request.method == "POST" else ({}, None)
    if answer is not None:
        return answer
    tool = offered.get(name)
    titles = {app: card.title for app, card in record_kinds().items()} | {WORKSPACE: "Files and the web"}
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for each in offered.values():
        domain = tool_domain(each.name)
        groups.setdefault(titles.get(domain, domain), []).append((each.name, tool_label(each.name), each.description))
    app, desk = tool_domain(name), desk_of(row)
    context = _context(request, row, errors) | {
        "groups": groups.items(),
        "tool": tool,
        "title": tool_label(name) if tool else "",
        "app_title": titles.get(app, app),
        "fields": _fields(desk, name, fields_of(tool), request.POST, errors) if tool else (),
        "accounts": desk.accounts_of(app) if bare_tool_name(name) == f"{app}__login" else (),
        "mail": bool(mail_tools(offered)),
        "no_shell": why_without_shell(row) if offered else "",
    }
    return render(request, "evaluation/rehearsals/tools.html", context, status=422 if errors else 200)


@require_http_methods(["GET", "POST"])
def mail(request: SignedInRequest, pk: int) -> HttpResponse:
    """POST makes the call that its form asks for, with the token of the last log-in."""
    row = find_own_rehearsal(request, pk)
    offered = _offered(row)
    own = mail_tools(offered)
    name = request.POST.get("tool", "")
    errors, answer = _call(request, row, offered, name) if request.method == "POST" else ({}, None)
    if answer is not None:
        return answer
    desk = desk_of(row)
    box = load_mailbox(
        desk, own, request.GET.get("folder", ""), _number(request, "thread"), _number(request, "page") or 0
    )
    written = _writing(request, box.thread)
    form = own.get(bare_tool_name(name) if errors else written)
    hidden = ("access_token", "email_id", "email_thread_id")
    values = {**_answered(written, box.thread), **{key: request.POST[key] for key in request.POST}}
    login = own.get(f"{APP}__login")
    context = _context(request, row, errors) | {
        "box": box,
        "bound": bool(own),
        "login": login.name if login else "",
        "login_fields": _fields(desk, login.name, fields_of(login), request.POST, errors) if login else (),
        "form": form if box.token else None,
        "form_title": tool_label(form.name) if form else "",
        "fields": _fields(desk, form.name, fields_of(form), values, errors) if form else (),
        "hidden": hidden,
        "open_thread": own[f"{APP}__show_thread"].name if f"{APP}__show_thread" in own else "",
        "can_send": f"{APP}__send_email" in own,
        "can_reply": f"{APP}__reply_to_email" in own,
        "can_forward": f"{APP}__forward_email_thread" in own,
        "threads_shown": THREADS_SHOWN,
        "query": f"?folder={box.folder}" + (f"&thread={box.thread['email_thread_id']}" if box.thread else ""),
    }
    return render(request, "evaluation/rehearsals/mail.html", context, status=422 if errors else 200)


def _call(
    request: SignedInRequest, row: Rehearsal, offered: Mapping[str, Any], name: str
) -> tuple[dict[str, str], HttpResponse | None]:
    """What is wrong with the form, or the page that shows the call's result."""
    tool = offered.get(name)
    if tool is None:
        return {"tool": "The assistant does not have this tool."}, None
    typed = {key.removeprefix(PREFIX): str(value) for key, value in request.POST.items() if key.startswith(PREFIX)}
    arguments, errors = read_arguments(tool, typed)
    if errors:
        return errors, None
    try:
        made = make_call(row.pk, name, arguments)
        if request.resolver_match and request.resolver_match.url_name == "rehearsal_mail":
            return {}, _mail_after(request, row, offered, made)
    except RehearsalError as error:
        return {error.field or "tool": str(error)}, None
    return {}, redirect(f"{reverse('evaluation:rehearsal_tools', args=[row.pk])}?tool={name}#result")


def _mail_after(request: SignedInRequest, row: Rehearsal, offered: Mapping[str, Any], call: ToolRecord) -> HttpResponse:
    """The mailbox with the thread that the call was about. Who has logged in looks into the inbox, as an assistant
    would."""
    bare, inbox = bare_tool_name(call.name), mail_tools(offered).get(LISTS["inbox"])
    if bare == f"{APP}__login" and call.ok and inbox is not None:
        make_call(row.pk, inbox.name, {"access_token": desk_of(row).token_of(APP), "page_limit": THREADS_SHOWN})
    answer = response_of(call)
    thread = call.arguments.get("email_thread_id") or _number(request, "thread")
    if call.ok and isinstance(answer, dict):
        thread = answer.get("sent_email_thread_id") or answer.get("email_thread_id") or thread
    opened = {"thread": thread} if thread and bare not in LISTS.values() else {}
    query = urlencode({"folder": request.GET.get("folder", "inbox")[:20]} | opened)
    return redirect(f"{reverse('evaluation:rehearsal_mail', args=[row.pk])}?{query}#thread")


def _number(request: SignedInRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _offered(row: Rehearsal) -> dict[str, Any]:
    return offered_tools(row) if row.seat == Rehearsal.Seat.AGENT else {}


def _context(request: SignedInRequest, row: Rehearsal, errors: Mapping[str, str]) -> dict[str, Any]:
    task = row.session.revision.task
    transcript = load_rehearsal(row)
    made = transcript.current.calls if transcript.current else ()
    return {
        "rehearsal": row,
        "task": task,
        "persona": task.persona,
        "benchmark": task.persona.benchmark,
        "transcript": transcript,
        "errors": errors,
        "last": made[-1] if made else None,
        "may_call": row.seat == Rehearsal.Seat.AGENT and row.state in (Rehearsal.State.YOURS, Rehearsal.State.STOPPED),
    }


def _fields(
    desk: Desk, name: str, fields: list[ToolField], typed: Mapping[str, Any], errors: Mapping[str, str]
) -> list[FieldRow]:
    token = desk.token_of(tool_domain(name))
    return [
        (
            field,
            str(typed.get(f"{PREFIX}{field.name}", token if field.name == "access_token" else "")),
            errors.get(field.name, ""),
        )
        for field in fields
    ]


def _writing(request: SignedInRequest, thread: Mapping[str, Any] | None) -> str:
    """The tool that the address asks for."""
    for name, tool in (("compose", "send_email"), ("reply", "reply_to_email"), ("forward", "forward_email_thread")):
        if name in request.GET and (thread or name == "compose"):
            return f"{APP}__{tool}"
    return ""


def _answered(tool: str, thread: Mapping[str, Any] | None) -> dict[str, str]:
    emails = thread.get("email_ids") if thread else None
    if thread is None or not emails:
        return {}
    return {f"{PREFIX}email_id": str(emails[-1]), f"{PREFIX}email_thread_id": str(thread.get("email_thread_id", ""))}
