from __future__ import annotations

import json

import pytest
from django.utils import timezone

from evaluation.models import ModelCall, Rehearsal, Session, Snapshot, Turn
from evaluation.protocol.prompt_files import CURRENT, load_prompt
from evaluation.protocol.versions import ProtocolName
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.lifecycle import RehearsalError, start_rehearsal
from evaluation.releases.evidence import real_sessions
from evaluation.templatetags.evaluation_ui import was_piloted
from evaluation.visibility import visible_sessions
from studio.drafts.load import load_task
from studio.models import Blob, Task
from studio.tasks.delete import delete_task
from studio.tasks.save import save_task
from studio.tasks.transitions import WorkflowError
from tests.evaluation.builders import benchmark_of, file, intents, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.rehearsals.builders import after_reply, real, reloaded, shown, started, statuses, work_on
from tests.evaluation.stub_model import decisions

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_judge_resolves_replies_from_the_assistants_seat_as_in_any_session(stub):
    stub.satisfaction = lambda body: decisions(body, lambda index: index == 1, quote="The fee is 70.")
    stub.follow_up = lambda body: decisions(body, lambda index: index == 2, quote="Shall I sign it?")
    row = started("agent", real(stub))

    after_one = after_reply(row, "The fee is 70. Shall I sign it?")
    verdicts = [intent.verdict for intent in shown(row).session.intents[:2]]

    assert statuses(row) == ["completed", "inferred", "open"]
    assert after_one.state == "yours"
    assert shown(row).message == "As I would say it.", "in the persona's voice, as in a pilot"
    assert [verdict and verdict.quote for verdict in verdicts] == ["The fee is 70.", "Shall I sign it?"]
    assert all(verdict and verdict.supported for verdict in verdicts)

    stub.follow_up = lambda body: decisions(body, lambda index: False)
    after_reply(row, "Done.")
    last = after_reply(row, "Short.")
    transcript = shown(row)

    assert statuses(row) == ["completed", "inferred", "provided"]
    assert last.state == "finished"
    assert (transcript.session.covered, transcript.proc, len(transcript.turns)) == (2, pytest.approx(2 / 3), 3)


def test_judge_has_the_prompt_of_a_pilot_and_reads_the_users_files(stub):
    row = started("agent", real(stub), files_read=("note.md",))
    lifecycle.write_file(row.pk, "./note.md", b"The fee is 70.")

    after_reply(row, "See the note.")

    system, user = stub.bodies[0]["messages"]
    assert system["content"] == load_prompt("satisfaction", CURRENT[ProtocolName.PAPER]["satisfaction"]).system
    assert "The fee is 70." in user["content"]
    assert stub.bodies[0]["temperature"] == 0


def test_agent_sees_no_hidden_intent_before_the_user_says_it(stub):
    row = started("user", None, real(stub))
    work_on(row)

    requests = json.dumps(list(stub.bodies))
    assert "Please write the note a." in requests
    assert not any(text in requests for text in ("Name the fee", "Sign it", "Be brief"))

    lifecycle.submit_decisions(reloaded(row).pk, {2: "asked"}, {}, "")
    work_on(row)

    assert "Sign it." in json.dumps(stub.bodies[-1])
    assert "Be brief" not in json.dumps(stub.bodies)


@pytest.mark.slow
def test_user_decides_manually_and_sends_own_message(stub):
    stub.agent = lambda body: "The fee is 70. Shall I sign?"
    row = started("user", None, real(stub))
    work_on(row)

    lifecycle.submit_decisions(
        row.pk, {1: "met", 2: "asked", 3: "neither"}, {1: "The fee is 70."}, "Yes, and with my full name."
    )
    work_on(row)
    transcript = shown(row)

    assert statuses(row) == ["completed", "inferred", "open"]
    assert transcript.message == "Yes, and with my full name."
    assert stub.asked == {"agent": 2}
    assert stub.bodies[-1]["messages"][-1]["content"] == "Yes, and with my full name."
    first = transcript.session.intents[0].verdict
    assert first and first.grader == "person" and first.supported
    assert transcript.session.evidence.by_key[str(first.pk)].kind == "reply"

    lifecycle.submit_decisions(row.pk, {3: "met"}, {}, "")
    assert reloaded(row).state == "finished"


def test_first_open_intent_is_provided_if_none_was_met_or_asked_for(stub):
    row = started("user", None, real(stub))
    work_on(row)

    lifecycle.submit_decisions(row.pk, {}, {}, "")

    assert statuses(row) == ["provided", "open", "open"]
    assert shown(row).message == "Name the fee."


