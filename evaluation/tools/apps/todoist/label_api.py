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
    Records,
    add_records,
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


def _ready(call: TodoistCall, label: Label) -> Label:
    others = (each for each in _own_labels(call) if each.label_id != label.label_id)
    if any(each.name.lower() == label.name.lower() for each in others):
        raise ConflictError(f"You have a label {label.name!r} already.")
    return label


add_records(
    app,
    Records(
        "labels",
        "label",
        {"name": (Name, ...), "color": (Color, "")},
        ready=_ready,
        apis=("show", "create", "update"),
        names={"list": "search_labels"},
    ),
)


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
