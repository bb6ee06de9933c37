"""The API of tasks: reading, saving and workflow steps."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from pydantic import ValidationError as SpecInvalid
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.response import Response

from studio import access
from studio.access import ApiRequest
from studio.access.tokens import require_scope
from studio.api.base import TASK, TASKS, TaskView, named_in, valid_in
from studio.api.review import ReviewChecklistSerializer
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.drafts.validate import DraftError, StaleDraftError
from studio.models import ApiToken, Task, TaskState
from studio.models.tasks import TRIGGERS
from studio.review import workflow
from studio.review.checklist import from_api
from studio.review.outdated import changed_labels
from studio.search import task_filters
from studio.tasks.delete import delete_task
from studio.tasks.save import save_task
from studio.tasks.transitions import submit, withdraw


class TaskSerializer(serializers.ModelSerializer[Task]):
    persona = serializers.CharField(source="persona.user_id")

    class Meta:
        model = Task
        fields = ["id", "persona", "task_id", "title", "position", "split", "state", "version", "updated_at"]


class ListedTaskSerializer(TaskSerializer):
    """A task as lists show it, ``with_people``."""

    intents = serializers.IntegerField(source="n_intents")
    items = serializers.IntegerField(source="n_items")
    errors = serializers.IntegerField(source="n_errors", help_text="Open findings.")  # type: ignore[assignment]  # over the property of DRF
    warnings = serializers.IntegerField(source="n_warnings")
    author = serializers.SerializerMethodField()
    reviewers = serializers.SerializerMethodField()

    class Meta(TaskSerializer.Meta):
        fields = [
            *(*TaskSerializer.Meta.fields, "category", "trigger_kind"),
            *("intents", "items", "errors", "warnings", "author", "reviewers"),
        ]

    def get_author(self, task: Task) -> str | None:
        """Username."""
        return task.writer.username if task.writer else None

    def get_reviewers(self, task: Task) -> list[str]:
        """Usernames."""
        return [person.username for person in task.reviewers]


class TaskDetailSerializer(TaskSerializer):
    spec = serializers.SerializerMethodField()
    content = serializers.CharField(help_text="Hash of all that its score depends on: what an approval is of.")
    outdated = serializers.SerializerMethodField()

    class Meta(TaskSerializer.Meta):
        fields = [*TaskSerializer.Meta.fields, "content", "outdated", "spec"]

    def get_outdated(self, task: Task) -> list[str]:
        """What changed since it was approved; empty if its approval holds, or it has none."""
        return changed_labels(task)

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_spec(self, task: Task) -> Any:
        return load_task(task).to_json()


class SaveSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=0, help_text="The version the edit is based on.")
    spec = serializers.DictField(help_text="The whole task, as returned by GET.")
    note = serializers.CharField(required=False, allow_blank=True, max_length=300, default="")


class StepSerializer(serializers.Serializer[Any]):
    action = serializers.ChoiceField(choices=["submit", "withdraw", "approve", "request_changes"])
    version = serializers.IntegerField(required=False, help_text="The version that was read.")
    content = serializers.CharField(
        required=False, default="", max_length=64, help_text="The `content` that was read; for `approve`."
    )
    text = serializers.CharField(required=False, allow_blank=True, default="")
    review_checklist = ReviewChecklistSerializer(required=False, allow_null=True, default=None)
    despite_comments = serializers.BooleanField(
        required=False, default=False, help_text="Approve although comments are open."
    )


class Tasks(generics.ListAPIView[Task]):
    """A persona's tasks, in the order they run."""

    serializer_class = TaskSerializer
    queryset = Task.objects.none()

    def get_queryset(self) -> QuerySet[Task]:
        if "slug" not in self.kwargs:
            return Task.objects.none()
        persona = access.find_persona(self.request.user, self.kwargs["slug"], self.kwargs["user_id"])
        return Task.objects.filter(persona=persona).select_related("persona").order_by("position", "task_id")


class TaskCursor(CursorPagination):
    """By key, so that a task that moves meanwhile is neither left out nor listed twice."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
    ordering = "pk"


@extend_schema(
    parameters=[
        OpenApiParameter("q", str, description="Words in the task's id, title, request, description or workflow."),
        OpenApiParameter("persona", str, description="`user_id` of a persona."),
        OpenApiParameter("state", str, enum=TaskState.values),
        OpenApiParameter("category", str, description="A code, or `none`."),
        OpenApiParameter("trigger", str, enum=list(TRIGGERS)),
        OpenApiParameter("findings", str, enum=task_filters.FINDINGS),
        OpenApiParameter("writer", str, description="A username, `me` or `none`."),
        OpenApiParameter("reviewer", str, description="A username, `me` or `none`."),
    ]
)
class BenchmarkTasks(generics.GenericAPIView[Any]):
    """A benchmark's tasks, filtered as on the page of tasks. ``next`` leads on."""

    serializer_class = ListedTaskSerializer
    pagination_class = TaskCursor
    queryset = Task.objects.none()

    @extend_schema(responses=ListedTaskSerializer(many=True))
    def get(self, request: ApiRequest, slug: str) -> Response:
        benchmark = access.find_benchmark(request.user, slug)
        found = task_filters.filter_tasks(benchmark, request.query_params, me=request.user)
        tasks = self.paginate_queryset(task_filters.with_people(found.tasks)) or []
        return self.get_paginated_response(self.get_serializer(tasks, many=True).data)


