from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evaluation.models import ModelEndpoint, Pilot, Rehearsal, Session, Verdict
from evaluation.protocol.prompts import SATISFACTION_SYSTEM
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.extract import NOTE, ExtractError, keep_words
from evaluation.rehearsals.lifecycle import RehearsalError, start_rehearsal
from evaluation.rehearsals.transcript import read_rehearsal
from evaluation.rehearsals.work import DIED, give_up_dead, stop_waiting, work_on
from studio.drafts.load import load_task
from studio.models import Blob, Revision, Task, User
from studio.tasks.save import save_task
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.stub_model import StubModel, decisions, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def stub() -> Iterator[StubModel]:
    with serving(StubModel()) as model:
        yield model


def real(stub: StubModel, name: str = "real", **fields: Any) -> ModelEndpoint:
    return ModelEndpoint.objects.create(name=name, base_url=stub.base_url, model="m", timeout_seconds=10, **fields)


def draft(**spec: Any) -> tuple[Task, User]:
    values: dict[str, Any] = {"intents": intents("Name the fee.", "Sign it.", "Be brief.")}
    benchmark = benchmark_of(task("a", **(values | spec)))
    return Task.objects.get(episode__persona__benchmark=benchmark), person(benchmark, "author")


def begun(seat: str, judge: ModelEndpoint | None, agent: ModelEndpoint | None = None, **spec: Any) -> Rehearsal:
    row, author = draft(**spec)
    return start_rehearsal(row, by=author, seat=seat, judge=judge, agent=agent)


def now(row: Rehearsal) -> Rehearsal:
    return Rehearsal.objects.get(pk=row.pk)


def answered(row: Rehearsal, text: str) -> Rehearsal:
    lifecycle.answer(row.pk, text)
    work_on(row.pk)
    return now(row)


def statuses(row: Rehearsal) -> list[str]:
    return [one.state.status for one in read_rehearsal(now(row)).intents]


def test_in_the_assistants_seat_the_judge_settles_each_reply_by_the_rules_of_a_session(stub):
    stub.satisfaction = lambda body: decisions(body, lambda index: index == 1, quote="The fee is 70.")
    stub.follow_up = lambda body: decisions(body, lambda index: index == 2, quote="Shall I sign it?")
    row = begun("agent", real(stub))

    after_one = answered(row, "The fee is 70. Shall I sign it?")
    reading = read_rehearsal(after_one)

    assert statuses(row) == ["completed", "inferred", "open"]
    assert after_one.state == "yours"
    assert after_one.message == "Sign it."
    assert [one.deciding.settling.quote for one in reading.intents[:2] if one.deciding] == [
        "The fee is 70.",
        "Shall I sign it?",
    ]
    assert all(one.deciding.settling.supported for one in reading.intents[:2] if one.deciding)

    stub.follow_up = lambda body: decisions(body, lambda index: False)
    answered(row, "Done.")
    last = answered(row, "Short.")
    reading = read_rehearsal(last)

    assert statuses(row) == ["completed", "inferred", "provided"]
    assert last.state == "finished"
    assert (reading.covered, reading.proc, len(reading.turns)) == (2, pytest.approx(2 / 3), 3)


def test_the_judge_is_asked_as_in_a_pilot_and_reads_the_files_the_person_wrote(stub):
    row = begun("agent", real(stub), files_read=("note.md",))
    lifecycle.write_file(row.pk, "./note.md", b"The fee is 70.")

    answered(row, "See the note.")

    system, user = stub.bodies[0]["messages"]
    assert system["content"] == SATISFACTION_SYSTEM
    assert "The fee is 70." in user["content"]
    assert stub.bodies[0]["temperature"] == 0


def test_no_hidden_intent_reaches_the_model_that_answers_until_the_user_says_it(stub):
    row = begun("user", None, real(stub))
    work_on(row.pk)

    sent = json.dumps(list(stub.bodies))
    assert "Please write the note a." in sent
    assert not any(words in sent for words in ("Name the fee", "Sign it", "Be brief"))

    lifecycle.decide(now(row).pk, {2: "asked"}, {}, "")
    work_on(row.pk)

    assert "Sign it." in json.dumps(stub.bodies[-1])
    assert "Be brief" not in json.dumps(stub.bodies)


def test_in_the_users_seat_a_person_decides_by_hand_and_says_it_in_their_own_words(stub):
    stub.agent = lambda body: "The fee is 70. Shall I sign?"
    row = begun("user", None, real(stub))
    work_on(row.pk)

    lifecycle.decide(row.pk, {1: "met", 2: "asked", 3: "neither"}, {1: "The fee is 70."}, "Yes, and with my full name.")
    work_on(row.pk)
    reading = read_rehearsal(now(row))

    assert statuses(row) == ["completed", "inferred", "open"]
    assert now(row).message == "Yes, and with my full name."
    assert stub.asked == {"agent": 2}
    assert stub.bodies[-1]["messages"][-1]["content"] == "Yes, and with my full name."
    first = reading.intents[0].deciding
    assert first and first.settling.by == "hand" and first.settling.supported and first.in_reply

    lifecycle.decide(row.pk, {3: "met"}, {}, "")
    assert now(row).state == "finished"


