"""A session's conversation, from where it stands to its end. Resumable after every turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from evaluation.agents import AgentSetup, make_agent, reachable_names
from evaluation.agents.given import GivenAgent
from evaluation.agents.kinds import Workflow, is_informed, make_informed_agent
from evaluation.engine.journal import SessionJournal
from evaluation.engine.plan import SessionPlan
from evaluation.engine.recording import Recording
from evaluation.engine.store import Checkpoint, Closing, Replied, SeatStore, Standing, Store
from evaluation.engine.voice import PURPOSE, ListeningUser, PersonaVoice, know, scene_of
from evaluation.grading.intents import intents_decided
from evaluation.grading.judges import intent_judge
from evaluation.grading.work import PlayedTurn, Work, work_after
from evaluation.protocol.participants import (
    Agent,
    AgentError,
    AgentReply,
    Aside,
    ClosingAgent,
    Remark,
    Thought,
    ToolRecord,
)
from evaluation.protocol.session import Progress, resolve_turn
from evaluation.protocol.trace import read_texts
from evaluation.protocol.versions import ProtocolName
from evaluation.protocol.voice import User, VerbatimUser
from evaluation.tools.apps import usable_names
from evaluation.tools.mcp.servers import ServerTools, opened
from evaluation.workspaces.app_states import AppHashes, load_apps
from evaluation.workspaces.folders import temporary_folder
from evaluation.workspaces.manifests import Manifest, folder_reader, rebuild_workspace, store_files
from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.storable import storable

STORED_NAME = 200
"""Characters of a tool's name, which models make up."""


def converse(plan: SessionPlan, store: Store, standing: Standing) -> Progress:
    """Raises InfrastructureError and MissingContentError, and what the store raises; a failure of the agent ends the
    conversation."""
    progress = standing.progress
    with _open(plan, store, standing) as at:
        while progress.ending is None:
            try:
                replied = at.hear(progress)
            except AgentError as error:
                progress = _failed(progress, error)
            else:
                checkpoint = at.answer(progress, replied)
                store.turn(checkpoint)
                progress = checkpoint.after
        closing = at.close() if plan.followed and progress.ending != "failed" else None
    store.end(progress, closing)
    return progress


def converse_with_person(plan: SessionPlan, store: SeatStore, standing: Standing) -> Progress:
    """To where the person in the agent's seat has to reply, or the one in the user's seat to decide; or to the end, if
    it comes first. Raises as ``converse``."""
    progress, replied = standing.progress, standing.replied
    with _open(plan, store, standing) as at:
        try:
            if replied is None:
                replied = at.hear(progress)
                store.reply(progress, replied)
        except AgentError as error:
            progress = _failed(progress, error)
        else:
            if plan.agent is None:
                checkpoint = at.answer(progress, replied)
                store.turn(checkpoint)
                progress = checkpoint.after
            elif plan.user is not None:
                store.propose(at.answer(progress, replied).decided)
    if progress.ending is not None:
        store.end(progress, None)
    return progress


def _failed(progress: Progress, error: AgentError) -> Progress:
    return replace(progress, message="", ending="failed", reason=str(error))


