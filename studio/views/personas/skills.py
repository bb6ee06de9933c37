"""A persona's skills: read, edit, delete."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.domain.persona import Skill
from studio.domain.skills import SKILL_FILE, description, new_skill_text, text_below_head
from studio.drafts.editor import Outcome
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError
from studio.files.previews import markup
from studio.forms.post_data import Posted
from studio.models import Blob, Persona
from studio.personas.editors import SkillEditor
from studio.personas.skills import delete_skill, tasks_with_skill
from studio.personas.versions import SkillText
from studio.views.autosave import autosave_response
from studio.views.editing import PersonaPage, ReadForm, save_response


class SkillPage(PersonaPage[SkillText]):
    """``name`` is empty for a new skill."""

    def __init__(self, request: SignedInRequest, persona: Persona, name: str) -> None:
        super().__init__(request, SkillEditor(persona, name, request.user))
        self.name = name
        self.address = self._address(name)

    def _address(self, name: str) -> str:
        args = [self.persona.benchmark.slug, self.persona.user_id]
        return reverse("studio:skill", args=[*args, name]) if name else reverse("studio:skill_new", args=args)

    def read(self, data: QueryDict, base: SkillText, *, store: bool = False) -> ReadForm[SkillText]:
        typed = Posted(data)
        spec = SkillText(name=typed.text("name").strip(), text=typed.text("text"))
        if not self.name and spec == SkillText(text=new_skill_text("")):
            spec = base  # not edited yet
        return ReadForm(spec, {"name": typed.text("name"), "text": typed.text("text")})

    def context(self, values: dict[str, str] | None, spec: SkillText) -> dict[str, Any]:
        episode = load_episode(self.persona)
        skill = next((skill for skill in episode.persona.skills if skill.name == self.name), None)
        text = _text(skill) if skill else ""
        return {
            "persona": self.persona,
            "benchmark": self.benchmark,
            "skill": skill,
            "html": markup.markdown(text_below_head(text)[: markup.MAX_MARKDOWN]),
            "about": description(text),
            "values": values or {"name": spec.name, "text": spec.text if skill else new_skill_text("")},
            "on_version": self.persona.version,
            "others": [file for file in skill.files if file.path != SKILL_FILE] if skill else [],
            "named_by": tasks_with_skill(episode, self.name) if skill else [],
            "can": access.actions_in(self.user, self.benchmark),
        }

    def html(self, context: dict[str, Any], theirs: SkillText, spec: SkillText, sent: ReadForm[SkillText]) -> str:
        values = sent.values if sent.errors else {"name": spec.name, "text": spec.text}
        errors = {"name" if field in ("skills", "name") else "text": text for field, text in sent.errors.items()}
        return render_to_string(
            "studio/personas/skill.html", self.context(values, spec) | {"errors": errors} | context, self.request
        )

    def address_after(self, outcome: Outcome[SkillText]) -> str:
        return self._address(outcome.rebased.spec.name)

    def announce(self, outcome: Outcome[SkillText]) -> None:
        messages.success(self.request, f"The skill “{outcome.rebased.spec.name}” is saved.")
        self.address = self.address_after(outcome)


@login_required
def skill(request: SignedInRequest, slug: str, user_id: str, name: str = "") -> HttpResponse:
    """One skill, or a new one if ``name`` is empty; ``?part=text``: only its text."""
    persona = access.find_persona(request.user, slug, user_id)
    if not name or request.method == "POST":
        access.require(request.user, persona.benchmark, "edit")
    page = SkillPage(request, persona, name)
    if name and not page.editor.versions.at(persona.version).name:
        raise Http404
    if request.method == "POST":
        return save_response(page)
    context = page.initial_context()
    if request.GET.get("part") == "text":
        return render(request, "studio/personas/parts/skill_text.html", context)
    return render(request, "studio/personas/skill.html", context)


@login_required
def autosave(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """``skill`` is the skill's name, empty for a new one; it can contain any character, so it is not in the path."""
    persona = access.find_persona(request.user, slug, user_id)
    return autosave_response(SkillPage(request, persona, request.GET.get("skill", "").replace("\0", "")[:200]))


@login_required
@require_POST
def delete(request: SignedInRequest, slug: str, user_id: str, name: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    try:
        delete_skill(persona.pk, name, by=request.user)
    except DraftError as error:
        messages.error(request, str(error))
        return redirect("studio:skill", slug, user_id, name)
    messages.success(request, f"The skill “{name}” is deleted. The persona's history keeps it.")
    return redirect("studio:profile", slug, user_id)


def _text(skill: Skill) -> str:
    main = next((file for file in skill.files if file.path == SKILL_FILE), None)
    return Blob.objects.read([main.sha256])[main.sha256].decode("utf-8", "replace") if main else ""
