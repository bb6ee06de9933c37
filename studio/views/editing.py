"""Editor pages: what they show, and their requests to save and to autosave."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.base import Spec
from studio.drafts import autosave
from studio.drafts.editor import Autosaved, Conflicted, Draft, DraftEditor, Invalid, Outcome, Saved, Unchanged
from studio.drafts.rebase import Rebased
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.models import Benchmark
from studio.personas.editors import PersonaPartEditor
from studio.views.conflicts import conflict_paths, conflict_rows

S = TypeVar("S", bound=Spec)
AUTHOR_HEADER = "X-Studio-Person"
"""Names the author of autosaved text, which may wait in a browser while someone else signs in."""
BUTTONS = {"csrfmiddlewaretoken", "freeze", "render", "ask", "again", "decide", "take", "mine", "do"}
"""Posted names that are not the page's text."""
STATUS_CODES: dict[type[Outcome[Any]], int] = {Autosaved: 200, Conflicted: 409, Invalid: 422}


@dataclass
class ReadForm(Generic[S]):
    spec: S
    """As far as it can be read."""
    values: Any
    """The strings in its inputs."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """By input."""


class EditorPage(ABC, Generic[S]):
    editor: DraftEditor[S]
    address: str
    """Where a save redirects to."""

    def __init__(self, request: SignedInRequest, benchmark: Benchmark) -> None:
        self.request = request
        self.benchmark = benchmark
        self.user = request.user

    @abstractmethod
    def read(self, data: QueryDict, base: S, *, store: bool = False) -> ReadForm[S]:
        """Read a form that was based on ``base``; ``store``: store file contents that are only on the page."""

    @abstractmethod
    def html(self, context: dict[str, Any], theirs: S, spec: S, sent: ReadForm[S]) -> str:
        """The page for ``spec``, based on ``theirs``; if the form has errors, the page with the form as sent."""

    @abstractmethod
    def announce(self, outcome: Outcome[S]) -> None:
        """Leave a message about a save for the next page."""

    def with_errors(self, form: ReadForm[S], invalid: Invalid[S]) -> ReadForm[S]:
        return replace(form, errors=invalid.errors)

    def state(self) -> dict[str, Any]:
        """More data for every autosave response."""
        return {}

    def draft(self, data: QueryDict, form: ReadForm[S]) -> Draft[S]:
        return Draft(
            form.spec,
            self.base_version(data),
            unresolved=tuple(conflict_paths(data.getlist("undecided"), form.spec)),
            errors=form.errors,
            text=text_of(data),
        )

    def base_version(self, data: QueryDict) -> int:
        return number_of(data.get("base_version")) or self.editor.versions.newest

    def read_draft(self, data: QueryDict, *, store: bool = True) -> tuple[ReadForm[S], Draft[S]]:
        form = self.read(data, self.editor.versions.at(self.base_version(data)), store=store)
        return form, self.draft(data, form)

    def autosave(self, data: QueryDict) -> None:
        base_version = number_of(data.get("base_version"))
        with suppress(DraftError):  # text that cannot be stored is still on the page
            autosave.autosave(self.editor.key, self.user, text_of(data), base_version=base_version)

    def save_autosaved(self, *, note: str = "") -> Outcome[S] | None:
        """Save the user's autosaved text; None if there is none."""
        row = autosave.autosaved_text(self.editor.key, self.user)
        if row is None:
            return None
        _, draft = self.read_draft(query_dict(row.form_data or {}))
        return self.editor.save(draft, note=note)

    def restored(self) -> dict[str, Any]:
        """Context for autosaved text, empty if there is none: ``values``, the form as sent, or ``spec`` if the text was
        merged with newer versions; conflicts, and when it was autosaved."""
        row = autosave.autosaved_text(self.editor.key, self.user)
        if row is None or not access.may(self.user, self.benchmark, "edit"):
            return {}
        versions, data = self.editor.versions, query_dict(row.form_data or {})
        stale = row.base_version != versions.newest
        form = self.read(data, versions.at(row.base_version), store=stale)
        rebased = self.editor.rebase(replace(self.draft(data, form), base_version=row.base_version))
        if not form.errors and not rebased.unresolved and rebased.spec == rebased.theirs:
            return {}
        merged = stale and not form.errors
        content = {"spec": rebased.spec} if merged else {"values": form.values}
        return content | context_of(rebased) | {"restored": row.autosaved_at}


