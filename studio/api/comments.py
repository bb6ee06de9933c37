"""The API of talking about a task: remarks, answers, and suggestions that become a version."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.response import Response

from studio.access import ApiRequest
from studio.api.base import TASK, OfTask
from studio.domain.anchors import Quote, quotable_texts
from studio.drafts.load import load_task
from studio.models import Comment, Task
from studio.review import comments as remarks
from studio.review import suggestions
from studio.review.threads import TALKED_OF, Thread, threads_of


class AnswerSerializer(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(source="author.username")

    class Meta:
        model = Comment
        fields = ["id", "author", "text", "created_at", "edited_at"]


class PlaceSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Field of the task; empty for the whole task.")
    item = serializers.CharField(help_text="uid of the row, if the comment is about one.")
    state = serializers.ChoiceField(choices=["here", "changed", "gone"])
    start = serializers.IntegerField(
        allow_null=True, help_text=("Offset of the quoted text in the current text, in characters.")
    )
    words = serializers.CharField(help_text="The quoted text as it is now.")


class RemarkSerializer(AnswerSerializer):
    """A remark with its answers, and where it stands in the newest version."""

    version = serializers.SerializerMethodField(help_text="The version it was written on.")
    applied_in = serializers.SerializerMethodField(help_text="The version its suggestion was applied in.")
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
    start = serializers.IntegerField(
        required=False, min_value=0, default=0, help_text="Which occurrence, counted from 0."
    )
    suggestion = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        default=None,
        trim_whitespace=False,
        max_length=remarks.MOST,
        help_text="Replacement for the quoted text, or for the whole text if nothing is quoted.",
    )


class ChangeRemarkSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(required=False, allow_blank=True, max_length=remarks.MOST)
    settled = serializers.BooleanField(required=False)


class NewAnswerSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=remarks.MOST)


class ApplySerializer(serializers.Serializer[Any]):
    remarks = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=200)


class AppliedSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(allow_null=True, help_text="The version created, if any.")
    undecided = serializers.ListField(
        child=serializers.IntegerField(), help_text="Suggestions whose text has changed since; a person has to choose."
    )


class Remarks(OfTask):
    """The talk about a task."""

    @extend_schema(responses=RemarkSerializer(many=True))
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """All remarks, open ones first, in the order of the page."""
        threads = _told(self.task(request, slug, user_id, pk))
        rows = [thread.root for thread in threads.values()]
        return Response(RemarkSerializer(rows, many=True, context={"threads": threads}).data)

    @extend_schema(request=NewRemarkSerializer, responses={201: RemarkSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
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
        return Response(_one(_told(task), made.pk), status=status.HTTP_201_CREATED)


class OneRemark(OfTask):
    @extend_schema(request=ChangeRemarkSerializer, responses={200: RemarkSerializer, 409: OpenApiTypes.OBJECT})
    def patch(self, request: ApiRequest, slug: str, user_id: str, pk: int, remark: int) -> Response:
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
        return Response(_one(_told(task), row.reply_to_id or row.pk))

    @extend_schema(responses={204: None, 409: OpenApiTypes.OBJECT})
    def delete(self, request: ApiRequest, slug: str, user_id: str, pk: int, remark: int) -> Response:
        """Take one's own words back; answers stay."""
        task = self.task(request, slug, user_id, pk, "comment")
        user: Any = request.user
        remarks.take_back(get_object_or_404(task.comments, pk=remark), by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Answers(OfTask):
    @extend_schema(request=NewAnswerSerializer, responses={201: RemarkSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, remark: int) -> Response:
        """Answer a remark."""
        task = self.task(request, slug, user_id, pk, "comment")
        root = get_object_or_404(task.comments, pk=remark)
        wanted = NewAnswerSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        user: Any = request.user
        remarks.answer(root, by=user, text=wanted.validated_data["text"])
        return Response(_one(_told(task), root.reply_to_id or root.pk), status=status.HTTP_201_CREATED)


class ApplySuggestions(OfTask):
    @extend_schema(request=ApplySerializer, responses={200: AppliedSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Make one version of these suggestions. Who suggested is an author of it."""
        task = self.task(request, slug, user_id, pk, "edit")
        wanted = ApplySerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        user: Any = request.user
        done = suggestions.apply(task.pk, wanted.validated_data["remarks"], by=user)
        version = done.revision.number if done.revision else None
        return Response({"version": version, "undecided": [row.pk for row in done.undecided]})


def _told(task: Task) -> dict[int, Thread]:
    task.refresh_from_db()
    texts = quotable_texts(load_task(task).to_json())
    return {thread.root.pk: thread for thread in threads_of(task, texts)}


def _one(threads: dict[int, Thread], key: int) -> Any:
    return RemarkSerializer(threads[key].root, context={"threads": threads}).data


urlpatterns = [
    path(f"{TASK}remarks/", Remarks.as_view(), name="api_remarks"),
    path(f"{TASK}remarks/apply/", ApplySuggestions.as_view(), name="api_apply"),
    path(f"{TASK}remarks/<int:remark>/", OneRemark.as_view(), name="api_remark"),
    path(f"{TASK}remarks/<int:remark>/answers/", Answers.as_view(), name="api_answers"),
]
