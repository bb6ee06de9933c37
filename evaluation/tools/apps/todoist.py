"""To-do lists: projects, sections, tasks, sub-tasks, labels, comments, notifications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.attachments import Attachment, FilePath, FileToken, attach, saves_file, with_attachments
from evaluation.tools.apps.framework import (
    OWNED,
    App,
    AppState,
    Call,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    PeopleQuery,
    Records,
    Table,
    add_account_apis,
    add_records,
    as_dict,
    given,
    rank,
    search,
    search_people,
)
from evaluation.tools.apps.notifications import NOTIFICATIONS, add_notification_apis, notify


@dataclass(frozen=True)
class Project:
    project_id: int
    owner: str
    name: str
    description: str = ""
    color: str = ""
    is_inbox: bool = False
    """Takes the tasks that belong to no other project; it cannot be deleted."""
    members: tuple[str, ...] = ()
    """Besides the owner."""
    created_at: str = ""


@dataclass(frozen=True)
class Section:
    section_id: int
    project_id: int
    name: str
    created_at: str = ""


@dataclass(frozen=True)
class Task:
    task_id: int
    project_id: int
    title: str
    description: str = ""
    section_id: int | None = None
    due_date: str = ""
    due_time: str = ""
    priority: str = "low"
    duration_minutes: int | None = None
    assignee: str = ""
    labels: tuple[int, ...] = ()
    is_completed: bool = False
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class SubTask:
    sub_task_id: int
    task_id: int
    title: str
    description: str = ""
    due_date: str = ""
    due_time: str = ""
    duration_minutes: int | None = None
    is_completed: bool = False
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class Label:
    label_id: int
    owner: str
    name: str
    color: str = ""


@dataclass(frozen=True)
class Comment:
    task_comment_id: int
    task_id: int
    author: str
    content: str
    created_at: str = ""
    updated_at: str = ""
    attachments: tuple[int, ...] = ()


class TodoistState(AppState):
    app = "todoist"
    projects = Table(Project, "project", "name description owner members", OWNED | {"members": "accounts"})
    sections = Table(Section, "section", "name project_id", {"project_id": "projects"})
    tasks = Table(
        Task,
        "task",
        "title description project_id due_date priority assignee is_completed",
        {"project_id": "projects", "section_id": "sections", "assignee": "accounts", "labels": "labels"},
    )
    sub_tasks = Table(SubTask, "sub-task", "title task_id description is_completed", {"task_id": "tasks"})
    labels = Table(Label, "label", "name color", OWNED)
    comments = Table(
        Comment,
        "comment",
        "content author task_id",
        {"task_id": "tasks", "author": "accounts", "attachments": "attachments"},
    )
    attachments = Table(Attachment, "attachment", "file_name content")
    notifications = NOTIFICATIONS

    def complete(self) -> None:
        """Everybody has an inbox."""
        for account in self.accounts:
            self.inbox_of(account.username)

    def inbox_of(self, owner: str) -> Project:
        own = (project for project in self.projects if project.is_inbox and project.owner == owner)
        return next(own, None) or self.projects.put(Project(self.projects.next_id(), owner, "Inbox", is_inbox=True))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for task in self.tasks:
            section = self.sections.find(task.section_id) if task.section_id is not None else None
            if section is not None and section.project_id != task.project_id:
                yield f"tasks {task.task_id}: its section belongs to another project."
            project = self.projects.find(task.project_id)
            if task.assignee and project is not None and task.assignee not in (project.owner, *project.members):
                yield f"tasks {task.task_id}: {task.assignee} is not a member of its project."
        for account in self.accounts:
            inboxes = sum(project.is_inbox and project.owner == account.username for project in self.projects)
            if inboxes > 1:
                yield f"accounts {account.username!r}: there are {inboxes} inboxes."


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
ItsTaskId = Annotated[int | None, Field(description="Task it is part of; may be left out")]
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


# Comments on tasks, and files attached to them.

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


@saves_file(app, "download_attachment", "Save a file that is attached to a comment.")
def _attached(call: TodoistCall, attachment_id: AttachmentId) -> Attachment:
    _comment_with(call, attachment_id)
    return call.state.attachments.get(attachment_id)


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


# Labels of tasks.


@app.api(page=10)
def search_labels(
    call: TodoistCall,
    query: Annotated[str, Field(max_length=100, description="Part of a label's name; empty for all")] = "",
) -> Iterable[Any]:
    """Search your labels."""
    return [label for label in _own_labels(call) if query.lower() in label.name.lower()]


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


# Sub-tasks.


@app.api(page=10)
def show_sub_tasks(call: TodoistCall, task_id: TaskId) -> Iterable[Any]:
    """List the sub-tasks of a task."""
    visible_task(call, task_id)
    return call.state.sub_tasks.having("task_id", task_id)


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
    task_id: ItsTaskId = None,
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
    call.state.sub_tasks.put(replace(_sub_task(call, sub_task_id, task_id), updated_at=call.stamp, **changes))
    return {"message": "The sub-task was updated."}


@app.api()
def delete_sub_task(call: TodoistCall, sub_task_id: SubTaskId, task_id: ItsTaskId = None) -> dict[str, Any]:
    """Delete a sub-task."""
    call.state.sub_tasks.remove(_sub_task(call, sub_task_id, task_id).sub_task_id)
    return {"message": "The sub-task was deleted."}


def _sub_task(call: TodoistCall, sub_task_id: int, task_id: int | None) -> SubTask:
    sub_task = call.state.sub_tasks.find(sub_task_id)
    if sub_task is None or task_id not in (None, sub_task.task_id):
        raise NotFoundError(f"You have no sub-task with sub_task_id {sub_task_id}.")
    visible_task(call, sub_task.task_id)
    return sub_task


# Tasks.

Priority = Annotated[Literal["low", "medium", "high", "urgent"], Field(description="How pressing it is")]


@app.api(page=5)
def show_tasks(
    call: TodoistCall,
    project_id: Annotated[int | None, Field(description="Only tasks of this project")] = None,
    section_id: SectionId | None = None,
    query: Annotated[str, Field(max_length=500, description="Words of the title or description")] = "",
    label_id: LabelId | None = None,
    is_completed: Annotated[bool | None, Field(description="Only done, or only open tasks")] = None,
    assignee_email: Annotated[str | None, Field(description="Only tasks assigned to this person")] = None,
) -> Iterable[Any]:
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
    return (_shown(call, task) for task in found)


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
    return {**as_dict(task), "labels": [{"label_id": each, "name": names.get(each, "")} for each in task.labels]}


def _require_section(call: TodoistCall, section_id: int | None, project_id: int) -> None:
    if section_id is not None and own_section(call, section_id).project_id != project_id:
        raise InvalidError(f"Section {section_id} is not in project {project_id}.")


# The app, projects, sections and notifications.

add_notification_apis(app)


@app.api(page=5)
def search_users(call: TodoistCall, query: PeopleQuery = "") -> Iterable[Any]:
    """Search people who use Todoist, by name or email address."""
    return search_people(call, query)


@app.api(page=5)
def show_projects(
    call: TodoistCall, query: Annotated[str, Field(max_length=200, description="Part of the name; empty for all")] = ""
) -> Iterable[Any]:
    """List your projects, and those shared with you."""
    return rank(query, visible_projects(call), lambda project: (project.name, project.description))


@app.api()
def show_project(call: TodoistCall, project_id: ProjectId) -> dict[str, Any]:
    """Show a project with its sections and how many tasks it has."""
    project = visible_project(call, project_id)
    tasks = [task for task in call.state.tasks if task.project_id == project_id]
    return {
        **as_dict(project),
        "sections": [as_dict(section) for section in call.state.sections if section.project_id == project_id],
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


@app.api(page=10)
def show_sections(call: TodoistCall, project_id: ProjectId) -> Iterable[Any]:
    """List the sections of a project."""
    visible_project(call, project_id)
    return (section for section in call.state.sections if section.project_id == project_id)


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
