"""Where a person in the assistant's seat is, and the tools they have there: a person's calls are made and stored as an
agent's are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.agents import reachable_names
from evaluation.engine.conversation import storable_call
from evaluation.engine.store import Replied
from evaluation.grading.work import PlayedTurn
from evaluation.models import Rehearsal, Session
from evaluation.protocol.participants import AgentReply, InfrastructureError, ToolRecord
from evaluation.rehearsals.lifecycle import RehearsalError, acting
from evaluation.store.evidence import found_files, load_turns
from evaluation.store.frozen import persona_of, task_of
from evaluation.store.snapshots import apps_before
from evaluation.tools import Corpus, Shell, Surroundings, Tool, Toolbox, Workspace, World, toolbox_for
from evaluation.tools.general import GENERAL
from evaluation.workspaces.app_states import AppHashes, AppStates, Moment, load_apps
from evaluation.workspaces.folders import temporary_folder
from evaluation.workspaces.manifests import Manifest, MissingContentError, rebuild_workspace, store_files
from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name
from studio.models import Blob

MAX_CALLS = 200
"""In a turn, as for an agent."""
SHELL = "exec"
COMMAND_SECONDS = 60.0
"""The person waits for the page."""


@dataclass(frozen=True)
class Desk:
    """What the person has before them."""

    task: TaskSpec
    persona: PersonaSpec
    moment: Moment
    turns: tuple[PlayedTurn, ...]
    made: tuple[ToolRecord, ...]
    """Calls since the last of the turns."""
    files: Manifest
    apps: AppHashes

    @property
    def calls(self) -> list[ToolRecord]:
        """All of the rehearsal, oldest first."""
        return [*(call for turn in self.turns for call in turn.calls), *self.made]

    def open_apps(self, held: AppHashes) -> AppStates:
        """With the clock where the next call finds it. Raises InfrastructureError and MissingContentError."""
        apps = load_apps(held, self.persona, self.moment, Blob.objects.read)
        apps.clock.begin(len(self.turns) + 1, len(self.made) + 1)
        return apps

    def look_into(self, app: str) -> World | None:
        """The app as it is: nothing of what is done to it is stored. None if it cannot be read."""
        try:
            world = self.open_apps({app: self.apps[app]} if app in self.apps else {}).open()
            world.state(app)
        except (InfrastructureError, MissingContentError):
            return None
        return world

    def token_of(self, app: str) -> str:
        """That of the last log-in to the app; empty if there was none, or a log-out since."""
        for call in reversed(self.calls):
            if call.ok and bare_tool_name(call.name) == f"{app}__logout":
                return ""
            if call.ok and bare_tool_name(call.name) == f"{app}__login":
                response = response_of(call)
                return str(response.get("access_token", "")) if isinstance(response, dict) else ""
        return ""

    def accounts_of(self, app: str) -> list[tuple[str, str]]:
        """Usernames and passwords with which one can log in to the app, as its data has them now."""
        world = self.look_into(app) if app in self.apps else None
        accounts = world.state(app).accounts if world else ()
        return [(account.username, account.password) for account in accounts if account.password][:10]


def desk_of(row: Rehearsal) -> Desk:
    session = row.session
    task, persona = _specs(session)
    turns, terms = load_turns(session), session.run.terms
    moment = Moment(task.task_id, session.position, terms.pace, terms.brief_lists)
    under_way = turns[session.turn_count :]
    return Desk(
        task,
        persona,
        moment,
        tuple(turns[: session.turn_count]),
        under_way[0].calls if under_way else (),
        turns[-1].files if turns else found_files(session),
        apps_before(session, persona),
    )


def _specs(session: Session) -> tuple[TaskSpec, PersonaSpec]:
    return task_of(session.revision_id), persona_of(session.run.persona_revision_id)


def _names(task: TaskSpec, persona: PersonaSpec) -> tuple[str, ...]:
    return reachable_names(persona.tools, task.tools)


def offered_tools(row: Rehearsal) -> dict[str, Tool]:
    """By the name that the persona binds."""
    task, persona = _specs(row.session)
    corpus = open_corpus(persona, task.task_id, Blob.objects.read)
    return {tool.name: tool for tool in _toolbox(Path(), _names(task, persona), corpus=corpus).tools}


def _toolbox(
    workspace: Path,
    names: Iterable[str],
    world: World | None = None,
    corpus: Corpus | None = None,
    shell_seconds: float = 0,
) -> Toolbox:
    """Of an agent that binds ``names``. What needs an agent's own loop is left out: a person writes to the user on the
    rehearsal's page, and does the work of helpers. ``shell_seconds``: what commands took so far."""
    place = Workspace(workspace)
    shell = Shell(place, used=shell_seconds, most=COMMAND_SECONDS, clock=(world or World()).clock)
    return toolbox_for(Surroundings(place, asks=False, corpus=corpus, shell=shell), names, world)


def make_call(pk: int, name: str, arguments: Mapping[str, Any]) -> ToolRecord:
    """Make the call in the rehearsal's workspace and apps. A refusal is the call's result, as for an agent. Raises
    RehearsalError if no call can be made."""
    with acting(pk, Rehearsal.Seat.AGENT) as at:
        desk = desk_of(at.row)
        if len(desk.made) >= MAX_CALLS:
            raise RehearsalError("tool", f"A turn has at most {MAX_CALLS} calls. Write your reply.")
        try:
            with temporary_folder() as folder:
                rebuild_workspace(desk.files, folder, Blob.objects.read)
                apps = desk.open_apps(desk.apps)
                world = apps.open()
                corpus = open_corpus(desk.persona, desk.task.task_id, Blob.objects.read)
                shell_seconds = sum(call.seconds for call in desk.calls if call.name == SHELL)
                toolbox = _toolbox(folder, _names(desk.task, desk.persona), world, corpus, shell_seconds)
                record = storable_call(toolbox.call(name, json.dumps(arguments, ensure_ascii=False)))
                files = store_files(folder, desk.files, Blob.objects.store)
                states = apps.store(world.snapshot(), Blob.objects.store)
        except (InfrastructureError, MissingContentError) as error:
            raise RehearsalError("tool", str(error)) from None
        at.keep(Replied(AgentReply(at.replied.reply.text, (*desk.made, record)), files, states))
    return record


def why_without_shell(row: Rehearsal) -> str:
    """Why commands, which the persona's assistant has, cannot be run here; empty if they can, or it has none."""
    return GENERAL[SHELL].lacking() if SHELL in _names(*_specs(row.session)) else ""


def response_of(call: ToolRecord) -> Any:
    try:
        document = json.loads(call.result)
    except (ValueError, RecursionError):
        return None
    return document.get("response") if isinstance(document, dict) else None
