"""What every store of sessions must hold, killed processes included: one suite over rows and folders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from evaluation.call_records import session_record
from evaluation.engine.conversation import converse
from evaluation.engine.folder import FolderStore, SessionHeldError
from evaluation.engine.grading import grade_session
from evaluation.engine.plan import AgentSeat, SessionPlan
from evaluation.grading.session import SessionGrade
from evaluation.grading.work import sections, work_after
from evaluation.llm import Endpoint
from evaluation.models import ModelCall, Session, Verdict
from evaluation.models.leased import LeaseLostError
from evaluation.pilots.budgets import SessionSpending
from evaluation.pilots.queue import claim_session
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.prompt_files import CURRENT
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import Progress
from evaluation.protocol.versions import ProtocolName, Terms
from evaluation.store.plans import plan_of
from evaluation.store.rows import RowStore
from evaluation.tools import toolbox
from evaluation.tools.tool import Arguments, Tool
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, TaskSpec
from studio.models import Blob
from tests.evaluation.builders import file, intents, rubric, rule, task
from tests.evaluation.conftest import LOCAL
from tests.evaluation.pilots.builders import start
from tests.evaluation.stub_model import StubModel, decisions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]
Outcome = dict[str, Any]


class Killed(BaseException):
    """As if the process died: nothing catches it."""


class Keeper(Protocol):
    """A kind of store with one session in it."""

    plan: SessionPlan

    def open(self) -> Any:
        """The store, for another process than before."""

    def look(self) -> Any:
        """The store as it is, to read."""

    def is_over(self) -> bool:
        """Whether nothing is left to do."""

    def lose(self, store: Any) -> None:
        """The store no longer holds the session."""

    def calls(self) -> int:
        """That were answered."""


class Rows:
    def __init__(self, stub: StubModel, spec: TaskSpec) -> None:
        self._session = Session.objects.get(run__pilot=start(stub, spec))
        self.plan = plan_of(self._session)

    def open(self) -> RowStore:
        Session.objects.filter(pk=self._session.pk).update(lease_until="2000-01-01T00:00Z", attempts=0)
        session = claim_session(self._session.pk)
        assert session is not None
        spending = SessionSpending(session)
        return RowStore(session, session_record(session, spending.check, spending.counted))

    def look(self) -> RowStore:
        session = Session.objects.get(pk=self._session.pk)
        return RowStore(session, session_record(session))

    def is_over(self) -> bool:
        return Session.objects.get(pk=self._session.pk).state == Session.State.FINISHED

    def lose(self, store: RowStore) -> None:
        Session.objects.filter(pk=self._session.pk).update(claimed_by="another")

    def calls(self) -> int:
        return ModelCall.objects.filter(answered=True).count()


RELEASE = Terms.current(ProtocolName.RELEASE)


class Folders:
    def __init__(self, stub: StubModel, spec: TaskSpec, folder: Path) -> None:
        model = Endpoint("stub", stub.base_url, "stub", key_env="STUB_API_KEY", policy=LOCAL)
        self._folder = folder
        self._store: FolderStore | None = None
        prompts: dict[Any, str] = {
            name: CURRENT[ProtocolName.RELEASE][name] for name in ("satisfaction", "follow_up", "checklist")
        }
        self.plan = SessionPlan(
            "session", spec, PersonaSpec(user_id="p"), AgentSeat(model), model, model, prompts, RELEASE
        )
        files = [asset.sha256 for asset in spec.assets]
        with FolderStoreOf(folder) as store:
            store.keep(list(Blob.objects.read(files).values()))

    def open(self) -> FolderStore:
        if self._store is not None:
            self._store.close()
        self._store = FolderStore(self._folder)
        return self._store

    def look(self) -> FolderStore:
        return self.open()

    def is_over(self) -> bool:
        lines = self._folder / "session.jsonl"
        return lines.exists() and b'"grades"' in lines.read_bytes()

    def lose(self, store: FolderStore) -> None:
        store.close()

    def calls(self) -> int:
        lines = (self._folder / "calls.jsonl").read_text().splitlines()
        return sum(json.loads(line)["response"] is not None for line in lines)


class FolderStoreOf:
    def __init__(self, folder: Path) -> None:
        self.store = FolderStore(folder)

    def __enter__(self) -> FolderStore:
        return self.store

    def __exit__(self, *args: object) -> None:
        self.store.close()


class Parcel(Arguments):
    to: str


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the parcels that a service outside was asked to send."""
    keys: list[str] = []

    def send(parcel: Parcel, key: str) -> str:
        keys.append(key)
        return f"Parcel {len(set(keys))} is on its way."

    tool = Tool("send_parcel", "Send a parcel.", Parcel, run=lambda arguments: "", act=send)
    monkeypatch.setattr(toolbox, "bound_tools", lambda names, world=None: [tool])
    return keys


