"""Tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.framework import (
    InvalidError,
    Page,
    PageIndex,
    PageLimit,
    given,
    paginate,
    search,
)
from evaluation.tools.apps.notifications import notify
from evaluation.tools.apps.todoist.common import (
    Description,
    DueDate,
    DueTime,
    LabelId,
    Minutes,
    SectionId,
    TaskId,
    Title,
    TodoistCall,
    app,
    own_section,
    remove_task,
    shown,
    visible_project,
    visible_projects,
    visible_task,
)
from evaluation.tools.apps.todoist.state import Task

Priority = Annotated[Literal["low", "medium", "high", "urgent"], Field(description="How pressing it is")]


@app.api()
def show_tasks(
    call: TodoistCall,
    project_id: Annotated[int | None, Field(description="Only tasks of this project")] = None,
    section_id: SectionId | None = None,
    query: Annotated[str, Field(max_length=500, description="Words of the title or description")] = "",
    label_id: LabelId | None = None,
    is_completed: Annotated[bool | None, Field(description="Only done, or only open tasks")] = None,
    assignee_email: Annotated[str | None, Field(description="Only tasks assigned to this person")] = None,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """List or search tasks."""
    if project_id is not None:
        visible_project(call, project_id)
    projects = {project.project_id for project in visible_projects(call)}
    found = [
        task
        for task in search(query, call.state.tasks, lambda task: (task.title, task.description))
        if task.project_id in projects
        and project_id in (None, task.project_id)
        and section_id in (None, task.section_id)
        and (label_id is None or label_id in task.labels)
        and is_completed in (None, task.is_completed)
        and assignee_email in (None, task.assignee)
    ]
    page = paginate(found, page_index, page_limit)
    return Page(tuple(_shown(call, task) for task in page.items), page.next_index)


@app.api()
def show_task(call: TodoistCall, task_id: TaskId) -> dict[str, Any]:
    """Show a task."""
    task = visible_task(call, task_id)
    sub_tasks = len(call.state.sub_tasks.having("task_id", task_id))
    comments = len(call.state.comments.having("task_id", task_id))
    return {**_shown(call, task), "sub_task_count": sub_tasks, "comment_count": comments}


@app.api()
def create_task(
    call: TodoistCall,
    title: Title,
    project_id: Annotated[int | None, Field(description="Your inbox if left out")] = None,
    description: Description = "",
    section_id: SectionId | None = None,
    due_date: DueDate = "",
    due_time: DueTime = "",
    priority: Priority = "low",
    duration_minutes: Minutes | None = None,
) -> dict[str, Any]:
    """Create a task."""
    if project_id is None and section_id is not None:
        project_id = own_section(call, section_id).project_id
    project = call.state.inbox_of(call.user) if project_id is None else visible_project(call, project_id)
    _require_section(call, section_id, project.project_id)
    task = Task(
        call.state.tasks.next_id(),
        project.project_id,
        title,
        description,
        section_id,
        due_date,
        due_time,
        priority,
        duration_minutes,
        created_by=call.user,
        created_at=call.stamp,
        updated_at=call.stamp,
    )
    call.state.tasks.put(task)
    return {"message": "The task was created.", "task_id": task.task_id, "project_id": task.project_id}


@app.api()
def update_task(
    call: TodoistCall,
    task_id: TaskId,
    title: Title | None = None,
    description: Description | None = None,
    project_id: Annotated[int | None, Field(description="Move it to this project")] = None,
    section_id: Annotated[int | None, Field(description="Move it to this section")] = None,
    due_date: DueDate | None = None,
    due_time: DueTime | None = None,
    priority: Priority | None = None,
    duration_minutes: Minutes | None = None,
    is_completed: Annotated[bool | None, Field(description="Whether it is done")] = None,
) -> dict[str, Any]:
    """Change a task, or complete it. What is left out stays as it is."""
    task = visible_task(call, task_id)
    changes = given(
        title=title,
        description=description,
        section_id=section_id,
        due_date=due_date,
        due_time=due_time,
        priority=priority,
        duration_minutes=duration_minutes,
        is_completed=is_completed,
    )
    if project_id is not None and project_id != task.project_id:
        target = visible_project(call, project_id)
        changes |= {"project_id": project_id, "section_id": section_id}
        if task.assignee not in ("", target.owner, *target.members):
            changes["assignee"] = ""
    _require_section(call, section_id, changes.get("project_id", task.project_id))
    call.state.tasks.put(replace(task, updated_at=call.stamp, **changes))
    return {"message": "The task was updated."}


@app.api()
def delete_task(call: TodoistCall, task_id: TaskId) -> dict[str, Any]:
    """Delete a task with its sub-tasks and comments."""
    remove_task(call.state, visible_task(call, task_id).task_id)
    return {"message": "The task was deleted."}


@app.api()
def assign_or_unassign_task(
    call: TodoistCall,
    task_id: TaskId,
    assignee_email: Annotated[str | None, Field(description="A member of the project; left out: nobody")] = None,
) -> dict[str, Any]:
    """Assign a task to a member of its project, or to nobody."""
    task = visible_task(call, task_id)
    project = call.state.projects.get(task.project_id)
    if assignee_email and assignee_email not in (project.owner, *project.members):
        raise InvalidError(f"{assignee_email} is not a member of the project.")
    call.state.tasks.put(replace(task, assignee=assignee_email or "", updated_at=call.stamp))
    if assignee_email and assignee_email != call.user:
        message = f"{call.account.name} assigned you the task {task.title!r}."
        notify(call, assignee_email, message)
    return {"message": "The task was assigned." if assignee_email else "The task is assigned to nobody."}


def _shown(call: TodoistCall, task: Task) -> dict[str, Any]:
    names = {label.label_id: label.name for label in call.state.labels}
    return {**shown(task), "labels": [{"label_id": each, "name": names.get(each, "")} for each in task.labels]}


def _require_section(call: TodoistCall, section_id: int | None, project_id: int) -> None:
    if section_id is not None and own_section(call, section_id).project_id != project_id:
        raise InvalidError(f"Section {section_id} is not in project {project_id}.")
