"""Dismissing findings and undoing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.storable import storable_text
from studio.findings import waivers
from studio.findings.waivers import WaiverError
from studio.models import Task
from studio.tasks.checks import check_unsaved, episode_with
from studio.views.pages import task_page
from studio.views.tasks import live_checks

SUCCESS_MESSAGES = {
    "waive": "Dismissed, with your reason.",
    "unwaive": "Dismissal undone.",
    "set_aside": "Dismissed, with your reason.",
}


@task_page("view", "POST")
def waive(request: SignedInRequest, task: Task) -> HttpResponse:
    """``verdict`` is ``waive``, ``unwaive`` or, for errors, ``set_aside``. The editor sends its form along: the text on
    the page is checked, and the response is that of a check."""
    verdict = request.POST.get("verdict", "waive")
    access.require(request.user, task.persona.benchmark, "manage" if verdict == "set_aside" else "edit")
    user = request.user
    fingerprints = [storable_text(each) for each in request.POST.getlist("fingerprint")]
    reason = request.POST.get("reason", "")
    from_editor = "base_version" in request.POST
    problem, findings = "", None
    if from_editor:
        form, spec, texts = live_checks.read_editor(request, task)
        episode = episode_with(task, spec)
        findings = check_unsaved(task, spec, texts=texts, episode=episode)
    try:
        if verdict == "set_aside":
            waivers.waive_error(task.pk, *fingerprints, by=user, reason=reason)
        elif verdict == "unwaive":
            waivers.remove_waiver(task.pk, *fingerprints, by=user)
        else:
            if "wrong" in request.POST:
                reason = f"{waivers.WRONG} {reason}"
            waivers.add_waiver(task.pk, *fingerprints, by=user, reason=reason, current=findings)
    except WaiverError as error:
        problem = str(error)
    if from_editor:
        answer = live_checks.findings_response(request, task, form, spec, findings or [], episode)
        return JsonResponse(answer | {"problem": problem})
    if problem:
        messages.error(request, problem)
    else:
        messages.success(request, SUCCESS_MESSAGES.get(verdict, SUCCESS_MESSAGES["waive"]))
    return redirect(task)
