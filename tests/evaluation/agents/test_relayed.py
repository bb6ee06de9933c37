"""What a program is shown of a model's answers, and what goes back to the model."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from evaluation.agents.relayed import Relayed
from evaluation.llm import Completion, RequestedToolCall
from evaluation.protocol.participants import Tokens


def called(identity: str, path: str, thought: str = "") -> Completion:
    call = RequestedToolCall(identity, "read_file", f'{{"path": "{path}"}}', {"extra_content": {"signature": identity}})
    came = {"role": "assistant", "content": None, "reasoning_content": thought}
    return Completion("", (call,), "tool_calls", Tokens(), Decimal(0), "", False, as_came=came)


def said(text: str, thought: str) -> Completion:
    came = {"role": "assistant", "content": f"<think>{thought}</think>{text}"}
    return Completion(text, (), "stop", Tokens(), Decimal(0), "", False, as_came=came)


def retold(message: dict[str, Any], number: int) -> dict[str, Any]:
    """As a program does that numbers calls itself, writes arguments anew and keeps what it knows."""
    calls = [
        {**call, "id": f"own{number}", "function": {"name": "read_file", "arguments": '{ "path":"a.md" }'}}
        for call in message["tool_calls"]
    ]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def test_answers_go_back_as_they_came_with_the_ids_that_the_model_gave():
    relayed = Relayed()
    answers = [called("c1__thought__sig", "a.md", "First."), called("c2", "a.md", "Second."), said("Done.", "Third.")]
    shown = [relayed.show(answer) for answer in answers]
    hidden = ("First", "Second", "Third", "signature", "__thought__")
    assert not [thought for thought in hidden if thought in str(shown)]
    user = {"role": "user", "content": "Read."}
    told = [
        *(user, retold(shown[0], 1), {"role": "tool", "tool_call_id": "own1", "content": "A"}),
        *(retold(shown[1], 2), {"role": "tool", "tool_call_id": "own2", "content": "A"}),
        *({"role": "assistant", "content": " Done. "}, {"role": "user", "content": "Thanks."}),
    ]

    restored = Relayed(relayed.answers).restore(told)

    came = [answer.message for answer in answers]
    results = [{"role": "tool", "tool_call_id": identity, "content": "A"} for identity in ("c1__thought__sig", "c2")]
    assert restored == [user, came[0], results[0], came[1], results[1], came[2], told[-1]]
    assert relayed.restore(told[3:])[0] in (came[0], came[1])  # it may have forgotten the beginning


def test_of_an_answer_without_thoughts_nothing_is_kept():
    relayed = Relayed()

    shown = relayed.show(Completion("Done.", (), "stop", Tokens(), Decimal(0), "", False))

    assert (shown, relayed.answers) == ({"role": "assistant", "content": "Done."}, [])
    assert relayed.restore([shown]) == [shown]
