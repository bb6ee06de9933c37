"""Workflow steps and assignments on a task's page."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html

from studio import access
from studio.access import SignedInRequest
from studio.domain.storable import storable_text
from studio.drafts.authors import authors_of_newest
from studio.findings.queries import BLANK, WEIGHT, open_findings
from studio.forms.post_data import number_of
from studio.models import Task, User
from studio.reports.todo import tasks_to_review
from studio.review import assignments, workflow
from studio.review.checklist import posted_answers
from studio.tasks.transitions import WorkflowError, reopen, retire, submit, withdraw
from studio.views.pages import place_of, show, task_page
from studio.views.tasks.autosave import TaskPage, UnresolvedError, save_autosaved

DONE_MESSAGES = {
    "submit": "Submitted for review.",
    "withdraw": "Withdrawn. It is a draft again.",
    "approve": "Approved.",
    "request_changes": "Changes requested.",
    "retire": "Retired. You can restore it at any time.",
    "reopen": "It is a draft again.",
}
APPROVAL_RECORDED = "Your approval is recorded; another one is required."
NO_REVIEWER = "Submitted, but nobody else can review here yet. An owner can add a reviewer to the benchmark."
REVIEWING = {"approve", "request_changes"}


@task_page("view", "POST")
def step(request: SignedInRequest, task: Task, action: str) -> HttpResponse:
    """One workflow step. A review that fails returns the task's page with what was typed."""
    if action not in DONE_MESSAGES:
        raise Http404
    access.require(request.user, task.persona.benchmark, "review" if action in REVIEWING else "edit")
    try:
        if action == "submit":
            save_autosaved(request, task)
            if "sheet" in request.POST:
                return redirect("studio:submission", *place_of(task))
        changed = _perform(action, task, request)
    except (WorkflowError, UnresolvedError, assignments.AssignmentError) as error:
        messages.error(request, str(error))
        if action in REVIEWING:
            task = access.find_task(request.user, *place_of(task))
            typed = {"text": request.POST.get("text", ""), "answers": posted_answers(request.POST), "open": True}
            context = TaskPage(request, task).initial_context() | {"typed_review": typed}
            return render(request, "studio/tasks/editor.html", context, status=409)
    else:
        _say_what_was_done(request, action, changed)
    return redirect(task)


def _say_what_was_done(request: SignedInRequest, action: str, task: Task) -> None:
    if action in REVIEWING:
        needs_more_approvals = action == "approve" and task.state == "in_review"
        text = APPROVAL_RECORDED if needs_more_approvals else DONE_MESSAGES[action]
        messages.success(request, _with_next_review(text, request))
    elif action != "submit":
        messages.success(request, DONE_MESSAGES[action])
    elif who := _who_reviews(task):
        messages.success(request, f"{DONE_MESSAGES[action]} {who}")
    else:
        messages.warning(request, NO_REVIEWER)


def _who_reviews(task: Task) -> str:
    """A sentence; empty if nobody can."""
    people = assignments.assignees_of(task, authors=authors_of_newest([task])[task.pk])
    if people.reviewers:
        return f"{' and '.join(map(str, people.reviewers))} will review it."
    if not people.may_review:
        return ""
    names = [str(one.user) for one in people.may_review]
    return f"{names[0]} will review it." if len(names) == 1 else f"Any of these will review it: {', '.join(names)}."


@task_page("edit")
def submission(request: SignedInRequest, task: Task) -> HttpResponse:
    """What reviewers will find, and who is asked, before a task is submitted."""
    found = list(open_findings().filter(task=task).order_by(WEIGHT, "pk"))
    context = {
        "blanks": [finding for finding in found if finding.rule == BLANK],
        "findings": [finding for finding in found if finding.rule != BLANK],
        "comments": workflow.open_threads(task).select_related("author"),
        "people": assignments.assignees_of(task, authors=authors_of_newest([task])[task.pk]),
    }
    return show(request, task, "studio/review/submission.html", context)


def _with_next_review(text: str, request: SignedInRequest) -> str:
    waiting = tasks_to_review(request.user, access.benchmarks_for(request.user))
    task = waiting.select_related("persona__benchmark").first()
    if task is None:
        return text
    return format_html("{} Next to review: <a href='{}'>{}</a>", text, task.get_absolute_url(), task)


@task_page("assign", "POST")
def assign(request: SignedInRequest, task: Task) -> HttpResponse:
    """Assign an author and reviewers; with ``fewest``, the eligible reviewer with the fewest open reviews."""
    benchmark = task.persona.benchmark
    members = User.objects.filter(memberships__benchmark=benchmark).distinct()
    by_username = {user.username: user for user in members}
    writer = by_username.get(request.POST.get("writer", ""))
    reviewers = [by_username[name] for name in request.POST.getlist("reviewer") if name in by_username]
    if "fewest" in request.POST and (reviewer := assignments.least_busy_reviewer(task, writer)):
        reviewers = [reviewer]
    try:
        assignments.set_assignees(task.pk, by=request.user, writer=writer, reviewers=reviewers)
    except assignments.AssignmentError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "They have been notified." if writer or reviewers else "No one is assigned now.")
    return redirect(f"{task.get_absolute_url()}#people")


def _perform(action: str, task: Task, request: SignedInRequest) -> Task:
    user = request.user
    text = request.POST.get("text", "")
    version = number_of(request.POST.get("version")) or None
    if action == "submit":
        return _submit(task, request)
    if action == "withdraw":
        return withdraw(task.pk, by=user)
    if action == "retire":
        return retire(task.pk, by=user)
    if action == "reopen":
        return reopen(task.pk, by=user)
    if action == "approve":
        return workflow.approve(
            task.pk,
            by=user,
            version=version,
            content=request.POST.get("content", ""),
            text=text,
            answers=posted_answers(request.POST),
            despite_comments="despite_comments" in request.POST,
        )
    return workflow.request_changes(task.pk, by=user, text=text, version=version, answers=posted_answers(request.POST))


def _submit(task: Task, request: SignedInRequest) -> Task:
    text = request.POST.get("text", "")
    if not (name := storable_text(request.POST.get("reviewer", ""))):
        return submit(task.pk, by=request.user, text=text)
    reviewer = User.objects.filter(memberships__benchmark=task.persona.benchmark, username=name).first()
    if reviewer is None:
        raise assignments.AssignmentError(f"“{name}” is not a member of this benchmark. Choose another reviewer.")
    return assignments.submit_to(reviewer, task.pk, by=request.user, text=text)
