"""Grader scripts: written, compared with what they were, taken away. Running them is evaluation's."""

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
from studio.views.editing import autosave_response, save_response
from studio.views.personas.script_editor import ScriptPage, find_script


@login_required
@require_http_methods(["GET", "POST"])
def script(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """The script, to read or, for authors, to write."""
    persona = access.find_persona(request.user, slug, user_id)
    found = find_script(persona, pk)
    if "download" in request.GET:
        return download(found.path, bytes(found.blob.content))
    page = ScriptPage(request, persona, found)
    if request.method == "GET":
        return render(request, "studio/personas/script.html", page.shown())
    access.require(request.user, persona.benchmark, "edit")
    return save_response(page)


@login_required
def keep(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    return autosave_response(ScriptPage(request, persona, find_script(persona, pk)))


@login_required
@require_http_methods(["GET", "POST"])
def create(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """A new script, begun from a starter. ``task`` names the task it is to grade."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    wanted = number_of(request.POST.get("task") or request.GET.get("task"))
    task = access.find_task(request.user, slug, user_id, wanted) if wanted else None
    name, error = request.POST.get("name", f"{task.task_id.strip()}.py" if task else ""), ""
    if request.method == "POST":
        try:
            made = scripts.create_script(
                persona.pk, name, STARTER_SCRIPT, by=request.user, task_id=task.pk if task else None
            )  # fmt: skip
            return redirect("studio:script", slug, user_id, made.pk)
        except DraftError as refusal:
            error = str(refusal)
    context = {"persona": persona, "benchmark": persona.benchmark, "task": task, "name": name, "error": error}
    return render(request, "studio/personas/script_new.html", context, status=422 if error else 200)


@login_required
def version(request: SignedInRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    """What a save of the script changed."""
    persona = access.find_persona(request.user, slug, user_id)
    found = find_script(persona, pk)
    versions = scripts.script_versions(found)
    shown = next((one for one in versions if one.revision.number == number), None)
    if shown is None:
        raise Http404
    texts = Blob.objects.read([shown.sha256, shown.before])
    now, before = (texts.get(sha, b"").decode("utf-8", "replace") for sha in (shown.sha256, shown.before))
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": found,
        "shown": shown,
        "is_now": shown.sha256 == found.blob_id,
        "changes": _changes(before, now) if shown.before else [],
        "text": now,
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/personas/script_version.html", context)


@login_required
@require_POST
def restore(request: SignedInRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    """Make an earlier text the script again, as a new version."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    found = find_script(persona, pk)
    shown = next((one for one in scripts.script_versions(found) if one.revision.number == number), None)
    if shown is None:
        raise Http404
    text = Blob.objects.read([shown.sha256])[shown.sha256].decode("utf-8", "replace")
    try:
        scripts.save_script(
            found.pk, text, by=request.user, note=f"{found.path} as in version {number}.", verb="restored"
        )
        messages.success(request, f"Restored version {number} of the script.")
    except DraftError as refusal:
        messages.error(request, str(refusal))
    return redirect("studio:script", slug, user_id, pk)


@login_required
@require_POST
def remove(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "edit")
    found = find_script(persona, pk)
    try:
        scripts.delete_script(found.pk, by=request.user)
    except DraftError as refusal:
        messages.error(request, f"Not removed. {refusal}")
        return redirect("studio:script", slug, user_id, pk)
    messages.success(request, f"{found.path} was removed. Its versions stay in the persona's history.")
    return redirect("studio:profile", slug, user_id)


def _changes(before: str, now: str) -> list[FieldChange]:
    return [FieldChange("source", "Text", [Difference("", line_pieces(before, now))])] if before != now else []
