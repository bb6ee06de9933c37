"""A persona's skills: read, written, deleted."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from studio import access, drafts
from studio.drafts.skills import delete_skill, save_skill, tasks_naming
from studio.forms.posted import number_of
from studio.models import Blob
from studio.previews import marking
from studio.spec.persona import Skill
from studio.spec.skills import MAIN, blank, body, description


@login_required
def skill(request: HttpRequest, slug: str, user_id: str, name: str = "") -> HttpResponse:
    """One skill to read or, for authors, to write; a new one without a name. ``?part=text`` gives its text alone."""
    persona = access.find_persona(request.user, slug, user_id)
    if not name:
        access.require(request.user, persona.benchmark, "edit")
    episode = drafts.load_episode(persona)
    found = next((one for one in episode.persona.skills if one.name == name), None)
    if name and found is None:
        raise Http404
    text = _text(found) if found else blank("")
    drawn = marking.markdown(body(text)[: marking.LONGEST])
    if request.GET.get("part") == "text":
        return render(request, "studio/components/skill_text.html", {"html": drawn})
    errors: dict[str, str] = {}
    values = {"name": name, "text": text, "base_version": persona.version}
    status = 200
    if request.method == "POST":
        access.require(request.user, persona.benchmark, "edit")
        typed = request.POST.get("name", "").strip(), request.POST.get("text", "").replace("\r\n", "\n")
        version = number_of(request.POST.get("base_version")) or None
        try:
            save_skill(persona.pk, *typed, was=name, by=request.user, base_version=version)
            messages.success(request, f"The skill “{typed[0]}” is saved.")
            return redirect("studio:skill", slug, user_id, typed[0])
        except drafts.DraftRefused as refusal:
            errors, status = {"name" if refusal.field in ("skills", "name") else "text": str(refusal)}, 422
        except drafts.StaleDraft as refusal:
            theirs = text
            errors, status = {"stale": theirs}, 409
            version = refusal.current
        values = {"name": typed[0], "text": typed[1], "base_version": version or persona.version}
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "skill": found,
        "html": drawn,
        "about": description(text),
        "values": values,
        "errors": errors,
        "others": [file for file in found.files if file.path != MAIN] if found else [],
        "named_by": tasks_naming(episode, name) if found else [],
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/skill.html", context, status=status)


@login_required
@require_POST
def delete(request: HttpRequest, slug: str, user_id: str, name: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    try:
        delete_skill(persona.pk, name, by=request.user)
    except drafts.DraftRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("studio:skill", slug, user_id, name)
    messages.success(request, f"The skill “{name}” is deleted. The persona's history keeps it.")
    return redirect("studio:profile", slug, user_id)


def _text(skill: Skill) -> str:
    main = next((file for file in skill.files if file.path == MAIN), None)
    return Blob.objects.read([main.sha256])[main.sha256].decode("utf-8", "replace") if main else ""