@pytest.mark.slow
def test_changed_judge_proposals_are_marked_as_manual(stub):
    stub.agent = lambda body: "The fee is 70."
    stub.satisfaction = lambda body: decisions(body, lambda index: index in (1, 2), quote="The fee is 70.")
    row = started("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row)

    assert [each.choice for _, each in sorted(shown(row).proposed.items())] == ["met", "met", "neither"]
    assert statuses(row) == ["open", "open", "open"]

    lifecycle.submit_decisions(row.pk, {1: "met", 2: "neither", 3: "neither"}, {}, "")

    decided = {
        intent.index: [(each.kind, each.grader, each.met, each.counts_as) for each in intent.decisions]
        for intent in shown(row).session.intents
    }
    assert decided[1] == [("satisfaction", "judge", True, True)]
    assert decided[2] == [
        ("follow_up", "person", False, False),
        ("satisfaction", "person", False, False),
        ("satisfaction", "judge", True, False),
    ]
    assert decided[3] == [("follow_up", "judge", False, False), ("satisfaction", "judge", False, False)]
    assert statuses(row) == ["completed", "provided", "open"]


def test_agents_files_and_memory_persist_between_turns(stub):
    call = {"id": "1", "type": "function", "function": {}}
    call["function"] = {"name": "write_file", "arguments": json.dumps({"path": "note.md", "content": "70"})}
    stub.agent = lambda body: (
        {"role": "assistant", "content": None, "tool_calls": [call]}
        if body["messages"][-1]["role"] == "user"
        else "I wrote it down."
    )
    row = started("user", None, real(stub), assets=(file("given.txt", "as given"),))
    work_on(row)

    transcript = shown(row)
    assert transcript.current is not None
    assert [call.call.name for call in transcript.current.calls] == ["write_file"]
    assert [(file_row.path, file_row.change) for file_row in transcript.current.changes] == [("note.md", "new")]
    assert sorted(shown(row).manifest) == ["MEMORY.md", "given.txt", "note.md"]

    lifecycle.submit_decisions(row.pk, {1: "met"}, {}, "Go on.")
    work_on(row)

    roles = [message["role"] for message in stub.bodies[-1]["messages"]]
    assert roles.count("user") == 2


def test_rehearsal_stays_on_its_revision_and_leaves_no_evidence(stub):
    row = started("agent", real(stub))
    spec = load_task(row.session.revision.task)
    save_task(row.session.revision.task_id, spec.model_copy(update={"intents": intents("Another one.")}), by=None)

    after_reply(row, "Hello.")

    assert [intent.intent.content for intent in shown(row).session.intents] == [
        "Name the fee.",
        "Sign it.",
        "Be brief.",
    ]
    benchmark = row.session.revision.task.persona.benchmark
    assert not visible_sessions(row.person).exists() and not real_sessions(benchmark).exists()
    assert not Session.objects.of(*benchmark.pilots.all()).exists()
    assert not was_piloted(row.session.revision.task)


def test_workspace_has_files_of_dependencies_only(stub):
    benchmark = benchmark_of(
        task("a", assets=(file("a.txt", "a"),)),
        task("b", assets=(file("b.txt", "b"),)),
        task("c", "a", assets=(file("c.txt", "c"),), checklist=(rubric("x"),)),
    )
    row = start_rehearsal(
        Task.objects.get(persona__benchmark=benchmark, task_id="c"),
        by=person(benchmark, "author"),
        seat="agent",
        judge=real(stub),
    )

    assert sorted(shown(row).manifest) == ["MEMORY.md", "a.txt", "c.txt"]


@pytest.mark.parametrize("state", ["waiting", "running", "finished"])
def test_user_may_act_only_in_own_seat_and_turn(stub, state):
    row = started("agent", real(stub))
    with pytest.raises(RehearsalError):
        lifecycle.submit_decisions(row.pk, {}, {}, "")
    Session.objects.update(state=state, ended_at=timezone.now() if state == "finished" else None)

    with pytest.raises(RehearsalError):
        lifecycle.submit_reply(row.pk, "Hello.")
    with pytest.raises(RehearsalError):
        lifecycle.write_file(row.pk, "a.md", b"")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../out", "a/../../b", "given.txt/inside", "x" * 501])
def test_files_stay_inside_the_workspace(stub, path):
    row = started("agent", real(stub), assets=(file("given.txt", "as given"),))

    with pytest.raises(RehearsalError) as refused:
        lifecycle.write_file(row.pk, path, b"x")

    assert refused.value.field == "path"


def test_reply_for_an_earlier_turn_is_rejected(stub):
    row = started("agent", real(stub))
    after_reply(row, "First.")

    with pytest.raises(RehearsalError, match="another window"):
        lifecycle.submit_reply(row.pk, "Also for the first turn.", turn=1)
    lifecycle.submit_reply(row.pk, "For the second.", turn=2)


def test_task_without_request_cannot_be_rehearsed(stub):
    with pytest.raises(RehearsalError, match="no request yet"):
        started("agent", real(stub), initial_request=" ")


def test_deleting_removes_calls_but_not_shared_files(stub):
    row = started("agent", real(stub), assets=(file("given.txt", "as given"),))
    after_reply(row, "Hello.")

    lifecycle.delete_rehearsal(row.pk)

    for left in (Rehearsal, Session, Turn, Snapshot, ModelCall):
        assert not left._default_manager.exists()
    assert Blob.objects.exists()


def test_what_the_person_decided_is_shown_as_theirs_where_the_judge_said_no(stub):
    row = started("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row)

    lifecycle.submit_decisions(row.pk, {1: "met", 2: "asked"}, {}, "")

    first, second, _ = shown(row).session.intents
    assert [(each.status, each.verdict and each.verdict.grader) for each in (first, second)] == [
        ("completed", "person"),
        ("inferred", "person"),
    ]


def test_a_rehearsed_task_can_only_be_retired(stub):
    row = started("agent", real(stub))
    with pytest.raises(WorkflowError, match="was run in a pilot, a rehearsal or a check"):
        delete_task(row.session.revision.task, by=row.person)