@pytest.fixture(params=["rows", "folder"])
def keeper(request: pytest.FixtureRequest, stub: StubModel, sent: list[str], tmp_path: Path) -> Iterator[Keeper]:
    """Of a task with two intents, in whose first turn the agent writes a file and sends a parcel."""
    made = [
        ("write_file", {"path": "out.md", "content": "The fee is 30 crowns."}),
        ("send_parcel", {"to": "Ada"}),
    ]
    calls = [
        {"id": str(number), "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(made)
    ]
    stub.agent = lambda body: (
        {"role": "assistant", "content": None, "tool_calls": calls} if len(body["messages"]) == 2 else "Done."
    )
    stub.follow_up = lambda body: decisions(body, lambda index: index == 2)
    spec = task(
        "a",
        assets=(file("notes.md", "The fee is due."),),
        intents=intents("Name the fee.", "Sign it.", "Say when."),
        files_read=("out.md",),
        checklist=(rubric("x", 2), rule("y", ExactCheck(kind="file_contains", path="out.md", text="30 crowns"))),
    )
    if request.param == "rows":
        yield Rows(stub, spec)
        return
    folders = Folders(stub, spec, tmp_path / "session")
    yield folders
    folders.open().close()


def play(keeper: Keeper, store: Any, wrapped: Any = None) -> dict[ScoringMode, SessionGrade]:
    """As far as it goes, from where it stands."""
    target = wrapped or store
    standing = store.standing(keeper.plan)
    if standing.progress.ending is None or not is_ended(store):
        assert converse(keeper.plan, target, standing).ending == "resolved"
    grades = {mode: grade_session(keeper.plan, target, mode, store.played(keeper.plan, mode)) for mode in ScoringMode}
    target.finish(grades)
    return grades


def is_ended(store: Any) -> bool:
    return store.is_ended if isinstance(store, FolderStore) else store._session.ended_at is not None


def outcome(keeper: Keeper) -> Outcome:
    """Of a session that is over."""
    store = keeper.look()
    standing = store.standing(keeper.plan)
    return {
        "statuses": [(item.status, item.turn) for item in standing.progress.intents],
        "files": dict(standing.files),
        "turns": [
            (turn.number, turn.message, turn.reply, [(call.name, call.result) for call in turn.calls], dict(turn.files))
            for turn in store.played(keeper.plan, ScoringMode.STRICT).conversation.turns
        ],
        "known": {mode: dict(store.played(keeper.plan, mode).known) for mode in ScoringMode},
        "calls": keeper.calls(),
    }


class Dying:
    """A store whose process is killed after, or before, the n-th thing that it keeps."""

    KEEPING = ("call", "turn", "end", "verdicts", "finish", "keep")

    def __init__(self, store: Any, at: float, *, before: bool) -> None:
        self._store = store
        self._left = at
        self._before = before
        self.made = _DyingCalls(self, store.made)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self.dying(found, name == "call") if name in self.KEEPING else found

    def dying(self, keep: Callable[..., Any], paid: bool = False) -> Callable[..., Any]:
        def act(*args: Any) -> Any:
            self._left -= 1
            if self._left == 0 and self._before and not paid:
                raise Killed
            kept = keep(*args)
            if self._left == 0:
                raise Killed
            return kept

        return act


class Losing:
    """A store that loses its session as the first call is answered."""

    def __init__(self, keeper: Keeper, store: Any) -> None:
        self._keeper = keeper
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def call(self, *args: Any) -> None:
        self._keeper.lose(self._store)
        self._store.call(*args)


class _DyingCalls:
    def __init__(self, dying: Dying, made: Any) -> None:
        self.all, self.drop = made.all, made.drop
        self.put = dying.dying(made.put)


def test_both_stores_keep_the_same_session(stub: StubModel, keeper: Keeper, sent: list[str]):
    grades = play(keeper, keeper.open())

    kept = outcome(keeper)
    assert kept["statuses"] == [("provided", 2), ("inferred", 1), ("provided", 3)]
    assert [turn[:3] for turn in kept["turns"]] == [
        (1, "Please write the note a.", "Done."),
        (2, "Sign it.", "Done."),
        (3, "Name the fee.", "Done."),
        (4, "Say when.", "Done."),
    ]
    assert [name for name, _ in kept["turns"][0][3]] == ["write_file", "send_parcel"]
    assert kept["files"].keys() == {"notes.md", "out.md"}
    assert kept["known"]["strict"] == {("checklist", 1, 1): True, ("checklist", 1, 2): True}
    assert len(kept["known"]["compat"]) == 8
    assert {mode: grade.comp for mode, grade in grades.items()} == {"compat": 1.0, "strict": 1.0}
    assert kept["calls"] == sum(stub.asked.values())
    assert len(sent) == 1


@pytest.mark.slow
@pytest.mark.parametrize("before", [False, True], ids=["after keeping", "before keeping"])
def test_session_killed_at_any_point_goes_on_and_nothing_is_lost_paid_or_done_twice(
    stub: StubModel, keeper: Keeper, sent: list[str], before: bool
):
    deaths = at = 0
    while not keeper.is_over():
        at += 1
        store = keeper.open()
        try:
            play(keeper, store, Dying(store, 1 + at % 4, before=before))
        except Killed:
            deaths += 1
        assert at < 200

    kept = outcome(keeper)
    assert deaths > 10
    assert [turn[:3] for turn in kept["turns"]][-1] == (4, "Say when.", "Done.")
    assert len(kept["turns"]) == 4
    assert kept["statuses"] == [("provided", 2), ("inferred", 1), ("provided", 3)]
    assert kept["calls"] == sum(stub.asked.values()) == 15
    assert len(set(sent)) == 1
    assert kept["known"]["strict"] == {("checklist", 1, 1): True, ("checklist", 1, 2): True}


@pytest.mark.django_db
def test_failed_conversation_of_a_session_that_was_lost_is_not_ended(stub: StubModel):
    keeper = Rows(stub, task("a"))
    store = keeper.open()
    keeper.lose(store)

    with pytest.raises(LeaseLostError):
        store.end(Progress((), 1, ending="failed", reason="It gave up."), None)

    assert Session.objects.get().state == "running"


def test_who_played_a_session_grades_the_same_work_as_who_takes_it_up_to_grade_it(keeper: Keeper, sent: list[str]):
    store = keeper.open()
    play(keeper, store)

    def shown(store: Any) -> dict[str, str]:
        conversation = store.played(keeper.plan, ScoringMode.STRICT).conversation
        assert [turn.number for turn in conversation.turns] == [1, 2, 3, 4]
        return sections(work_after(conversation, store.read))

    assert shown(store) == shown(keeper.look())


@pytest.mark.slow
def test_outage_leaves_the_turns_before_it(stub: StubModel, keeper: Keeper, sent: list[str]):
    answered = stub.follow_up
    stub.follow_up = lambda body: (400, '{"error": {"message": "no"}}') if stub.asked["agent"] > 2 else answered(body)
    with pytest.raises(InfrastructureError):
        play(keeper, keeper.open())
    asked = stub.asked["agent"]
    stub.follow_up = answered

    play(keeper, keeper.open())

    assert len(outcome(keeper)["turns"]) == 4
    assert stub.asked["agent"] - asked == 2  # of the turn that was taken up again, the agent's answer was kept
    assert len(sent) == 1


def test_who_no_longer_holds_the_session_keeps_nothing(stub: StubModel, keeper: Keeper, sent: list[str]):
    store = keeper.open()

    with pytest.raises((LeaseLostError, SessionHeldError)):
        play(keeper, store, Losing(keeper, store))

    assert sent == []
    assert keeper.calls() == 1  # it was paid for
    assert outcome(keeper)["turns"] == []
    assert Verdict.objects.count() == 0


def test_second_process_cannot_open_a_folder(tmp_path: Path):
    first = FolderStore(tmp_path)

    with pytest.raises(SessionHeldError, match="Another process plays"):
        FolderStore(tmp_path)

    first.close()
    FolderStore(tmp_path).close()


def test_line_that_was_not_finished_never_was(stub: StubModel, tmp_path: Path):
    folders = Folders(stub, task("a", intents=()), tmp_path)
    store = folders.open()
    play(folders, store)
    whole = (tmp_path / "session.jsonl").read_bytes()
    [turn, *_] = whole.splitlines(keepends=True)
    store.close()
    (tmp_path / "session.jsonl").write_bytes(turn[:-20])

    store = folders.open()

    assert store.last_turn == 0
    asked = sum(stub.asked.values())
    play(folders, store)
    assert sum(stub.asked.values()) == asked
    assert folders.open().last_turn == 1
    assert (tmp_path / "session.jsonl").read_bytes().count(b"\n") == whole.count(b"\n")
    folders.open().close()


def test_folder_reads_only_files_named_by_their_content(tmp_path: Path):
    with FolderStoreOf(tmp_path / "session") as store:
        (tmp_path / "secret").write_text("not yours")
        [sha] = store.keep([b"mine"])

        assert sha == hashlib.sha256(b"mine").hexdigest()
        assert store.read([sha, "../../secret", "0" * 64]) == {sha: b"mine"}
