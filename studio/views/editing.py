"""Editor pages: what they show, and saving their form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse

from studio import access
from studio.access import SignedInRequest
from studio.domain.base import Spec
from studio.drafts import autosave
from studio.drafts.editor import Autosaved, Conflicted, Draft, DraftEditor, Invalid, Outcome, Rebased, Saved, Unchanged
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.models import Autosave, Benchmark, Persona
from studio.personas.files import FileEditor, FileKind, FileVersions
from studio.views.conflicts import conflict_paths, conflict_rows
from studio.views.pages import frame, place_of

S = TypeVar("S", bound=Spec)
BUTTONS = {
    *("csrfmiddlewaretoken", "save_version", "render", "peek", "withdraw", "ask", "again", "decide", "take", "mine"),
    *("do", "base_draft", "window", "keep_mine", "discard", "undo_discard", "keep_discarded"),
}
"""Names of buttons and of what a page says about its text, which are no text of the page."""
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
    template: str
    address: str
    """Where a save redirects to."""
    needs = "edit"
    """What somebody must be allowed to do to change it."""
    reloads_after_save = False
    """Whether a script's save has to load the page again for what it says of the new version."""

    def __init__(self, request: SignedInRequest, benchmark: Benchmark) -> None:
        self.request = request
        self.benchmark = benchmark
        self.user = request.user

    @abstractmethod
    def read(self, data: QueryDict, base: S, *, store: bool = False) -> ReadForm[S]:
        """Read a form that was based on ``base``; ``store``: store file contents that are only on the page."""

    @abstractmethod
    def context(self, values: Any, spec: S) -> dict[str, Any]:
        """The page's context for ``spec``, or for the form's ``values`` if there are any."""

    @abstractmethod
    def html(self, context: dict[str, Any], theirs: S, spec: S, sent: ReadForm[S]) -> str:
        """The page for ``spec``, based on ``theirs``; if the form has errors, the page with the form as sent."""

    @abstractmethod
    def announce(self, outcome: Outcome[S]) -> None:
        """Leave a message about a save for the next page."""

    def with_errors(self, form: ReadForm[S], invalid: Invalid[S]) -> ReadForm[S]:
        return replace(form, errors=invalid.errors)

    def address_after(self, outcome: Outcome[S]) -> str:
        """Where the page is once a version is made."""
        return self.address

    def question_before_save(self) -> str:
        """What the user has to agree to before a version is made; empty if there is nothing to ask."""
        return ""

    def state(self) -> dict[str, Any]:
        """More data for every autosave response."""
        return {}

    def draft(self, data: QueryDict, form: ReadForm[S]) -> Draft[S]:
        return Draft(
            form.spec,
            self.base_version(data),
            unresolved=tuple(conflict_paths(data.getlist("unresolved"), form.spec)),
            errors=form.errors,
            text=text_of(data),
            number=draft_number_of(data),
            window=data.get("window", "")[:32],
        )

    def base_version(self, data: QueryDict) -> int:
        return number_of(data.get("base_version")) or self.editor.versions.newest

    def read_draft(self, data: QueryDict, *, store: bool = True) -> tuple[ReadForm[S], Draft[S]]:
        form = self.read(data, self.editor.versions.at(self.base_version(data)), store=store)
        return form, self.draft(data, form)

    def autosave(self, data: QueryDict) -> None:
        base_version = number_of(data.get("base_version"))
        row = autosave.autosaved_text(self.editor.key, self.user)
        if row and autosave.is_outdated(row, text_of(data), number=draft_number_of(data)):
            return  # another window's text is newer; this page's next autosave asks which to keep
        with suppress(DraftError):  # what cannot be stored stays on the page alone
            autosave.autosave(self.editor.key, self.user, text_of(data), base_version=base_version)

    def save_autosaved(self, *, note: str = "") -> Outcome[S] | None:
        """Save the user's autosaved text; None if there is none."""
        row = autosave.autosaved_text(self.editor.key, self.user)
        if row is None:
            return None
        _, draft = self.read_draft(query_dict(row.form_data or {}))
        return self.editor.save(draft, note=note)

    def restored(self) -> dict[str, Any]:
        """Context for autosaved text: ``values``, the form as sent, or ``spec`` if the text was merged with newer
        versions; conflicts, and when it was autosaved. If there is none, what the user discarded last, if it was
        written on the newest version."""
        row = autosave.autosaved_text(self.editor.key, self.user)
        if not access.may(self.user, self.benchmark, self.needs):
            return {}
        if row is None:
            discarded = autosave.discarded_texts(self.editor.key, self.user)
            return {"discarded": discarded.filter(base_version=self.editor.versions.newest).first()}
        form, rebased = self.read_autosaved(row)
        if not form.errors and not rebased.unresolved and rebased.spec == rebased.theirs:
            return {}
        merged = row.base_version != self.editor.versions.newest and not form.errors
        content = {"spec": rebased.spec} if merged else {"values": form.values}
        return content | context_of(self, rebased) | {"restored": row.autosaved_at}

    def initial_context(self) -> dict[str, Any]:
        """The page's context when the user opens it, with their autosaved text."""
        number = self.draft_number()  # before the text is read: then no newer text is taken for known
        restored = self.restored() | {"on_draft": number}
        values, spec = restored.pop("values", None), restored.pop("spec", None)
        return self.context(values, spec or self.editor.versions.at(self.editor.versions.newest)) | restored

    def show(self) -> HttpResponse:
        return render(self.request, self.template, self.initial_context())

    def read_autosaved(self, row: Autosave) -> tuple[ReadForm[S], Rebased[S]]:
        """Stored text as a form, and rebased on the newest version."""
        versions, data = self.editor.versions, query_dict(row.form_data or {})
        form = self.read(data, versions.at(row.base_version), store=row.base_version != versions.newest)
        return form, self.editor.rebase(replace(self.draft(data, form), base_version=row.base_version))

    def draft_number(self) -> int:
        return autosave.draft_number(self.editor.key, self.user)


