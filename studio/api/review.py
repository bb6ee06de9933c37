"""The API of reviews and assignments."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from studio.access import ApiRequest
from studio.api.base import TASK, TaskView, valid_in
from studio.models import Review, Task, User
from studio.review import assignments
from studio.review.checklist import from_stored, to_api


class ReviewAnswerSerializer(serializers.Serializer[Any]):
    met = serializers.BooleanField(help_text="Whether the answer is yes.")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)


class ReviewChecklistSerializer(serializers.Serializer[Any]):
    """The review checklist. Approving without it is recorded, or rejected if the benchmark requires it."""

    realistic = ReviewAnswerSerializer(required=False)
    feasible = ReviewAnswerSerializer(required=False)
    correct = ReviewAnswerSerializer(required=False)
    well_scoped = ReviewAnswerSerializer(required=False)


class ReviewSerializer(serializers.ModelSerializer[Review]):
    reviewer = serializers.CharField(source="reviewer.username", allow_null=True, default=None)
    version = serializers.IntegerField(source="revision.number")
    review_checklist = serializers.SerializerMethodField()

    class Meta:
        model = Review
        fields = ["id", "reviewer", "version", "decision", "text", "review_checklist", "created_at"]

    @extend_schema_field(ReviewChecklistSerializer)
    def get_review_checklist(self, row: Review) -> Any:
        """The answers; empty if the checklist was skipped."""
        return to_api(from_stored(row.answers))


class PeopleSerializer(serializers.Serializer[Any]):
    writer = serializers.CharField(allow_null=True, allow_blank=True, help_text="Username.")
    reviewers = serializers.ListField(child=serializers.CharField(), max_length=50)


class Reviews(TaskView):
    @extend_schema(responses=ReviewSerializer(many=True))
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Reviews of every version, newest first."""
        task = self.task(request, slug, user_id, pk)
        rows = Review.objects.filter(revision__task=task).select_related("reviewer", "revision")
        return Response(ReviewSerializer(rows.defer("revision__spec").order_by("-created_at", "-pk"), many=True).data)


class People(TaskView):
    @extend_schema(responses=PeopleSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """The task's author and reviewers."""
        return Response(_people(self.task(request, slug, user_id, pk)))

    @extend_schema(request=PeopleSerializer, responses={200: PeopleSerializer, 409: OpenApiTypes.OBJECT})
    def put(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Replace the task's author and reviewers."""
        task = self.task(request, slug, user_id, pk, "assign")
        data = valid_in(request, PeopleSerializer)
        usernames = [data["writer"] or "", *data["reviewers"]]
        members = User.objects.filter(memberships__benchmark=task.persona.benchmark, username__in=usernames)
        by_username = {user.username: user for user in members.distinct()}
        if unknown := [name for name in usernames if name and name not in by_username]:
            raise ValidationError({"people": [f"No user here has the username “{unknown[0]}”."]})
        assignments.set_assignees(
            task.pk,
            by=request.user,
            writer=by_username.get(usernames[0]),
            reviewers=[by_username[name] for name in usernames[1:] if name],
        )
        return Response(_people(task))


def _people(task: Task) -> dict[str, Any]:
    rows = list(task.assignments.select_related("user"))
    return {
        "writer": next((row.user.username for row in rows if row.part == "writer"), None),
        "reviewers": [row.user.username for row in rows if row.part == "reviewer"],
    }


urlpatterns = [
    path(f"{TASK}reviews/", Reviews.as_view(), name="api_reviews"),
    path(f"{TASK}people/", People.as_view(), name="api_people"),
]
