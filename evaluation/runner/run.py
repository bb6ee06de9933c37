"""What `pibench run` is asked for, made into a plan and played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evaluation.agents import reachable_names
from evaluation.agents.kinds import all_kinds, is_informed, parameter_problem
from evaluation.agents.react import KIND as REACT
from evaluation.agents.react import with_tools_in_reach
from evaluation.engine.budgets import Limits, Purse, Spent, validate_budgets
from evaluation.engine.folder import keep_contents
from evaluation.engine.plan import AgentSeat, SessionPlan, agent_limits, session_limits
from evaluation.llm import Endpoint
from evaluation.llm.client import ANSWER_LIMITS
from evaluation.protocol.modes import PilotMode, PlannedTask, plan_run
from evaluation.protocol.prompt_files import CURRENT, NAMES, VOICE_NAMES, current_prompts
from evaluation.protocol.session import MAX_TURNS
from evaluation.protocol.versions import ProtocolName, Terms
from evaluation.protocol.voice import UserStyle, usual_style
from evaluation.runner.board import Board
from evaluation.runner.document import MAX_RUNS, ModelUsed, PlannedSession, RunDocument
from evaluation.runner.errors import PibenchError
from evaluation.runner.packs import Pack
from evaluation.runner.play import Patience, Players, play
from evaluation.runner.results import FILES, KnownTask, Results, folder_of, held, write_results
from evaluation.sandbox.documents import may_read_documents, read_document
from evaluation.tools.mcp.servers import bound_servers
from studio import __version__
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.options import OptionsError
from studio.domain.task import TaskSpec
from studio.domain.tool_servers import ToolServerPolicy, servers_in
from studio.files.previews.documents import Confinement, register_confinement


@dataclass(frozen=True)
class Seats:
    agent: Endpoint
    user: Endpoint
    judge: Endpoint
    kind: str = REACT.name
    params: Mapping[str, str] = field(default_factory=dict)
    """Of the agent's kind."""

    @property
    def by_role(self) -> dict[str, Endpoint]:
        return {"agent": self.agent, "user_model": self.user, "judge": self.judge}


@dataclass(frozen=True)
class RunOptions:
    protocol: ProtocolName = ProtocolName.PAPER
    mode: PilotMode = PilotMode.EPISODE
    personas: Sequence[str] = ()
    """Empty: all."""
    tasks: Sequence[str] = ()
    """Empty: all. Those that they depend on run too, earlier and in the same workspace."""
    splits: Sequence[Split] = ()
    """Empty: all that the pack has."""
    runs: int = 1
    user_style: str = ""
    """Empty: as the protocol has it."""
    limits: Mapping[str, float] = field(default_factory=dict)
    budgets: Mapping[str, Limits] = field(default_factory=dict)
    servers: ToolServerPolicy = field(default_factory=ToolServerPolicy)


