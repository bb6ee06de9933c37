"""A task's activity and versions."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from studio.access import SignedInRequest
from studio.activity.timeline import FILTERS, activity_of, by_day
from studio.domain.diff import compare
from studio.domain.task import TaskSpec
from studio.drafts.autosave import KEPT_DAYS, EditorKey, discarded_texts
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.models import Revision, Task
from studio.tasks.save import restore_version
from studio.views.pages import show, task_page


@task_page()
def activity(request: SignedInRequest, task: Task) -> HttpResponse:
    """Activity by day; ``?only=versions`` or ``?only=talk`` filters it."""
    only = request.GET.get("only", "")
    only = only if only in FILTERS else ""
    page = activity_of(task, only=only, page=request.GET.get("page"))
    context = {"page": page, "days": by_day(page.object_list), "only": only, "which": FILTERS.items()}
    return show(request, task, "studio/activity/task.html", context | {"query": f"only={only}" if only else ""})


@task_page()
def versions(request: SignedInRequest, task: Task) -> HttpResponse:
    rows = task.revisions.select_related("created_by").prefetch_related("reviews__reviewer").defer("spec")
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    discarded = discarded_texts(EditorKey(task=task), request.user)
    context = {"page": page, "discarded": discarded, "days": KEPT_DAYS}
    return show(request, task, "studio/tasks/versions.html", context)


@task_page()
def version(request: SignedInRequest, task: Task, number: int) -> HttpResponse:
    revision = get_object_or_404(
        task.revisions.select_related("created_by").prefetch_related("reviews__reviewer"), number=number
    )
    other = task.revisions.filter(number=number_of(request.GET.get("with")) or number - 1).first()
    spec = _spec(revision)
    context = {
        "revision": revision,
        "number_text": str(revision.number),
        "before_number": revision.number - 1,
        "after_number": revision.number + 1,
        "other": other,
        "others": task.revisions.exclude(number=number).values_list("number", flat=True)[:500],
        "changes": compare(_spec(other) if other else TaskSpec(task_id=spec.task_id), spec),
    }
    return show(request, task, "studio/tasks/version.html", context)


@task_page("edit", "POST")
def restore(request: SignedInRequest, task: Task, number: int) -> HttpResponse:
    get_object_or_404(task.revisions, number=number)
    try:
        saved = restore_version(task, number, by=request.user)
        messages.success(request, f"Version {number} restored as version {saved.number}.")
    except DraftError as error:
        messages.error(request, f"Version {number} no longer fits into the episode. {error}")
    return redirect(task)


def _spec(revision: Revision) -> TaskSpec:
    return TaskSpec.model_validate(revision.spec)
