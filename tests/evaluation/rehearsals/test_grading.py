"""The grader script of a task, run over a rehearsal that is over."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.models import ModelEndpoint, Rehearsal
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.prompt_files import CURRENT, load_prompt
from evaluation.protocol.versions import ProtocolName
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.calls import make_call
from evaluation.rehearsals.lifecycle import start_rehearsal
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, ExactCheck
from studio.models import Blob, Task
from tests.evaluation.builders import benchmark_of, endpoint, intents, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.rehearsals.builders import after_reply, real, reloaded, shown, started, work_on
from tests.evaluation.stub_model import decisions, kind_of

pytestmark = pytest.mark.django_db
SCRIPT = b"""
def score(history):
    wrote = [each for each in history if each["tool_name"] == "write_file"]
    return {"wrote": int(bool(wrote)), "named_fee": int(any("fee" in each["call"]["path"] for each in wrote))}
"""
SAYS_70 = ExactCheck(kind="reply_contains", text="70")
PATH = "graders/clerk/tools.py"


@pytest.fixture
def row(client: Client) -> Rehearsal:
    return begun(client, SCRIPT)


def begun(client: Client, script: bytes) -> Rehearsal:
    [sha] = Blob.objects.store([script])
    persona = PersonaSpec(user_id="clerk", scripts=(FileRef(path=PATH, sha256=sha, size=len(script)),))
    spec = task("a", intents=intents("Name the fee.", "Sign it."), grader_script=PATH)
    benchmark = benchmark_of(spec, persona=persona)
    author = person(benchmark, "author")
    client.force_login(author)
    endpoint("scripted-user")
    judge = ModelEndpoint.objects.get(name="scripted-user")
    return start_rehearsal(Task.objects.get(persona__benchmark=benchmark), by=author, seat="agent", judge=judge)


@pytest.mark.slow
def test_grader_script_decides_a_rehearsal_once_it_is_over(client: Client, row: Rehearsal, scripted):
    page = f"/rehearsals/{row.pk}/"
    make_call(row.pk, "write_file", {"path": "note.md", "content": "70"})
    after_reply(row, "It is written.")
    assert "The grader script tools.py runs when the rehearsal is over." in client.get(page).content.decode()
    assert shown(row).items == (), "not before the end"

    lifecycle.end_rehearsal(row.pk)
    assert "The checklist is being graded." in client.get(page).content.decode()
    assert "HX-Refresh" not in client.get(page, headers={"HX-Request": "true"}).headers
    work_on(row)

    assert [(item.item.criterion, item.strict.status) for item in shown(row).items] == [
        ("[tools] wrote", "met"), ("[tools] named_fee", "not_met"),
    ]  # fmt: skip
    page_now = " ".join(client.get(page).content.decode().split())
    assert "1 of 2 checklist items met" in page_now and "50.0 %" in page_now
    assert client.get(page, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"


def test_what_was_done_before_the_end_counts_without_a_reply(client: Client, row: Rehearsal):
    make_call(row.pk, "write_file", {"path": "fee.md", "content": "70"})

    lifecycle.end_rehearsal(row.pk)
    work_on(row)

    assert [item.strict.status for item in shown(row).items] == ["met", "met"]


def test_nothing_is_said_of_a_checklist_where_nothing_was_done(client: Client, row: Rehearsal):
    lifecycle.end_rehearsal(row.pk)

    assert reloaded(row).session.state == "finished"
    assert "Checklist" not in client.get(f"/rehearsals/{row.pk}/").content.decode()


@pytest.mark.slow
def test_grading_that_was_stopped_can_be_done_again(client: Client, row: Rehearsal, scripted, monkeypatch):
    def no_sandbox(*_: object) -> None:
        raise InfrastructureError("There is no sandbox.")

    after_reply(row, "Nothing was written.")
    lifecycle.end_rehearsal(row.pk)
    with monkeypatch.context() as patched:
        patched.setattr("evaluation.engine.grading.load_script", no_sandbox)
        work_on(row)
    page = client.get(f"/rehearsals/{row.pk}/").content.decode()
    assert "was not graded. There is no sandbox." in page and "is being graded" not in page

    assert client.post(f"/rehearsals/{row.pk}/grade/").status_code == 302
    work_on(row)

    assert [item.strict.status for item in shown(row).items] == ["not_met", "not_met"]


@pytest.mark.slow
def test_a_script_without_keys_is_reported_and_decides_nothing(client: Client, scripted):
    row = begun(client, b"def score(history):\n    return {}\n")
    after_reply(row, "Nothing was written.")
    lifecycle.end_rehearsal(row.pk)

    work_on(row)

    page = client.get(f"/rehearsals/{row.pk}/").content.decode()
    assert "returned no keys" in page and "is being graded" not in page


@pytest.mark.slow
def test_judge_grades_the_criteria_of_a_rehearsal_as_a_pilots(stub):
    stub.checklist = lambda body: decisions(body, lambda index: index == 1, quote="The fee is 70.")
    row = started("agent", real(stub), checklist=(rubric("Names the fee."), rubric("Is signed.")))
    after_reply(row, "The fee is 70.")
    assert shown(row).items == () and stub.asked["checklist"] == 0

    lifecycle.end_rehearsal(row.pk)
    work_on(row)

    assert [item.strict.status for item in shown(row).items] == ["met", "not_met"]
    assert reloaded(row).session.comp_strict == 0.5
    [system, _] = next(body for body in stub.bodies if kind_of(body) == "checklist")["messages"]
    assert system["content"] == load_prompt("checklist", CURRENT[ProtocolName.PAPER]["checklist"]).system


def test_criteria_stay_undecided_where_no_judge_was_chosen(stub):
    checklist = (rubric("Names the fee."), ChecklistItem(uid="2", criterion="Says 70.", grader="rule", rule=SAYS_70))
    row = started("user", None, real(stub), checklist=checklist)
    stub.agent = lambda body: "The fee is 70."
    work_on(row)
    lifecycle.submit_decisions(row.pk, {1: "met", 2: "met", 3: "met"}, {}, "")

    work_on(row)

    assert [item.strict.status for item in shown(row).items] == ["ungraded", "met"]
    assert stub.asked == {"agent": 1}