@dataclass(frozen=True)
class PlannedRun:
    pack: Pack
    seats: Seats
    options: RunOptions
    sessions: Sequence[PlannedSession]
    params: Mapping[str, str]
    """Of the agent's kind, as it is played."""
    warnings: Sequence[str]

    @property
    def terms(self) -> Terms:
        return Terms.current(self.options.protocol)

    @property
    def style(self) -> str:
        return self.options.user_style or usual_style(self.options.protocol, scripted=self.seats.user.scripted)

    @property
    def document(self) -> RunDocument:
        seats, terms = self.seats, self.terms
        voice = [name for name in VOICE_NAMES if name in CURRENT[terms.protocol]]
        names = (*NAMES, *(voice if self.style == UserStyle.IN_VOICE else ()))
        splits = Counter(each.split for each in self.tasks)
        return RunDocument.model_validate(
            {
                "pibench": __version__,
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "pack": {"name": self.pack.name, "version": self.pack.version, "sha256": self.pack.sha256},
                "protocol": terms.protocol,
                "agent_loop": terms.agent_loop,
                "prompts": current_prompts(terms.protocol, names),
                "user_style": self.style,
                "mode": self.options.mode,
                "runs": self.options.runs,
                "agent": {"kind": seats.kind, "params": self.params},
                "models": {role: ModelUsed.of(endpoint) for role, endpoint in seats.by_role.items()},
                "scripted": any(endpoint.scripted for endpoint in seats.by_role.values()),
                "agent_judges_itself": seats.agent.origin == seats.judge.origin,
                "limits": session_limits(self.options.limits),
                "budgets": self.options.budgets,
                "splits": {split: splits[split] for split in Split if splits[split]},
                "sessions": self.sessions,
            }
        )

    @property
    def tasks(self) -> list[KnownTask]:
        """Those that run, as results keep them."""
        known = []
        for episode in self.pack.episodes:
            user_id, contents = episode.persona.user_id, self.pack.contents_of_tasks(episode)
            wanted = {session.task for session in self.sessions if session.persona == user_id}
            known += [
                KnownTask(
                    user_id,
                    task,
                    contents[task.task_id],
                    self.pack.said_in_request(user_id, task.task_id),
                    episode.split_of(task.task_id),
                )
                for task in episode.tasks
                if task.task_id in wanted
            ]
        return known

    def plans(self) -> dict[str, SessionPlan]:
        """By folder of the session."""
        last = {(each.persona, each.run, each.chain): each for each in self.sessions}
        bound = {
            episode.persona.user_id: bound_servers(
                servers_in(episode.persona, self.pack.read, self.options.servers), self.pack.read
            )
            for episode in self.pack.episodes
        }
        return {
            each.folder: self._plan(each, followed=last[each.persona, each.run, each.chain] != each, bound=bound)
            for each in self.sessions
        }

    def _plan(self, session: PlannedSession, *, followed: bool, bound: Mapping[str, Any]) -> SessionPlan:
        episode = self.pack.episode(session.persona)
        task = episode.task(session.task) if episode else None
        assert episode is not None and task is not None
        seats, terms, limits = self.seats, self.terms, session_limits(self.options.limits)
        versions = CURRENT[terms.protocol]
        in_voice = self.style == UserStyle.IN_VOICE
        return SessionPlan(
            name=session.folder.replace("/", "-"),
            task=task,
            persona=episode.persona,
            agent=AgentSeat(seats.agent, seats.kind, self.params, agent_limits(limits)),
            user=seats.user,
            judge=seats.judge,
            prompts={name: versions[name] for name in NAMES},
            terms=terms,
            voice={name: versions[name] for name in VOICE_NAMES if name in versions} if in_voice else None,
            said_in_request=self.pack.said_in_request(session.persona, session.task),
            position=session.position,
            max_turns=int(limits["turns"] or MAX_TURNS),
            followed=followed,
            servers=bound[session.persona],
            server_policy=self.options.servers,
        )


def plan(pack: Pack, seats: Seats, options: RunOptions) -> PlannedRun:
    """Raises PibenchError."""
    try:
        session_limits(options.limits)
        validate_budgets(options.budgets)
    except OptionsError as error:
        raise PibenchError(str(error)) from None
    if not 1 <= options.runs <= MAX_RUNS:
        raise PibenchError(f"There can be 1 to {MAX_RUNS} runs, not {options.runs}.")
    if options.user_style == UserStyle.IN_VOICE and seats.user.scripted:
        raise PibenchError("A scripted model says everything verbatim.", "Choose another model for --user.")
    episodes = _chosen(pack, options)
    _refuse_servers_without_mcp(pack, options, [episode for _, episode in episodes])
    sessions = [session for at, episode in episodes for session in _sessions(at, episode, options)]
    if not sessions:
        of = f" of the split {', '.join(split.label for split in options.splits)}" if options.splits else ""
        raise PibenchError(f"{pack.path} has no task{of} to run.", *_where_held_out(pack, options))
    played = {(each.persona, each.task) for each in sessions}
    tasks = [
        (episode, task)
        for _, episode in episodes
        for task in episode.tasks
        if (episode.persona.user_id, task.task_id) in played
    ]
    most = max((len(reachable_names(episode.persona.tools, task.tools)) for episode, task in tasks), default=0)
    params = _params(seats, [task for _, task in tasks], most)
    return PlannedRun(pack, seats, options, sessions, params, _warnings(pack, seats, options, [e for _, e in episodes]))


def start(planned: PlannedRun, folder: Path, jobs: int, board: Board, patience: Patience | None = None) -> Results:
    """Play what is not played yet. Raises PibenchError."""
    with held(folder):
        players = gather(planned, folder, board, patience)
        play(players, jobs)
        return Results(folder, players.results.run, players.results.tasks)


def gather(planned: PlannedRun, folder: Path, board: Board, patience: Patience | None = None) -> Players:
    """All that its sessions are played with. Raises PibenchError if the folder has results of another run."""
    register_confinement(Confinement(may_read_documents, read_document))
    results = write_results(folder, planned.document, planned.tasks)
    keep_contents(folder / FILES, planned.pack.contents)  # for sessions to find
    used = sum((session.spent for session in results.sessions), start=Spent())
    purse = Purse(validate_budgets(planned.options.budgets), used, board.spent)
    return Players(results, planned.plans(), purse, board, patience or Patience())


