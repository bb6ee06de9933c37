"""The paper's scaffold itself, where it is installed (`make nanobot-agent`)."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evaluation.agents import AgentSetup, World, make_agent
from evaluation.llm import Completion
from evaluation.llm.completion import RequestedToolCall
from evaluation.protocol.participants import Tokens
from evaluation.sandbox import why_unavailable
from evaluation.tools.apps.simple_note import app as simple_note
from evaluation.tools.programs import nanobot_packages
from studio.local.paths import data_folder

LOGIN = "mcp_appworld_simple_note__login"


class Model:
    """Reads what is not there, logs in, writes a file, and calls a tool badly; from then on it only answers."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def complete(self, messages: Any, **params: Any) -> Completion:
        self.asked.append(messages)
        calls = ()
        if len(self.asked) == 1:
            login = {"username": "ada@example.com", "password": "notes-of-ada"}
            made = [
                ("read_file", {"path": "gone.txt"}),
                (LOGIN, login),
                ("write_file", {"path": "note.txt", "content": "hi"}),
                ("write_file", {"path": "note.txt"}),
            ]
            calls = tuple(RequestedToolCall(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(made))
        reason = "tool_calls" if calls else "stop"
        return Completion("" if calls else "Done.", calls, reason, Tokens(5, 2), Decimal(0), "x", False)


@pytest.mark.minutes
def test_nanobot_takes_turns_with_files_apps_and_a_memory_of_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("STUDIO_DATA_DIR", str(data_folder().parent))  # installed for the studio, not for its tests
    if words := why_unavailable() or ("" if nanobot_packages() else "nanobot is not installed: make nanobot-agent"):
        pytest.skip(words)
    model = Model()
    world = World.from_data({"simple_note": simple_note.example})
    setup = AgentSetup(model, tmp_path, tools=(LOGIN,), world=world, conversation="session-1")  # type: ignore[arg-type]

    first = make_agent(setup, "nanobot").reply("Write a note.")
    second = make_agent(replace(setup, state=first.state), "nanobot").reply("And?")

    assert (first.text, second.text) == ("Done.", "Done.")
    assert [(call.name, call.ok) for call in first.tool_calls] == [
        ("read_file", False),
        (LOGIN, True),
        ("write_file", True),
        ("write_file", False),
    ]
    assert (tmp_path / "note.txt").read_text() == "hi"
    assert first.tokens == Tokens(10, 4)
    assert "Write a note." in json.dumps(model.asked[-1])
