"""Web pages of a persona: read, added, changed and deleted."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from studio import access
from studio.access import SignedInRequest
from studio.drafts.validate import DraftError, StaleDraftError
from studio.forms.post_data import number_of
from studio.forms.web_pages import WebPageForm
from studio.models import Persona, Task
from studio.personas.web_pages import PersonaWebPage, delete_web_page, find_web_page, save_web_page


@login_required
@require_http_methods(["GET", "POST"])
def web_page(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """``?page=<file name>``; without, a new one."""
    persona = access.find_persona(request.user, slug, user_id)
    name = request.GET.get("page", "").replace("\0", "")
    found = find_web_page(persona, name) if name else None
    if name and found is None:
        raise Http404
    if not name or request.method == "POST":
        access.require(request.user, persona.benchmark, "edit")
    posted = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = WebPageForm(*posted, page=found.page if found else None, tasks=_tasks(persona))
    if request.method == "POST":
        problem = _act(request, persona, found, form)
        if problem is None:
            return redirect(f"{reverse('studio:profile', args=[slug, user_id])}#web")
        if problem:
            form.add_error(None, problem)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "row": found,
        "form": form,
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/personas/web_page.html", context, status=422 if form.errors else 200)


def _act(request: SignedInRequest, persona: Persona, found: PersonaWebPage | None, form: WebPageForm) -> str | None:
    """None if it is done; else what is wrong, empty where the form says it."""
    version = number_of(request.POST.get("base_version"))
    try:
        if found and "delete" in request.POST:
            delete_web_page(persona, found.name, by=request.user, base_version=version)
            messages.success(request, "The page is deleted. The persona's history keeps it.")
            return None
        if not form.is_valid():
            return ""
        page = form.page()
        save_web_page(persona, found.name if found else "", page, by=request.user, base_version=version)
    except DraftError as error:
        if error.field not in form.fields:
            return str(error)
        form.add_error(error.field, str(error))
        return ""
    except StaleDraftError as error:
        return str(error)
    messages.success(request, f"The page “{page.title[:100]}” is saved.")
    return None


def _tasks(persona: Persona) -> list[tuple[str, str]]:
    """Ids with titles, in the episode's order."""
    rows = Task.objects.filter(persona=persona).order_by("position", "task_id")
    return [(task_id, title or task_id) for task_id, title in rows.values_list("task_id", "title")]
