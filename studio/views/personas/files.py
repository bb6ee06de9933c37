"""Files of a persona's folder on their pages: read, added, changed, deleted. Each kind has a class and a template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from studio import access
from studio.access import SignedInRequest
from studio.domain.app_data import app_names, read_app
from studio.domain.base import Spec
from studio.domain.skills import SKILL_FILE, description, new_skill_text, text_below_head
from studio.domain.tool_servers import ServerText
from studio.domain.web_pages import WebPage
from studio.drafts.editor import Draft, Invalid, Outcome
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError, StaleDraftError
from studio.files.previews import markup
from studio.forms.post_data import Posted, number_of
from studio.forms.tool_servers import ToolServerForm, values_of
from studio.forms.web_pages import WebPageForm
from studio.models import Persona
from studio.personas.app_data import APP_DATA, AppText, persona_apps
from studio.personas.files import delete_file
from studio.personas.skills import SKILLS, SkillText, tasks_with_skill
from studio.personas.tool_servers import TOOL_SERVERS, allowed_here, ask_server, servers_of
from studio.personas.web_pages import WEB_PAGES, find_web_page
from studio.views.autosave import autosave_response
from studio.views.editing import FilePage, ReadForm, save_response
from studio.views.pages import persona_page, show
from studio.views.personas.scripts import ScriptPage

S = TypeVar("S", bound=Spec)


class SkillPage(FilePage[SkillText]):
    kind, key, template = SKILLS, "skill", "studio/personas/skill.html"

    def address_of(self, name: str) -> str:
        return self.reverse("skill", name) if name else self.reverse("skill_new")

    def read(self, data: QueryDict, base: SkillText, *, store: bool = False) -> ReadForm[SkillText]:
        typed = Posted(data)
        spec = SkillText(name=typed.text("name").strip(), text=typed.text("text"))
        if not self.name and spec == SkillText(text=new_skill_text("")):
            spec = base  # not edited yet
        return ReadForm(spec, {"name": typed.text("name"), "text": typed.text("text")})

    def with_errors(self, form: ReadForm[SkillText], invalid: Invalid[SkillText]) -> ReadForm[SkillText]:
        errors = {"name" if field in ("skills", "name") else "text": text for field, text in invalid.errors.items()}
        return ReadForm(form.spec, form.values, errors)

    def file_context(self, values: dict[str, str] | None, spec: SkillText) -> dict[str, Any]:
        episode = load_episode(self.persona)
        skill = next((skill for skill in episode.persona.skills if skill.name == self.name), None)
        text = (self.kind.find(episode.persona, self.name) or self.kind.empty).text
        return {
            "skill": skill,
            "html": markup.markdown(text_below_head(text)[: markup.MAX_MARKDOWN]),
            "about": description(text),
            "values": values or {"name": spec.name, "text": spec.text or ("" if skill else new_skill_text(""))},
            "others": [file for file in skill.files if file.path != SKILL_FILE] if skill else [],
            "named_by": tasks_with_skill(episode, self.name) if skill else [],
        }

    def show(self) -> HttpResponse:
        if self.request.GET.get("part") == "text":
            return render(self.request, "studio/personas/parts/skill_text.html", self.initial_context())
        return super().show()

    def address_after(self, outcome: Outcome[SkillText]) -> str:
        return self.address_of(outcome.rebased.spec.name)

    def announce(self, outcome: Outcome[SkillText]) -> None:
        messages.success(self.request, f"The skill “{outcome.rebased.spec.name}” is saved.")
        self.address = self.address_after(outcome)


class AppPage(FilePage[AppText]):
    kind, key, template, lists = APP_DATA, "app", "studio/personas/app.html", "apps"
    most_autosaved = 300_000
    """Characters; longer data is sent with the Save button alone."""

    def __init__(self, request: SignedInRequest, persona: Persona, name: str) -> None:
        if name not in app_names():
            raise Http404
        super().__init__(request, persona, name)

    @property
    def exists(self) -> bool:
        return True

    def read(self, data: QueryDict, base: AppText, *, store: bool = False) -> ReadForm[AppText]:
        text = Posted(data).text("text")
        return ReadForm(AppText(text=text.strip()), text)

    def file_context(self, values: str | None, spec: AppText) -> dict[str, Any]:
        app = next(app for app in persona_apps(self.persona) if app.card.name == self.name)
        text = spec.text if values is None else values
        return {"app": app, "text": text, "autosaved": len(text) <= self.most_autosaved}

    def announce(self, outcome: Outcome[AppText]) -> None:
        messages.success(self.request, f"Saved the data of {read_app(self.name, None).title}.")


class FormPage(FilePage[S]):
    """A page whose inputs are a Django form's."""

    def with_errors(self, form: ReadForm[S], invalid: Invalid[S]) -> ReadForm[S]:
        return form if form.errors else self.refused(form, invalid.errors)

    def refused(self, form: ReadForm[S], errors: Mapping[str, str]) -> ReadForm[S]:
        for field, message in errors.items():
            form.values.add_error(field if field in form.values.fields else None, message)
        return self.read_form(form.values, form.spec)

    def read_form(self, form: Form, spec: S) -> ReadForm[S]:
        return ReadForm(spec, form, {field: str(messages[0]) for field, messages in form.errors.items()})


