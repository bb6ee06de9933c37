"""What was said, done and thought in pilots' sessions is found by those who may see it."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.models import Session, Turn, TurnWords
from evaluation.store.words import OF_PART, OF_TURN
from studio.search.query import SearchHit, search
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, task
from tests.evaluation.factories import finish, person, pilot_row, turn
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

pytestmark = pytest.mark.django_db


@pytest.fixture
def session() -> Session:
    return finish(pilot_row())


def found(session: Session, text: str, **filters) -> list[SearchHit]:
    """Of what is in pilots' sessions."""
    hits = search(person(session.pilot.benchmark, "viewer"), text, **filters).hits
    return [hit for hit in hits if hit.kind in ("turn", "thought")]


def test_words_of_user_agent_and_tools_lead_to_their_turn(session: Session):
    turn(session, 1, message="Which harbours are open?", reply="Only Bergen.")
    call = {"name": "send_email", "arguments": {"to": "skipper@sea.example"}, "result": "Postbox was overflowing"}
    turn(session, 2, message="Thanks.", reply="Sailing!", calls=[call])

    for text, number in [("harbour", 1), ("bergen", 1), ("skipper@sea.example", 2), ("overflow postbox", 2)]:
        [hit] = found(session, text)
        assert (hit.kind, hit.url) == ("turn", f"{session.get_absolute_url()}#turn-{number}"), text
        assert '<mark class="hit">' in hit.snippet
    assert f"Pilot {session.pilot.number} · {session.pilot.agent.name}" in hit.title
    assert hit.title.endswith("turn 2")


def test_thoughts_are_found_as_thoughts_and_as_nothing_else(session: Session):
    turn(session, 1, reply="Seventy.", thoughts=["First.", "The annex says eighty & guineas."])

    [hit] = found(session, "guineas")

    assert (hit.kind, hit.kind_label) == ("thought", "Thoughts")
    assert hit.url == f"{session.get_absolute_url()}#thoughts-1"
    assert '&amp; <mark class="hit">guineas</mark>' in hit.snippet
    assert [hit.kind for hit in found(session, "seventy")] == ["turn"]


def test_link_of_a_thought_leads_into_its_fold(session: Session, client: Client):
    turn(session, 1, thoughts=["Guineas."])
    client.force_login(person(session.pilot.benchmark, "viewer"))

    page = client.get(session.get_absolute_url()).content.decode()

    assert page.count('id="thoughts-1"') == 1
    assert page.index('<details class="call thoughts">') < page.index('id="thoughts-1"') < page.index("Guineas.</pre>")


@pytest.mark.slow
def test_turns_of_real_sessions_are_found(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STUB_API_KEY", "a key")
    stub.agent = lambda body: {"role": "assistant", "content": "Quarterdeck.", "reasoning_content": "Mizzenmast."}
    pilot = work_through(start(stub, task("a", initial_request="Where is the captain?")))
    user = person(pilot.benchmark, "viewer")

    assert {hit.kind for hit in search(user, "captain").hits} >= {"task", "turn"}
    assert {hit.kind for hit in search(user, "quarterdeck").hits} == {"turn"}
    assert {hit.kind for hit in search(user, "mizzenmast").hits} == {"thought"}
    assert TurnWords.objects.count() == Turn.objects.count()


def test_strangers_find_nothing(session: Session):
    turn(session, 1, reply="Bergen.", thoughts=["Guineas."])
    stranger = person(benchmark_of(task("b"), into=None), "owner")

    assert search(stranger, "bergen").hits == search(stranger, "guineas").hits == []


def test_within_one_pilot_only_its_turns_are_found(session: Session):
    turn(session, 1, reply="Bergen in one.", thoughts=["Bergen?"])
    other = finish(pilot_of(session.pilot.benchmark, agent=endpoint("other")))
    turn(other, 1, reply="Bergen in the other.")

    assert len(found(session, "bergen")) == 3
    assert {hit.url.split("#")[0] for hit in found(session, "bergen", within=session.pilot.pk)} == {
        session.get_absolute_url()
    }
    everything = search(person(session.pilot.benchmark, "viewer"), "pilot scripted", within=session.pilot.pk)
    assert everything.hits == []


def test_snippet_shows_where_most_of_the_words_stand(session: Session):
    call = {"name": "write_file", "arguments": {"text": "The fee is due."}, "result": "Fee ledger of Bergen harbour"}
    turn(session, 1, message="What is the fee?", calls=[call])

    [hit] = found(session, "fee harbour bergen")

    assert hit.snippet.count("<mark") == 3


@pytest.mark.slow
def test_turn_with_a_vast_result_is_stored_and_found_by_its_first_part(session: Session):
    word = "zyx"
    vast = " ".join(f"{number:x}\u4e2d{word}{number}" for number in range(150_000))
    calls = [{"name": "read_file", "arguments": {}, "result": "first " + vast} for _ in range(2 * OF_TURN // OF_PART)]
    turn(session, 1, reply="Bergen.", calls=calls)

    assert len(found(session, "bergen")) == 1
    assert len(found(session, f"1\u4e2d{word}1")) == 1
    assert found(session, f"249ef\u4e2d{word}149999") == []


def test_search_in_transcripts_asks_a_constant_number_of_queries(session: Session):
    user = person(session.pilot.benchmark, "viewer")

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert search(user, "bergen").hits
        return len(asked)

    turn(session, 1, reply="Bergen.", thoughts=["Bergen?"], calls=[{"name": "a", "arguments": {}, "result": "Bergen"}])
    few = queries()
    other = finish(pilot_of(session.pilot.benchmark, agent=endpoint("other")))
    for number in range(2, 14):
        for each in (session, other):
            turn(each, number, reply="Bergen.", thoughts=["Bergen?"])

    assert queries() == few


def test_what_a_turn_is_found_by_never_changes(session: Session):
    turn(session, 1, reply="Bergen.")

    with pytest.raises(DatabaseError):
        TurnWords.objects.update(thought=None)
