"""A task's activity and versions."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.activity.timeline import FILTERS, activity_of, by_day
from studio.domain.diff import compare
from studio.domain.task import TaskSpec
from studio.drafts.autosave import KEPT_DAYS, EditorKey, discarded_texts
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.models import Revision, Task
from studio.tasks.save import restore_version


@login_required
def activity(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Activity by day; ``?only=versions`` or ``?only=talk`` filters it."""
    task = access.find_task(request.user, slug, user_id, pk)
    only = request.GET.get("only", "")
    only = only if only in FILTERS else ""
    page = activity_of(task, only=only, page=request.GET.get("page"))
    context = {"page": page, "days": by_day(page.object_list), "only": only, "which": FILTERS.items()}
    return render(
        request, "studio/activity/task.html", _frame(task) | context | {"query": f"only={only}" if only else ""}
    )


@login_required
def versions(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    rows = task.revisions.select_related("created_by").prefetch_related("reviews__reviewer").defer("spec")
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    discarded = discarded_texts(EditorKey(task=task), request.user)
    return render(
        request, "studio/tasks/versions.html", _frame(task) | {"page": page, "discarded": discarded, "days": KEPT_DAYS}
    )


@login_required
def version(request: SignedInRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    revision = get_object_or_404(
        task.revisions.select_related("created_by").prefetch_related("reviews__reviewer"), number=number
    )
    other = task.revisions.filter(number=number_of(request.GET.get("with")) or number - 1).first()
    spec = _spec(revision)
    context = _frame(task) | {
        "revision": revision,
        "number_text": str(revision.number),
        "before_number": revision.number - 1,
        "after_number": revision.number + 1,
        "other": other,
        "others": task.revisions.exclude(number=number).values_list("number", flat=True)[:500],
        "changes": compare(_spec(other) if other else TaskSpec(task_id=spec.task_id), spec),
        "can": access.actions_in(request.user, task.persona.benchmark),
    }
    return render(request, "studio/tasks/version.html", context)


@login_required
@require_POST
def restore(request: SignedInRequest, slug: str, user_id: str, pk: int, number: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.persona.benchmark, "edit")
    get_object_or_404(task.revisions, number=number)
    try:
        saved = restore_version(task, number, by=request.user)
        messages.success(request, f"Version {number} restored as version {saved.number}.")
    except DraftError as error:
        messages.error(request, f"Version {number} no longer fits into the episode. {error}")
    return redirect(task)


def _spec(revision: Revision) -> TaskSpec:
    return TaskSpec.model_validate(revision.spec)


def _frame(task: Task) -> dict[str, object]:
    persona = task.persona
    return {"task": task, "persona": persona, "benchmark": persona.benchmark}
