"""What the API's views have in common, and base classes and paths of those of one task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.http import QueryDict
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView, exception_handler

from studio import access
from studio.access import ApiRequest
from studio.domain.options import Options, OptionsError
from studio.drafts.validate import DraftError
from studio.models import Task
from studio.review import assignments
from studio.tasks.transitions import WorkflowError

OBJECTS = {"type": "array", "items": {"type": "object", "additionalProperties": {}}}
"""The schema of an answer that is a list of objects, which the description names."""
KEY = "[0-9]{1,18}"
"""What a row's number looks like in an address."""
TASKS = "benchmarks/<slug:slug>/personas/<str:user_id>/tasks/"
TASK = f"{TASKS}<int:pk>/"
CONFLICT_ERRORS = (WorkflowError, DraftError, assignments.AssignmentError)


class ConflictAPIError(APIException):
    """The request is valid but conflicts with the stored state."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


Given = TypeVar("Given", bound=Options)


def given_in(request: ApiRequest, of: type[Given]) -> Given:
    """The request's body. Raises OptionsError, and ParseError if it has no fields."""
    data: Any = request.data
    if not isinstance(data, Mapping):
        raise ParseError("Send an object with fields.")
    return of.read(data.dict() if isinstance(data, QueryDict) else data)


def valid_in(request: ApiRequest, serializer: type[Serializer[Any]]) -> dict[str, Any]:
    """The request's body, as the serializer reads it. Raises ValidationError."""
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def named_in(request: ApiRequest, field: str) -> str:
    """What the request's body is about, which decides who may send the rest of it; empty if it does not say."""
    return str(request.data.get(field, "")) if isinstance(request.data, Mapping) else ""


def refuse(error: Exception, context: Any) -> Response | None:
    """Of every view: what was chosen wrongly is answered with 400 and the field's name, what cannot be now with 409."""
    if isinstance(error, OptionsError):
        error = ValidationError({error.field: [error.message]}) if error.field else ConflictAPIError(error.message)
    response = exception_handler(error, context)
    if response is not None and isinstance(error, ValidationError):
        response.data = {"errors": response.data}
    return response


class TaskView(APIView):
    """A view of one task. Errors of the workflow and of drafts are answered with 409 and their message."""

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(ConflictAPIError(str(exc)) if isinstance(exc, CONFLICT_ERRORS) else exc)

    def task(self, request: ApiRequest, slug: str, user_id: str, pk: int, action: str = "view") -> Task:
        task = access.find_task(request.user, slug, user_id, pk)
        access.require(request.user, task.persona.benchmark, action)
        return task
