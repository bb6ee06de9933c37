"""What rules and grader scripts say of answers that take no work, and of reference solutions; and a judge, if one is
named. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.engine.conversation import converse
from evaluation.engine.folder import FolderStore, Found
from evaluation.engine.grading import grade_session
from evaluation.engine.plan import SessionPlan, given_seat
from evaluation.feasibility.kinds import ProbedItem
from evaluation.feasibility.seats import files_before, task_told
from evaluation.grading.session import SessionGrade
from evaluation.llm import Endpoint
from evaluation.protocol.given import GivenTurn
from evaluation.protocol.prompt_files import CURRENT, NAMES
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import Terms
from evaluation.tools.mcp.servers import bound_servers
from evaluation.workspaces.folders import temporary_folder
from evaluation.workspaces.manifests import Read
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from studio.domain.tool_servers import ToolServerPolicy, servers_in


class _Scratch(FolderStore):
    """Contents that it does not keep itself are read elsewhere."""

    def __init__(self, folder: Path, read: Read, found: Found) -> None:
        super().__init__(folder, found=found)
        self._elsewhere = read

    def read(self, sha256s: Sequence[str]) -> dict[str, bytes]:
        own = super().read(sha256s)
        missing = [sha256 for sha256 in sha256s if sha256 not in own]
        return own | dict(self._elsewhere(missing)) if missing else own


def decide_turn(
    task: TaskSpec,
    episode: EpisodeSpec,
    turn: GivenTurn,
    solutions: Mapping[str, GivenTurn],
    read: Read,
    policy: ToolServerPolicy,
    judge: Endpoint | None = None,
) -> list[ProbedItem]:
    """Play the turn and grade it; criteria that need a judge stay undecided without one. Raises InfrastructureError."""
    terms = Terms()
    persona = episode.persona
    plan = SessionPlan(
        name=f"probe-{task.task_id}",
        task=task_told("", task, episode),
        persona=persona,
        agent=given_seat(turn),
        user=None,
        judge=judge,
        prompts={name: CURRENT[terms.protocol][name] for name in NAMES},
        terms=terms,
        position=1 + next((at for at, each in enumerate(episode.tasks) if each.task_id == task.task_id), 0),
        servers=bound_servers(servers_in(persona, read, policy), read) if turn.calls else (),
        server_policy=policy,
    )
    with temporary_folder() as folder:
        store = _Scratch(folder, read, Found(files_before(task, episode, solutions)))
        try:
            ended = converse(plan, store, store.standing(plan))
            graded = grade_session(plan, store, ScoringMode.STRICT, store.played(plan, ScoringMode.STRICT))
            decided = {each.index: each for each in store.kept.decided[ScoringMode.STRICT].values()}
        finally:
            store.close()
    whys = {index: each.reason or each.error for index, each in decided.items()}
    if ended.ending == "failed":
        return [replace(item, met=False, why=ended.reason) for item in _items(graded, {})]
    return _items(graded, whys)


def _items(graded: SessionGrade, whys: dict[int, str]) -> list[ProbedItem]:
    return [
        ProbedItem(item.index, item.criterion, item.weight, credit.value, whys.get(item.index, ""), item.uid)
        for item, credit in graded.items
    ]
