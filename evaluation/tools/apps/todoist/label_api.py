"""Labels of tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    ConflictError,
    InvalidError,
    Page,
    PageIndex,
    PageLimit,
    given,
    paginate,
)
from evaluation.tools.apps.todoist.common import Color, LabelId, Name, TaskId, TodoistCall, app, shown, visible_task
from evaluation.tools.apps.todoist.state import Label


@app.api()
def search_labels(
    call: TodoistCall,
    query: Annotated[str, Field(max_length=100, description="Part of a label's name; empty for all")] = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 10,
) -> Page:
    """Search your labels."""
    found = [shown(label) for label in _own_labels(call) if query.lower() in label.name.lower()]
    return paginate(found, page_index, page_limit)


@app.api()
def create_label(call: TodoistCall, name: Name, color: Color = "") -> dict[str, Any]:
    """Create a label."""
    if any(label.name.lower() == name.lower() for label in _own_labels(call)):
        raise ConflictError(f"You have a label {name!r} already.")
    number = call.state.labels.next_id()
    call.state.labels.put(Label(number, call.user, name, color))
    return {"message": "The label was created.", "label_id": number}


@app.api()
def show_label(call: TodoistCall, label_id: LabelId) -> dict[str, Any]:
    """Show a label."""
    return shown(call.own(call.state.labels, label_id))


@app.api()
def update_label(
    call: TodoistCall, label_id: LabelId, name: Name | None = None, color: Color | None = None
) -> dict[str, Any]:
    """Change a label. What is left out stays as it is."""
    call.state.labels.put(replace(call.own(call.state.labels, label_id), **given(name=name, color=color)))
    return {"message": "The label was updated."}


@app.api()
def delete_label(call: TodoistCall, label_id: LabelId) -> dict[str, Any]:
    """Delete a label; it is taken off all tasks."""
    call.own(call.state.labels, label_id)
    for task in [task for task in call.state.tasks if label_id in task.labels]:
        call.state.tasks.put(replace(task, labels=tuple(each for each in task.labels if each != label_id)))
    call.state.labels.remove(label_id)
    return {"message": "The label was deleted."}


@app.api()
def add_label_to_task(call: TodoistCall, task_id: TaskId, label_id: LabelId) -> dict[str, Any]:
    """Put a label on a task."""
    task = visible_task(call, task_id)
    call.own(call.state.labels, label_id)
    labels = tuple(dict.fromkeys((*task.labels, label_id)))
    call.state.tasks.put(replace(task, labels=labels, updated_at=call.stamp))
    return {"message": "The task has the label."}


@app.api()
def remove_label_from_task(call: TodoistCall, task_id: TaskId, label_id: LabelId) -> dict[str, Any]:
    """Take a label off a task."""
    task = visible_task(call, task_id)
    if label_id not in task.labels:
        raise InvalidError(f"Task {task_id} does not have label {label_id}.")
    labels = tuple(each for each in task.labels if each != label_id)
    call.state.tasks.put(replace(task, labels=labels, updated_at=call.stamp))
    return {"message": "The task has the label no longer."}


def _own_labels(call: TodoistCall) -> list[Label]:
    return [label for label in call.state.labels if label.owner == call.user]
