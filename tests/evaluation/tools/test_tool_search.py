from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.tools import Toolbox, Workspace, toolbox_for

BOUND = ("mcp_appworld_gmail__send_email", "gmail__show_drafts", "phone__create_alarm", "spotify__play_music")


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    return toolbox_for(Workspace(tmp_path), BOUND, by_search=True)


def names(toolbox: Toolbox) -> list[str]:
    return [schema["function"]["name"] for schema in toolbox.schemas]


def find(toolbox: Toolbox, query: str) -> str:
    return toolbox.call("find_tools", json.dumps({"query": query})).result


def test_tools_of_apps_are_offered_once_they_are_found(toolbox: Toolbox):
    before = names(toolbox)

    result = find(toolbox, "sending an email with gmail")

    assert before[-1] == "find_tools" and not any("__" in name for name in before)
    assert result.splitlines()[0].startswith("mcp_appworld_gmail__send_email: ")
    assert names(toolbox)[len(before) :] == [line.partition(":")[0] for line in result.splitlines()]
    assert "spotify__play_music" not in names(toolbox)
    assert find(toolbox, "zzz") == "[no tool fits 'zzz'; name an app and an action]"


def test_tools_stay_found_in_the_order_in_which_they_were(toolbox: Toolbox, tmp_path: Path):
    find(toolbox, "alarm")
    find(toolbox, "drafts")

    resumed = toolbox_for(Workspace(tmp_path), BOUND, by_search=True, found=toolbox.found)

    assert names(resumed) == names(toolbox)


def test_tool_called_by_its_name_counts_as_found(toolbox: Toolbox):
    record = toolbox.call("phone__create_alarm", "{}")

    assert not record.ok and "There is no tool" not in record.result
    assert names(toolbox)[-1] == "phone__create_alarm"


def test_agent_without_tools_of_apps_has_nothing_to_find(tmp_path: Path):
    assert "find_tools" not in names(toolbox_for(Workspace(tmp_path), ["grep"], by_search=True))
