"""Tool calls of a person in the assistant's seat, made as an agent's are and stored with the turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.agents import reachable_names
from evaluation.agents.person import Tool, tools_for_person
from evaluation.models import Rehearsal
from evaluation.pilots.participants import open_world
from evaluation.protocol.participants import InfrastructureError
from evaluation.rehearsals.lifecycle import RehearsalError, lock_rehearsal
from evaluation.rehearsals.turns import call_document, call_of
from evaluation.workspaces.app_states import load_apps
from evaluation.workspaces.folders import temporary_folder
from evaluation.workspaces.snapshots import MissingContentError, rebuild_workspace, store_files
from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name

MAX_CALLS = 200
"""In a turn, as for an agent."""


def offered_tools(row: Rehearsal) -> dict[str, Tool]:
    """By the name that the persona binds."""
    persona, task = _specs(row)
    names = reachable_names(persona.tools, task.tools)
    toolbox = tools_for_person(Path(), names, corpus=open_corpus(persona, task.task_id))
    return {tool.name: tool for tool in toolbox.tools}


def make_call(pk: int, name: str, arguments: Mapping[str, Any], *, turn: int | None = None) -> int:
    """Make the call in the rehearsal's workspace and apps, and return its position in the turn. A refusal is the call's
    result, as for an agent. Raises RehearsalError if no call can be made."""
    with lock_rehearsal(pk, Rehearsal.Seat.AGENT, Rehearsal.State.YOURS, Rehearsal.State.STOPPED, turn=turn) as row:
        calls = list(row.current_turn.get("calls", ()))
        if len(calls) >= MAX_CALLS:
            raise RehearsalError("tool", f"A turn has at most {MAX_CALLS} calls. Write your reply.")
        persona, task = _specs(row)
        try:
            with temporary_folder() as folder:
                rebuild_workspace(row.manifest, folder)
                apps = load_apps(row.apps, persona, task.task_id)
                world = open_world(apps)
                names = reachable_names(persona.tools, task.tools)
                toolbox = tools_for_person(folder, names, world, open_corpus(persona, task.task_id))
                record = toolbox.call(name, json.dumps(arguments, ensure_ascii=False))
                row.manifest = store_files(folder, row.manifest)
                row.apps = apps.store(world.snapshot())
        except (InfrastructureError, MissingContentError) as error:
            raise RehearsalError("tool", str(error)) from None
        document = storable(call_document(record))
        row.current_turn = {**row.current_turn, "calls": [*calls, document]}
        row.save(update_fields=["current_turn", "manifest", "apps", "updated_at"])
    return len(calls)


def calls_made(row: Rehearsal) -> list[Mapping[str, Any]]:
    """All calls of the rehearsal, oldest first."""
    earlier = [call for turn in row.turns for call in turn["reply"]["calls"]]
    return [*earlier, *row.current_turn.get("calls", ())]


def last_response(row: Rehearsal, name: str) -> Any:
    """What the tool answered last; None if it was not called or refused. ``name`` has no prefix."""
    for call in reversed(calls_made(row)):
        if bare_tool_name(call["name"]) == name and call["ok"]:
            return response_of(call)
    return None


def access_token(row: Rehearsal, app: str) -> str:
    """That of the last log-in to the app; empty if there was none, or a log-out since."""
    for call in reversed(calls_made(row)):
        if call["ok"] and bare_tool_name(call["name"]) == f"{app}__logout":
            return ""
        if call["ok"] and bare_tool_name(call["name"]) == f"{app}__login":
            response = response_of(call)
            return str(response.get("access_token", "")) if isinstance(response, dict) else ""
    return ""


def response_of(call: Mapping[str, Any]) -> Any:
    try:
        document = json.loads(call_of(call).result)
    except (ValueError, RecursionError):
        return None
    return document.get("response") if isinstance(document, dict) else None


def accounts_of(row: Rehearsal, app: str) -> list[tuple[str, str]]:
    """Usernames and passwords with which one can log in to the app, as the persona's data has them."""
    persona, task = _specs(row)
    if app not in row.apps:
        return []
    try:
        tables = json.loads(load_apps({app: row.apps[app]}, persona, task.task_id).contents[app])
    except (InfrastructureError, MissingContentError, ValueError):
        return []
    accounts = tables.get("accounts", []) if isinstance(tables, dict) else []
    return [(str(one.get("username", "")), str(one["password"])) for one in accounts if one.get("password")][:10]


def _specs(row: Rehearsal) -> tuple[PersonaSpec, TaskSpec]:
    persona = PersonaSpec.model_validate(row.persona_revision.spec)
    return persona, TaskSpec.model_validate(row.revision.spec)
