from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.llm import ModelClient
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompts import checklist_prompt, follow_up_prompt
from evaluation.scripted.faults import FALSE_QUOTE
from evaluation.scripted.scenario import ScenarioError, load_scenario, read_scenario

ClientFactory = Callable[..., ModelClient]
SetRules = Callable[..., None]


def say(client: ModelClient, *texts: str) -> str:
    return client.complete([{"role": "user", "content": text} for text in texts]).text


def test_first_matching_rule_answers(client_for: ClientFactory, scenario: SetRules):
    scenario(
        {"when": {"model": "scripted-asks"}, "reply": "Other model."},
        {"when": {"request": "LEASE", "turn": 2}, "reply": "Second turn."},
        {"when": {"request": "lease"}, "reply": "First turn."},
    )
    client = client_for("scripted-silent")

    assert [say(client, "End the lease."), say(client, "End the lease.", "And?"), say(client, "Hello.")] == [
        "First turn.",
        "Second turn.",
        "Done.",
    ]


def test_used_up_rule_gives_way_to_the_next(client_for: ClientFactory, scenario: SetRules):
    scenario({"reply": "Once.", "times": 1}, {"reply": "Then."})
    client = client_for("scripted-silent")

    assert [say(client, "a"), say(client, "a"), say(client, "a")] == ["Once.", "Then.", "Then."]


def test_decisions_are_given_exactly(client_for: ClientFactory, scenario: SetRules):
    scenario(
        {
            "when": {"purpose": "follow_up", "contains": "which bank"},
            "decisions": {
                "2": {"decision": "YES", "style": "Options", "quote": "bank?", "reason": "It asks."},
                "3": "YES",
            },
        }
    )
    prompt = follow_up_prompt("Which bank?", [OpenIntent(index, "x") for index in (1, 2, 3)])

    decisions, _ = client_for("scripted-judge").ask_json(
        prompt.messages, "decisions", prompt.schema, lambda text: parse_answer(prompt, text)
    )

    assert [(item.yes, item.style, item.quote, item.reason) for item in decisions] == [
        (False, None, "", "The scenario says so."),
        (True, "options", "bank?", "It asks."),
        (True, "clarify", "", "The scenario says so."),
    ]


def test_checklist_rules_match_by_turn_with_a_default_decision(client_for: ClientFactory, scenario: SetRules):
    scenario({"when": {"purpose": "checklist", "turn": 2}, "decisions": {"1": "NO"}, "otherwise": "YES"})
    first = '<user turn="1">\na\n</user>\n<assistant>\nb\n</assistant>'
    second = '<user turn="1">\na\n</user>\n<user turn="2">\nc\n</user>\n<assistant>\nd\n</assistant>'

    def ask(trace: str) -> list[bool]:
        prompt = checklist_prompt([], trace, [(1, "North"), (2, "South")], escaped=True)
        decisions, _ = client_for("scripted-judge").ask_json(
            prompt.messages, "decisions", prompt.schema, lambda text: parse_answer(prompt, text)
        )
        return [item.yes for item in decisions]

    assert [ask(first), ask(second)] == [[False, False], [False, True]]


def test_fault_applies_to_a_scenarios_answer(client_for: ClientFactory, scenario: SetRules):
    scenario({"when": {"purpose": "follow_up"}, "decisions": {"1": "YES"}, "do": "misquote"})
    prompt = follow_up_prompt("Which bank?", [OpenIntent(1, "x")])

    (decision,), _ = client_for("scripted-judge").ask_json(
        prompt.messages, "decisions", prompt.schema, lambda text: parse_answer(prompt, text)
    )

    assert (decision.yes, decision.quote, decision.supported) == (True, FALSE_QUOTE, False)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], 'an object with a list "rules"'),
        ({"rules": ["x"]}, "Rule 1: Input should be a valid dictionary"),
        ({"rules": [{"reply": "a"}, {}]}, "Rule 2: it says nothing"),
        ({"rules": [{"say": "x"}]}, "Rule 1, say: Extra inputs are not permitted"),
        ({"rules": [{"when": {"who": "x"}, "reply": "a"}]}, "Rule 1, when, who: Extra inputs"),
        ({"rules": [{"when": {"turn": "1"}, "reply": "a"}]}, "Rule 1, when, turn: Input should be a valid integer"),
        ({"rules": [{"do": "explode"}]}, "there is no misbehaviour 'explode'; there are 401, "),
        ({"rules": [{"decisions": ["YES"]}]}, "Rule 1, decisions: Input should be a valid"),
        ({"rules": [{"tool_calls": [{"arguments": {}}]}]}, "Rule 1, tool_calls, 0, name: Field required"),
        ({"rules": [{"reply": "a", "times": "often"}]}, "Rule 1, times: Input should be a valid integer"),
        ({"rules": [{"reply": 3}]}, "Rule 1, reply: Input should be a valid string"),
    ],
)
def test_invalid_scenario_says_where_and_why(document: Any, message: str):
    with pytest.raises(ScenarioError, match=message):
        read_scenario(document)


def test_scenario_is_read_from_a_file(tmp_path: Path):
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({"rules": [{"reply": "Hello."}]}))

    load_scenario(path)

    path.write_text("{")
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_scenario(path)
