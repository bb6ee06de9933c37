"""What a person says to a finding: that it may stay, that it stands again, that the check is wrong."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.findings import waivers
from studio.findings.waivers import WaiverError
from studio.tasks.checks import check_unsaved, episode_with
from studio.views.tasks import autosave

SAID = {
    "waive": "Dismissed, with your reason.",
    "unwaive": "Dismissal undone.",
    "set_aside": "Dismissed, with your reason.",
}


@login_required
@require_POST
def waive(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """``verdict`` says which. A page that is being written sends its words along: then those are judged, nothing on the
    page is lost, and its findings come back as from a check."""
    task = access.find_task(request.user, slug, user_id, pk)
    do = request.POST.get("verdict", "waive")
    access.require(request.user, task.episode.persona.benchmark, "manage" if do == "set_aside" else "edit")
    user = request.user
    fingerprint, reason = request.POST.get("fingerprint", ""), request.POST.get("reason", "")
    live = "base_version" in request.POST
    problem, found = "", None
    if live:
        sheet, spec, typed = autosave.read_editor(request, task)
        episode = episode_with(task, spec)
        found = check_unsaved(task, spec, texts=typed, episode=episode)
    try:
        if do == "set_aside":
            waivers.waive_error(task.pk, fingerprint, by=user, reason=reason)
        elif do == "unwaive":
            waivers.remove_waiver(task.pk, fingerprint, by=user)
        else:
            waivers.add_waiver(task.pk, fingerprint, by=user, reason=reason, current=found)
    except WaiverError as refusal:
        problem = str(refusal)
    if live:
        said = autosave.findings_response(request, task, sheet, spec, found or [], episode)
        return JsonResponse(said | {"problem": problem})
    if problem:
        messages.error(request, problem)
    else:
        messages.success(request, SAID.get(do, SAID["waive"]))
    return redirect(task)
