"""The app, and what all its APIs use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import App, Call, NotFoundError, add_account_apis, as_dict
from evaluation.tools.apps.todoist.state import Project, Section, Task, TodoistState

app = App(
    "todoist",
    TodoistState,
    "Todoist",
    "Plan work in projects and sections; create, assign, label, comment on and delete tasks and sub-tasks.",
)
add_account_apis(app)

TodoistCall = Call[TodoistState]
TaskId = Annotated[int, Field(description="From show_tasks")]
ProjectId = Annotated[int, Field(description="From show_projects")]
SectionId = Annotated[int, Field(description="From show_sections")]
LabelId = Annotated[int, Field(description="From search_labels")]
SubTaskId = Annotated[int, Field(description="From show_sub_tasks")]
TaskCommentId = Annotated[int, Field(description="From show_task_comments")]
Color = Annotated[str, Field(description="Name of a color")]
Name = Annotated[str, Field(min_length=1, max_length=200, description="What it is called")]
Title = Annotated[str, Field(min_length=1, max_length=500, description="What is to be done")]
Description = Annotated[str, Field(max_length=20_000, description="More about it")]
DueDate = Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2})?$", description="YYYY-MM-DD")]
DueTime = Annotated[str, Field(pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9])?$", description="HH:MM")]
Minutes = Annotated[int, Field(ge=1, le=10_000, description="How long it takes")]


def visible_projects(call: TodoistCall) -> list[Project]:
    return [project for project in call.state.projects if call.user in (project.owner, *project.members)]


def visible_project(call: TodoistCall, project_id: int) -> Project:
    """Raises NotFoundError."""
    project = call.state.projects.find(project_id)
    if project is None or call.user not in (project.owner, *project.members):
        raise NotFoundError(f"You have no project with project_id {project_id}.")
    return project


def own_section(call: TodoistCall, section_id: int) -> Section:
    """Raises NotFoundError."""
    section = call.state.sections.find(section_id)
    if section is None or section.project_id not in {project.project_id for project in visible_projects(call)}:
        raise NotFoundError(f"You have no section with section_id {section_id}.")
    return section


def visible_task(call: TodoistCall, task_id: int) -> Task:
    """Raises NotFoundError."""
    task = call.state.tasks.find(task_id)
    if task is None or task.project_id not in {project.project_id for project in visible_projects(call)}:
        raise NotFoundError(f"You have no task with task_id {task_id}.")
    return task


def remove_task(state: TodoistState, task_id: int) -> None:
    """With its sub-tasks and comments."""
    for sub_task in state.sub_tasks.having("task_id", task_id):
        state.sub_tasks.remove(sub_task.sub_task_id)
    for comment in state.comments.having("task_id", task_id):
        state.comments.remove(comment.task_comment_id)
        for number in comment.attachments:
            state.attachments.remove(number)
    state.tasks.remove(task_id)


def shown(record: Any) -> dict[str, Any]:
    return as_dict(record)
