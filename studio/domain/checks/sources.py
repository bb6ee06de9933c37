"""Texts and files available in the tasks of an episode."""

from __future__ import annotations

import json
import re

from studio.domain.caching import cached
from studio.domain.checks.rule import CheckContext
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name

FILE_NAME = re.compile(
    r"(?<![\w/@.-])[\w][\w.-]*(?:/[\w.-]+)*\.(?:md|txt|csv|tsv|json|ya?ml|pdf|docx?|xlsx?|pptx?|png|jpe?g|html?|eml|ics|zip)\b",
    re.IGNORECASE,
)
_WEB_PAGE = re.compile(r"www\.|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/", re.IGNORECASE)
"""A web page, not a file of the workspace."""
_CREATES = re.compile(
    r"\b(?:write|save|put|store|create|(?<!own )(?<!our )(?<!my )(?<!the )draft|export|output|produce|sheet|fill"
    r"|(?:name|call)(?:d\b| (?:it|this|that|them|the)\b)|give me\b|generate|make|record|log|belongs?|stands?|deliver)",
    re.IGNORECASE,
)
_INTO = re.compile(
    r"\b(?:into|as|called|named)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?[“\"‘'`]?$",
    re.IGNORECASE,
)
_CREATED_AFTER = re.compile(
    r"[^.!?\n]{0,80}?\b(?:you|to be) (?:create|created|make|made|write|written|draw|drawn|produce)", re.I
)
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
_READ_HERE = re.compile(
    r"(?:\b(?:from|of|see|read|open|using|per|based on|out of"
    r"|(?:is|are|was|were|lies?|listed|stored|given|described|facts|data|figures|notes?|numbers|background|table|list)"
    r" in|look at)"
    r"\s+(?:the\s+)?[“\"‘'`]?|\w \()$",
    re.I,
)


LONGEST = 60_000
"""Maximum characters read of a signal's data."""
UNFILLED = re.compile(r"<(?:insert|placeholder)\b[^>]*>")
"""A blank of the studio's task templates that was not filled in."""


def opening_text(task: TaskSpec) -> str:
    if not task.trigger.payload:
        return task.initial_request
    return f"{task.initial_request}\n{json.dumps(task.trigger.payload, ensure_ascii=False)[:LONGEST]}"


def established_text(task: TaskSpec) -> str:
    """Everything that is requested, intended or scored in this task, and so known after its session."""
    return "\n".join(
        (
            task.title,
            opening_text(task),
            *(intent.content for intent in task.intents),
            *(item.criterion for item in task.checklist),
            *task.expected_paths,
            *task.files_read,
        )
    )


def established_texts(context: CheckContext) -> dict[str, str]:
    """By task id, for ``CheckContext.once``."""
    tasks = (*context.episode.tasks, *context.episode.unplaced)
    return {task.task_id: established_text(task) for task in tasks}


def visible_text(task: TaskSpec, context: CheckContext) -> str:
    return "\n".join((opening_text(task), *(context.texts.get(file.sha256, "") for file in task.assets)))


def profile_text(persona: PersonaSpec) -> str:
    return "\n".join(
        (
            persona.name,
            persona.occupation,
            persona.role_text,
            persona.routines,
            persona.working_style,
            json.dumps(persona.preferences, ensure_ascii=False, default=str),
            *(str(goal) for goal in persona.long_term_goals),
        )
    )


def prerequisite_ids(task: TaskSpec, context: CheckContext) -> frozenset[str]:
    ids: set[str] = set()
    pending = [dependency.task_id for dependency in task.depends_on]
    while pending:
        task_id = pending.pop()
        if task_id not in ids:
            ids.add(task_id)
            other = context.task(task_id)
            pending += [dependency.task_id for dependency in other.depends_on] if other else []
    return frozenset(ids)


@cached
def file_mentions(text: str) -> tuple[re.Match[str], ...]:
    return tuple(match for match in FILE_NAME.finditer(text, 0, 40_000) if not _WEB_PAGE.match(match[0]))


def base_name(path: str) -> str:
    return path.rpartition("/")[2]


def known_file_names(task: TaskSpec, context: CheckContext) -> set[str]:
    """Names of files that are there, expected or shown to judges up to this task, and of the persona's skills."""
    tasks = (*context.earlier(task), task)
    paths = (path for other in tasks for path in (*other.expected_paths, *other.files_read))
    skills = (file for skill in context.episode.persona.skills for file in skill.files)
    files = (file.path for file in (*(file for other in tasks for file in other.assets), *skills))
    return set(map(base_name, (*paths, *files)))


def is_unbound(tool: str, context: CheckContext) -> bool:
    """Whether it is a tool of an application that the persona does not have."""
    return "__" in tool and bare_tool_name(tool) not in context.once(_bound_tools)


def _bound_tools(context: CheckContext) -> frozenset[str]:
    return frozenset(map(bare_tool_name, context.episode.persona.tools))


def is_created_in(task: TaskSpec, name: str) -> bool:
    return name in map(base_name, task.expected_paths) or name in created_file_names(task.initial_request)


@cached
def created_file_names(request: str) -> frozenset[str]:
    """Names of files a request asks to create; only the first hundred file names are read."""
    names = set()
    for match in file_mentions(request)[:100]:
        before = request[max(0, match.start() - 160) : match.start()]
        same_sentence = re.split(r"[.!?](?=\s|$)|\n", before)[-1]
        verb_ends = [verb.end() for verb in _CREATES.finditer(same_sentence)]
        asked_before = verb_ends and not _FROM.search(same_sentence, verb_ends[-1])
        asked_after = _CREATED_AFTER.match(request, match.end(), match.end() + 120)
        if (asked_before or _INTO.search(before) or asked_after) and not _READ_HERE.search(before[-40:]):
            names.add(base_name(match[0]))
    return frozenset(names)