class FilePage(EditorPage[S]):
    """The page of one file of a persona's folder; without a name, of one to be added."""

    kind: FileKind[S]
    key: str
    """Of the kind of page, for autosaved text."""
    lists = "profile"
    """The page that has the kind's files."""
    reloads_after_save = True

    def __init__(self, request: SignedInRequest, persona: Persona, name: str = "") -> None:
        super().__init__(request, persona.benchmark)
        self.persona, self.name = persona, name
        self.versions = FileVersions(self.kind, persona, name)
        self.editor = FileEditor(self.versions, f"{self.key}:{name}", request.user)
        self.address = self.address_of(name)

    @property
    def list_address(self) -> str:
        return self.reverse(self.lists)

    def address_of(self, name: str) -> str:
        """Where a save of the file leads, once it is called ``name``."""
        return self.list_address

    @property
    def exists(self) -> bool:
        return self.kind.find(load_episode(self.persona, with_tasks=False).persona, self.name) is not None

    def reverse(self, page: str, *more: str) -> str:
        return reverse(f"studio:{page}", args=[*place_of(self.persona), *more])

    @abstractmethod
    def file_context(self, values: Any, spec: S) -> dict[str, Any]:
        """The page's own context for ``spec``, or for the form's ``values`` if there are any."""

    def context(self, values: Any, spec: S) -> dict[str, Any]:
        return {
            **frame(self.request, self.persona),
            "on_version": self.persona.version,
            "autosave_address": f"{self.reverse('file_autosave', self.key)}?name={quote(self.name)}",
            "delete_address": f"{self.reverse('file_delete', self.key)}?name={quote(self.name)}",
            **self.file_context(values, spec),
        }

    def html(self, context: dict[str, Any], theirs: S, spec: S, sent: ReadForm[S]) -> str:
        page = self.context(sent.values if sent.errors else None, spec) | {"errors": sent.errors} | context
        return render_to_string(self.template, page, self.request)


def save_response(page: EditorPage[S]) -> HttpResponse:
    """Save, resolve conflicts or discard: a redirect, or the page with everything that was typed."""
    data = page.request.POST
    if "discard" in data:
        autosave.discard(page.editor.key, page.user)
        return redirect(page.address)
    if "undo_discard" in data:
        rows = autosave.discarded_texts(page.editor.key, page.user)
        autosave.take_back(get_object_or_404(rows, pk=number_of(data.get("undo_discard"))))
        return redirect(page.address)
    form, draft = page.read_draft(data)
    return draft_response(page, form, draft)


def draft_response(page: EditorPage[S], form: ReadForm[S], draft: Draft[S]) -> HttpResponse:
    data = page.request.POST
    if "take" in data or "mine" in data:
        theirs, mine = (conflict_paths(data.getlist(name), draft.spec) for name in ("take", "mine"))
        if theirs:
            autosave.keep_discarded(page.editor.key, page.user, draft.text, base_version=draft.base_version)
        outcome = page.editor.resolve(draft, theirs=theirs, mine=mine)
    elif question := _question_page(page, form, draft):
        return question
    else:
        outcome = page.editor.save(draft, note=note_of(data))
    if isinstance(outcome, Saved | Unchanged):
        page.announce(outcome)
        return redirect(page.address)
    context = context_of(page, outcome.rebased)
    if isinstance(outcome, Invalid):
        form = page.with_errors(form, outcome)
    elif isinstance(outcome, Conflicted):
        stale = outcome.version if outcome.version != draft.base_version else None
        context |= {"refused": True, "stale": stale}
    context["on_draft"] = page.draft_number()
    html = page.html(context, outcome.rebased.theirs, outcome.rebased.spec, form)
    return HttpResponse(html, status=STATUS_CODES[type(outcome)])


def _question_page(page: EditorPage[S], form: ReadForm[S], draft: Draft[S]) -> HttpResponse | None:
    """The page with what the user has to agree to before this draft is saved; None if there is nothing to ask."""
    data = page.request.POST
    question = "" if "withdraw" in data else page.question_before_save()
    if not question:
        return None
    rebased = page.editor.rebase(draft)
    if rebased.spec == rebased.theirs:
        return None
    page.autosave(data)
    context = context_of(page, rebased) | {"question": question, "on_draft": page.draft_number()}
    return HttpResponse(page.html(context, rebased.theirs, rebased.spec, form), status=409)


def context_of(page: EditorPage[S], rebased: Rebased[Any]) -> dict[str, Any]:
    own = bool(rebased.unresolved) and page.editor.versions.author_of(rebased.number) == page.user.pk
    return {
        "on_version": rebased.number,
        "dirty": True,
        "conflicts": conflict_rows(rebased.unresolved, rebased.theirs, rebased.spec, own=own),
    }


def draft_number_of(data: QueryDict) -> int | None:
    """The autosaved text that the page knows; None if it does not say."""
    return number_of(data.get("base_draft")) if data.get("base_draft") else None


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