class _Conversation:
    """What lives as long as the conversation is played."""

    def __init__(
        self, plan: SessionPlan, store: Store, standing: Standing, folder: Path, servers: ServerTools | None
    ) -> None:
        self._plan = plan
        self._store = store
        self._folder = folder
        self._files = standing.files
        self._conversation = standing.conversation
        self._earlier = standing.said_earlier
        self._apps = load_apps(standing.apps, plan.persona, plan.moment, store.read)
        self._world = self._apps.open()
        self._person = cache(partial(know, plan.persona, store.read))
        self._recording = Recording(plan, store, standing.progress.turns)
        self._journal = SessionJournal(plan.name, store.made, standing.progress.turns, self._world.clock)
        if servers is not None:
            servers.clock = self._world.clock
        self._agent = self._build_agent(standing, servers) if plan.agent else None

    def hear(self, progress: Progress) -> Replied:
        """Raises AgentError."""
        assert self._agent is not None
        self._begin(progress.turns + 1)
        started = time.monotonic()
        reply = _storable(self._agent.reply(progress.message))
        seconds = time.monotonic() - started
        return Replied(reply, *self._keep(), seconds)

    def answer(self, progress: Progress, replied: Replied) -> Checkpoint:
        """The user's part."""
        number, reply = progress.turns + 1, replied.reply
        played = PlayedTurn(number, progress.message, reply.text, reply.tool_calls, replied.files)
        self._conversation = self._conversation.and_then(played)
        work = partial(work_after, self._conversation, self._store.read)
        judge = intent_judge(self._plan.terms.protocol, self._recording.ask, self._plan.prompts, number, work)
        taken, after = resolve_turn(
            progress,
            replied.reply,
            judge,
            lambda: read_texts(self._plan.task.files_read, folder_reader(self._folder)),
            max_turns=self._plan.max_turns,
            user=self._user(progress, reply, work),
        )
        decided = intents_decided(judge.calls, self._plan.task, taken)
        return Checkpoint(taken, after, decided, replied.files, replied.apps, replied.seconds)

    def close(self) -> Closing | None:
        """None if the agent did nothing more."""
        if not isinstance(self._agent, ClosingAgent):
            return None
        self._begin(self._recording.turn + 1)
        aside = self._agent.close()
        return Closing(_storable_aside(aside), *self._keep()) if aside else None

    def _begin(self, number: int) -> None:
        self._recording.turn = number
        self._journal.begin(number)

    def _keep(self) -> tuple[Manifest, AppHashes]:
        """Raises AgentError if the workspace is too large."""
        self._files = store_files(self._folder, self._files, self._store.keep)
        return self._files, self._apps.store(self._world.snapshot(), self._store.keep)

    def _user(self, progress: Progress, reply: AgentReply, work: Callable[[], Work]) -> User:
        plan, versions = self._plan, self._plan.voice
        if versions is None:
            return VerbatimUser()
        client = self._recording.client(PURPOSE)
        if plan.terms.protocol == ProtocolName.RELEASE:
            return PersonaVoice(client, plan.persona, versions, reply.text)
        scene = cache(lambda: scene_of(self._person(), self._earlier, work(), reply, progress.missing))
        return ListeningUser(client, scene, versions, plan.said_in_request, progress.intents)

    def _build_agent(self, standing: Standing, servers: ServerTools | None) -> Agent:
        """Of the task it learns only the tool names; an informed one, the reference workflow as well."""
        plan, seat = self._plan, self._plan.agent
        assert seat is not None
        names = reachable_names(plan.persona.tools, plan.task.tools)
        setup = AgentSetup(
            client=self._recording.client("agent"),
            workspace=self._folder,
            tools=usable_names(names, self._world) if plan.terms.agent_loop > 1 else names,
            world=self._world,
            corpus=open_corpus(plan.persona, plan.task.task_id, self._store.read),
            servers=servers,
            journal=self._journal,
            limits=seat.limits,
            state=standing.agent_state,
            params=seat.params,
            conversation=plan.name,
            loop=plan.terms.agent_loop,
        )
        if seat.given is not None:
            return GivenAgent(setup, seat.given, self._store.read(list(seat.given.files.values())))
        if is_informed(seat.kind):
            return make_informed_agent(setup, seat.kind, Workflow(plan.task.reference_workflow))
        return make_agent(setup, seat.kind)


@contextmanager
def _open(plan: SessionPlan, store: Store, standing: Standing) -> Iterator[_Conversation]:
    with temporary_folder() as folder, opened(plan.servers, plan.server_policy) as servers:
        rebuild_workspace(standing.files, folder, store.read)
        yield _Conversation(plan, store, standing, folder, servers)


def _storable(reply: AgentReply) -> AgentReply:
    """Models write what no store takes."""
    return AgentReply(
        storable(reply.text),
        tuple(map(storable_call, reply.tool_calls)),
        reply.tokens,
        storable(dict(reply.state)),
        storable(reply.note),
        _storable_aside(reply.aside),
        tuple(Thought(storable(each.text), each.tokens) for each in reply.thoughts),
        tuple(Remark(storable(each.text), each.calls) for each in reply.remarks),
    )


def storable_call(call: ToolRecord) -> ToolRecord:
    return ToolRecord(
        storable(call.name)[:STORED_NAME],
        storable(dict(call.arguments)),
        storable(call.result),
        call.ok,
        call.seconds,
        tuple(map(storable, call.changes)),
        call.key,
        tuple(map(storable, call.effects)),
    )


def _storable_aside(aside: Iterable[Aside]) -> tuple[Aside, ...]:
    return tuple(Aside(storable(each.title), storable(each.text)) for each in aside)
