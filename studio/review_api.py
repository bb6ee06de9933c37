"""The API of reviewing: remarks and suggestions, reviews, who writes and who reviews. The pages' functions."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiTypes, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access, assigning, drafts, remarks, suggesting
from studio.models import Comment, Review, Task, User
from studio.points import POINTS
from studio.publishing import PublishingRefused
from studio.spec.anchoring import Quote, texts_of
from studio.threads import TALKED_OF, Thread, threads_of

REFUSALS = (PublishingRefused, drafts.DraftRefused, assigning.AssigningRefused)


class Refused(APIException):
    """The request was understood and does not fit what is stored now."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class PointSerializer(serializers.Serializer[Any]):
    so = serializers.BooleanField(help_text="Whether it is so.")
    word = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)


class PointsSerializer(serializers.Serializer[Any]):
    """The reviewer's list. Approving without it is recorded as such, and refused where the benchmark asks for it."""

    realistic = PointSerializer(required=False)
    feasible = PointSerializer(required=False)
    correct = PointSerializer(required=False)
    well_scoped = PointSerializer(required=False)


class AnswerSerializer(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(source="author.username")

    class Meta:
        model = Comment
        fields = ["id", "author", "text", "created_at", "edited_at"]


class PlaceSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Field of the task; empty: the task as a whole.")
    item = serializers.CharField(help_text="uid of the row, where it is about one.")
    state = serializers.ChoiceField(choices=["here", "changed", "gone"])
    start = serializers.IntegerField(allow_null=True, help_text="Where its words begin in the text now, in characters.")
    words = serializers.CharField(help_text="What the words are now.")


class RemarkSerializer(AnswerSerializer):
    """A remark with its answers, and where it stands in the newest version."""

    version = serializers.SerializerMethodField(help_text="The version it was made on.")
    applied_in = serializers.SerializerMethodField(help_text="The version its suggestion became.")
    place = serializers.SerializerMethodField()
    answers = serializers.SerializerMethodField()

    class Meta(AnswerSerializer.Meta):
        fields = [
            *AnswerSerializer.Meta.fields,
            "version",
            "words",
            "suggestion",
            "applied_in",
            "resolved_at",
            "place",
            "answers",
        ]

    def _thread(self, row: Comment) -> Thread:
        thread: Thread = self.context["threads"][row.pk]
        return thread

    def get_version(self, row: Comment) -> int | None:
        return row.revision.number if row.revision else None

    def get_applied_in(self, row: Comment) -> int | None:
        return row.applied_in.number if row.applied_in else None

    @extend_schema_field(PlaceSerializer)
    def get_place(self, row: Comment) -> dict[str, Any]:
        thread = self._thread(row)
        here = thread.place
        start = here.span.start if here.span else None
        return {
            "field": here.field,
            "item": here.row,
            "state": here.state,
            "start": start,
            "words": thread.words_now,
        }

    @extend_schema_field(AnswerSerializer(many=True))
    def get_answers(self, row: Comment) -> Any:
        return AnswerSerializer(self._thread(row).answers, many=True).data


class NewRemarkSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(required=False, allow_blank=True, default="", max_length=remarks.MOST)
    field = serializers.ChoiceField(choices=TALKED_OF, required=False, allow_blank=True, default="")
    item = serializers.UUIDField(required=False, allow_null=True, default=None, help_text="uid of an intent or item.")
    words = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    start = serializers.IntegerField(required=False, min_value=0, default=0, help_text="Which of them, if said twice.")
    suggestion = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        default=None,
        trim_whitespace=False,
        max_length=remarks.MOST,
        help_text="What the words, or without words the whole text, should become.",
    )


class ChangeRemarkSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(required=False, allow_blank=True, max_length=remarks.MOST)
    settled = serializers.BooleanField(required=False)


class NewAnswerSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=remarks.MOST)


class ApplySerializer(serializers.Serializer[Any]):
    remarks = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=200)


class AppliedSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(allow_null=True, help_text="The version that was made, if one was.")
    undecided = serializers.ListField(
        child=serializers.IntegerField(), help_text="Suggestions whose words have changed since: a person chooses."
    )


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
    writer = serializers.CharField(allow_null=True, allow_blank=True, help_text="Name they sign in with.")
    reviewers = serializers.ListField(child=serializers.CharField(), max_length=50)


class _OfTask(APIView):
    """A view of one task, to who may do this. What the rules refuse is answered with their words."""

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(Refused(str(exc)) if isinstance(exc, REFUSALS) else exc)

    def task(self, request: Request, slug: str, user_id: str, pk: int, action: str = "view") -> Task:
        task = access.find_task(request.user, slug, user_id, pk)
        access.require(request.user, task.episode.persona.benchmark, action)
        return task

    def told(self, task: Task) -> dict[int, Thread]:
        task.refresh_from_db()
        texts = texts_of(drafts.load_task(task).to_json())
        return {thread.root.pk: thread for thread in threads_of(task, texts)}