class PersonaPage(EditorPage[S]):
    editor: PersonaPartEditor[S]

    def __init__(self, request: SignedInRequest, editor: PersonaPartEditor[S]) -> None:
        super().__init__(request, editor.persona.benchmark)
        self.editor, self.persona = editor, editor.persona

    @abstractmethod
    def context(self, values: Any, spec: S) -> dict[str, Any]:
        """The page's context for ``spec``, or for the form's ``values`` if there are any."""

    def initial_context(self) -> dict[str, Any]:
        """The page's context when the user opens it, with their autosaved text."""
        restored, versions = self.restored(), self.editor.versions
        values, spec = restored.pop("values", None), restored.pop("spec", None)
        return self.context(values, spec or versions.at(versions.newest)) | restored


def save_response(page: EditorPage[S]) -> HttpResponse:
    """Save, resolve conflicts or discard: a redirect, or the page with everything that was typed."""
    data = page.request.POST
    if "discard" in data:
        autosave.discard_autosave(page.editor.key, page.user)
        return redirect(page.address)
    form, draft = page.read_draft(data)
    return draft_response(page, form, draft)


def draft_response(page: EditorPage[S], form: ReadForm[S], draft: Draft[S]) -> HttpResponse:
    data = page.request.POST
    if "take" in data or "mine" in data:
        theirs, mine = (conflict_paths(data.getlist(name), draft.spec) for name in ("take", "mine"))
        outcome = page.editor.resolve(draft, theirs=theirs, mine=mine)
    else:
        outcome = page.editor.save(draft, note=note_of(data))
    if isinstance(outcome, Saved | Unchanged):
        page.announce(outcome)
        return redirect(page.address)
    context = context_of(outcome.rebased)
    if isinstance(outcome, Invalid):
        form = page.with_errors(form, outcome)
    elif isinstance(outcome, Conflicted):
        stale = outcome.version if outcome.version != draft.base_version else None
        context |= {"refused": True, "stale": stale}
    html = page.html(context, outcome.rebased.theirs, outcome.rebased.spec, form)
    return HttpResponse(html, status=STATUS_CODES[type(outcome)])


def autosave_response(page: EditorPage[S]) -> HttpResponse:
    """GET marks the user as present; POST autosaves the page, and with ``freeze`` saves a version.

    The response has the version the page is now based on and the other users present; if others have saved since, also
    the page with their changes and the conflicts to resolve.
    """
    request, user, key = page.request, page.user, page.editor.key
    answer: dict[str, Any] = {}
    if request.method == "POST":
        access.require(user, page.benchmark, "edit")
        if request.headers.get(AUTHOR_HEADER, str(user.pk)) != str(user.pk):
            raise PermissionDenied("Someone else has signed in since this text was written.")
        try:
            answer = _autosave(page, request.POST)
        except DraftError as error:
            answer = {"problem": str(error)}
    else:
        autosave.mark_present(key, user)
    others = [str(other) for other in autosave.others_present(key, user)]
    return JsonResponse({"version": page.editor.versions.newest, "others": others} | page.state() | answer)


def _autosave(page: EditorPage[S], data: QueryDict) -> dict[str, Any]:
    editor, versions = page.editor, page.editor.versions
    save, render = "freeze" in data, "render" in data
    base_version = number_of(data.get("base_version"))
    if render and autosave.is_saved(editor.key, page.user, text_of(data)):  # sent when the page was left
        newest = versions.at(versions.newest)
        form = page.read(data, versions.at(base_version))
        html = page.html({"on_version": versions.newest}, newest, newest, ReadForm(newest, form.values))
        return {"problem": "", "froze": True, "page": html}
    form = page.read(data, versions.at(base_version), store=save or render or base_version != versions.newest)
    draft = replace(page.draft(data, form), base_version=base_version)
    outcome = editor.autosave(draft, save=save, note=note_of(data))
    rebased = outcome.rebased
    problem = next(iter(outcome.errors.values()), "") if isinstance(outcome, Invalid) else ""
    answer: dict[str, Any] = {"version": outcome.version, "problem": problem}
    if rebased.number != base_version or render:
        answer["page"] = page.html(context_of(rebased), rebased.theirs, rebased.spec, form)
    if isinstance(outcome, Saved | Unchanged):
        answer["froze"] = True
    return answer


def context_of(rebased: Rebased[Any]) -> dict[str, Any]:
    return {
        "on_version": rebased.number,
        "dirty": True,
        "conflicts": conflict_rows(rebased.unresolved, rebased.theirs, rebased.spec),
    }


def note_of(data: QueryDict) -> str:
    return data.get("note", "").replace("\0", "").strip()[:300]


def text_of(data: QueryDict) -> dict[str, list[str]]:
    """The page's own fields, without buttons and the fields of proposals."""
    return {name: values for name, values in data.lists() if name not in BUTTONS and not name.startswith("assist.")}


def query_dict(text: Mapping[str, Sequence[str]]) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, values in text.items():
        data.setlist(name, list(values))
    return data
