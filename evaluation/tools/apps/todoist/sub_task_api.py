"""Sub-tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    given,
    paginate,
)
from evaluation.tools.apps.todoist.common import (
    Description,
    DueDate,
    DueTime,
    Minutes,
    SubTaskId,
    TaskId,
    Title,
    TodoistCall,
    app,
    shown,
    visible_task,
)
from evaluation.tools.apps.todoist.state import SubTask


@app.api()
def show_sub_tasks(call: TodoistCall, task_id: TaskId, page_index: PageIndex = 0, page_limit: PageLimit = 10) -> Page:
    """List the sub-tasks of a task."""
    visible_task(call, task_id)
    return paginate(call.state.sub_tasks.having("task_id", task_id), page_index, page_limit, shown)


@app.api()
def create_sub_task(
    call: TodoistCall,
    task_id: TaskId,
    title: Title,
    description: Description = "",
    due_date: DueDate = "",
    due_time: DueTime = "",
    duration_minutes: Minutes | None = None,
) -> dict[str, Any]:
    """Create a sub-task of a task."""
    visible_task(call, task_id)
    sub_task = SubTask(
        call.state.sub_tasks.next_id(),
        task_id,
        title,
        description,
        due_date,
        due_time,
        duration_minutes,
        created_at=call.stamp,
        updated_at=call.stamp,
    )
    call.state.sub_tasks.put(sub_task)
    return {"message": "The sub-task was created.", "sub_task_id": sub_task.sub_task_id}


@app.api()
def update_sub_task(
    call: TodoistCall,
    sub_task_id: SubTaskId,
    title: Title | None = None,
    description: Description | None = None,
    due_date: DueDate | None = None,
    due_time: DueTime | None = None,
    duration_minutes: Minutes | None = None,
    is_completed: Annotated[bool | None, Field(description="Whether it is done")] = None,
) -> dict[str, Any]:
    """Change a sub-task, or complete it. What is left out stays as it is."""
    changes = given(
        title=title,
        description=description,
        due_date=due_date,
        due_time=due_time,
        duration_minutes=duration_minutes,
        is_completed=is_completed,
    )
    call.state.sub_tasks.put(replace(_sub_task(call, sub_task_id), updated_at=call.stamp, **changes))
    return {"message": "The sub-task was updated."}


@app.api()
def delete_sub_task(call: TodoistCall, sub_task_id: SubTaskId) -> dict[str, Any]:
    """Delete a sub-task."""
    call.state.sub_tasks.remove(_sub_task(call, sub_task_id).sub_task_id)
    return {"message": "The sub-task was deleted."}


def _sub_task(call: TodoistCall, sub_task_id: int) -> SubTask:
    sub_task = call.state.sub_tasks.find(sub_task_id)
    if sub_task is None:
        raise NotFoundError(f"You have no sub-task with sub_task_id {sub_task_id}.")
    visible_task(call, sub_task.task_id)
    return sub_task