class Remarks(_OfTask):
    """The talk about a task."""

    @extend_schema(responses=RemarkSerializer(many=True))
    def get(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        """All remarks, open ones first, in the order of the page."""
        threads = self.told(self.task(request, slug, user_id, pk))
        rows = [thread.root for thread in threads.values()]
        return Response(RemarkSerializer(rows, many=True, context={"threads": threads}).data)

    @extend_schema(request=NewRemarkSerializer, responses={201: RemarkSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        """Remark on the task, a field, a row or words in it, in the newest version."""
        task = self.task(request, slug, user_id, pk, "comment")
        wanted = NewRemarkSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        words = Quote(given["words"], start=given["start"]) if given["words"] else None
        user: Any = request.user
        made = remarks.remark(
            task.pk,
            by=user,
            text=given["text"],
            field=given["field"],
            item_uid=str(given["item"]) if given["item"] else None,
            words=words,
            suggestion=given["suggestion"],
        )
        return Response(_one(self.told(task), made.pk), status=status.HTTP_201_CREATED)


class OneRemark(_OfTask):
    @extend_schema(request=ChangeRemarkSerializer, responses={200: RemarkSerializer, 409: OpenApiTypes.OBJECT})
    def patch(self, request: Request, slug: str, user_id: str, pk: int, remark: int) -> Response:
        """Change the words of one's own remark or answer, or settle a talk and open it again."""
        task = self.task(request, slug, user_id, pk, "comment")
        row = get_object_or_404(task.comments, pk=remark)
        wanted = ChangeRemarkSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        user: Any = request.user
        if "text" in wanted.validated_data:
            remarks.rewrite(row, by=user, text=wanted.validated_data["text"])
        if "settled" in wanted.validated_data:
            remarks.settle(row, by=user, settled=wanted.validated_data["settled"])
        return Response(_one(self.told(task), row.reply_to_id or row.pk))

    @extend_schema(responses={204: None, 409: OpenApiTypes.OBJECT})
    def delete(self, request: Request, slug: str, user_id: str, pk: int, remark: int) -> Response:
        """Take one's own words back; answers stay."""
        task = self.task(request, slug, user_id, pk, "comment")
        user: Any = request.user
        remarks.take_back(get_object_or_404(task.comments, pk=remark), by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Answers(_OfTask):
    @extend_schema(request=NewAnswerSerializer, responses={201: RemarkSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str, user_id: str, pk: int, remark: int) -> Response:
        """Answer a remark."""
        task = self.task(request, slug, user_id, pk, "comment")
        root = get_object_or_404(task.comments, pk=remark)
        wanted = NewAnswerSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        user: Any = request.user
        remarks.answer(root, by=user, text=wanted.validated_data["text"])
        return Response(_one(self.told(task), root.reply_to_id or root.pk), status=status.HTTP_201_CREATED)


class ApplySuggestions(_OfTask):
    @extend_schema(request=ApplySerializer, responses={200: AppliedSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        """Make one version of these suggestions. Who suggested is an author of it."""
        task = self.task(request, slug, user_id, pk, "edit")
        wanted = ApplySerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        user: Any = request.user
        done = suggesting.apply(task.pk, wanted.validated_data["remarks"], by=user)
        version = done.revision.number if done.revision else None
        return Response({"version": version, "undecided": [row.pk for row in done.undecided]})


class Reviews(_OfTask):
    @extend_schema(responses=ReviewSerializer(many=True))
    def get(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        """What reviewers said of every version, the newest first."""
        task = self.task(request, slug, user_id, pk)
        rows = Review.objects.filter(revision__task=task).select_related("reviewer", "revision")
        return Response(ReviewSerializer(rows.defer("revision__spec").order_by("-created_at", "-pk"), many=True).data)


class People(_OfTask):
    @extend_schema(responses=PeopleSerializer)
    def get(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        """Who writes the task, and who is asked to review it."""
        return Response(_people(self.task(request, slug, user_id, pk)))

    @extend_schema(request=PeopleSerializer, responses={200: PeopleSerializer, 409: OpenApiTypes.OBJECT})
    def put(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        """Name exactly these."""
        task = self.task(request, slug, user_id, pk, "assign")
        wanted = PeopleSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        names = [wanted.validated_data["writer"] or "", *wanted.validated_data["reviewers"]]
        members = User.objects.filter(memberships__benchmark=task.episode.persona.benchmark, username__in=names)
        known = {user.username: user for user in members.distinct()}
        if unknown := [name for name in names if name and name not in known]:
            raise ValidationError({"people": [f"Nobody here signs in as “{unknown[0]}”."]})
        user: Any = request.user
        assigning.set_people(
            task.pk, by=user, writer=known.get(names[0]), reviewers=[known[name] for name in names[1:] if name]
        )
        return Response(_people(task))


def _one(threads: dict[int, Thread], key: int) -> Any:
    return RemarkSerializer(threads[key].root, context={"threads": threads}).data


def _people(task: Task) -> dict[str, Any]:
    rows = list(task.assignments.select_related("user"))
    return {
        "writer": next((row.user.username for row in rows if row.part == "writer"), None),
        "reviewers": [row.user.username for row in rows if row.part == "reviewer"],
    }


TASK = "benchmarks/<slug:slug>/personas/<str:user_id>/tasks/<int:pk>"
urlpatterns = [
    path(f"{TASK}/remarks/", Remarks.as_view(), name="api_remarks"),
    path(f"{TASK}/remarks/apply/", ApplySuggestions.as_view(), name="api_apply"),
    path(f"{TASK}/remarks/<int:remark>/", OneRemark.as_view(), name="api_remark"),
    path(f"{TASK}/remarks/<int:remark>/answers/", Answers.as_view(), name="api_answers"),
    path(f"{TASK}/reviews/", Reviews.as_view(), name="api_reviews"),
    path(f"{TASK}/people/", People.as_view(), name="api_people"),
]
