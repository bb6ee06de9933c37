"""A task to be read, without its editor."""

from __future__ import annotations

from django.http import HttpResponse

from studio import access
from studio.access import SignedInRequest
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.models import Task
from studio.review.reading import last_reviewed, reading_sections
from studio.views.pages import show, task_page


@task_page("view", "GET")
def read(request: SignedInRequest, task: Task) -> HttpResponse:
    review = last_reviewed(task, request.user)
    spec = load_task(task)
    before = TaskSpec.model_validate(review.revision.spec) if review else None
    titles = {row.task_id: str(row) for row in Task.objects.filter(persona=task.persona).only("task_id", "title")}
    sections = reading_sections(spec, before, titles)
    context = {
        "review": review,
        "changed": sum(bool(section.changes) for section in sections),
        "sections": sections,
        "may_review": task.state == "in_review" and access.may(request.user, task.persona.benchmark, "review"),
    }
    return show(request, task, "studio/review/read.html", context)
