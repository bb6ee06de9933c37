"""The grader script of a task, run over a rehearsal that is over."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evaluation.models import ModelEndpoint, Rehearsal
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.calls import make_call
from evaluation.rehearsals.grading import PATIENCE, run_due_script
from evaluation.rehearsals.lifecycle import start_rehearsal
from evaluation.rehearsals.transcript import load_transcript
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.models import Blob, Task
from tests.evaluation.builders import benchmark_of, endpoint, intents, task
from tests.evaluation.factories import person
from tests.evaluation.rehearsals.builders import after_reply, reloaded

pytestmark = pytest.mark.django_db
SCRIPT = b"""
def score(history):
    wrote = [each for each in history if each["tool_name"] == "write_file"]
    return {"wrote": int(bool(wrote)), "named_fee": int(any("fee" in each["call"]["path"] for each in wrote))}
"""
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


def test_grader_script_decides_a_rehearsal_once_it_is_over(client: Client, row: Rehearsal, scripted):
    page = f"/rehearsals/{row.pk}/"
    assert "The grader script tools.py runs when the rehearsal is over." in client.get(page).content.decode()
    make_call(row.pk, "write_file", {"path": "note.md", "content": "70"})
    after_reply(row, "It is written.")
    assert reloaded(row).script_outcomes is None, "not before the end"

    lifecycle.end_rehearsal(row.pk)
    assert "The grader script tools.py is being run." in client.get(page).content.decode()
    assert "HX-Refresh" not in client.get(page, headers={"HX-Request": "true"}).headers
    run_due_script(row.pk)

    assert [(outcome.criterion, outcome.met) for outcome in load_transcript(reloaded(row)).rules] == [
        ("[tools] wrote", True), ("[tools] named_fee", False),
    ]  # fmt: skip
    assert "1 of 2 rule" in client.get(page).content.decode()
    assert client.get(page, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"


def test_what_was_done_before_the_end_counts_without_a_reply(client: Client, row: Rehearsal):
    make_call(row.pk, "write_file", {"path": "fee.md", "content": "70"})

    lifecycle.end_rehearsal(row.pk)
    run_due_script(row.pk)

    assert reloaded(row).script_outcomes["keys"] == {"wrote": True, "named_fee": True}


def test_nothing_is_said_of_rules_where_nothing_was_done(client: Client, row: Rehearsal):
    lifecycle.end_rehearsal(row.pk)

    assert "Checked by rule" not in client.get(f"/rehearsals/{row.pk}/").content.decode()


def test_a_script_that_was_interrupted_can_be_run_again(client: Client, row: Rehearsal, scripted):
    after_reply(row, "Nothing was written.")
    lifecycle.end_rehearsal(row.pk)
    Rehearsal.objects.filter(pk=row.pk).update(updated_at=timezone.now() - 2 * PATIENCE - timedelta(seconds=1))
    assert "was not run" in client.get(f"/rehearsals/{row.pk}/").content.decode()

    assert client.post(f"/rehearsals/{row.pk}/grade/").status_code == 302
    run_due_script(row.pk)

    assert reloaded(row).script_outcomes == {"keys": {"wrote": False, "named_fee": False}, "problem": ""}


def test_a_script_without_keys_is_reported_and_decides_nothing(client: Client, scripted):
    row = begun(client, b"def score(history):\n    return {}\n")
    after_reply(row, "Nothing was written.")
    lifecycle.end_rehearsal(row.pk)

    run_due_script(row.pk)

    page = client.get(f"/rehearsals/{row.pk}/").content.decode()
    assert "returned no keys" in page and "is being run" not in page
