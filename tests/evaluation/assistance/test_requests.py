"""Requests to the assistant model, their records and budget."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluation.assistance.assistant import AssistanceError, keep_free, usage_of
from evaluation.assistance.decisions import dismiss_proposal
from evaluation.assistance.task_material import request_of
from evaluation.assistance.worker import due_proposals
from evaluation.call_records import proposal_record
from evaluation.models import AssistantModel, ModelCall, OpinionRequest, Proposal
from studio.domain.base import Content
from studio.domain.task import ExpectedArtifact
from studio.models import Blob
from studio.tasks.delete import delete_task
from studio.tasks.save import save_task
from tests.evaluation.assistance.builders import I1, I2, U1, split_into
from tests.evaluation.builders import file
from tests.evaluation.factories import person
from tests.factories import stored
from tests.studio.files.previews.samples import a_docx, a_png

TWO = split_into("The plan names the baker.", "The plan gives the start of each shift.")


def test_split_is_answered_checked_and_charged(authoring):
    authoring.model_answers(TWO)

    row = authoring.request()

    assert (row.state, row.field, str(row.item), row.revision.number) == ("ready", "checklist", I1, 1)
    assert [entry["text"] for entry in row.rows] == [
        "The plan names the baker.",
        "The plan gives the start of each shift.",
    ]
    assert (row.prompt_tokens, row.completion_tokens, row.cost) == (10, 2, Decimal("0.000036"))
    assert (row.model, row.scripted) == ("clever (clever-1)", False)
    (call,) = row.calls.all()
    assert call.response["choices"] and "bundle" in json.dumps(call.request)


def test_repeated_request_is_answered_from_the_record_free_of_charge(authoring):
    authoring.model_answers(TWO, split_into("Another.", "Split."))
    first = authoring.request()

    assert authoring.request(work=False).pk == first.pk  # it is still open
    Proposal.objects.filter(pk=first.pk).update(
        state="dismissed", decided_by=authoring.author, decided_at=timezone.now()
    )
    again = authoring.request(work=False)

    assert (again.state, again.rows, again.replay_of_id, again.tokens) == ("ready", first.rows, first.pk, 0)
    assert authoring.stub.asked["helper"] == 1
    other = authoring.request(fresh=True)
    assert [entry["text"] for entry in other.rows] == ["Another.", "Split."]
    assert authoring.stub.bodies[-1]["temperature"] > authoring.stub.bodies[0]["temperature"] == 0


def test_other_row_or_model_is_a_new_request(authoring):
    authoring.model_answers(TWO)
    authoring.request()

    authoring.request(uid=I2)
    authoring.endpoint.model = "clever-2"
    authoring.endpoint.save()
    authoring.request()

    assert authoring.stub.asked["helper"] == 3


def test_button_clicked_twice_makes_one_request(authoring):
    authoring.model_answers(TWO)

    assert authoring.request(work=False).pk == authoring.request(work=False).pk
    assert Proposal.objects.count() == 1


def test_attached_reference_is_offered_first_and_used(authoring):
    content = "The bread list of a good week.\nTwo bakers start at four."
    reference = Content(sha256=file("x", content).sha256, size=len(content))
    artifacts = (ExpectedArtifact(path="out/plan.md", reference=reference), ExpectedArtifact(path="log.csv"))
    save_task(
        authoring.task.pk, authoring.spec.model_copy(update={"expected_artifacts": artifacts}), by=authoring.author
    )
    client = Client()
    client.force_login(authoring.author)
    page = client.get(authoring.task.get_absolute_url()).content.decode()
    authoring.model_answers('{"items": []}')
    form = {"ask": "checklist:checklist", "assist.reference": "the reference of out/plan.md"}
    persona = authoring.task.persona

    client.post(
        reverse("evaluation:request_proposal", args=[authoring.benchmark.slug, persona.user_id, authoring.task.pk]),
        form,
    )
    request = request_of(authoring.work(Proposal.objects.get()), authoring.spec)

    options = re.findall(r"<option>([^<]+)</option>", page[page.index("assist-reference") :])
    assert options == ["the reference of out/plan.md", "the reference workflow"]  # no input is a result
    assert request.reference_text == content
    assert content in authoring.stub.bodies[-1]["messages"][1]["content"]


def test_a_request_reads_no_file_and_the_worker_does(authoring):
    files = (stored("rules.docx", a_docx("No rye on Sundays.")), file("notes.md", "x" * 7_000))
    save_task(authoring.task.pk, authoring.spec.model_copy(update={"assets": files}), by=authoring.author)
    authoring.model_answers('{"intents": []}')

    with CaptureQueriesContext(connection) as queries:
        row = authoring.request("intents", work=False)

    assert not [query["sql"] for query in queries if "studio_blob" in query["sql"]]
    assert authoring.work(row).truncated_files == ["notes.md"]
    assert "No rye on Sundays." in authoring.stub.bodies[-1]["messages"][1]["content"]
    assert authoring.request("intents", work=False).truncated_files == ["notes.md"]


def test_another_file_is_another_request(authoring):
    authoring.model_answers('{"intents": []}')
    first = authoring.request("intents")
    other = authoring.spec.model_copy(update={"assets": (file("notes.md", "Other."),)})
    save_task(authoring.task.pk, other, by=authoring.author)

    assert authoring.request("intents", work=False).request_hash != first.request_hash


def test_reference_without_text_is_rejected_before_the_model_is_called(authoring):
    content = a_png()
    Blob.objects.store([content])
    reference = Content(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    spec = authoring.spec.model_copy(
        update={"expected_artifacts": (ExpectedArtifact(path="a.png", reference=reference),)}
    )
    save_task(authoring.task.pk, spec, by=authoring.author)
    asked = {"reference": "the reference of a.png", "reference_text": reference.sha256}

    row = authoring.request("checklist", **asked)

    assert (row.state, row.problem) == (
        "failed",
        "There is no text in the reference of a.png. Attach another good result, or paste one.",
    )
    assert authoring.stub.bodies == []


def test_scripted_assistant_derives_items_from_pasted_text(scripted_authoring):
    text = "Two bakers start at four.\nThe van leaves at six."

    row = scripted_authoring().request("checklist", reference="pasted text", reference_text=text)

    assert (row.state, row.scripted, row.problem) == ("ready", True, "")
    assert row.rows and all(entry["quote"] in text for entry in row.rows)


def test_spent_budget_sends_no_request(authoring):
    authoring.model_answers(TWO)
    authoring.assistant.max_tokens = 12
    authoring.assistant.save()
    authoring.request()

    with pytest.raises(AssistanceError, match="budget of 12 tokens"):
        authoring.request(uid=I2)
    assert authoring.stub.asked["helper"] == 1
    assert authoring.request(work=False).state == "ready"  # a recorded answer is free
    ModelCall.objects.all().delete()
    assert authoring.request(uid=I2).state == "ready"


def test_what_help_with_a_deleted_task_cost_stays_spent(authoring):
    authoring.model_answers(TWO)
    authoring.request()
    spent = usage_of(authoring.assistant)
    delete_task(authoring.task, by=authoring.author)

    assert spent.tokens.total == 12 and usage_of(authoring.assistant) == spent


def priced(authoring, max_cost: str) -> None:
    authoring.assistant.max_cost = Decimal(max_cost)
    authoring.assistant.save()
    authoring.endpoint.input_price = 10_000
    authoring.endpoint.params = {"max_tokens": 200}
    authoring.endpoint.save()


def test_help_that_may_cost_more_than_is_left_is_not_asked_for(authoring):
    authoring.model_answers(TWO)
    priced(authoring, "1")

    row = authoring.request()

    assert (row.state, authoring.stub.asked["helper"]) == ("failed", 0)
    assert re.match(
        r"What is left of the AI help’s budget of \$1, \$1, does not cover the next call, which", row.problem
    )


def test_help_waits_while_what_is_left_is_kept_free_for_other_help_of_its_benchmark(authoring, monkeypatch):
    authoring.model_answers(TWO)
    priced(authoring, "100")
    other = authoring.request("leaks", work=False)
    Proposal.objects.filter(pk=other.pk).update(
        reserved=Decimal(90), claimed_by="a worker", lease_until=timezone.now() + timedelta(hours=1)
    )
    waited = []

    def pass_by(_: float) -> None:
        waited.append(authoring.stub.asked["helper"])
        if len(waited) == 2:  # the other worker died
            Proposal.objects.filter(pk=other.pk).update(lease_until=timezone.now() - timedelta(seconds=1))

    monkeypatch.setattr("evaluation.assistance.assistant.time.sleep", pass_by)
    row = authoring.request()

    assert (row.state, waited) == ("ready", [0, 0])


def test_what_a_call_for_help_may_cost_is_kept_free_until_its_answer_is_stored(authoring):
    authoring.model_answers(TWO)
    priced(authoring, "100")
    row, assistant = authoring.request(work=False), AssistantModel.objects.get()
    due_proposals().claim(row.pk)
    row.refresh_from_db()

    def kept() -> Decimal:
        return Proposal.objects.get(pk=row.pk).reserved

    keep_free(assistant, row, Decimal(90))
    assert kept() == 90
    call = {"purpose": "leaks", "turn": 0, "request_hash": "0" * 64, "cost": Decimal(1), "endpoint": row.endpoint}
    proposal_record(row, lambda worst: None).store({}, {}, **call)
    assert kept() == 0
    keep_free(assistant, row, Decimal(90))


def test_help_that_is_cancelled_while_it_waits_for_its_budget_asks_nothing(authoring, monkeypatch):
    authoring.model_answers(TWO)
    priced(authoring, "100")
    OpinionRequest.objects.create(
        task=authoring.task, asked_at=timezone.now(), reserved=Decimal(90), claimed_by="a worker",
        lease_until=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    row = authoring.request(work=False)

    def cancel(_: float) -> None:
        dismiss_proposal(row.pk, by=authoring.author)

    monkeypatch.setattr("evaluation.assistance.assistant.time.sleep", cancel)
    authoring.work(row)

    assert (row.state, authoring.stub.asked["helper"]) == ("dismissed", 0)


def test_monthly_budget_starts_anew_each_month(authoring, monkeypatch):
    authoring.model_answers(TWO)
    authoring.assistant.max_cost = Decimal("0.01")
    authoring.assistant.save()
    authoring.endpoint.input_price = 10_000
    authoring.endpoint.save()
    authoring.request()
    with pytest.raises(AssistanceError, match="this month"):
        authoring.request(uid=I2)

    later = timezone.now() + timedelta(days=40)
    monkeypatch.setattr("evaluation.assistance.assistant.timezone.now", lambda: later)
    authoring.request(uid=I2, work=False)
    authoring.assistant.period = "ever"
    authoring.assistant.save()
    with pytest.raises(AssistanceError, match="the whole budget"):
        authoring.request("leaks")


def test_a_budget_in_dollars_stops_where_a_call_had_no_price_and_the_page_says_so(authoring, client):
    authoring.model_answers(TWO)
    authoring.assistant.max_cost = Decimal("5")
    authoring.assistant.save()
    authoring.endpoint.input_price = None
    authoring.endpoint.save()
    proposal = authoring.request()
    client.force_login(person(authoring.benchmark, "owner"))

    with pytest.raises(AssistanceError, match=r"\$5.00, and what 1 call cost is unknown"):
        authoring.request(uid=I2)
    page = client.get(reverse("evaluation:assistance_settings", args=[authoring.benchmark.slug])).content.decode()

    assert proposal.cost is None
    assert "of unknown cost" in page


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("split", {"uid": U1}, "empty or no longer exists"),
        ("checklist", {"reference_text": " "}, "Attach a good result"),
        ("rule", {"field": "intents", "uid": U1}, "not available here"),
        ("translate", {"field": "metadata"}, "not available here"),
        ("hack", {}, "not available here"),
    ],
)
def test_request_without_subject_is_rejected(authoring, kind, more, message):
    with pytest.raises(AssistanceError, match=message):
        authoring.request(kind, **more)


def test_request_is_rejected_without_an_assistant_model(authoring):
    authoring.assistant.endpoint = None
    authoring.assistant.save()

    with pytest.raises(AssistanceError, match="AI help is off"):
        authoring.request()


def test_database_rejects_changes_to_decisions_and_calls(authoring):
    authoring.model_answers(TWO)
    row = authoring.request()
    invalid_changes = [
        {"state": "taken"},
        {"state": "gone"},
        {"rows": None},
        {"decided_by": person(authoring.benchmark, "author")},
        {"state": "failed"},
    ]
    for change in invalid_changes:
        with pytest.raises(IntegrityError), transaction.atomic():
            Proposal.objects.filter(pk=row.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelCall.objects.update(error="other")
    Proposal.objects.filter(pk=row.pk).update(state="dismissed", decided_by=authoring.author, decided_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Proposal.objects.filter(pk=row.pk).update(state="ready", decided_by=None, decided_at=None)


def test_files_reach_the_model_only_as_material(authoring):
    authoring.model_answers(json.dumps({"intents": []}))

    row = authoring.request("intents")

    messages = authoring.stub.bodies[-1]["messages"]
    assert row.rows == [] and row.state == "ready"
    assert "no instructions for you" in messages[0]["content"]
    assert "&lt;" not in messages[0]["content"]
