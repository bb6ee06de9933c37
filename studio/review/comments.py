"""Comments on a task, its fields, rows or quoted text, with replies and suggestions."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import timezone

from studio.domain.anchors import ROW_TEXTS, FieldKey, Quote, find_quote, quotable_texts, quote_at
from studio.domain.storable import normalize_newlines, storable_text
from studio.drafts.events import record
from studio.models import Comment, Revision, Task, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify
from studio.review.threads import COMMENTABLE_FIELDS
from studio.tasks.transitions import WorkflowError
from studio.tasks.versions import spec_at

MAX_LENGTH = 20_000
"""Characters of a comment or a suggestion."""


class CommentTargetError(WorkflowError):
    """The newest version does not contain the row or text to comment on."""


@atomic_with_retry
def add_comment(
    task_id: int,
    *,
    by: User,
    text: str = "",
    field: str = "",
    item_uid: str | None = None,
    quoted: Quote | None = None,
    suggestion: str | None = None,
) -> Comment:
    """Comment on the task, a field, a row or ``quoted`` text. ``suggestion`` is the replacement for the quoted text, or
    for the whole text if nothing is quoted.

    Raises CommentTargetError if the newest version does not contain the row or the quoted text.
    """
    task = Task.objects.select_related("persona__benchmark").get(pk=task_id)
    text, suggestion = normalize_text(text), None if suggestion is None else normalize_text(suggestion, strip=False)
    if not text and suggestion is None:
        raise WorkflowError("Write something first.")
    if (field and field not in COMMENTABLE_FIELDS) or (item_uid and field not in ROW_TEXTS):
        raise WorkflowError("There is no such field in a task. Choose another one.")
    key = (field, str(item_uid or ""))
    texts = quotable_texts(spec_at(task, task.version).to_json())
    if item_uid and key not in texts:
        raise CommentTargetError("That row is not in the newest version. Save first, or choose another field.")
    anchor = _anchor(key, texts, quoted, needs_text=suggestion is not None)
    if suggestion is not None and suggestion == anchor.text:
        raise WorkflowError("The suggestion is identical to the current text. Change it.")
    comment = Comment.objects.create(
        task=task,
        revision=Revision.objects.defer("spec").get(task=task, number=task.version),
        field=field,
        item_uid=item_uid,
        quote=anchor.text,
        before=anchor.before,
        after=anchor.after,
        start=anchor.start,
        text=text,
        suggestion=suggestion,
        author=by,
    )
    notify.notify_of_comment(comment)
    return comment


@atomic_with_retry
def reply(root: Comment, *, by: User, text: str) -> Comment:
    if not (text := normalize_text(text)):
        raise WorkflowError("Write something first.")
    root = root.reply_to or root
    if root.deleted_at and not root.replies.filter(deleted_at=None).exists():
        raise WorkflowError("This comment was deleted in the meantime.")
    comment = Comment.objects.create(task_id=root.task_id, revision_id=None, reply_to=root, text=text, author=by)
    notify.notify_of_reply(comment)
    return comment


@atomic_with_retry
def edit_comment(comment: Comment, *, by: User, text: str, suggestion: str | None = None) -> None:
    comment = _own(comment, by)
    before = comment.text
    comment.text = normalize_text(text)
    if suggestion is not None and comment.suggestion is not None:
        if comment.applied_in_id:
            raise WorkflowError("This suggestion has already been applied. Make a new one.")
        comment.suggestion = normalize_text(suggestion, strip=False)
    if not comment.text and comment.suggestion is None:
        raise WorkflowError("Write something, or delete the comment.")
    comment.edited_at = timezone.now()
    comment.save(update_fields=["text", "suggestion", "edited_at"])
    notify.notify_of_comment(comment, previous_text=before)


@atomic_with_retry
def retract(comment: Comment, *, by: User) -> None:
    comment = _own(comment, by)
    if comment.applied_in_id:
        raise WorkflowError("This suggestion has been applied and stays in the history. Resolve it instead.")
    comment.text, comment.suggestion, comment.deleted_at = "", None, timezone.now()
    comment.save(update_fields=["text", "suggestion", "deleted_at"])


@atomic_with_retry
def resolve(comment: Comment, *, by: User, resolved: bool = True) -> None:
    root = Comment.objects.select_for_update(no_key=True, of=("self",)).get(pk=comment.reply_to_id or comment.pk)
    if bool(root.resolved_at) == resolved:
        return
    root.resolved_at, root.resolved_by = (timezone.now(), by) if resolved else (None, None)
    root.save(update_fields=["resolved_at", "resolved_by"])
    task = root.task = Task.objects.select_related("persona__benchmark").get(pk=root.task_id)
    verb = "settled_a_remark" if resolved else "opened_a_remark_again"
    record(task, verb, by=by, summary=_shortened(root.text or root.quote), data={"remark": root.pk})
    notify.notify_of_resolution(root, by=by, resolved=resolved)


def _anchor(key: FieldKey, texts: Mapping[FieldKey, str], quoted: Quote | None, *, needs_text: bool) -> Quote:
    text = texts.get(key)
    if text is None:
        if quoted or needs_text:
            raise WorkflowError("Text can only be quoted from text fields. Choose another field.")
        return Quote("")
    if quoted and quoted.text:
        span = find_quote(quoted, text)
        if span is None:
            raise CommentTargetError("The newest version does not contain this text. Save first, then comment on it.")
        return quote_at(text, span.start, span.end)
    return Quote(text) if needs_text else Quote("")


def _own(comment: Comment, by: User) -> Comment:
    comment = Comment.objects.select_for_update(no_key=True, of=("self",)).select_related("task").get(pk=comment.pk)
    if comment.author_id != by.pk:
        raise WorkflowError("Only its author can edit it.")
    if comment.deleted_at:
        raise WorkflowError("It was already deleted.")
    return comment


def normalize_text(text: str, *, strip: bool = True) -> str:
    """The text as it is stored. Raises WorkflowError if it is too long."""
    text = normalize_newlines(text)
    text = storable_text(text) if strip else text.replace("\0", "")
    if len(text) > MAX_LENGTH:
        raise WorkflowError(f"This has {len(text)} characters; the limit is {MAX_LENGTH}. Shorten it.")
    return text


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else text[:119].rstrip() + "…"
