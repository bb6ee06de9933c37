"""What results can be broken down by."""

from __future__ import annotations

from studio.domain.task import TaskSpec
from studio.domain.tool_names import tool_domain

LONGEST_TAG = 60
LABELS = {
    "category": "Category",
    "task_type": "Task type",
    "trigger": "Trigger",
    "difficulty": "Difficulty",
    "scope": "Scope of intents",
    "tools": "Apps used",
    "tag": "Tag",
}
"""With their headings."""


def labels_of(task: TaskSpec) -> dict[str, str]:
    """By name in LABELS; several values stand on a line each."""
    scopes = {intent.scope for intent in task.intents}
    difficulty = task.metadata.get("difficulty", "")
    return {
        "category": task.category,
        "task_type": task.task_type,
        "trigger": task.trigger.kind,
        "difficulty": difficulty if isinstance(difficulty, str) else "",
        "scope": "mixed" if len(scopes) > 1 else next(iter(scopes), ""),
        "tools": "\n".join(sorted(_apps(task))),
        "tag": "\n".join(sorted(_tags(task))),
    }


def _apps(task: TaskSpec) -> set[str]:
    """That the task names tools of: as needed, or as evidence for judges."""
    names = (*task.tools, *(entry.tool for entry in task.tool_evidence))
    return {tool_domain(name) for name in names if "__" in name}


def _tags(task: TaskSpec) -> set[str]:
    """Short texts in its metadata, also in lists: ``tags`` as they are, others behind their key."""
    tags = set()
    for key, value in task.metadata.items():
        if key != "difficulty":
            texts = value if isinstance(value, list) else [value]
            tags |= {
                text if key == "tags" else f"{key}: {text}"
                for text in texts
                if isinstance(text, str) and 0 < len(text) <= LONGEST_TAG and "\n" not in text
            }
    return tags
