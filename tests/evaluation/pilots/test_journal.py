"""Tool calls are stored as they are made; what they do outside is done once."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.engine.journal import SessionJournal, call_key
from evaluation.models import MadeCall, Session, ToolCall
from evaluation.models.leased import LeaseLostError
from evaluation.pilots.session_work import work_on
from evaluation.protocol.clock import Clock
from evaluation.protocol.participants import ToolRecord
from evaluation.store.rows import RowMadeCalls, RowStore
from evaluation.tools import toolbox
from evaluation.tools.tool import Arguments, Tool
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import start
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


class Killed(BaseException):
    """As if the worker died: nothing catches it."""


class Parcel(Arguments):
    to: str


class Post:
    """A service outside: it remembers what it was sent, and under which keys."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.dies = False

    def send(self, parcel: Parcel, key: str) -> str:
        self.sent.append((parcel.to, key))
        if self.dies:
            self.dies = False
            raise Killed
        return f"Parcel {len(self.sent)} is on its way."


@pytest.fixture
def post(monkeypatch: pytest.MonkeyPatch) -> Post:
    service = Post()
    tool = Tool("send_parcel", "Send a parcel.", Parcel, run=lambda arguments: "", act=service.send)
    monkeypatch.setattr(toolbox, "bound_tools", lambda names, world=None: [tool])
    return service


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": str(number), "type": "function", "function": function}


@pytest.fixture
def session(stub: StubModel) -> Session:
    """Of one turn that writes a file, sends two parcels and answers."""
    calls = [
        call(1, "write_file", path="a.txt", content="x"),
        call(2, "send_parcel", to="Ada"),
        call(3, "send_parcel", to="Ada"),
    ]
    stub.agent = lambda body: (
        "Done."
        if body["messages"][-1]["role"] == "tool"
        else {"role": "assistant", "content": None, "tool_calls": calls}
    )
    told = intents("x", provided=(1,))
    return Session.objects.get(run__pilot=start(stub, task("a", intents=told, checklist=(rubric("y"),))))


def test_partial_output_of_a_call_is_stored_until_it_ends(post: Post, session: Session):
    journal = SessionJournal("session", RowMadeCalls(session), 1, Clock())
    seen: list[tuple[str, dict[str, Any] | None]] = []

    def run(key: str) -> ToolRecord:
        for text in ("one", "one\0two"):
            journal.tell(text)
            seen.extend(MadeCall.objects.filter(key=key).values_list("output", "record"))
        return ToolRecord("exec", {}, "one two three", True, 0.1, ())

    journal.tell("nobody asked")
    journal.perform("exec", "{}", run, outside=False)

    assert seen[0] == ("one", None)
    assert seen[1][1] is None
    [made] = MadeCall.objects.all()
    assert (made.output, made.record["result"]) == ("", "one two three")


def test_page_of_a_running_session_shows_what_its_command_has_printed(session: Session, client: Client):
    Session.objects.filter(pk=session.pk).update(state=Session.State.RUNNING)
    MadeCall.objects.create(session=session, turn=1, key="k", name="exec", output="step <7> of 9")
    client.force_login(person(session.run.pilot.benchmark, "author"))
    page = reverse("evaluation:session", args=[session.pk])

    whole = client.get(page).content.decode()
    part = client.get(f"{page}?seen=0", headers={"HX-Request": "true", "HX-Target": "under-way"}).content.decode()

    assert "step &lt;7&gt; of 9" in whole
    assert "step &lt;7&gt; of 9" in part
    assert part.lstrip().startswith('<section class="stack tight" id="under-way"')


def die(*args: object) -> None:
    raise Killed


def take_up_again(session: Session) -> None:
    """By another worker, after the first one's lease ran out."""
    Session.objects.filter(pk=session.pk).update(lease_until="2000-01-01T00:00Z")
    assert work_on(session.pk)


def test_a_worker_killed_before_the_checkpoint_does_not_act_twice(
    post: Post, session: Session, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(RowStore, "turn", die)
        with pytest.raises(Killed):
            work_on(session.pk)
    made = list(MadeCall.objects.order_by("pk").values_list("name", "outside", "record__ok"))
    assert made == [("write_file", False, True), ("send_parcel", True, True), ("send_parcel", True, True)]
    assert len(post.sent) == 2

    take_up_again(session)

    assert len(post.sent) == 2
    calls = ToolCall.objects.filter(turn__session=session).order_by("position")
    results = list(calls.values_list("result", flat=True))
    assert results[1:] == ["Parcel 1 is on its way.", "Parcel 2 is on its way."]
    assert session.turns.get().snapshot.manifest.keys() == {"a.txt"}


def test_a_worker_killed_amid_an_effect_repeats_it_under_the_same_key(post: Post, session: Session):
    post.dies = True
    with pytest.raises(Killed):
        work_on(session.pk)

    take_up_again(session)

    (first, key), (again, same), (second, other) = post.sent
    assert (first, again, second) == ("Ada", "Ada", "Ada")
    assert key == same != other


def test_an_effect_nobody_can_repeat_is_not_made_again_when_its_worker_was_killed_amid_it(
    post: Post, session: Session, monkeypatch: pytest.MonkeyPatch
):
    tool = Tool("send_parcel", "", Parcel, run=lambda arguments: "", act=post.send, repeatable=False)
    monkeypatch.setattr(toolbox, "bound_tools", lambda names, world=None: [tool])
    post.dies = True
    with pytest.raises(Killed):
        work_on(session.pk)

    take_up_again(session)

    assert len(post.sent) == 2
    results = ToolCall.objects.filter(turn__session=session).order_by("position").values_list("result", "ok")
    assert list(results)[1:] == [(toolbox.UNSURE, False), ("Parcel 2 is on its way.", True)]


def test_once_the_turn_is_stored_its_calls_have_their_keys_and_only_outside_ones_stay_in_the_journal(
    post: Post, session: Session
):
    assert work_on(session.pk)

    keys = list(ToolCall.objects.filter(turn__session=session).order_by("position").values_list("key", flat=True))
    assert keys[0] == call_key(
        f"session-{session.pk}", 1, 1, "write_file", json.dumps({"path": "a.txt", "content": "x"})
    )
    assert len(set(keys)) == 3
    assert list(MadeCall.objects.order_by("pk").values_list("key", flat=True)) == keys[1:]


def test_a_worker_that_lost_its_lease_does_not_act(post: Post, session: Session, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Session, "require", Mock(side_effect=LeaseLostError))
    work_on(session.pk)

    assert post.sent == []
    assert not session.turns.exists()
