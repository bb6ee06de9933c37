"""A new session of an episode."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from studio import access, drafts
from studio.forms import personas as sheets
from studio.spec.task import TaskSpec


@login_required
def new_task(request: HttpRequest, slug: str, user_id: str) -> HttpResponse:
    """``?before=`` names the session in front of which it goes; without, it comes last."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    before = request.POST.get("before", request.GET.get("before", ""))
    later = persona.episode.tasks.filter(pk=before, position__isnull=False).first() if _is_key(before) else None
    suggested = f"{persona.user_id}_task_{persona.episode.tasks.count() + 1:03d}"
    form = sheets.NewTaskForm(request.POST or None, initial={"task_id": suggested})
    if request.method == "POST" and form.is_valid():
        spec = TaskSpec(user_id=persona.user_id, **form.cleaned_data)
        try:
            row = drafts.create_task(persona, spec, by=request.user, before=later.task_id if later else "")
            return redirect(row)
        except drafts.DraftRefused as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
    context = {"persona": persona, "benchmark": persona.benchmark, "form": form, "later": later}
    return render(request, "studio/task_new.html", context)


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12