def test_where_nothing_was_met_or_asked_for_the_first_open_intent_is_provided(stub):
    row = begun("user", None, real(stub))
    work_on(row.pk)

    lifecycle.decide(row.pk, {}, {}, "")

    assert statuses(row) == ["provided", "open", "open"]
    assert now(row).message == "Name the fee."


def test_the_judge_proposes_and_what_the_person_changes_is_marked_as_theirs(stub):
    stub.agent = lambda body: "The fee is 70."
    stub.satisfaction = lambda body: decisions(body, lambda index: index in (1, 2), quote="The fee is 70.")
    row = begun("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row.pk)

    assert [one.proposal.choice for one in read_rehearsal(now(row)).intents if one.proposal] == [
        "met",
        "met",
        "neither",
    ]
    assert statuses(row) == ["open", "open", "open"]

    lifecycle.decide(row.pk, {1: "met", 2: "neither", 3: "neither"}, {}, "")

    said = {one.index: one.settling for one in read_rehearsal(now(row)).turns[0].said}
    assert (said[1].by, said[1].quote) == ("judge", "The fee is 70.")
    assert (said[2].by, said[2].judge, said[2].quote) == ("hand", "met", "")
    assert statuses(row) == ["completed", "provided", "open"]


def test_a_failing_judge_keeps_the_reply_and_can_be_tried_again(stub):
    stub.satisfaction = lambda body: (400, "no such model")
    row = begun("agent", real(stub))

    stopped = answered(row, "The fee is 70.")

    assert stopped.state == "stopped"
    assert stopped.reason
    assert read_rehearsal(stopped).under_way.reply_text == "The fee is 70."  # type: ignore[union-attr]
    assert statuses(row) == ["open", "open", "open"]

    stub.satisfaction = lambda body: decisions(body, lambda index: index == 1)
    assert answered(row, "The fee is 70.").state == "yours"


def test_a_failing_judge_leaves_the_decision_to_the_person_in_the_users_seat(stub):
    stub.satisfaction = lambda body: (400, "no")
    row = begun("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row.pk)

    assert now(row).state == "yours"
    assert "400" in now(row).reason or now(row).reason
    asked = stub.asked["agent"]

    stub.satisfaction = lambda body: decisions(body, lambda index: True)
    lifecycle.propose_again(row.pk)
    work_on(row.pk)

    assert stub.asked["agent"] == asked
    assert read_rehearsal(now(row)).intents[2].proposal.choice == "met"  # type: ignore[union-attr]


def test_a_failing_assistant_keeps_what_was_said_and_may_be_told_it_otherwise(stub):
    row = begun("user", None, real(stub))
    work_on(row.pk)
    stub.agent = lambda body: (400, "no")
    lifecycle.decide(row.pk, {1: "met"}, {}, "Go on.")
    work_on(row.pk)

    assert (now(row).state, now(row).message) == ("stopped", "Go on.")

    stub.agent = lambda body: "Better."
    lifecycle.try_again(row.pk, "Please go on.")
    work_on(row.pk)

    assert (now(row).state, now(row).message) == ("yours", "Please go on.")


def test_what_a_model_answered_is_not_paid_for_twice(stub):
    stub.follow_up = lambda body: (400, "no")
    row = begun("agent", real(stub))
    answered(row, "The fee is 70.")
    stub.follow_up = lambda body: decisions(body, lambda index: False)

    answered(row, "The fee is 70.")

    assert stub.asked["satisfaction"] == 1
    assert row.calls.filter(purpose="satisfaction").count() == 1


def test_the_agents_files_and_memory_go_on_from_turn_to_turn(stub):
    call = {"id": "1", "type": "function", "function": {}}
    call["function"] = {"name": "write_file", "arguments": json.dumps({"path": "note.md", "content": "70"})}
    stub.agent = lambda body: (
        {"role": "assistant", "content": None, "tool_calls": [call]}
        if body["messages"][-1]["role"] == "user"
        else "I wrote it down."
    )
    row = begun("user", None, real(stub), assets=(file("given.txt", "as given"),))
    work_on(row.pk)

    reading = read_rehearsal(now(row))
    assert reading.under_way is not None
    assert [call.call.name for call in reading.under_way.calls] == ["write_file"]
    assert [(one.path, one.change) for one in reading.under_way.changed_files] == [("note.md", "new")]
    assert sorted(now(row).manifest) == ["given.txt", "note.md"]

    lifecycle.decide(row.pk, {1: "met"}, {}, "Go on.")
    work_on(row.pk)

    roles = [message["role"] for message in stub.bodies[-1]["messages"]]
    assert roles.count("user") == 2


def test_a_rehearsal_stays_on_the_revision_it_began_with_and_leaves_no_evidence(stub):
    row = begun("agent", real(stub))
    spec = load_task(row.revision.task)
    save_task(row.revision.task_id, spec.model_copy(update={"intents": intents("Another one.")}), by=None)

    answered(row, "Hello.")

    assert [one.intent.content for one in read_rehearsal(now(row)).intents] == [
        "Name the fee.",
        "Sign it.",
        "Be brief.",
    ]
    assert not Pilot.objects.exists() and not Session.objects.exists() and not Verdict.objects.exists()


def test_files_of_tasks_it_builds_on_lie_there_and_those_of_others_do_not(stub):
    benchmark = benchmark_of(
        task("a", assets=(file("a.txt", "a"),)),
        task("b", assets=(file("b.txt", "b"),)),
        task("c", "a", assets=(file("c.txt", "c"),), checklist=(rubric("x"),)),
    )
    row = start_rehearsal(
        Task.objects.get(episode__persona__benchmark=benchmark, task_id="c"),
        by=person(benchmark, "author"),
        seat="agent",
        judge=real(stub),
    )

    assert sorted(row.manifest) == ["a.txt", "c.txt"]


def test_a_scripted_model_marks_the_rehearsal_by_whatever_address_it_answers(scripted):
    assert begun("agent", endpoint("scripted-user")).scripted
    hidden = ModelEndpoint.objects.create(name="hidden", base_url=scripted.url, model="scripted-helpful")
    row = begun("user", None, hidden)
    assert not row.scripted

    work_on(row.pk)

    assert now(row).scripted


def test_work_that_died_with_its_process_is_noticed_and_can_be_begun_again(stub):
    row = begun("user", None, real(stub))
    Rehearsal.objects.update(claimed_by="gone", lease_until=timezone.now() - timedelta(seconds=1))

    give_up_dead(row)
    assert (now(row).state, now(row).reason) == ("stopped", DIED)

    lifecycle.try_again(row.pk)
    work_on(row.pk)
    assert now(row).state == "yours"


def test_nothing_is_stored_of_a_model_nobody_waits_for(stub):
    row = begun("user", None, real(stub))

    def answer(body: dict[str, Any]) -> str:
        return "Too late."

    stub.agent = answer
    stop_waiting(row)
    work_on(row.pk)

    assert now(row).state == "stopped"
    assert stub.asked == {}


@pytest.mark.parametrize("state", ["working", "finished"])
def test_only_the_seat_whose_turn_it_is_may_act(stub, state):
    row = begun("agent", real(stub))
    with pytest.raises(RehearsalError):
        lifecycle.decide(row.pk, {}, {}, "")
    Rehearsal.objects.update(state=state)

    with pytest.raises(RehearsalError):
        lifecycle.answer(row.pk, "Hello.")
    with pytest.raises(RehearsalError):
        lifecycle.write_file(row.pk, "a.md", b"")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../out", "a/../../b", "given.txt/inside", "x" * 501])
def test_files_stay_inside_the_workspace(stub, path):
    row = begun("agent", real(stub), assets=(file("given.txt", "as given"),))

    with pytest.raises(RehearsalError) as refused:
        lifecycle.write_file(row.pk, path, b"x")

    assert refused.value.field == "path"


def test_what_was_written_for_an_earlier_turn_is_not_taken_for_this_one(stub):
    row = begun("agent", real(stub))
    answered(row, "First.")

    with pytest.raises(RehearsalError, match="another window"):
        lifecycle.answer(row.pk, "Also for the first turn.", turn=1)
    lifecycle.answer(row.pk, "For the second.", turn=2)


def test_a_task_without_a_request_says_so(stub):
    with pytest.raises(RehearsalError, match="no request yet"):
        begun("agent", real(stub), initial_request=" ")


def test_good_words_become_an_intent_or_an_item_of_the_draft_with_a_note(stub):
    row = begun("agent", real(stub))
    author = row.person

    first = keep_words(row, "intent", "  Write the fee\nin euros. ", by=author)
    second = keep_words(row, "item", "The note is signed.", by=author)

    spec = load_task(row.revision.task)
    assert (first.position, spec.intents[3].content) == (4, "Write the fee in euros.")
    assert (second.position, spec.checklist[-1].criterion) == (1, "The note is signed.")
    newest = Revision.objects.filter(task=row.revision.task).order_by("-number").first()
    assert newest and (newest.number, newest.note, newest.created_by) == (second.version, NOTE, author)


def test_words_kept_while_others_save_land_in_what_they_saved(stub):
    row = begun("agent", real(stub))
    spec = load_task(row.revision.task)
    save_task(row.revision.task_id, spec.model_copy(update={"title": "By another"}), by=None)

    keep_words(row, "intent", "Write it in euros.", by=row.person)

    assert load_task(row.revision.task).title == "By another"


@pytest.mark.parametrize("words", ["", " \n", "Name  the fee.", "x" * 2001, "with\0 null"])
def test_words_that_cannot_be_kept_are_refused_with_a_reason(stub, words):
    row = begun("agent", real(stub))

    with pytest.raises(ExtractError):
        keep_words(row, "intent", words, by=row.person)

    assert len(load_task(row.revision.task).intents) == 3


def test_deleting_takes_its_calls_along_and_leaves_the_files_of_others(stub):
    row = begun("agent", real(stub), assets=(file("given.txt", "as given"),))
    answered(row, "Hello.")

    lifecycle.delete_rehearsal(row.pk)

    assert not Rehearsal.objects.exists()
    assert Blob.objects.exists()
