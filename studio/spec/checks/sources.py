"""What the tasks of an episode say and bring, as several rules ask for it."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from studio.spec.checks.rule import Scene
from studio.spec.task import TaskSpec

FILE_NAME = re.compile(
    r"(?<![\w/@.-])[\w][\w.-]*(?:/[\w.-]+)*\.(?:md|txt|csv|tsv|json|ya?ml|pdf|docx?|xlsx?|pptx?|png|jpe?g|html?|eml|ics|zip)\b",
    re.IGNORECASE,
)
_MADE_HERE = re.compile(
    r"(?:\b(?:write|save|put|store|create|draft|export|output|name|call|produce|generate|make|fill|record|log|belongs?|stands?"
    r"|sheet|deliver)\w*\b[^.!?\n]{0,160}|\b(?:into|as|called|named)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:file\s+)?"
    r"(?:named\s+|called\s+)?[“\"‘'`]?)$",
    re.IGNORECASE,
)
_READ_HERE = re.compile(
    r"\b(?:from|of|see|read|open|using|per|based on|facts in|data in|out of)\s+(?:the\s+)?[“\"‘'`]?$", re.I
)


def opening(task: TaskSpec) -> str:
    """What the session opens with: the request, and the signal's data."""
    if not task.trigger.payload:
        return task.initial_request
    return f"{task.initial_request}\n{json.dumps(task.trigger.payload, ensure_ascii=False)}"


def told(task: TaskSpec) -> str:
    """Everything that a session of this task establishes: what is asked, wanted and scored in it."""
    return "\n".join(
        (
            task.title,
            opening(task),
            *(intent.content for intent in task.intents),
            *(item.criterion for item in task.checklist),
            *task.expected_artifacts,
            *task.files_read,
        )
    )


def given(task: TaskSpec, scene: Scene) -> str:
    """What the agent is given in this very session: its opening and its files."""
    return "\n".join((opening(task), *(scene.texts.get(file.sha256, "") for file in task.assets)))


def behind(task: TaskSpec, scene: Scene) -> frozenset[str]:
    """Ids of the tasks this one builds on, as declared, and of theirs."""
    found: set[str] = set()
    waiting = [dependency.task_id for dependency in task.depends_on]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            other = scene.episode.task(name)
            waiting += [dependency.task_id for dependency in other.depends_on] if other else []
    return frozenset(found)


@lru_cache(maxsize=2_000)
def files_named(text: str) -> tuple[re.Match[str], ...]:
    return tuple(FILE_NAME.finditer(text, 0, 40_000))


def made_here(task: TaskSpec, name: str) -> bool:
    """Whether this task's own session is to write a file of that name."""
    if any(path.rpartition("/")[2] == name for path in task.expected_artifacts):
        return True
    return any(
        match[0].rpartition("/")[2] == name
        and _MADE_HERE.search(task.initial_request, max(0, match.start() - 300), match.start())
        and not _READ_HERE.search(task.initial_request, max(0, match.start() - 40), match.start())
        for match in files_named(task.initial_request)
    )
