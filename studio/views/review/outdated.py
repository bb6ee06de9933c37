"""Approving again what a change of the persona, a grader script or an earlier task has outdated."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.phrases import count_of
from studio.models import Persona
from studio.review import outdated
from studio.review.checklist import QUESTIONS, posted_answers
from studio.tasks.transitions import WorkflowError
from studio.views.pages import persona_page, place_of, show


@persona_page("view", "GET", "POST", post="review")
def approvals(request: SignedInRequest, persona: Persona) -> HttpResponse:
    """What has changed since tasks of the persona were approved, and the tasks it outdates."""
    if request.method == "GET":
        return _page(request, persona)
    try:
        approved = outdated.approve_again(
            persona,
            request.POST.getlist("content"),
            by=request.user,
            text=request.POST.get("text", ""),
            answers=posted_answers(request.POST) or None,
        )
    except WorkflowError as error:
        return _page(request, persona, problem=str(error))
    messages.success(request, f"Approved {count_of(len(approved), 'task')} again.")
    return redirect("studio:approvals", *place_of(persona))


def _page(request: SignedInRequest, persona: Persona, problem: str = "") -> HttpResponse:
    tasks = outdated.outdated_tasks(persona)
    may = access.actions_in(request.user, persona.benchmark)
    own = outdated.may_approve_again(tasks, request.user) if "review" in may else []
    context = {
        "tasks": tasks,
        "changes": outdated.changes_since_approval(tasks),
        "approvable": own,
        "others": [task for task in tasks if task not in own],
        "may_review": "review" in may,
        "problem": problem,
        "typed_review": {"answers": posted_answers(request.POST), "text": request.POST.get("text", "")},
        "review_questions": QUESTIONS,
    }
    return show(request, persona, "studio/review/outdated.html", context, status=409 if problem else 200)