def _where_held_out(pack: Pack, options: RunOptions) -> list[str]:
    held = pack.manifest.get("splits", {}).get(Split.HELD_OUT, {})
    wanted = Split.HELD_OUT in options.splits and "file" in held
    return [f"They stand in {held['file']}, which its makers do not publish."] if wanted else []


def _chosen(pack: Pack, options: RunOptions) -> list[tuple[int, EpisodeSpec]]:
    """With their numbers, from 1."""
    known = [episode.persona.user_id for episode in pack.episodes]
    if unknown := [name for name in options.personas if name not in known]:
        raise PibenchError(f"There is no persona “{unknown[0]}”.", f"The pack has {', '.join(known)}.")
    chosen = [
        (at, episode)
        for at, episode in enumerate(pack.episodes, 1)
        if not options.personas or episode.persona.user_id in options.personas
    ]
    tasks = {task.task_id for _, episode in chosen for task in episode.tasks}
    if unknown := [name for name in options.tasks if name not in tasks]:
        raise PibenchError(f"There is no task “{unknown[0]}”.", f"`pibench show {pack.path}` lists them.")
    return chosen


def _sessions(at: int, episode: EpisodeSpec, options: RunOptions) -> list[PlannedSession]:
    tasks = [*map(PlannedTask.of, episode.tasks)]
    own = [
        task.name
        for task in tasks
        if (not options.tasks or task.name in options.tasks)
        and (not options.splits or episode.split_of(task.name) in options.splits)
    ]
    if not own:
        return []
    planned = plan_run(tasks, options.mode, own)
    used = {name for chain in planned.chains for name in chain.tasks}
    positions = {name: n for n, name in enumerate((task.name for task in tasks if task.name in used), start=1)}
    persona = episode.persona.user_id
    return [
        PlannedSession(
            persona=persona,
            run=run,
            chain=chain_at,
            position=positions[name],
            task=name,
            folder=folder_of(f"{at}-{persona}", run, positions[name], name),
        )
        for run in range(1, options.runs + 1)
        for chain_at, chain in enumerate(planned.chains, start=1)
        for name in chain.tasks
    ]


def _refuse_servers_without_mcp(pack: Pack, options: RunOptions, episodes: Sequence[EpisodeSpec]) -> None:
    usable = (row for each in episodes for row in servers_in(each.persona, pack.read, options.servers) if not row.flaw)
    if (row := next(usable, None)) and find_spec("mcp") is None:
        hint = "Install it with `pip install 'pi-bench-studio[mcp]'`, or allow no tool servers."
        raise PibenchError(f"The tool server {row.name} needs the package mcp, which is not installed.", hint)


def _params(seats: Seats, tasks: Sequence[TaskSpec], most_tools: int) -> Mapping[str, str]:
    kind = all_kinds().get(seats.kind)
    if kind is None:
        raise PibenchError(f"There is no agent “{seats.kind}”.", f"There are {', '.join(all_kinds())}.")
    for name, value in seats.params.items():
        if problem := parameter_problem(kind, name, value):
            raise PibenchError(problem)
    if is_informed(seats.kind) and (lacking := [task for task in tasks if not task.reference_workflow.strip()]):
        raise PibenchError(f"“{lacking[0].task_id}” has no reference workflow, which the {seats.kind} needs.")
    return with_tools_in_reach(seats.params, most_tools) if kind is REACT else seats.params


def _warnings(pack: Pack, seats: Seats, options: RunOptions, episodes: Sequence[EpisodeSpec]) -> list[str]:
    found = []
    if seats.agent.origin == seats.judge.origin and not seats.agent.scripted:
        found.append("The agent’s model judges itself. Results say so.")
    if any(limits.get("cost") for limits in (options.limits, *options.budgets.values())):
        found += [
            f"{each.name} has no price: a budget in dollars stops it only if its service tells what each call cost. "
            "Say its prices with --price."
            for each in {endpoint.name: endpoint for endpoint in seats.by_role.values()}.values()
            if not each.scripted and None in (each.prices.input, each.prices.output)
        ]
        found += [
            f"{each.name} has no max_tokens: a budget in dollars is not kept to the cent, as the last calls may cost "
            "more than is left."
            for each in {endpoint.name: endpoint for endpoint in seats.by_role.values()}.values()
            if not each.scripted and not any(map(each.params.get, ANSWER_LIMITS))
        ]
    for episode in episodes:
        for row in servers_in(episode.persona, pack.read, options.servers):
            if row.flaw:
                found.append(f"{episode.persona.user_id}: no agent gets the tools of the server {row.name}. {row.flaw}")
    return found
