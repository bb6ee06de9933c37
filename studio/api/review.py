"""The API of reviewing: what reviewers said, who writes and who reviews."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from studio.access import ApiRequest
from studio.api.base import TASK, OfTask
from studio.models import Review, Task, User
from studio.review import assignments as assigning
from studio.review.checklist import POINTS


class PointSerializer(serializers.Serializer[Any]):
    so = serializers.BooleanField(help_text="The reviewer's answer.")
    word = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)


class PointsSerializer(serializers.Serializer[Any]):
    """The reviewer's list. Approving without it is recorded as such, and refused where the benchmark asks for it."""

    realistic = PointSerializer(required=False)
    feasible = PointSerializer(required=False)
    correct = PointSerializer(required=False)
    well_scoped = PointSerializer(required=False)


class ReviewSerializer(serializers.ModelSerializer[Review]):
    reviewer = serializers.CharField(source="reviewer.username", allow_null=True, default=None)
    version = serializers.IntegerField(source="revision.number")
    points = serializers.SerializerMethodField()

    class Meta:
        model = Review
        fields = ["id", "reviewer", "version", "decision", "text", "points", "created_at"]

    @extend_schema_field(PointsSerializer)
    def get_points(self, row: Review) -> Any:
        """The list as it was gone through; empty: it was not."""
        return {key: row.points[key] for key in POINTS if key in row.points}


class PeopleSerializer(serializers.Serializer[Any]):
    writer = serializers.CharField(allow_null=True, allow_blank=True, help_text="Username.")
    reviewers = serializers.ListField(child=serializers.CharField(), max_length=50)


class Reviews(OfTask):
    @extend_schema(responses=ReviewSerializer(many=True))
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """What reviewers said of every version, the newest first."""
        task = self.task(request, slug, user_id, pk)
        rows = Review.objects.filter(revision__task=task).select_related("reviewer", "revision")
        return Response(ReviewSerializer(rows.defer("revision__spec").order_by("-created_at", "-pk"), many=True).data)


class People(OfTask):
    @extend_schema(responses=PeopleSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Who writes the task, and who is asked to review it."""
        return Response(_people(self.task(request, slug, user_id, pk)))

    @extend_schema(request=PeopleSerializer, responses={200: PeopleSerializer, 409: OpenApiTypes.OBJECT})
    def put(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Name exactly these."""
        task = self.task(request, slug, user_id, pk, "assign")
        wanted = PeopleSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        names = [wanted.validated_data["writer"] or "", *wanted.validated_data["reviewers"]]
        members = User.objects.filter(memberships__benchmark=task.episode.persona.benchmark, username__in=names)
        known = {user.username: user for user in members.distinct()}
        if unknown := [name for name in names if name and name not in known]:
            raise ValidationError({"people": [f"No user here has the username “{unknown[0]}”."]})
        user: Any = request.user
        assigning.set_people(
            task.pk, by=user, writer=known.get(names[0]), reviewers=[known[name] for name in names[1:] if name]
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
