"""A model that thinks, in the seats of a rehearsal: its thoughts go back to it, and to nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from evaluation.models import Turn
from evaluation.rehearsals import lifecycle
from tests.evaluation.rehearsals.builders import after_reply, real, reloaded, shown, started, work_on
from tests.evaluation.stub_model import StubModel, decisions, kind_of

pytestmark = pytest.mark.django_db

THOUGHT = "hm-the-person-hides-something"
REFUSAL = {"error": {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."}}


def think(body: dict[str, Any]) -> dict[str, Any] | tuple[int, str]:
    """As DeepSeek does: once a tool was called, every thought must come back."""
    messages = body["messages"]
    said = [message for message in messages if message["role"] == "assistant"]
    if any("tool_calls" in message for message in said) and not all("reasoning_content" in each for each in said):
        return 400, json.dumps(REFUSAL)
    message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": f"{THOUGHT} {len(said)}"}
    if messages[-1]["role"] == "tool":
        return message | {"content": "The note is written."}
    arguments = json.dumps({"path": f"note-{len(said)}.md", "content": "The fee is 70."})
    call = {"id": f"c{len(said)}", "type": "function", "function": {"name": "write_file", "arguments": arguments}}
    return message | {"tool_calls": [call]}


@pytest.mark.slow
def test_thoughts_of_a_rehearsed_agent_go_back_over_tool_calls_and_turns_and_to_nobody_else(
    stub: StubModel, client: Client
):
    stub.agent = think
    row = started("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row)
    client.force_login(row.person)
    during = client.get(f"/rehearsals/{row.pk}/").content.decode()
    lifecycle.submit_decisions(row.pk, {1: "met"}, {}, "And sign it.")
    work_on(row)

    assert (reloaded(row).state, reloaded(row).session.reason) == ("yours", "")
    assert [turn.reply for turn in Turn.objects.order_by("number")] == ["The note is written."] * 2
    agents = [body["messages"] for body in stub.bodies if kind_of(body) == "agent"]
    back = [message["reasoning_content"] for message in agents[-1] if message["role"] == "assistant"]
    assert back == [f"{THOUGHT} {number}" for number in range(3)]
    others = [json.dumps(body) for body in stub.bodies if kind_of(body) != "agent"]
    assert others and not [body for body in others if THOUGHT in body]
    assert "The note is written." in during and THOUGHT not in during


def test_person_in_the_agents_seat_is_judged_by_a_model_that_thinks_aloud(stub: StubModel, client: Client):
    def judge(body: dict[str, Any]) -> dict[str, Any]:
        draft = f"<think>{THOUGHT}\n```json\n{decisions(body, lambda index: False)}\n```</think>"
        return {
            "role": "assistant",
            "content": draft + decisions(body, lambda index: index == 1, quote="The fee is 70."),
        }

    stub.satisfaction = judge
    row = started("agent", real(stub))
    client.force_login(row.person)

    assert after_reply(row, "The fee is 70.").state == "yours"

    assert shown(row).session.intents[0].status == "completed"
    assert THOUGHT not in client.get(f"/rehearsals/{row.pk}/").content.decode()
