from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.scripted.conversation import read_conversation
from evaluation.scripted.temperaments import TEMPERAMENTS, ScriptedMessage

REQUEST = "Please draft a supplier memo from suppliers.csv for the purchasing team."
TOOLS = [{"function": {"name": name}} for name in ("read_file", "write_file", "list_dir")]
RESULTS = {
    "list_dir": "MEMORY.md\nother.txt\nskills/\nsuppliers.csv",
    "read_file": "name,price\nThe supplier Meyer delivers within two days.\n",
    "write_file": "Wrote 10 bytes.",
}


def play(temperament: str, *said: str, memory: str = "(nothing yet)") -> list[ScriptedMessage]:
    """What an agent says and does over the turns of a session, its tool calls answered."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"<memory>\n{memory}\n</memory>"}]
    steps: list[ScriptedMessage] = []
    for text in said:
        messages.append({"role": "user", "content": text})
        while True:
            step = TEMPERAMENTS[temperament](read_conversation(messages, TOOLS))
            steps.append(step)
            calls = [
                {"id": f"{len(messages)}-{index}", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for index, (name, arguments) in enumerate(step.tool_calls)
            ]
            messages.append({"role": "assistant", "content": step.text, "tool_calls": calls})
            for call in calls:
                result = RESULTS[call["function"]["name"]]
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            if not calls:
                break
            assert len(steps) < 20
    return steps


def called(steps: list[ScriptedMessage]) -> list[tuple[str, str]]:
    return [(name, str(arguments["path"])) for step in steps for name, arguments in step.tool_calls]


def test_helpful_agent_reads_named_files_writes_and_reports():
    steps = play("helpful", REQUEST)

    assert called(steps)[:2] == [("list_dir", "."), ("read_file", "suppliers.csv")]
    assert called(steps)[2][0] == "write_file"
    assert "The supplier Meyer delivers within two days." in steps[-1].text
    assert called(steps)[2][1] in steps[-1].text


def test_helpful_agent_stores_preferences_in_memory():
    steps = play("helpful", REQUEST, "Always name the delivery time of each supplier.", memory="- Prefers tables.")

    memory = [
        arguments["content"]
        for step in steps
        for name, arguments in step.tool_calls
        if arguments.get("path") == "MEMORY.md"
    ]
    assert memory == ["- Prefers tables.\n- Always name the delivery time of each supplier.\n"]


def test_helpful_agent_uses_its_memory():
    (*_, last) = play("helpful", REQUEST, memory="- Always name the delivery time.\n- The cat is called Ida.")

    assert "- Always name the delivery time." in last.text
    assert "Ida" not in last.text


def test_asking_agent_asks_new_questions_each_turn():
    steps = play("asks", REQUEST, "Use a table.")
    first, second = (step.text for step in steps if step.text)

    assert first.count("?") == second.count("?") == 2
    assert "supplier" in first.lower() or "purchasing" in first.lower()
    assert first.splitlines()[1:] != second.splitlines()[-2:]


def test_passive_and_silent_agents_answer_briefly():
    passive, silent = play("passive", REQUEST), play("silent", REQUEST)

    assert called(passive) == called(silent) == []
    assert passive[0].text.count(".") == 1
    assert silent == [ScriptedMessage("Done.")]


@pytest.mark.parametrize("temperament", sorted(TEMPERAMENTS))
def test_same_conversation_gets_the_same_answer(temperament: str):
    assert play(temperament, REQUEST, "Use a table.") == play(temperament, REQUEST, "Use a table.")


@pytest.mark.parametrize("temperament", sorted(TEMPERAMENTS))
@pytest.mark.parametrize(
    "messages", [[], [None], [{"role": "user"}], [{"role": "user", "content": [{"text": "你好"}]}]]
)
def test_any_conversation_gets_an_answer(temperament: str, messages: list[Any]):
    step = TEMPERAMENTS[temperament](read_conversation(messages, [None, {}]))

    assert step.text or step.tool_calls
