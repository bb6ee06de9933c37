"""What a task's score depends on, in named parts. Reviews approve them, and a pilot is evidence for those it ran.

A field belongs to a part unless its ``About`` says ``apart``: then nobody who plays or judges sees it. The table in
docs/architecture.md lists the parts; where it is unclear whether something can change a score, it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from studio.domain.base import FileRef, JsonDict, fields_of, hash_of_text, text_of_document
from studio.domain.persona import PersonaSpec, script_path
from studio.domain.task import TaskSpec
from studio.domain.tool_servers import FOLDER as SERVERS

Parts = Mapping[str, str]
"""Name of a part → sha256 of what it says."""

TASK = "task"
PROFILE = "profile"
TOOLS = "tools"
SERVER_FILES = "servers"
WEB = "web"
SKILL, SCRIPT, APP, EARLIER = "skill:", "script:", "app:", "earlier:"
"""Followed by a name: of the skill, the script's path, the app, the earlier task's id."""
REQUEST = "?"
_WITH_SOURCE = ("intents", "checklist", "tool_evidence")
"""Fields whose rows keep what they were imported from."""
_APART = {name for name, about in fields_of(TaskSpec).items() if about.apart or about.exported_only}
PROFILE_FIELDS = (
    *("name", "role_text", "occupation", "routines", "working_style", "attributes", "preferences"),
    "long_term_goals",
)


def own_part(task: JsonDict) -> str:
    said = {name: value for name, value in task.items() if name not in _APART}
    for name in _WITH_SOURCE:
        said[name] = [{key: value for key, value in row.items() if key != "source"} for row in said[name]]
    return _hash(said)


def pieces_of(task: JsonDict) -> list[str]:
    """Hashes of the texts by which a task is known again after an export; the request's begins with ``REQUEST``. Of a
    ``TaskSpec`` as JSON."""
    texts = [row["content"] for row in task["intents"]] + [row["criterion"] for row in task["checklist"]]
    request, *others = (" ".join(text.casefold().split()) for text in (task["initial_request"], *texts))
    asked = [f"{REQUEST}{hash_of_text(request)[:16]}"] if request else []
    return asked + list(dict.fromkeys(hash_of_text(text)[:16] for text in others if text))


def persona_parts(persona: PersonaSpec) -> dict[str, str]:
    """Parts without content are left out."""
    profile = persona.model_dump(mode="json", include=set(PROFILE_FIELDS))
    parts = {PROFILE: _hash(profile)} if any(profile.values()) else {}
    if persona.tools:
        parts[TOOLS] = _hash(sorted(persona.tools))
    folders = [f"{SKILL}{skill.name}" for skill in persona.skills]
    parts |= {
        name: _hash_of_files(files) for name in (*folders, SERVER_FILES, WEB) if (files := files_of(name, persona))
    }
    parts |= {f"{SCRIPT}{file.path}": file.sha256 for file in persona.scripts}
    parts |= {f"{APP}{app}": file.sha256 for app, file in persona.app_data.items()}
    return parts


def files_of(part: str, persona: PersonaSpec) -> tuple[FileRef, ...]:
    """Of a part that is a folder: a skill, the tool servers, the recorded web."""
    if part == WEB:
        return persona.web_pages
    if part == SERVER_FILES:
        return tuple(file for file in persona.files if file.path.startswith(f"{SERVERS}/"))
    return next((skill.files for skill in persona.skills if part == f"{SKILL}{skill.name}"), ())


def parts_of_tasks(documents: Iterable[JsonDict], persona: PersonaSpec) -> dict[str, dict[str, str]]:
    """The parts of each task of an episode by its id. ``documents``: all of its ``TaskSpec`` as JSON, since tasks build
    on others."""
    tasks = {document["task_id"]: document for document in documents}
    own = {name: own_part(task) for name, task in tasks.items()}
    shared = persona_parts(persona)
    return {
        name: {TASK: own[name]}
        | {part: sha256 for part, sha256 in shared.items() if _takes(task, part, persona.user_id)}
        | {f"{EARLIER}{other}": own[other] for other in _earlier(task, tasks)}
        for name, task in tasks.items()
    }


def _takes(task: JsonDict, part: str, user_id: str) -> bool:
    """Whether the task's score depends on this part of the persona. A task that names no skill has all of them; one
    that names its tools is not reached by others."""
    if part.startswith(SCRIPT):
        path = task["grader_script"]
        return bool(path) and part == f"{SCRIPT}{script_path(user_id, path)}"
    if part.startswith(SKILL):
        return not task["skills"] or part.removeprefix(SKILL) in task["skills"]
    return part != TOOLS or not task["tools"]


def content_hash(parts: Parts) -> str:
    return _hash(dict(sorted(parts.items())))


def changed_parts(before: Parts, after: Parts) -> dict[str, str]:
    """New content by part, "" for what is gone."""
    names = (*before, *(name for name in after if name not in before))
    return {name: after.get(name, "") for name in names if before.get(name) != after.get(name)}


def brought_by(changed: Parts) -> list[str]:
    """What is known again wherever it is brought: all but a list of tools, which many write alike."""
    return sorted({sha256 for name, sha256 in changed.items() if sha256 and name != TOOLS})


def _earlier(task: JsonDict, tasks: Mapping[str, JsonDict]) -> list[str]:
    """Ids of those it builds on, directly or through others."""
    found: set[str] = set()
    ahead = [need["task_id"] for need in task["depends_on"]]
    while ahead:
        name = ahead.pop()
        if name in tasks and name not in found and name != task["task_id"]:
            found.add(name)
            ahead += [need["task_id"] for need in tasks[name]["depends_on"]]
    return sorted(found)


def _hash_of_files(files: Iterable[FileRef]) -> str:
    return _hash(sorted([file.path, file.sha256] for file in files))


def _hash(value: Any) -> str:
    return hash_of_text(text_of_document(value))
