"""The record of calls: exact, small, and one row for an answered request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from evaluation import call_records
from evaluation.call_records import CallRecorder, RecordOwnerDeletedError, session_record
from evaluation.judging.judgings import open_judging
from evaluation.llm import Endpoint, ModelClient
from evaluation.models import ModelCall, ModelEndpoint, Session, Turn
from evaluation.models.leased import LeaseLostError
from evaluation.pilots.budgets import SessionSpending
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, rubric, task
from tests.evaluation.conftest import LOCAL
from tests.evaluation.endpoints.service import Service, serving
from tests.evaluation.factories import pilot_row
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel

pytestmark = pytest.mark.django_db
SAID = "Die Gebühr ist 70 €, “wie besprochen”. " * 40


def parts(request) -> dict[str, str]:
    """The client sends the fields of a request in an order of its own; how an answer travels is not recorded."""
    return {n: json.dumps(value, sort_keys=True) for n, value in request.items() if not n.startswith("stream")}


@pytest.mark.slow
def test_requests_and_answers_are_stored_as_they_were_and_states_hold_no_conversation(
    stub: StubModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("STUB_API_KEY", "none")

    def agent(body):
        if body["messages"][-1]["role"] == "tool":
            return SAID
        function = {"name": "write_file", "arguments": json.dumps({"path": "fee.md", "content": SAID})}
        return {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        }

    stub.agent = agent
    model = endpoint("stub", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    spec = task("a", intents=intents("One.", "Two.", "Three."), files_read=("fee.md",), checklist=(rubric("x"),))
    work_through(pilot_of(benchmark_of(spec), agent=model, user_model=model, judge=model))

    calls = list(ModelCall.objects.order_by("pk"))
    assert [parts(call.request) for call in calls] == [parts(body) for body in stub.bodies]
    assert all(call.response["choices"] for call in calls)
    states = list(Turn.objects.order_by("number"))
    assert len(states) == 4  # one for each intent, and the last answer
    assert max(len(json.dumps(turn.agent_state)) for turn in states) < 400 + len(json.dumps(SAID))
    restored = session_record(Session.objects.get()).restore(states[-1].agent_state)["messages"]
    last = [call.request["messages"] for call in calls if call.purpose == "agent"][-1]
    assert restored == [*last, {"role": "assistant", "content": SAID}]
    conversation = len(json.dumps(restored, ensure_ascii=False).encode())
    assert sum(len(call.content) for call in calls) < conversation / 2


def test_two_workers_that_ask_the_same_store_it_once_and_both_go_on():
    session = Session.objects.filter(run__pilot=pilot_row()).get()
    first, second = session_record(session), session_record(session)
    row = {
        "purpose": "satisfaction",
        "turn": 1,
        "endpoint": ModelEndpoint.objects.get(name="scripted-user"),
        "judging": open_judging(session, ""),
    }
    for record in (first, second, first, second):
        record.store({"messages": [{"role": "user", "content": "Same?"}]}, {"a": 1}, request_hash="5a" * 32, **row)
    for number, record in enumerate((first, second, first)):
        request = {"messages": [{"role": "user", "content": f"Other {number}?"}]}
        record.store(request, {"b": number}, request_hash=f"{number:064}", **row)

    stored = list(ModelCall.objects.order_by("pk"))
    assert [call.response for call in stored] == [{"a": 1}, {"b": 0}, {"b": 1}, {"b": 2}]
    assert [call.request["messages"][0]["content"] for call in stored[1:]] == ["Other 0?", "Other 1?", "Other 2?"]
    assert second.answer("5a" * 32) == {"a": 1}


def test_a_call_that_was_stored_but_never_confirmed_is_counted_once(monkeypatch: pytest.MonkeyPatch):
    session = Session.objects.select_related("run__pilot").get(run__pilot=pilot_row())
    monkeypatch.setattr(call_records, "through_restarts", lambda write: (write(), write())[1])

    record = session_record(session, counted=SessionSpending(session).counted)
    request = {"messages": [{"role": "user", "content": "What is the fee?"}]}
    model = ModelEndpoint.objects.get(name="scripted-user")
    record.store(
        request, {"a": 1}, purpose="agent", turn=1, endpoint=model, request_hash="a1" * 32, prompt_tokens=5, cost="0.1"
    )

    session.refresh_from_db()
    assert (ModelCall.objects.count(), session.calls, session.agent_tokens) == (1, 1, 5)


def test_a_check_right_after_a_call_asks_the_database_nothing_and_sees_what_the_call_saw(
    django_assert_num_queries: Any,
):
    session = Session.objects.select_related("run__pilot").get(run__pilot=pilot_row())
    session.state, session.claimed_by = Session.State.RUNNING, "this worker"
    session.save()
    spending = SessionSpending(session)
    record = session_record(session, counted=spending.counted)
    spending.check()

    def call(number: int) -> None:
        model = ModelEndpoint.objects.get(name="scripted-user")
        record.store({"n": number}, {}, purpose="agent", turn=1, endpoint=model, request_hash=f"{number:064}")

    call(1)
    with django_assert_num_queries(0):
        spending.check()
    Session.objects.update(state=Session.State.CANCELLED)
    call(2)
    with django_assert_num_queries(0), pytest.raises(LeaseLostError):
        spending.check()
    with django_assert_num_queries(1), pytest.raises(LeaseLostError):
        spending.check()


def test_only_a_missing_owner_is_called_deleted():
    session = Session.objects.get(run__pilot=pilot_row())
    record = session_record(session)
    row = {"turn": 1, "endpoint": ModelEndpoint.objects.get(name="scripted-user"), "request_hash": "1a" * 32}

    with pytest.raises(IntegrityError), transaction.atomic():
        record.store({}, {}, purpose="satisfaction", **row)

    session.delete()
    connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(RecordOwnerDeletedError), transaction.atomic():
        record.store({}, {}, purpose="agent", **row)


def test_an_answer_whose_service_tells_its_input_alone_is_stored_and_its_output_estimated():
    session = Session.objects.select_related("run__pilot").get(run__pilot=pilot_row())
    record = session_record(session, counted=SessionSpending(session).counted)
    row = ModelEndpoint.objects.get(name="scripted-user")
    with serving(Service()) as service:
        service.bend = lambda body, answer: {**answer, "usage": {"prompt_tokens": 90_000}}
        recorder = CallRecorder(record, row, "agent", lambda: 1, None)
        endpoint = Endpoint("m", service.base_url, "large", policy=LOCAL)

        completion = ModelClient(endpoint, recorder=recorder).complete([{"role": "user", "content": "?"}])

    session.refresh_from_db()
    assert completion.spent.total > 90_000
    assert (session.calls, session.agent_tokens) == (1, 90_000)
    assert session.assumed_tokens == completion.spent.total - 90_000
