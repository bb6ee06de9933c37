"""Tool calls of a person in the assistant's seat, made as an agent's are and stored with the turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.agents import reachable_names
from evaluation.agents.person import SHELL, Tool, World, tools_for_person, why_no_shell
from evaluation.engine.conversation import storable_call
from evaluation.models import Rehearsal
from evaluation.protocol.clock import MOVING
from evaluation.protocol.participants import InfrastructureError, ToolRecord
from evaluation.rehearsals.lifecycle import RehearsalError, lock_rehearsal
from evaluation.rehearsals.turns import calls_in, turns_of, with_call
from evaluation.workspaces.app_states import AppHashes, AppStates, Moment, load_apps
from evaluation.workspaces.folders import temporary_folder
from evaluation.workspaces.manifests import MissingContentError, rebuild_workspace, store_files
from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name
from studio.models import Blob

MAX_CALLS = 200
"""In a turn, as for an agent."""


def offered_tools(row: Rehearsal) -> dict[str, Tool]:
    """By the name that the persona binds."""
    persona, task = _specs(row)
    names = reachable_names(persona.tools, task.tools)
    toolbox = tools_for_person(Path(), names, corpus=open_corpus(persona, task.task_id, Blob.objects.read))
    return {tool.name: tool for tool in toolbox.tools}


def make_call(pk: int, name: str, arguments: Mapping[str, Any], *, turn: int | None = None) -> int:
    """Make the call in the rehearsal's workspace and apps, and return its position in the turn. A refusal is the call's
    result, as for an agent. Raises RehearsalError if no call can be made."""
    with lock_rehearsal(pk, Rehearsal.Seat.AGENT, Rehearsal.State.YOURS, Rehearsal.State.STOPPED, turn=turn) as row:
        made = len(calls_in(row))
        if made >= MAX_CALLS:
            raise RehearsalError("tool", f"A turn has at most {MAX_CALLS} calls. Write your reply.")
        persona, task = _specs(row)
        try:
            with temporary_folder() as folder:
                rebuild_workspace(row.manifest, folder, Blob.objects.read)
                apps = _apps_of(row, row.apps, persona, task)
                world = apps.open()
                names = reachable_names(persona.tools, task.tools)
                corpus = open_corpus(persona, task.task_id, Blob.objects.read)
                toolbox = tools_for_person(folder, names, world, corpus, _shell_seconds(row))
                record = toolbox.call(name, json.dumps(arguments, ensure_ascii=False))
                row.manifest = store_files(folder, row.manifest, Blob.objects.store)
                row.apps = apps.store(world.snapshot(), Blob.objects.store)
        except (InfrastructureError, MissingContentError) as error:
            raise RehearsalError("tool", str(error)) from None
        row.current_turn = with_call(row, storable_call(record))
        row.save(update_fields=["current_turn", "manifest", "apps", "updated_at"])
    return made


def calls_made(row: Rehearsal) -> list[ToolRecord]:
    """All calls of the rehearsal, oldest first."""
    return [*(call for turn in turns_of(row) for call in turn.taken.reply.tool_calls), *calls_in(row)]


def why_without_shell(row: Rehearsal) -> str:
    """Why commands, which the persona's assistant has, cannot be run here; empty if they can, or it has none."""
    persona, task = _specs(row)
    return why_no_shell() if SHELL in reachable_names(persona.tools, task.tools) else ""


def apps_now(row: Rehearsal, app: str) -> World | None:
    """The app as it is, to look at: nothing of what is done to it is stored. None if it cannot be read."""
    persona, task = _specs(row)
    try:
        held = {app: row.apps[app]} if app in row.apps else {}
        world = _apps_of(row, held, persona, task).open()
        world.state(app)
    except (InfrastructureError, MissingContentError):
        return None
    return world


def access_token(row: Rehearsal, app: str) -> str:
    """That of the last log-in to the app; empty if there was none, or a log-out since."""
    for call in reversed(calls_made(row)):
        if call.ok and bare_tool_name(call.name) == f"{app}__logout":
            return ""
        if call.ok and bare_tool_name(call.name) == f"{app}__login":
            response = response_of(call)
            return str(response.get("access_token", "")) if isinstance(response, dict) else ""
    return ""


def response_of(call: ToolRecord) -> Any:
    try:
        document = json.loads(call.result)
    except (ValueError, RecursionError):
        return None
    return document.get("response") if isinstance(document, dict) else None


def accounts_of(row: Rehearsal, app: str) -> list[tuple[str, str]]:
    """Usernames and passwords with which one can log in to the app, as its data has them now."""
    world = apps_now(row, app) if app in row.apps else None
    accounts = world.state(app).accounts if world else ()
    return [(account.username, account.password) for account in accounts if account.password][:10]


def _apps_of(row: Rehearsal, held: AppHashes, persona: PersonaSpec, task: TaskSpec) -> AppStates:
    """With the clock where the next call finds it, as in a session of the protocol ``paper``. Raises
    InfrastructureError and MissingContentError."""
    apps = load_apps(held, persona, Moment(task.task_id, pace=MOVING), Blob.objects.read)
    apps.clock.begin(len(turns_of(row)) + 1, len(calls_in(row)) + 1)
    return apps


def _shell_seconds(row: Rehearsal) -> float:
    return sum(call.seconds for call in calls_made(row) if call.name == SHELL)


def _specs(row: Rehearsal) -> tuple[PersonaSpec, TaskSpec]:
    persona = PersonaSpec.model_validate(row.persona_revision.spec)
    return persona, TaskSpec.model_validate(row.revision.spec)
