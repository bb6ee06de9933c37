"""Base classes and paths of the API's views of one task."""

from __future__ import annotations

from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access
from studio.access import ApiRequest
from studio.drafts.validate import DraftError
from studio.models import Task
from studio.review import assignments
from studio.tasks.transitions import WorkflowError

OBJECTS = {"type": "array", "items": {"type": "object", "additionalProperties": {}}}
"""The schema of an answer that is a list of objects, which the description names."""
TASKS = "benchmarks/<slug:slug>/personas/<str:user_id>/tasks/"
TASK = f"{TASKS}<int:pk>/"
CONFLICT_ERRORS = (WorkflowError, DraftError, assignments.AssignmentError)


class ConflictAPIError(APIException):
    """The request is valid but conflicts with the stored state."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class TaskView(APIView):
    """A view of one task. Errors of the workflow and of drafts are answered with 409 and their message."""

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(ConflictAPIError(str(exc)) if isinstance(exc, CONFLICT_ERRORS) else exc)

    def task(self, request: ApiRequest, slug: str, user_id: str, pk: int, action: str = "view") -> Task:
        task = access.find_task(request.user, slug, user_id, pk)
        access.require(request.user, task.episode.persona.benchmark, action)
        return task
