"""The API of comments, replies and suggestions on a task."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.response import Response

from studio.access import ApiRequest
from studio.api.base import TASK, TaskView, valid_in
from studio.domain.anchors import Quote, quotable_texts
from studio.models import Comment, Task
from studio.review import comments, suggestions
from studio.review.threads import COMMENTABLE_FIELDS, Thread, threads_of
from studio.tasks.versions import spec_at


class ReplySerializer(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(source="author.username")

    class Meta:
        model = Comment
        fields = ["id", "author", "text", "created_at", "edited_at"]


class LocationSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Field of the task; empty for the whole task.")
    item = serializers.CharField(help_text="uid of the row, if the comment is about one.")
    state = serializers.ChoiceField(choices=["here", "changed", "gone"])
    start = serializers.IntegerField(
        allow_null=True, help_text=("Offset of the quoted text in the current text, in characters.")
    )
    quote = serializers.CharField(help_text="The quoted text as it is now.")


class CommentSerializer(ReplySerializer):
    """A comment with its replies, located in the newest version."""

    version = serializers.SerializerMethodField(help_text="The version it was written on.")
    applied_in = serializers.SerializerMethodField(help_text="The version its suggestion was applied in.")
    quote = serializers.CharField(help_text="The quoted text as it was when the comment was written.")
    location = serializers.SerializerMethodField()
    replies = serializers.SerializerMethodField()

    class Meta(ReplySerializer.Meta):
        fields = [
            *ReplySerializer.Meta.fields,
            "version",
            "quote",
            "suggestion",
            "applied_in",
            "resolved_at",
            "location",
            "replies",
        ]

    def _thread(self, row: Comment) -> Thread:
        thread: Thread = self.context["threads"][row.pk]
        return thread

    def get_version(self, row: Comment) -> int | None:
        return row.revision.number if row.revision else None

    def get_applied_in(self, row: Comment) -> int | None:
        return row.applied_in.number if row.applied_in else None

    @extend_schema_field(LocationSerializer)
    def get_location(self, row: Comment) -> dict[str, Any]:
        thread = self._thread(row)
        location = thread.location
        start = location.span.start if location.span else None
        return {
            "field": location.field,
            "item": location.row,
            "state": location.state,
            "start": start,
            "quote": thread.current_quote,
        }

    @extend_schema_field(ReplySerializer(many=True))
    def get_replies(self, row: Comment) -> Any:
        return ReplySerializer(self._thread(row).replies, many=True).data


class NewCommentSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(required=False, allow_blank=True, default="", max_length=comments.MAX_LENGTH)
    field = serializers.ChoiceField(choices=COMMENTABLE_FIELDS, required=False, allow_blank=True, default="")
    item = serializers.UUIDField(required=False, allow_null=True, default=None, help_text="uid of an intent or item.")
    quote = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    start = serializers.IntegerField(
        required=False, min_value=0, default=0, help_text="Which occurrence, counted from 0."
    )
    suggestion = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        default=None,
        trim_whitespace=False,
        max_length=comments.MAX_LENGTH,
        help_text="Replacement for the quoted text, or for the whole text if nothing is quoted.",
    )


class ChangeCommentSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(required=False, allow_blank=True, max_length=comments.MAX_LENGTH)
    resolved = serializers.BooleanField(required=False)


class NewReplySerializer(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=comments.MAX_LENGTH)


class ApplySerializer(serializers.Serializer[Any]):
    comments = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=200)


class AppliedSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(allow_null=True, help_text="The version created, if any.")
    unresolved = serializers.ListField(
        child=serializers.IntegerField(), help_text="Suggestions whose text has changed since; a person has to decide."
    )


class Comments(TaskView):
    @extend_schema(responses=CommentSerializer(many=True))
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """All comments, unresolved ones first, in the order of the page."""
        threads = _threads(self.task(request, slug, user_id, pk))
        rows = [thread.root for thread in threads.values()]
        return Response(CommentSerializer(rows, many=True, context={"threads": threads}).data)

    @extend_schema(request=NewCommentSerializer, responses={201: CommentSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Comment on the task, a field, a row or text in it, in the newest version."""
        task = self.task(request, slug, user_id, pk, "comment")
        data = valid_in(request, NewCommentSerializer)
        quoted = Quote(data["quote"], start=data["start"]) if data["quote"] else None
        comment = comments.add_comment(
            task.pk,
            by=request.user,
            text=data["text"],
            field=data["field"],
            item_uid=str(data["item"]) if data["item"] else None,
            quoted=quoted,
            suggestion=data["suggestion"],
        )
        return Response(_response_data(task, comment.pk), status=status.HTTP_201_CREATED)


class CommentDetail(TaskView):
    @extend_schema(request=ChangeCommentSerializer, responses={200: CommentSerializer, 409: OpenApiTypes.OBJECT})
    def patch(self, request: ApiRequest, slug: str, user_id: str, pk: int, comment: int) -> Response:
        """Edit your own comment or reply, or resolve or reopen a thread."""
        task = self.task(request, slug, user_id, pk, "comment")
        row = get_object_or_404(task.comments, pk=comment)
        data = valid_in(request, ChangeCommentSerializer)
        if "text" in data:
            comments.edit_comment(row, by=request.user, text=data["text"])
        if "resolved" in data:
            comments.resolve(row, by=request.user, resolved=data["resolved"])
        return Response(_response_data(task, row.reply_to_id or row.pk))

    @extend_schema(responses={204: None, 409: OpenApiTypes.OBJECT})
    def delete(self, request: ApiRequest, slug: str, user_id: str, pk: int, comment: int) -> Response:
        """Delete your own comment; replies stay."""
        task = self.task(request, slug, user_id, pk, "comment")
        comments.retract(get_object_or_404(task.comments, pk=comment), by=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Replies(TaskView):
    @extend_schema(request=NewReplySerializer, responses={201: CommentSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, comment: int) -> Response:
        """Reply to a comment."""
        task = self.task(request, slug, user_id, pk, "comment")
        root = get_object_or_404(task.comments, pk=comment)
        data = valid_in(request, NewReplySerializer)
        comments.reply(root, by=request.user, text=data["text"])
        return Response(_response_data(task, root.reply_to_id or root.pk), status=status.HTTP_201_CREATED)


class ApplySuggestions(TaskView):
    @extend_schema(request=ApplySerializer, responses={200: AppliedSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Apply these suggestions as one version. Whoever made a suggestion counts as an author of it."""
        task = self.task(request, slug, user_id, pk, "edit")
        data = valid_in(request, ApplySerializer)
        done = suggestions.apply(task.pk, data["comments"], by=request.user)
        version = done.revision.number if done.revision else None
        return Response({"version": version, "unresolved": [row.pk for row in done.unresolved]})


def _threads(task: Task, root: int | None = None) -> dict[int, Thread]:
    """By root. ``root``: only this one."""
    texts = quotable_texts(spec_at(task, task.version).to_json())
    return {thread.root.pk: thread for thread in threads_of(task, texts, root=root)}


def _response_data(task: Task, root: int) -> Any:
    threads = _threads(task, root)
    return CommentSerializer(threads[root].root, context={"threads": threads}).data


urlpatterns = [
    path(f"{TASK}remarks/", Comments.as_view(), name="api_comments"),
    path(f"{TASK}remarks/apply/", ApplySuggestions.as_view(), name="api_apply"),
    path(f"{TASK}remarks/<int:comment>/", CommentDetail.as_view(), name="api_comment"),
    path(f"{TASK}remarks/<int:comment>/answers/", Replies.as_view(), name="api_replies"),
]
