"""How a model's answer ends: cut, filtered, refused or empty is recorded, told, and no failure of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.models import ModelCall, Session, ToolCall, Turn
from evaluation.pilots.budgets import spent_in
from evaluation.results.loading import load_pilot
from evaluation.results.model_answers import model_answers
from evaluation.results.pilot_report import scores_json
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, task
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 40,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 30},
}

REFUSED = (400, '{"error": {"message": "no", "code": "content_filter"}}')


@pytest.fixture(autouse=True)
def stub_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", "none")


def answer(
    content: str = "", finish: str = "stop", usage: dict[str, Any] | None = None, **message: Any
) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content} | message, "finish_reason": finish}
    who = {"model": "m-2026-11", "system_fingerprint": "fp_1", "provider": "Elsewhere"}
    return {"id": "1", "object": "chat.completion", "created": 0, **who, "choices": [choice], "usage": usage}


def call(arguments: str) -> list[dict[str, Any]]:
    return [{"id": "c", "type": "function", "function": {"name": "write_file", "arguments": arguments}}]


@pytest.mark.parametrize(
    ("given", "reply", "note", "ending"),
    [
        (answer("Half a"), "Half a", "", "answered"),
        (answer("Half a", "length"), "Half a", "The reply was cut off at the model’s limit of length.", "cut"),
        (answer(refusal="I will not."), "I will not.", "", "refused"),
        (answer("", "content_filter"), "", "The service’s filter held the reply back.", "filtered"),
        (answer(reasoning_content="Hm."), "", "The model said nothing.", "empty"),
        (answer("<think>Hm.</think>"), "", "The model said nothing.", "empty"),
        (REFUSED, "", "The service’s filter held the reply back.", "filtered"),
    ],
)  # fmt: skip
@pytest.mark.django_db
def test_ending_is_the_agents_turn_and_recorded_with_the_call(
    stub: StubModel, given: Any, reply: str, note: str, ending: str
):
    stub.agent = lambda body: given

    pilot = work_through(start(stub, task("a")))

    assert pilot.state == "finished"
    turn = Turn.objects.order_by("number")[0]
    assert (turn.reply, turn.note) == (reply, note)
    assert set(ModelCall.objects.filter(purpose="agent").values_list("ending", flat=True)) == {ending}


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.django_db
def test_cut_arguments_are_told_as_cut_and_not_as_no_json(stub: StubModel, cut: bool):
    first = answer("", "length" if cut else "tool_calls", tool_calls=call('{"path": "a.md", "content": "Th'))
    stub.agent = lambda body: "Done." if body["messages"][-1]["role"] == "tool" else first

    work_through(start(stub, task("a")))

    told = next(body for body in stub.bodies if body["messages"][-1]["role"] == "tool")["messages"][-1]["content"]
    assert ("cut off at its limit of length" in told, "not JSON" in told) == (cut, not cut)
    assert ToolCall.objects.values_list("result", "ok")[0] == (told, False)


@pytest.mark.django_db
def test_figures_of_an_agent_tell_what_answered_and_how(stub: StubModel):
    answers = iter([
        answer("", "tool_calls", USAGE, tool_calls=call("{}")),
        answer("", "tool_calls", USAGE, tool_calls=call("[]")),
        answer("Half", "length", USAGE),
    ])  # fmt: skip
    stub.agent = lambda body: next(answers, answer("Done."))

    pilot = work_through(start(stub, task("a")))

    found = model_answers(Session.objects.values_list("pk", flat=True))
    assert found.answered_by == [{"model": "m-2026-11", "fingerprint": "fp_1", "provider": "Elsewhere"}]
    assert found.names == ["m-2026-11 · fp_1 · Elsewhere"]
    assert (found.calls - found.untold, found.prompt_tokens, found.cached_tokens) == (3, 300, 180)
    assert (found.completion_tokens, found.reasoning_tokens, found.cache_written_tokens) == (120, 90, None)
    assert (found.cut, found.invalid_calls, found.refused) == (1, 1, 0)
    assert json.loads(json.dumps(scores_json(load_pilot(pilot))))["model"]["cut"] == 1


@pytest.mark.parametrize("usage", [USAGE, None])
@pytest.mark.django_db
def test_a_budget_stops_a_pilot_whose_model_does_not_tell_what_it_used(stub: StubModel, usage: dict[str, Any] | None):
    stub.agent = lambda body: answer("Done. " * 100, usage=usage)

    pilot = work_through(start(stub, task("a"), task("b"), budgets={"pilot": {"tokens": 120}}))

    session = Session.objects.order_by("pk")[0]
    assert (pilot.state, session.agent_tokens) == ("paused", 140 if usage else 0)
    assert spent_in(Session.objects.filter(run__pilot=pilot)).tokens >= 120
    call = ModelCall.objects.get(purpose="agent")
    assert (call.prompt_tokens, call.completion_tokens) == ((100, 40) if usage else (None, None))


@pytest.mark.django_db
def test_limit_of_money_counts_an_estimate_where_a_service_tells_no_usage(stub: StubModel):
    stub.agent = lambda body: answer(tool_calls=call('{"path": "n", "content": "1"}'))
    prices = {"input_price": 100, "output_price": 100}
    model = endpoint("stub", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY", **prices)
    spec = task("a", tools=("write_file",))

    work_through(pilot_of(benchmark_of(spec), agent=model, user_model=model, judge=model, limits={"cost": 0.000001}))

    assert Turn.objects.get(number=1).note == "The cost limit of 0.000001 in a session was reached."
    assert stub.asked["agent"] == 1
