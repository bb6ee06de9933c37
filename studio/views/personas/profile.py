"""The persona's profile and its versions."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from studio import access
from studio.access import SignedInRequest
from studio.activity.feed import recent_events
from studio.domain.diff import compare, compare_orders
from studio.domain.persistent_intents import persistent_intents
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.skills import one_line_description
from studio.domain.tool_catalog import general_cards, tool_summaries
from studio.domain.tool_names import bare_tool_name
from studio.domain.web_pages import is_web_page
from studio.drafts.editor import Invalid, Outcome
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError
from studio.forms.personas import (
    NewPersonaForm,
    PersonaForm,
    persona_form,
    posted_persona_form,
    read_persona_form,
)
from studio.forms.post_data import Posted, apply_row_operation
from studio.models import Benchmark, Blob, Persona
from studio.personas import tools_and_skills
from studio.personas.create import create_persona
from studio.personas.files import PROFILE
from studio.personas.web_pages import web_pages_of
from studio.views.autosave import autosave_response
from studio.views.editing import FilePage, ReadForm, save_response
from studio.views.pages import benchmark_page, persona_page, place_of, show


@benchmark_page("edit")
def create(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    form = NewPersonaForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            persona = create_persona(benchmark, PersonaSpec(**form.cleaned_data), by=request.user)
        except DraftError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, f"{persona} was added. Complete the profile, or write the first task.")
            return redirect("studio:profile", *place_of(persona))
    return show(request, benchmark, "studio/personas/new.html", {"form": form})


class ProfilePage(FilePage[PersonaSpec]):
    kind, key, template = PROFILE, "profile", "studio/personas/profile.html"

    def with_errors(self, form: ReadForm[PersonaSpec], invalid: Invalid[PersonaSpec]) -> ReadForm[PersonaSpec]:
        form.values.errors = dict(invalid.errors)
        return super().with_errors(form, invalid)

    def read(self, data: QueryDict, base: PersonaSpec, *, store: bool = False) -> ReadForm[PersonaSpec]:
        form = posted_persona_form(Posted(data))
        spec, form.errors = read_persona_form(form, base)
        return ReadForm(spec, form, form.errors)

    def file_context(self, values: PersonaForm | None, spec: PersonaSpec) -> dict[str, Any]:
        form = values or persona_form(spec)
        tools = tools_and_skills.tools_to_pick(self.persona, self.user, [*self.persona.tools, *form.tools])
        return _profile_context(self.persona) | {"form": form, "tool_cards": tools}

    def announce(self, outcome: Outcome[PersonaSpec]) -> None:
        messages.success(self.request, "Saved.")


@persona_page(post="edit")
def profile(request: SignedInRequest, persona: Persona) -> HttpResponse:
    page = ProfilePage(request, persona)
    if request.method != "POST":
        return render(request, "studio/personas/profile.html", page.initial_context())
    changed = apply_row_operation(request.POST)
    if changed is None:
        return save_response(page)
    page.autosave(changed)
    form = page.read(changed, page.editor.versions.at(persona.version))
    return render(
        request, "studio/personas/profile.html", page.initial_context() | page.context(form.values, form.spec)
    )


@persona_page()
def autosave(request: SignedInRequest, persona: Persona) -> HttpResponse:
    return autosave_response(ProfilePage(request, persona))


@persona_page()
def history(request: SignedInRequest, persona: Persona) -> HttpResponse:
    events = recent_events(access.benchmarks_for(request.user)).filter(persona=persona)
    page = Paginator(events, 50).get_page(request.GET.get("page"))
    return show(request, persona, "studio/activity/history.html", {"page": page})


@persona_page()
def version(request: SignedInRequest, persona: Persona, number: int) -> HttpResponse:
    rows = persona.revisions.select_related("created_by")
    revision = get_object_or_404(rows, number=number)
    other = rows.filter(number=number - 1).first()
    spec = PersonaSpec.model_validate(revision.spec)
    before = PersonaSpec.model_validate(other.spec) if other else PersonaSpec(user_id=spec.user_id)
    orders = [list(row.episode.get("order", [])) if row else [] for row in (other, revision)]
    context = {
        "revision": revision,
        "number_text": str(number),
        "other": other,
        "before_number": number - 1,
        "after_number": number + 1,
        "changes": compare(before, spec) + compare_orders(*orders),
    }
    return show(request, persona, "studio/personas/version.html", context)


def _profile_context(persona: Persona) -> dict[str, Any]:
    episode = load_episode(persona)
    base = episode.persona
    contents = Blob.objects.read([file.sha256 for skill in base.skills for file in skill.files])
    texts = {sha: content.decode("utf-8", "replace") for sha, content in contents.items()}
    tool_names = [(number, task.tools_named) for number, task in enumerate(episode.tasks, 1)]
    summaries = tool_summaries(list(base.tools))
    always = general_cards(base)
    keys = dict(persona.tasks.values_list("task_id", "pk"))
    return {
        "spec": base,
        "skills": [
            (skill.name, _description(skill, texts), [(file, texts[file.sha256]) for file in skill.files])
            for skill in base.skills
        ],
        "tools": [
            (tool, summaries[tool], [number for number, names in tool_names if bare_tool_name(tool) in names])
            for tool in base.tools
        ],
        "environments": sorted({task.environment_id.strip() for task in episode.tasks} - {""}),
        "learning": [(row, keys.get(row.task_id)) for row in persistent_intents(episode)],
        "always": always,
        "narrowed": not {card.name for card in always}.isdisjoint(base.tools),
        "pages": web_pages_of(base),
        "files": [file for file in base.files if not is_web_page(file.path)],
        "task_count": len(episode.tasks),
        "dependent_tasks": [
            (n, task, keys.get(task.task_id)) for n, task in enumerate(episode.tasks, 1) if task.depends_on
        ],
        "scripts": persona.grader_scripts.order_by("path"),
        "versions": persona.revisions.select_related("created_by")[:12],
        "newest": persona.revisions.select_related("created_by").first(),
    }


def _description(skill: Skill, texts: dict[str, str]) -> str:
    head = next((file for file in skill.files if file.path.lower() == "skill.md"), None)
    return one_line_description(texts[head.sha256]) if head else ""
