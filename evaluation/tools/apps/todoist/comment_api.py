"""Comments on tasks, and files attached to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.attachments import (
    FilePath,
    FileToken,
    Overwrite,
    SaveAs,
    attach,
    download,
    with_attachments,
)
from evaluation.tools.apps.framework import ForbiddenError, NotFoundError, Records, add_records
from evaluation.tools.apps.todoist.common import TaskCommentId, TodoistCall, app, visible_task
from evaluation.tools.apps.todoist.state import Comment

AttachmentId = Annotated[int, Field(description="From show_task_comment")]

add_records(
    app,
    Records(
        "comments",
        "task_comment",
        {"content": (Annotated[str, Field(min_length=1, max_length=20_000, description="The text")], ...)},
        about="task_id",
        found="From show_tasks",
        visible=visible_task,
        shown=lambda call, comment: with_attachments(comment, call.state.attachments),
        names={"create": "post_task_comment"},
        done="posted",
    ),
)


@app.api()
def upload_attachment(
    call: TodoistCall,
    task_comment_id: TaskCommentId,
    attachment_file_path: FilePath,
    file_system_access_token: FileToken,
) -> dict[str, Any]:
    """Attach a file to a comment of yours."""
    comment = call.state.comments.get(task_comment_id)
    if comment.author != call.user:
        raise ForbiddenError("This comment is somebody else's.")
    [number] = attach(call, call.state.attachments, [attachment_file_path], file_system_access_token)
    call.state.comments.put(replace(comment, attachments=(*comment.attachments, number)))
    return {"message": "The file was attached.", "attachment_id": number}


@app.api()
def download_attachment(
    call: TodoistCall,
    attachment_id: AttachmentId,
    file_system_access_token: FileToken,
    download_to_file_path: SaveAs | None = None,
    overwrite: Overwrite = False,
) -> dict[str, Any]:
    """Save a file that is attached to a comment."""
    _comment_with(call, attachment_id)
    attached = call.state.attachments.get(attachment_id)
    files = call.beside("file_system", file_system_access_token)
    return download(files, attached, download_to_file_path, overwrite=overwrite)


@app.api()
def delete_attachment(call: TodoistCall, attachment_id: AttachmentId) -> dict[str, Any]:
    """Take an attached file off a comment of yours."""
    comment = _comment_with(call, attachment_id)
    if comment.author != call.user:
        raise ForbiddenError("This comment is somebody else's.")
    left = tuple(number for number in comment.attachments if number != attachment_id)
    call.state.comments.put(replace(comment, attachments=left))
    call.state.attachments.remove(attachment_id)
    return {"message": "The attachment was deleted."}


def _comment_with(call: TodoistCall, attachment_id: int) -> Comment:
    for comment in call.state.comments:
        if attachment_id in comment.attachments:
            visible_task(call, comment.task_id)
            return comment
    raise NotFoundError(f"There is no attachment with attachment_id {attachment_id}.")