class WebPagePage(FormPage[WebPage]):
    kind, key, template = WEB_PAGES, "web", "studio/personas/web_page.html"

    @property
    def list_address(self) -> str:
        return f"{super().list_address}#web"

    def form(self, *sent: Any, spec: WebPage) -> WebPageForm:
        rows = self.persona.tasks.order_by("position", "task_id").values_list("task_id", "title")
        tasks = [(task_id, title or task_id) for task_id, title in rows]
        return WebPageForm(*(sent or (None, None)), page=None if spec == WebPage() else spec, tasks=tasks)

    def read(self, data: QueryDict, base: WebPage, *, store: bool = False) -> ReadForm[WebPage]:
        form = self.form(data, self.request.FILES, spec=base)
        return self.read_form(form, form.page() if form.is_valid() else base)

    def file_context(self, values: WebPageForm | None, spec: WebPage) -> dict[str, Any]:
        persona = load_episode(self.persona, with_tasks=False).persona
        row = find_web_page(persona, self.name) if self.name else None
        return {"row": row, "form": values or self.form(spec=spec)}

    def announce(self, outcome: Outcome[WebPage]) -> None:
        messages.success(self.request, f"The page “{outcome.rebased.spec.title[:100]}” is saved.")


class ServerPage(FormPage[ServerText]):
    """Not saved while somebody types, since each save asks the server."""

    kind, key, template, lists = TOOL_SERVERS, "server", "studio/personas/tool_server.html", "tool_servers"
    needs = "manage"

    def read(self, data: QueryDict, base: ServerText, *, store: bool = False) -> ReadForm[ServerText]:
        form = ToolServerForm(data)
        return self.read_form(form, form.text() if form.is_valid() else base)

    def read_draft(self, data: QueryDict, *, store: bool = True) -> tuple[ReadForm[ServerText], Draft[ServerText]]:
        form, draft = super().read_draft(data, store=store)
        if draft.errors or "take" in data or "mine" in data:
            return form, draft
        persona = load_episode(self.persona, with_tasks=False).persona
        try:
            self.versions.kind = ask_server(persona, self.name, self.editor.rebase(draft).spec)
        except DraftError as error:
            form = self.refused(form, {error.field: str(error)})
        return form, self.draft(data, form)

    def file_context(self, values: ToolServerForm | None, spec: ServerText) -> dict[str, Any]:
        form = values or ToolServerForm(initial=values_of(spec))
        return {"name": self.name, "form": form, "allowed": allowed_here()}

    def announce(self, outcome: Outcome[ServerText]) -> None:
        assert isinstance(self.versions.kind, type(TOOL_SERVERS)) and self.versions.kind.asked
        count = len(self.versions.kind.asked.tools)
        tools = f"{outcome.rebased.spec.name} has {count} tool{'' if count == 1 else 's'}."
        messages.success(self.request, f"{tools} {self.persona}’s assistant can call them now.")


PAGES: dict[str, type[FilePage[Any]]] = {
    page.key: page for page in (SkillPage, ScriptPage, AppPage, WebPagePage, ServerPage)
}


def _page(request: SignedInRequest, persona: Persona, kind: str, name: str | int = "") -> FilePage[Any]:
    """``name``, or a script's key, stands in the address, or in its query, where it can contain any character."""
    if kind not in PAGES:
        raise Http404
    return PAGES[kind](request, persona, str(name or request.GET.get("name", "").replace("\0", "")[:200]))


@persona_page("view", "GET", "HEAD", "POST")
def file(request: SignedInRequest, persona: Persona, kind: str, name: str = "", pk: int | None = None) -> HttpResponse:
    page = _page(request, persona, kind, name if pk is None else str(pk))
    if not page.name or request.method == "POST" or page.needs == "manage":
        access.require(request.user, page.benchmark, page.needs)
    if page.name and not page.exists:
        raise Http404
    return save_response(page) if request.method == "POST" else page.show()


@persona_page()
def autosave(request: SignedInRequest, persona: Persona, kind: str) -> HttpResponse:
    return autosave_response(_page(request, persona, kind))


@persona_page("view", "POST")
def delete(request: SignedInRequest, persona: Persona, kind: str) -> HttpResponse:
    page = _page(request, persona, kind)
    access.require(request.user, page.benchmark, page.needs)
    version = number_of(request.POST.get("base_version"))
    try:
        delete_file(page.kind, page.persona, page.versions.name, by=request.user, base_version=version)
    except (DraftError, StaleDraftError) as error:
        messages.error(request, f"Not deleted. {error}")
        return redirect(page.address)
    messages.success(request, f"“{page.versions.name}” is deleted. The persona's history keeps it.")
    return redirect(page.list_address)


@persona_page("view", "GET", "HEAD")
def apps(request: SignedInRequest, persona: Persona) -> HttpResponse:
    return show(request, persona, "studio/personas/apps.html", {"apps": persona_apps(persona)})


@persona_page("view", "GET", "HEAD")
def servers(request: SignedInRequest, persona: Persona) -> HttpResponse:
    found = servers_of(load_episode(persona, with_tasks=False).persona)
    return show(request, persona, "studio/personas/tool_servers.html", {"servers": found})
