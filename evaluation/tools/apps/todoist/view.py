from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "Todoist",
    "Plan work in projects and sections; create, assign, label, comment on and delete tasks and sub-tasks.",
    {
        "projects": TableView("project", ("name", "description", "owner", "members")),
        "sections": TableView("section", ("name", "project_id")),
        "tasks": TableView(
            "task", ("title", "description", "project_id", "due_date", "priority", "assignee", "is_completed")
        ),
        "sub_tasks": TableView("sub-task", ("title", "task_id", "description", "is_completed")),
        "labels": TableView("label", ("name", "color")),
        "comments": TableView("comment", ("content", "author", "task_id")),
        "notifications": TableView("notification", ("message", "owner", "is_read")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)
