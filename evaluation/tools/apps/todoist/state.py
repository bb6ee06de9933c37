from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.tools.apps.attachments import Attachment
from evaluation.tools.apps.framework import AppState
from evaluation.tools.apps.notifications import notifications_table


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

    def __init__(self) -> None:
        super().__init__()
        owned = {"owner": "accounts"}
        of_task = {"task_id": "tasks"}
        self.projects = self.table(
            "projects", Project, "project", owned | {"members": "accounts"}, "name description owner members"
        )
        self.sections = self.table("sections", Section, "section", {"project_id": "projects"}, "name project_id")
        self.tasks = self.table(
            "tasks",
            Task,
            "task",
            {"project_id": "projects", "section_id": "sections", "assignee": "accounts", "labels": "labels"},
            "title description project_id due_date priority assignee is_completed",
        )
        self.sub_tasks = self.table("sub_tasks", SubTask, "sub-task", of_task, "title task_id description is_completed")
        self.labels = self.table("labels", Label, "label", owned, "name color")
        self.comments = self.table(
            "comments",
            Comment,
            "comment",
            of_task | {"author": "accounts", "attachments": "attachments"},
            "content author task_id",
        )
        self.attachments = self.table("attachments", Attachment, "attachment", {}, "file_name content")
        notifications_table(self)

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
