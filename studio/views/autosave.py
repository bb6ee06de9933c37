"""What an editor's script asks for: storing the text while the user types, saving a version, who else is there."""

from __future__ import annotations

from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse, QueryDict

from studio import access
from studio.domain.base import Spec
from studio.drafts import autosave
from studio.drafts.editor import Autosaved, Conflicted, Invalid, Saved, Unchanged
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.models.transactions import atomic_with_retry
from studio.views.editing import (
    EditorPage,
    ReadForm,
    context_of,
    note_of,
    text_of,
)

S = TypeVar("S", bound=Spec)
AUTHOR_HEADER = "X-Studio-Person"
"""The header that names the author of autosaved text, which may wait in a browser while somebody else signs in."""


def autosave_response(page: EditorPage[S]) -> HttpResponse:
    """GET marks the user as present; POST autosaves the page, and with ``save_version`` saves a version.

    The response says who else is there, and which version and which autosaved text the page is based on now. If
    somebody has saved since, it brings the page again with those changes and the conflicts to resolve. ``elsewhere``:
    the user typed in another window meanwhile, and nothing was stored; with ``keep_mine`` this window's text is, and
    the other is kept as discarded. With ``peek`` nothing is stored: the response brings the page as it is stored now.
    """
    request, user, key = page.request, page.user, page.editor.key
    answer: dict[str, Any] = {}
    if request.method == "POST":
        access.require(user, page.benchmark, page.needs)
        if request.headers.get(AUTHOR_HEADER, str(user.pk)) != str(user.pk):
            raise PermissionDenied("Someone else has signed in since this text was written.")
        if "discard" in request.POST:
            autosave.discard(key, user)
            return JsonResponse({})
        if "keep_discarded" in request.POST:  # the words of the page lose in a conflict
            text, base = text_of(request.POST), number_of(request.POST.get("base_version"))
            autosave.keep_discarded(key, user, text, base_version=base)
            return JsonResponse({})
        try:
            answer = _peek(page, request.POST) if "peek" in request.POST else _autosave(page, request.POST)
        except DraftError as error:
            answer = {"problem": str(error)}
    else:
        autosave.mark_present(key, user)
    others = [str(other) for other in autosave.others_present(key, user)]
    answer = {"version": page.editor.versions.newest, "others": others} | page.state() | answer
    if "draft" not in answer:
        answer["draft"] = page.draft_number()
    return JsonResponse(answer)


@atomic_with_retry
def _autosave(page: EditorPage[S], data: QueryDict) -> dict[str, Any]:
    editor, versions = page.editor, page.editor.versions
    save, render = "save_version" in data, "render" in data
    base_version = page.base_version(data)
    if render and autosave.is_saved(editor.key, page.user, text_of(data)):  # sent when the page was left
        form = page.read(data, versions.at(base_version))
        return {"problem": "", "versioned": True, "page": _newest_page(page, form)}
    if save:
        editor.lock()
    form, draft = page.read_draft(data, store=save or render or base_version != versions.newest)
    row = autosave.locked_text(editor.key, page.user)
    if row and autosave.is_outdated(row, draft.text, number=draft.number, window=draft.window):
        if "keep_mine" not in data:
            return {"elsewhere": True}
        autosave.keep_discarded(editor.key, page.user, row.form_data or {}, base_version=row.base_version)
    question = page.question_before_save() if save and "withdraw" not in data else ""
    outcome = editor.autosave(draft, save=save and not question, note=note_of(data))
    rebased = outcome.rebased
    answer: dict[str, Any] = {"version": outcome.version, "problem": ""}
    if isinstance(outcome, Invalid):
        shown = page.with_errors(form, outcome).errors
        answer |= {"problem": next(iter(outcome.errors.values()), ""), "errors": dict(shown)}
    if rebased.number != base_version or render:
        context = context_of(page, rebased)
        if save and isinstance(outcome, Conflicted):
            context |= {"refused": True, "stale": rebased.number if rebased.number != base_version else None}
        answer["page"] = page.html(context, rebased.theirs, rebased.spec, form)
    if isinstance(outcome, Saved | Unchanged):
        answer["versioned"] = True
    elif question and isinstance(outcome, Autosaved):
        answer["question"] = question
    if save and isinstance(outcome, Saved):
        answer["merged"] = outcome.merged
    if save and page.reloads_after_save and isinstance(outcome, Saved | Unchanged):
        page.announce(outcome)
        answer["address"] = page.address_after(outcome)
    return answer | {"draft": page.draft_number()}


def _peek(page: EditorPage[S], data: QueryDict) -> dict[str, Any]:
    """The page as it is stored now, with the row keys of the page that was sent."""
    versions = page.editor.versions
    number = page.draft_number()
    row = autosave.autosaved_text(page.editor.key, page.user)
    if row is None:
        form = page.read(data, versions.at(number_of(data.get("base_version"))))
        return {"page": _newest_page(page, form), "versioned": True, "draft": number}
    form, rebased = page.read_autosaved(row)
    html = page.html(context_of(page, rebased), rebased.theirs, rebased.spec, form)
    return {"page": html, "version": rebased.number, "draft": number}


def _newest_page(page: EditorPage[S], form: ReadForm[S]) -> str:
    versions = page.editor.versions
    newest = versions.at(versions.newest)
    return page.html({"on_version": versions.newest}, newest, newest, ReadForm(newest, form.values))
