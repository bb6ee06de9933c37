"""The app, projects, sections and notifications; the modules beside it have tasks and what belongs to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    PeopleQuery,
    given,
    paginate,
    rank,
    search_people,
)
from evaluation.tools.apps.notifications import add_notification_apis, notify
from evaluation.tools.apps.todoist import comment_api, label_api, sub_task_api, task_api
from evaluation.tools.apps.todoist.common import (
    Color,
    Description,
    Name,
    ProjectId,
    SectionId,
    TodoistCall,
    app,
    own_section,
    remove_task,
    shown,
    visible_project,
    visible_projects,
)
from evaluation.tools.apps.todoist.state import Project, Section

__all__ = ["app", "comment_api", "label_api", "sub_task_api", "task_api"]


add_notification_apis(app)


@app.api()
def search_users(
    call: TodoistCall,
    query: PeopleQuery = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search people who use Todoist, by name or email address."""
    return search_people(call, query, page_index, page_limit)


@app.api()
def show_projects(
    call: TodoistCall,
    query: Annotated[str, Field(max_length=200, description="Part of the name; empty for all")] = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """List your projects, and those shared with you."""
    found = rank(query, visible_projects(call), lambda project: (project.name, project.description))
    return paginate(found, page_index, page_limit, shown)


@app.api()
def show_project(call: TodoistCall, project_id: ProjectId) -> dict[str, Any]:
    """Show a project with its sections and how many tasks it has."""
    project = visible_project(call, project_id)
    tasks = [task for task in call.state.tasks if task.project_id == project_id]
    return {
        **shown(project),
        "sections": [shown(section) for section in call.state.sections if section.project_id == project_id],
        "task_count": len(tasks),
        "completed_task_count": sum(task.is_completed for task in tasks),
    }


@app.api()
def create_project(call: TodoistCall, name: Name, description: Description = "", color: Color = "") -> dict[str, Any]:
    """Create a project."""
    number = call.state.projects.next_id()
    call.state.projects.put(Project(number, call.user, name, description, color, created_at=call.stamp))
    return {"message": "The project was created.", "project_id": number}


@app.api()
def update_project(
    call: TodoistCall,
    project_id: ProjectId,
    name: Name | None = None,
    description: Description | None = None,
    color: Color | None = None,
) -> dict[str, Any]:
    """Change a project. What is left out stays as it is."""
    changes = given(name=name, description=description, color=color)
    call.state.projects.put(replace(_own_project(call, project_id), **changes))
    return {"message": "The project was updated."}


@app.api()
def share_project(
    call: TodoistCall,
    project_id: ProjectId,
    email: Annotated[str, Field(max_length=200, description="The person's email address")],
) -> dict[str, Any]:
    """Share a project with another user, who can then be assigned its tasks."""
    project = _own_project(call, project_id)
    call.state.accounts.get(email)
    if email in (project.owner, *project.members):
        raise ConflictError(f"{email} is a member of the project already.")
    call.state.projects.put(replace(project, members=(*project.members, email)))
    notify(call, email, f"{call.account.name} shared the project {project.name!r} with you.")
    return {"message": "The project was shared."}


@app.api()
def remove_collaborator_from_project(
    call: TodoistCall,
    project_id: ProjectId,
    user_email: Annotated[str, Field(max_length=200, description="The member's email address")],
) -> dict[str, Any]:
    """Remove a member from a project of yours, or yourself from another's; their tasks are assigned to nobody."""
    project = visible_project(call, project_id)
    if user_email not in project.members:
        raise NotFoundError(f"{user_email} is not a member of the project.")
    if call.user not in (project.owner, user_email):
        raise ForbiddenError("Only the project's owner may do this.")
    for task in [each for each in call.state.tasks.having("project_id", project_id) if each.assignee == user_email]:
        call.state.tasks.put(replace(task, assignee="", updated_at=call.stamp))
    members = tuple(member for member in project.members if member != user_email)
    call.state.projects.put(replace(project, members=members))
    return {"message": "The member was removed."}


@app.api()
def delete_project(call: TodoistCall, project_id: ProjectId) -> dict[str, Any]:
    """Delete a project with its sections and tasks."""
    project = _own_project(call, project_id)
    if project.is_inbox:
        raise InvalidError("The inbox cannot be deleted.")
    for task in [task for task in call.state.tasks if task.project_id == project_id]:
        remove_task(call.state, task.task_id)
    for section in [section for section in call.state.sections if section.project_id == project_id]:
        call.state.sections.remove(section.section_id)
    call.state.projects.remove(project_id)
    return {"message": "The project was deleted."}


@app.api()
def show_sections(
    call: TodoistCall, project_id: ProjectId, page_index: PageIndex = 0, page_limit: PageLimit = 10
) -> Page:
    """List the sections of a project."""
    visible_project(call, project_id)
    found = (section for section in call.state.sections if section.project_id == project_id)
    return paginate(found, page_index, page_limit, shown)


@app.api()
def create_section(call: TodoistCall, project_id: ProjectId, name: Name) -> dict[str, Any]:
    """Create a section in a project."""
    visible_project(call, project_id)
    number = call.state.sections.next_id()
    call.state.sections.put(Section(number, project_id, name, call.stamp))
    return {"message": "The section was created.", "section_id": number}


@app.api()
def update_section(call: TodoistCall, section_id: SectionId, name: Name) -> dict[str, Any]:
    """Rename a section."""
    call.state.sections.put(replace(own_section(call, section_id), name=name))
    return {"message": "The section was updated."}


@app.api()
def delete_section(call: TodoistCall, section_id: SectionId) -> dict[str, Any]:
    """Delete a section with its tasks."""
    own_section(call, section_id)
    for task in [task for task in call.state.tasks if task.section_id == section_id]:
        remove_task(call.state, task.task_id)
    call.state.sections.remove(section_id)
    return {"message": "The section was deleted."}


def _own_project(call: TodoistCall, project_id: int) -> Project:
    project = visible_project(call, project_id)
    if project.owner != call.user:
        raise ForbiddenError("Only the project's owner may do this.")
    return project
