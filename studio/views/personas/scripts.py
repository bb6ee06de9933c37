"""Grader scripts: create, edit, compare and restore versions, remove. Trials are in evaluation."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from studio import access
from studio.access import SignedInRequest
from studio.domain.diff import Difference, FieldChange, line_pieces
from studio.drafts.validate import DraftError
from studio.files.downloads import download
from studio.forms.post_data import number_of
from studio.models import Blob
from studio.personas import scripts
from studio.personas.starter_script import STARTER_SCRIPT
from studio.views.autosave import autosave_response
from studio.views.editing import save_response
from studio.views.personas.script_editor import ScriptPage, find_script


@login_required
@require_http_methods(["GET", "POST"])
def script(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    script = find_script(persona, pk)
    if "download" in request.GET:
        return download(script.path, bytes(script.blob.content))
    page = ScriptPage(request, persona, script)
    if request.method == "GET":
        return render(request, "studio/personas/script.html", page.initial_context())
    access.require(request.user, persona.benchmark, "edit")
    return save_response(page)


@login_required
def autosave(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    return autosave_response(ScriptPage(request, persona, find_script(persona, pk)))


@login_required
@require_http_methods(["GET", "POST"])
def create(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    task_pk = number_of(request.POST.get("task") or request.GET.get("task"))
    task = access.find_task(request.user, slug, user_id, task_pk) if task_pk else None
    name, message = request.POST.get("name", f"{task.task_id.strip()}.py" if task else ""), ""
    if request.method == "POST":
        try:
            new = scripts.create_script(
                persona.pk, name, STARTER_SCRIPT, by=request.user, task_id=task.pk if task else None
            )  # fmt: skip
            return redirect("studio:script", slug, user_id, new.pk)
        except DraftError as error:
            message = str(error)
    context = {"persona": persona, "benchmark": persona.benchmark, "task": task, "name": name, "error": message}
    return render(request, "studio/personas/script_new.html", context, status=422 if message else 200)


@login_required
def version(request: SignedInRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    script = find_script(persona, pk)
    versions = scripts.script_versions(script)
    shown_version = next((row for row in versions if row.revision.number == number), None)
    if shown_version is None:
        raise Http404
    texts = Blob.objects.read([shown_version.sha256, shown_version.before])
    now, before = (
        texts.get(sha, b"").decode("utf-8", "replace") for sha in (shown_version.sha256, shown_version.before)
    )
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": script,
        "shown": shown_version,
        "is_now": shown_version.sha256 == script.blob_id,
        "changes": _changes(before, now) if shown_version.before else [],
        "text": now,
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/personas/script_version.html", context)


@login_required
@require_POST
def restore(request: SignedInRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    script = find_script(persona, pk)
    shown_version = next((row for row in scripts.script_versions(script) if row.revision.number == number), None)
    if shown_version is None:
        raise Http404
    text = Blob.objects.read([shown_version.sha256])[shown_version.sha256].decode("utf-8", "replace")
    try:
        scripts.save_script(
            script.pk, text, by=request.user, note=f"{script.path} as in version {number}.", verb="restored"
        )
        messages.success(request, f"Restored version {number} of the script.")
    except DraftError as error:
        messages.error(request, str(error))
    return redirect("studio:script", slug, user_id, pk)


@login_required
@require_POST
def remove(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    script = find_script(persona, pk)
    try:
        scripts.delete_script(script.pk, by=request.user)
    except DraftError as error:
        messages.error(request, f"Not removed. {error}")
        return redirect("studio:script", slug, user_id, pk)
    messages.success(request, f"{script.path} was removed. Its versions stay in the persona's history.")
    return redirect("studio:profile", slug, user_id)


def _changes(before: str, now: str) -> list[FieldChange]:
    return [FieldChange("source", "Text", [Difference("", line_pieces(before, now))])] if before != now else []
