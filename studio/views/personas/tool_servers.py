"""Tool servers of a persona."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from studio import access
from studio.access import SignedInRequest
from studio.drafts.load import load_episodes
from studio.drafts.validate import DraftError, StaleDraftError
from studio.forms.post_data import number_of
from studio.forms.tool_servers import ToolServerForm, values_of
from studio.models import Persona
from studio.personas.tool_servers import PersonaServer, allowed_here, remove_server, save_server, servers_of


@login_required
@require_safe
def servers(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "servers": _servers(persona),
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/personas/tool_servers.html", context)


@login_required
def server(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """``?server=NAME``, or a new one."""
    name = request.GET.get("server", "")
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "manage")
    found = next((row for row in _servers(persona) if row.name == name), None)
    if name and found is None:
        raise Http404
    initial = values_of(found.server) if found and found.server else {"name": name}
    form = ToolServerForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        version = number_of(request.POST.get("base_version"))
        try:
            saved = save_server(persona, form.server(), by=request.user, old_name=name, base_version=version)
        except (DraftError, StaleDraftError) as error:
            field = getattr(error, "field", None)
            form.add_error(field if field in form.fields else None, str(error))
        else:
            count = len(saved.tools)
            told = f"{saved.name} has {count} tool{'' if count == 1 else 's'}. {persona}’s assistant can call them now."
            messages.success(request, told)
            return redirect("studio:tool_servers", slug, user_id)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "row": found,
        "form": form,
        "allowed": allowed_here(),
    }
    return render(request, "studio/personas/tool_server.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def remove(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    name = request.POST.get("server", "")
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "manage")
    try:
        version = number_of(request.POST.get("base_version"))
        remove_server(persona, name, by=request.user, base_version=version)
    except StaleDraftError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{name} was removed, and its tools with it.")
    return redirect("studio:tool_servers", slug, user_id)


def _servers(persona: Persona) -> list[PersonaServer]:
    return servers_of(load_episodes([persona], with_tasks=False)[persona.pk].persona)
