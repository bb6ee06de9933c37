"""Comments on tasks from audits: on the very item or intent that people could not agree about."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.feedback import Feedback, FeedbackError
from annotations.models import Cause
from annotations.sources import SESSION
from evaluation.models import Session, Verdict
from studio.access import may
from studio.domain.task import TaskSpec
from studio.models import Revision
from studio.review.comments import CommentTargetError, add_comment
from studio.review.workflow import request_changes
from studio.tasks.transitions import WorkflowError

OPENINGS = {
    Cause.CRITERION_AMBIGUOUS: "In an audit, people read this in different ways.",
    Cause.EVIDENCE_NOT_VISIBLE: (
        "In an audit, people could not see whether this is met. Look at the evidence that this item names, and at the "
        "tool fields and files that judges are shown."
    ),
}


@dataclass(frozen=True)
class _Row:
    field: str
    uid: str
    text: str


def comment_on_task(feedback: Feedback) -> None:
    """Raises FeedbackError."""
    revision, keys = _revision_and_keys(feedback)
    benchmark = revision.task.persona.benchmark
    if not may(feedback.by, benchmark, "comment"):
        raise FeedbackError("Your role may not comment on tasks here. Choose no cause, or ask somebody who may.")
    if feedback.request_changes and not may(feedback.by, benchmark, "review"):
        raise FeedbackError("Your role may not ask for changes to tasks here. Leave the box unchecked.")
    spec = TaskSpec.model_validate(revision.spec)
    text = f"{OPENINGS[Cause(feedback.cause)]} {feedback.text}"
    try:
        for key in keys:
            _comment(revision.task_id, _row(spec, key), text, feedback)
        if feedback.request_changes:
            request_changes(revision.task_id, by=feedback.by, text=text)
    except WorkflowError as error:
        raise FeedbackError(str(error)) from error


def _revision_and_keys(feedback: Feedback) -> tuple[Revision, list[str]]:
    related = "revision__task__persona__benchmark"
    if feedback.source.startswith(SESSION):
        session = Session.objects.select_related(related).get(pk=feedback.source.removeprefix(SESSION))
        return session.revision, list(feedback.keys)
    verdict = Verdict.objects.select_related(f"judging__session__{related}").get(pk=feedback.source.rpartition(":")[2])
    session_of = verdict.judging.session
    assert session_of is not None
    kind = "item" if verdict.kind == Verdict.Kind.CHECKLIST else "intent"
    return session_of.revision, [f"{kind}-{verdict.index}"]


def _row(spec: TaskSpec, key: str) -> _Row:
    kind, _, number = key.rpartition("-")
    index = int(number) - 1
    if kind == "intent":
        return _Row("intents", spec.intents[index].uid, spec.intents[index].content)
    item = spec.checklist[index]
    return _Row("checklist", item.uid, item.criterion)


def _comment(task: int, row: _Row, text: str, feedback: Feedback) -> None:
    """On the task as a whole if the row is no longer in it."""
    try:
        add_comment(task, by=feedback.by, text=text, field=row.field, item_uid=row.uid or None)
    except CommentTargetError:
        add_comment(task, by=feedback.by, text=f"“{row.text}”: {text}", field=row.field)
