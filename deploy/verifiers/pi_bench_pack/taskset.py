"""A task is a persona's episode."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import verifiers.v1 as vf

from pi_bench_pack.playing import IDLE, REPORT, EpisodeData, play, replay, show

logger = logging.getLogger(__name__)


class PackConfig(vf.TasksetConfig):
    path: Path = Path()
    """Of the pack: zip or folder."""
    split: Literal["public", "validation"] = "public"
    """Held-out tasks are not for this: whoever trained on them could be measured no more."""
    pibench: str = "pibench"
    """The command, in the environment that has it."""


class EpisodeTask(vf.Task[EpisodeData]):
    @property
    def key(self) -> str:
        return f"{self.data.sha256}/{self.data.persona}/{self.data.split}"

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        """Whether reference solutions earn every item, and answers that take no work none. What rules do not decide is
        as the release says. None: it does not say so of all."""
        unsure = False
        for row in await replay(self.data, runtime):
            why = self.data.not_validated.get(row["task"], "")
            if row["valid"] is False:
                logger.error(
                    "%s · %s: an item is not earned by its solution, or without work", row["persona"], row["task"]
                )
                return False
            if row["valid"] is None and why:
                logger.warning("%s · %s is not validated: %s", row["persona"], row["task"], why)
                unsure = True
        return None if unsure else True

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Where no agent was asked, an idle one plays."""
        if REPORT not in trace.info:
            done, trace.info[REPORT] = await play(self.data, runtime, IDLE, {})
            if done.exit_code:
                raise vf.TaskError(done.stderr)

    @vf.reward(weight=1.0)
    async def proc(self, trace: vf.Trace) -> float:
        return _mean(trace.info[REPORT], "proc")

    @vf.metric
    async def comp(self, trace: vf.Trace) -> float:
        return _mean(trace.info[REPORT], "comp")

    @vf.metric
    async def intents(self, trace: vf.Trace) -> dict[str, float]:
        """How many ended so."""
        statuses = (trace.info[REPORT] or {}).get("statuses", {})
        return {name: float(statuses.get(name, 0)) for name in ("completed", "inferred", "provided")}


class PackTaskset(vf.Taskset[EpisodeTask, PackConfig]):
    def load(self) -> Iterator[EpisodeTask]:
        found, path = shutil.which(self.config.pibench), self.config.path.resolve()
        if found is None:
            raise ValueError(f"There is no {self.config.pibench}: say where with --taskset.pibench.")
        command = str(Path(found).absolute())
        shown = show(command, str(path))
        episodes = [(each, scored) for each in shown["personas"] if (scored := self._scored(each))]
        if not episodes:
            raise ValueError(f"{path} has no {self.config.split} tasks.")
        known = shown["validation"]
        validated = {(row["persona"], row["task"]) for row in known.get("validated", ())}
        why = {(row["persona"], row["task"]): row["why"] for row in known.get("not_validated", ())}
        for episode, scored in episodes:
            persona = episode["persona"]
            data = EpisodeData(
                id=persona,
                name=episode["name"] or persona,
                prompt=f"The sessions of {persona}: {', '.join(scored)}",
                command=command,
                path=str(path),
                sha256=shown["sha256"],
                persona=persona,
                split=self.config.split,
                tasks=scored,
                not_validated={
                    task: why.get((persona, task), "The pack does not say.")
                    for task in scored
                    if (persona, task) not in validated
                },
            )
            yield EpisodeTask(data, self.config.task)

    def _scored(self, episode: Mapping[str, Any]) -> list[str]:
        return [task["task"] for task in episode["tasks"] if not task["setup"] and task["split"] == self.config.split]


def _mean(report: Mapping[str, Any] | None, metric: str) -> float:
    """0 for what did not come to its end."""
    return float(report["scores"]["strict"][metric]["mean"] or 0) if report else 0.0