class TaskDetail(TaskView):
    """A task in full; PUT saves a version; DELETE is for a task that was never reviewed, run or released."""

    @extend_schema(responses=TaskDetailSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        return Response(TaskDetailSerializer(access.find_task(request.user, slug, user_id, pk)).data)

    @extend_schema(request=SaveSerializer, responses={200: TaskDetailSerializer, 409: OpenApiTypes.OBJECT})
    def put(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        task = self.task(request, slug, user_id, pk, "edit")
        given = valid_in(request, SaveSerializer)
        try:
            spec = TaskSpec.model_validate(given["spec"])
        except SpecInvalid as invalid:
            raise ValidationError({"spec": [_message(error) for error in invalid.errors()]}) from None
        _validate_files(spec, task)
        try:
            save_task(task.pk, spec, by=request.user, note=given["note"], base_version=given["version"])
        except StaleDraftError as error:
            return Response({"detail": str(error), "version": error.current}, status=status.HTTP_409_CONFLICT)
        except DraftError as error:
            raise ValidationError({error.field: [str(error)]}) from None
        return Response(TaskDetailSerializer(access.find_task(request.user, slug, user_id, pk)).data)

    @extend_schema(responses={204: None, 409: OpenApiTypes.OBJECT})
    def delete(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        delete_task(self.task(request, slug, user_id, pk, "edit"), by=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class WorkflowSteps(TaskView):
    """Workflow steps: submit, withdraw, approve, request_changes."""

    @extend_schema(request=StepSerializer, responses={200: TaskSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        action = named_in(request, "action")
        if action == "approve":
            require_scope(request, ApiToken.Scope.FULL)
        self.task(request, slug, user_id, pk, "review" if action in ("approve", "request_changes") else "edit")
        data = valid_in(request, StepSerializer)
        action, text, version = data["action"], data["text"], data.get("version")
        answers = None if data["review_checklist"] is None else from_api(data["review_checklist"])
        if action == "submit":
            submit(pk, by=request.user, text=text)
        elif action == "withdraw":
            withdraw(pk, by=request.user)
        elif action == "approve":
            workflow.approve(
                pk,
                by=request.user,
                version=version,
                content=data["content"],
                text=text,
                answers=answers,
                despite_comments=data["despite_comments"],
            )
        else:
            workflow.request_changes(pk, by=request.user, version=version, text=text, answers=answers)
        return Response(TaskSerializer(access.find_task(request.user, slug, user_id, pk)).data)


def _validate_files(spec: TaskSpec, task: Task) -> None:
    """A file is named by its hash, so a client may only name files the task has or had. Raises ValidationError."""
    stored = load_task(task)
    if {*spec.assets} <= {*stored.assets} and {*spec.references} <= {*stored.references}:
        return
    specs = [stored.to_json(), *task.revisions.values_list("spec", flat=True)]
    known = {(file["path"], file["sha256"]) for spec_json in specs for file in spec_json.get("assets", ())}
    for file in spec.assets:
        if (file.path, file.sha256) not in known:
            raise ValidationError({"assets": [f"“{file.path}” is not among the task's files: upload it on its page."]})
    artifacts = [artifact for spec_json in specs for artifact in spec_json.get("expected_artifacts", ())]
    references = {row["reference"]["sha256"] for row in artifacts if isinstance(row, dict) and row.get("reference")}
    for file in spec.references:
        if file.sha256 not in references:
            message = f"The reference of “{file.path}” is none of the task's: attach it on its page."
            raise ValidationError({"expected_artifacts": [message]})


def _message(error: Any) -> str:
    path = ".".join(str(part) for part in error["loc"])
    return f"{path}: {error['msg']}."


urlpatterns = [
    path("benchmarks/<slug:slug>/tasks/", BenchmarkTasks.as_view(), name="api_benchmark_tasks"),
    path(TASKS, Tasks.as_view(), name="api_tasks"),
    path(TASK, TaskDetail.as_view(), name="api_task"),
    path(f"{TASK}steps/", WorkflowSteps.as_view(), name="api_steps"),
]
