"""Comments on tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    ForbiddenError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    paginate,
)
from evaluation.tools.apps.todoist.common import (
    TaskCommentId,
    TaskId,
    TodoistCall,
    app,
    shown,
    visible_task,
)
from evaluation.tools.apps.todoist.state import Comment

Content = Annotated[str, Field(min_length=1, max_length=20_000, description="Text of the comment")]


@app.api()
def show_task_comments(
    call: TodoistCall, task_id: TaskId, page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List the comments on a task, oldest first."""
    visible_task(call, task_id)
    return paginate(call.state.comments.having("task_id", task_id), page_index, page_limit, shown)


@app.api()
def show_task_comment(call: TodoistCall, task_comment_id: TaskCommentId) -> dict[str, Any]:
    """Show a comment on a task."""
    return shown(_comment(call, task_comment_id))


@app.api()
def post_task_comment(call: TodoistCall, task_id: TaskId, content: Content) -> dict[str, Any]:
    """Comment on a task."""
    visible_task(call, task_id)
    number = call.state.comments.next_id()
    call.state.comments.put(Comment(number, task_id, call.user, content, call.stamp, call.stamp))
    return {"message": "The comment was posted.", "task_comment_id": number}


@app.api()
def update_task_comment(call: TodoistCall, task_comment_id: TaskCommentId, content: Content) -> dict[str, Any]:
    """Change a comment of yours."""
    comment = _own_comment(call, task_comment_id)
    call.state.comments.put(replace(comment, content=content, updated_at=call.stamp))
    return {"message": "The comment was updated."}


@app.api()
def delete_task_comment(call: TodoistCall, task_comment_id: TaskCommentId) -> dict[str, Any]:
    """Delete a comment of yours."""
    call.state.comments.remove(_own_comment(call, task_comment_id).task_comment_id)
    return {"message": "The comment was deleted."}


def _comment(call: TodoistCall, task_comment_id: int) -> Comment:
    comment = call.state.comments.find(task_comment_id)
    if comment is None:
        raise NotFoundError(f"There is no comment with task_comment_id {task_comment_id}.")
    visible_task(call, comment.task_id)
    return comment


def _own_comment(call: TodoistCall, task_comment_id: int) -> Comment:
    comment = _comment(call, task_comment_id)
    if comment.author != call.user:
        raise ForbiddenError("This comment is somebody else's.")
    return comment
