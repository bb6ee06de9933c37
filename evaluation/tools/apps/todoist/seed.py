"""What a persona's lists may leave out, and data to start from."""

from __future__ import annotations

from typing import Any

from evaluation.tools.apps.todoist.state import Project, TodoistState

EXAMPLE: dict[str, Any] = {
    "accounts": [
        {"username": "ada@example.com", "password": "todo-of-ada", "first_name": "Ada", "last_name": "Berg"},
        {"username": "noor@example.com", "first_name": "Noor", "last_name": "Haddad"},
    ],
    "projects": [
        {"project_id": 1, "owner": "ada@example.com", "name": "Inbox", "is_inbox": True},
        {"project_id": 2, "owner": "ada@example.com", "name": "Flat", "members": ["noor@example.com"]},
    ],
    "sections": [{"section_id": 1, "project_id": 2, "name": "Kitchen"}],
    "labels": [{"label_id": 1, "owner": "ada@example.com", "name": "errand"}],
    "tasks": [
        {
            "task_id": 1,
            "project_id": 2,
            "section_id": 1,
            "title": "Mend the tap",
            "due_date": "2026-04-18",
            "labels": [1],
            "assignee": "noor@example.com",
        }
    ],
    "sub_tasks": [{"task_id": 1, "title": "Buy a washer"}],
}


def complete(state: TodoistState) -> None:
    """Everybody has an inbox."""
    for account in list(state.accounts):
        inbox_of(state, account.username)


def inbox_of(state: TodoistState, owner: str) -> Project:
    own = (project for project in state.projects if project.is_inbox and project.owner == owner)
    return next(own, None) or state.projects.put(Project(state.projects.next_id(), owner, "Inbox", is_inbox=True))
