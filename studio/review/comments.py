"""Talk about a task: remarks on it, its fields, rows or words, answers to them, and suggestions."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from studio.domain.anchors import ROW_TEXTS, FieldKey, Quote, find_quote, quotable_texts, quote_at
from studio.domain.storable import storable_text
from studio.drafts.events import record
from studio.drafts.load import load_task
from studio.models import Comment, Task, User
from studio.notifications import notify
from studio.review.threads import TALKED_OF
from studio.tasks.transitions import WorkflowError

MOST = 20_000
"""Characters of a remark or a suggestion."""


class CommentTargetError(WorkflowError):
    """The row or the words that a remark should be about are not in the newest version."""


@transaction.atomic
def remark(
    task_id: int,
    *,
    by: User,
    text: str = "",
    field: str = "",
    item_uid: str | None = None,
    words: Quote | None = None,
    suggestion: str | None = None,
) -> Comment:
    """Say something of the task, a field, a row, or words in it; with a suggestion, what they should become.

    A suggestion without words is for the whole text. Raises CommentTargetError if the newest version does not say the
    words.
    """
    task = Task.objects.select_related("episode__persona__benchmark", "group").get(pk=task_id)
    text, suggestion = written(text), None if suggestion is None else written(suggestion, strip=False)
    if not text and suggestion is None:
        raise WorkflowError("Write something first.")
    if (field and field not in TALKED_OF) or (item_uid and field not in ROW_TEXTS):
        raise WorkflowError("There is no such field in a task. Choose another one.")
    where = (field, str(item_uid or ""))
    texts = quotable_texts(load_task(task).to_json())
    if item_uid and where not in texts:
        raise CommentTargetError("That row is not in the newest version. Save first, or choose another field.")
    anchor = _anchor(where, texts, words, whole=suggestion is not None)
    if suggestion is not None and suggestion == anchor.words:
        raise WorkflowError("The suggestion is identical to the current text. Change it.")
    made = Comment.objects.create(
        task=task,
        revision=task.revisions.defer("spec").filter(number=task.version).first(),
        field=field,
        item_uid=item_uid,
        words=anchor.words,
        before=anchor.before,
        after=anchor.after,
        start=anchor.start,
        text=text,
        suggestion=suggestion,
        author=by,
    )
    notify.tell_of_remark(made)
    return made


@transaction.atomic
def answer(root: Comment, *, by: User, text: str) -> Comment:
    """Go on with the talk; an answer to an answer joins the same one."""
    if not (text := written(text)):
        raise WorkflowError("Write something first.")
    root = root.reply_to or root
    if root.deleted_at and not root.replies.filter(deleted_at=None).exists():
        raise WorkflowError("This comment was deleted in the meantime.")
    made = Comment.objects.create(task_id=root.task_id, revision_id=None, reply_to=root, text=text, author=by)
    notify.tell_of_answer(made)
    return made


@transaction.atomic
def rewrite(remark: Comment, *, by: User, text: str, suggestion: str | None = None) -> None:
    """Change one's own words. Raises WorkflowError for those of others, and a suggestion that was applied."""
    remark = _own(remark, by)
    before = remark.text
    remark.text = written(text)
    if suggestion is not None and remark.suggestion is not None:
        if remark.applied_in_id:
            raise WorkflowError("This suggestion has already been applied. Make a new one.")
        remark.suggestion = written(suggestion, strip=False)
    if not remark.text and remark.suggestion is None:
        raise WorkflowError("Write something, or delete the comment.")
    remark.edited_at = timezone.now()
    remark.save(update_fields=["text", "suggestion", "edited_at"])
    notify.tell_of_remark(remark, told_before=before)


@transaction.atomic
def take_back(remark: Comment, *, by: User) -> None:
    """Remove one's own words; answers stay."""
    remark = _own(remark, by)
    if remark.applied_in_id:
        raise WorkflowError("This suggestion has been applied and stays in the history. Resolve it instead.")
    remark.text, remark.suggestion, remark.deleted_at = "", None, timezone.now()
    remark.save(update_fields=["text", "suggestion", "deleted_at"])


@transaction.atomic
def settle(remark: Comment, *, by: User, settled: bool) -> None:
    """Close a talk, or open it again. Nothing happens if it is so already."""
    root = Comment.objects.select_for_update(of=("self",)).get(pk=remark.reply_to_id or remark.pk)
    if bool(root.resolved_at) == settled:
        return
    root.resolved_at, root.resolved_by = (timezone.now(), by) if settled else (None, None)
    root.save(update_fields=["resolved_at", "resolved_by"])
    task = root.task = Task.objects.select_related("episode__persona__benchmark").get(pk=root.task_id)
    verb = "settled_a_remark" if settled else "opened_a_remark_again"
    record(task, verb, by=by, summary=_short(root.text or root.words), data={"remark": root.pk})
    notify.tell_of_settling(root, by=by, settled=settled)


def _anchor(where: FieldKey, texts: Mapping[FieldKey, str], words: Quote | None, *, whole: bool) -> Quote:
    text = texts.get(where)
    if text is None:
        if words or whole:
            raise WorkflowError("Text can only be quoted from text fields. Choose another field.")
        return Quote("")
    if words and words.words:
        span = find_quote(words, text)
        if span is None:
            raise CommentTargetError("The newest version does not contain this text. Save first, then comment on it.")
        return quote_at(text, span.start, span.end)
    return Quote(text) if whole else Quote("")


def _own(remark: Comment, by: User) -> Comment:
    remark = Comment.objects.select_for_update(of=("self",)).select_related("task").get(pk=remark.pk)
    if remark.author_id != by.pk:
        raise WorkflowError("Only its author can edit it.")
    if remark.deleted_at:
        raise WorkflowError("It was already deleted.")
    return remark


def written(text: str, *, strip: bool = True) -> str:
    """As it is kept. Raises WorkflowError for what is too long."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = storable_text(text) if strip else text.replace("\0", "")
    if len(text) > MOST:
        raise WorkflowError(f"This has {len(text)} characters; the limit is {MOST}. Shorten it.")
    return text


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119].rstrip() + "…"
