"""The scripted models over a real persona: sessions that end, with every status, and no quote that nobody said."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from evaluation.agents import AgentSetup, make_agent
from evaluation.llm import ModelClient
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.participants import Decision, OpenIntent
from evaluation.protocol.prompts import JudgePrompt, follow_up_prompt, satisfaction_prompt
from evaluation.protocol.session import initial_progress
from tests.evaluation.protocol.playing import play


class Judge:
    def __init__(self, client: ModelClient) -> None:
        self.client = client

    def satisfied(self, reply: str, files: dict[str, str], intents: tuple[OpenIntent, ...]) -> tuple[Decision, ...]:
        return self.ask(satisfaction_prompt(reply, files, intents))

    def asked_for(self, reply: str, intents: tuple[OpenIntent, ...]) -> tuple[Decision, ...]:
        return self.ask(follow_up_prompt(reply, intents))

    def ask(self, prompt: JudgePrompt) -> tuple[Decision, ...]:
        decisions, _ = self.client.ask_json(
            prompt.messages, prompt.purpose, prompt.schema, lambda answer: parse_answer(prompt, answer)
        )
        assert all(decision.supported for decision in decisions if decision.yes)
        return decisions


def statuses(persona: Path, workspace: Path, agent: ModelClient, judge: ModelClient) -> Counter[str]:
    """How the intents of the first tasks of an episode end."""
    ended: Counter[str] = Counter()
    episode = yaml.safe_load((persona / "episode.yaml").read_text(encoding="utf-8"))
    for entry in episode["tasks"][:10]:
        folder = persona / "tasks" / entry["task_id"].strip()
        task = yaml.safe_load((folder / "task.yaml").read_text(encoding="utf-8"))
        for asset in folder.iterdir():
            if asset.is_file() and asset.name != "task.yaml":
                shutil.copyfile(asset, workspace / asset.name)
        intents = [intent["content"] for intent in task["intent"]["hidden_intent"]]
        start = initial_progress(task["intent"]["initial_input"], intents)
        end, turns = play(start, make_agent(AgentSetup(agent, workspace)), Judge(judge))
        assert end.ending == "resolved"
        assert all(record.ok for taken in turns for record in taken.reply.tool_calls)
        ended.update(state.status for state in end.intents)
    return ended


@pytest.mark.slow
@pytest.mark.parametrize("user", ["law_trainee", "marketer"])
def test_temperaments_differ_and_every_status_occurs(
    pibench_data: Path, user: str, tmp_path: Path, client_for: Callable[..., ModelClient]
):
    by_temperament = {}
    for temperament in ("helpful", "asks", "passive", "silent"):
        workspace = tmp_path / temperament
        workspace.mkdir()
        by_temperament[temperament] = statuses(
            pibench_data / user, workspace, client_for(f"scripted-{temperament}"), client_for("scripted-judge")
        )

    assert by_temperament["helpful"]["completed"] > by_temperament["passive"]["completed"]
    assert by_temperament["asks"]["inferred"] > by_temperament["helpful"]["inferred"]
    assert by_temperament["silent"]["provided"] > by_temperament["asks"]["provided"]
    assert (tmp_path / "helpful" / "MEMORY.md").is_file()
