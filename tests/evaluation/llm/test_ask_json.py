from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluation.llm import ContextTooLongError, Learned, ModelClient, RequestRejectedError, UnusableJsonError
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompts import JudgePrompt, satisfaction_prompt
from evaluation.scripted.server import ScriptedServer
from tests.evaluation.llm.test_client import Notebook

ClientFactory = Callable[..., ModelClient]
PROMPT: JudgePrompt = satisfaction_prompt(
    "Sales rose in Asia. The deadline is Friday.",
    {},
    [OpenIntent(1, "Name the deadline: Friday."), OpenIntent(2, "Attach the invoice number.")],
)


def ask(client: ModelClient, **given: Any) -> tuple[bool, ...]:
    decisions, _ = client.ask_json(
        PROMPT.messages, "decisions", PROMPT.schema, lambda text: parse_answer(PROMPT, text), **given
    )
    return tuple(decision.yes for decision in decisions)


def formats(notebook: Notebook) -> list[str | None]:
    """How each recorded call asked for JSON."""
    return [call.request.get("response_format", {}).get("type") for call in notebook.calls]


def test_json_schema_is_tried_first(client_for: ClientFactory):
    notebook = Notebook()

    assert ask(client_for("scripted-judge", recorder=notebook)) == (True, False)

    requested = notebook.calls[0].request["response_format"]
    assert requested == {
        "type": "json_schema",
        "json_schema": {"name": "decisions", "strict": True, "schema": PROMPT.schema},
    }


@pytest.mark.parametrize(
    ("fault", "first", "second"),
    [
        ("no-schema", ["json_schema", "json_object"], ["json_object"]),
        ("no-schema-500", ["json_schema", "json_object"], ["json_object"]),
        ("no-json", ["json_schema", "json_object", None], [None]),
    ],
)
def test_rejected_json_mode_falls_back_and_is_remembered(
    client_for: ClientFactory, fault: str, first: list[str], second: list[str]
):
    notebook, later, learned = Notebook(), Notebook(), Learned()

    assert ask(client_for(f"scripted-judge+{fault}", recorder=notebook, learned=learned)) == (True, False)
    stored = Learned(learned.facts)
    assert ask(client_for(f"scripted-judge+{fault}", recorder=later, learned=stored)) == (True, False)

    assert (formats(notebook), formats(later)) == (first, second)


def test_refusal_that_is_not_of_the_json_mode_is_not_taken_for_it(client_for: ClientFactory):
    notebook, learned = Notebook(), Learned()

    with pytest.raises(RequestRejectedError, match="There is no model gpt-0"):
        ask(client_for("gpt-0", recorder=notebook, learned=learned))

    assert (formats(notebook), learned.facts) == (["json_schema"], {})


def test_too_long_conversation_is_not_retried_in_other_modes(client_for: ClientFactory, scripted: ScriptedServer):
    with pytest.raises(ContextTooLongError):
        ask(client_for("scripted-judge+context"))

    assert scripted.stats["requests"] == 1


@pytest.mark.parametrize("fault", ["empty", "prose", "fewer", "more"])
def test_unusable_answer_is_retried_with_the_reason(client_for: ClientFactory, fault: str):
    notebook = Notebook()

    assert ask(client_for(f"scripted-judge+{fault}x2", recorder=notebook)) == (True, False)

    assert len(notebook.calls) == 3
    assert [len(call.request["messages"]) for call in notebook.calls] == [2, 4, 4]
    *asked, answer, complaint = notebook.calls[2].request["messages"]
    said = "" if notebook.calls[1].completion is None else notebook.calls[1].completion.text
    assert asked == [dict(message) for message in PROMPT.messages]
    assert answer == {"role": "assistant", "content": said or "[no answer]"}
    assert complaint["role"] == "user" and "could not be used" in complaint["content"]


def test_retries_of_unusable_answers_are_limited(client_for: ClientFactory, scripted: ScriptedServer):
    with pytest.raises(UnusableJsonError, match=r"no usable answer in 4 tries; of the last: The answer is empty\."):
        ask(client_for("scripted-judge+empty"), max_tries=4)

    assert scripted.stats["requests"] == 4


def test_tries_are_counted_with_those_of_the_record_until_somebody_wants_more(
    client_for: ClientFactory, scripted: ScriptedServer
):
    notebook = Notebook()
    with pytest.raises(UnusableJsonError):
        ask(client_for("scripted-judge+emptyx3", recorder=notebook), max_tries=2)
    notebook.calls.pop()  # the worker died before the second try
    with pytest.raises(UnusableJsonError):
        ask(client_for("scripted-judge+emptyx3", recorder=notebook), max_tries=2)
    assert scripted.stats["requests"] == 3

    assert ask(client_for("scripted-judge+emptyx3", recorder=notebook), max_tries=2) == (True, False)
    assert scripted.stats["requests"] == 4


def test_any_parser_can_be_used(client_for: ClientFactory, scenario: Callable[..., None]):
    scenario({"when": {"contains": "how many"}, "reply": '{"count": 3}'})

    count, completion = client_for("scripted-judge").ask_json(
        [{"role": "user", "content": "Say how many."}],
        "count",
        {"type": "object"},
        lambda text: json.loads(text)["count"],
    )

    assert (count, completion.text) == (3, '{"count": 3}')
