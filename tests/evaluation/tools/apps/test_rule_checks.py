"""Every rule check of the published personas can be earned by calls of the tools they bind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.protocol.history import tools_history
from evaluation.protocol.participants import ToolRecord
from evaluation.tools import Toolbox, Workspace, World, toolbox_for
from studio.domain.tool_names import APP_PREFIX
from tests.evaluation.tools.apps.real_personas import app_data, checks_of
from tests.evaluation.tools.apps.real_plays import play
from tests.evaluation.tools.apps.rule_graders import grade


class Desk:
    """An agent's tools in a persona's world; ``history`` is what its calls leave for graders."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.bound = tuple(yaml.safe_load((folder / "tools.yaml").read_text())["tool_names"])
        self.data = app_data(folder)
        self.world = World.from_data(self.data)
        self.toolbox: Toolbox = toolbox_for(
            Workspace(workspace), [APP_PREFIX + name for name in self.bound], self.world
        )
        self.records: list[ToolRecord] = []
        self.tokens: dict[str, str] = {}

    def call(self, name: str, /, **arguments: Any) -> Any:
        """As an app's user, logged in. Fails the test if the app refuses."""
        app = name.partition("__")[0]
        if app not in self.tokens:
            me = self.data[app]["accounts"][0]
            login = {"username": me["username"], "password": me["password"]}
            self.tokens[app] = self._call(f"{APP_PREFIX}{app}__login", login)["access_token"]
        return self._call(APP_PREFIX + name, {**arguments, "access_token": self.tokens[app]})

    def _call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        record = self.toolbox.call(name, json.dumps(arguments))
        assert record.ok, record.result
        self.records.append(record)
        return json.loads(record.result)["response"]

    def files(self, name: str, /, **arguments: Any) -> ToolRecord:
        record = self.toolbox.call(name, json.dumps(arguments))
        self.records.append(record)
        return record


TASKS = [
    *(("law_trainee", f"law_trainee_task_{number}") for number in ("008", "012", "014", "018", "020")),
    *(("marketer", f"marketer_task_{number}") for number in ("004", "009", "010", "014", "020")),
]


@pytest.mark.parametrize(("user", "task"), TASKS, ids=[task for _, task in TASKS])
def test_calls_earn_every_rule_check(pibench_data: Path, tmp_path: Path, user: str, task: str):
    folder = pibench_data / user
    desk = Desk(folder, tmp_path)
    checks = checks_of(folder)[task]

    play(desk, folder, task)

    assert grade(checks, tools_history(desk.records)) == dict.fromkeys(checks, 1)
    assert list(desk.world.problems()) == []


@pytest.mark.parametrize("user", ["law_trainee", "marketer"])
def test_no_bound_tool_of_a_real_persona_is_missing_and_no_check_is_left_out(
    pibench_data: Path, tmp_path: Path, user: str
):
    folder = pibench_data / user
    desk = Desk(folder, tmp_path)
    offered = {schema["function"]["name"] for schema in desk.toolbox.schemas}

    assert {APP_PREFIX + name for name in desk.bound} <= offered
    assert set(checks_of(folder)) == {task for of, task in TASKS if of == user}
