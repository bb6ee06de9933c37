"""Assistance in the task editor, and its settings page."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.models import AssistantModel, Proposal
from studio.models import Autosave
from tests.evaluation.assistance.builders import BUNDLE, I1, split_into
from tests.evaluation.builders import benchmark_of, task
from tests.evaluation.factories import person
from tests.factories import mark_approved
from tests.studio.page_forms import form_of

HTMX = {"HTTP_HX_REQUEST": "true"}
PARTS = ("The plan names the baker.", "The plan gives the start of each shift.")
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def url(authoring) -> str:
    return f"{authoring.task.get_absolute_url()}suggest/"


@pytest.fixture
def page(authoring, client: Client) -> Client:
    client.force_login(authoring.author)
    return client


def task_form(client: Client, authoring, **fields: str) -> dict[str, list[str]]:
    html = client.get(authoring.task.get_absolute_url()).content.decode()
    return form_of(html, "task").data(**fields)


@pytest.mark.slow
def test_split_is_requested_next_to_its_finding_and_accepted(authoring, page):
    authoring.model_answers(split_into(*PARTS))
    html = page.get(authoring.task.get_absolute_url()).content.decode()
    assert f'value="split:checklist:{I1}"' in html

    requested = page.post(
        url(authoring), task_form(page, authoring, ask=f"split:checklist:{I1}"), **HTMX
    ).content.decode()
    row = Proposal.objects.get()
    address = f"/suggestions/{row.pk}/"
    assert 'hx-trigger="every 1s"' in requested and "Waiting for a worker" in requested
    assert "Cancel" in page.get(authoring.task.get_absolute_url()).content.decode()  # also after a reload
    authoring.work(row)
    ready = page.get(address, **HTMX).content.decode()
    assert "every 1s" not in ready and PARTS[1] in ready and "proposed by clever" in ready

    accepted = page.post(
        address,
        task_form(page, authoring, decide="take", **{f"assist.{row.pk}.0": "The plan names our baker."}),
        **HTMX,
    )

    assert accepted["HX-Trigger-After-Settle"] == "studio:newer" and "Accepted" in accepted.content.decode()
    assert [item.criterion for item in authoring.spec.checklist][:2] == ["The plan names our baker.", PARTS[1]]
    html = page.get(authoring.task.get_absolute_url()).content.decode()
    assert "proposed by clever (clever-1)" in html and "</a>, edited" in html
    assert "A split of item 1, proposed by clever, edited before accepting" in html


@pytest.mark.slow
def test_an_edited_row_keeps_its_edit_when_another_is_dismissed(authoring, page):
    texts = [{"id": f"intents.{n}", "text": f"Text {n}."} for n in (1, 2)]
    authoring.model_answers(json.dumps({"texts": texts}))
    row = authoring.request("translate", field="intents", language="German")
    typed = {f"assist.{row.pk}.0": "My own words.", "decide": "dismiss:1"}

    html = page.post(f"/suggestions/{row.pk}/", task_form(page, authoring, **typed), **HTMX).content.decode()

    assert ">\nMy own words.</textarea>" in html


@pytest.mark.slow
def test_unsaved_text_is_in_the_request_and_preserved(authoring, page):
    authoring.model_answers(split_into(*PARTS))

    page.post(url(authoring), task_form(page, authoring, title="Typed just now", ask=f"split:checklist:{I1}"), **HTMX)

    row = Proposal.objects.get()
    assert (row.revision.number, authoring.spec.title) == (2, "Typed just now")
    authoring.work(row)
    typed = task_form(page, authoring, description="Typed while it worked", decide="take")
    page.post(f"/suggestions/{row.pk}/", typed)  # without JavaScript, the page is reloaded
    html = page.get(authoring.task.get_absolute_url()).content.decode()
    assert ">\nTyped while it worked</textarea>" in html and PARTS[1] in html
    assert not any(name.startswith("assist.") for name in Autosave.objects.get().form_data)


@pytest.mark.slow
@pytest.mark.parametrize("htmx", [HTMX, {}], ids=["htmx", "plain"])
def test_approved_task_stays_approved_unless_text_was_edited(authoring, page, htmx):
    authoring.model_answers(split_into(*PARTS))
    mark_approved()

    page.post(url(authoring), task_form(page, authoring, ask=f"split:checklist:{I1}"), **htmx)
    assert (authoring.fresh.state, authoring.fresh.version) == ("approved", 1)

    response = page.post(
        url(authoring), task_form(page, authoring, title="Typed", ask=f"split:checklist:{I1}"), follow=True, **htmx
    )
    assert "Version 1 was approved. Version 2 is a draft" in response.content.decode()
    assert authoring.fresh.state == "draft"
    assert authoring.fresh.revisions.get(number=2).note == "Saved before requesting AI help"


def test_accepting_for_an_approved_task_warns_that_it_is_a_draft_again(authoring, page):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()
    mark_approved()

    accepted = page.post(f"/suggestions/{row.pk}/", {"decide": "take"}, **HTMX).content.decode()

    assert (
        "Version 1 was approved. Version 2 is a draft" in accepted and 'hx-swap-oob="beforeend:#messages"' in accepted
    )


@pytest.mark.slow
def test_failed_request_announces_the_version_it_saved(authoring, page):
    authoring.assistant.endpoint = None
    authoring.assistant.save()

    response = page.post(url(authoring), task_form(page, authoring, title="Typed", ask="leaks:initial_request"), **HTMX)

    assert "AI help is off" in response.content.decode()
    assert response["HX-Trigger-After-Settle"] == "studio:newer" and authoring.spec.title == "Typed"


def test_proposals_work_without_javascript(authoring, page):
    authoring.model_answers(split_into(*PARTS))

    response = page.post(url(authoring), task_form(page, authoring, ask=f"split:checklist:{I1}"))
    row = authoring.work(Proposal.objects.get())
    assert response["Location"].endswith(f"#proposal-{row.pk}")
    assert PARTS[0] in page.get(response["Location"]).content.decode()
    page.post(f"/suggestions/{row.pk}/", {"decide": "dismiss"})

    row.refresh_from_db()
    assert row.state == "dismissed" and authoring.spec.checklist[0].criterion == BUNDLE


def test_failed_request_is_shown_and_can_be_repeated(authoring, page):
    authoring.model_answers("nonsense", "nonsense", "nonsense", split_into(*PARTS))
    row = authoring.request()
    shown = page.get(f"/suggestions/{row.pk}/", **HTMX).content.decode()
    assert "no usable answer" in shown and "Try again" in shown

    page.post(url(authoring), {"again": str(row.pk)}, **HTMX)

    assert authoring.work(Proposal.objects.first()).state == "ready"
    row.refresh_from_db()
    assert row.state == "dismissed"


@pytest.mark.slow
def test_changed_text_is_shown_next_to_the_proposal(authoring, page):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()
    typed = task_form(page, authoring, decide="take", **{f"checklist.{I1}.criterion": "Changed by hand."})
    page.post(f"{authoring.task.get_absolute_url()}", {**typed, "decide": []})

    shown = page.post(f"/suggestions/{row.pk}/", {"decide": "take"}, **HTMX).content.decode()

    assert "Changed by hand." in shown and PARTS[0] in shown and "anyway" in shown
    assert authoring.spec.checklist[0].criterion == "Changed by hand."
    page.post(f"/suggestions/{row.pk}/", {"decide": "over"}, **HTMX)
    assert authoring.spec.checklist[0].criterion == PARTS[0]


def test_model_output_is_escaped(authoring, page):
    intent = {"content": f"Say {HOSTILE}.", "scope": "persistent", "from": "question", "ref": "", "quote": HOSTILE,
              "why": HOSTILE}  # fmt: skip
    authoring.model_answers(json.dumps({"intents": [intent]}))
    row = authoring.request("intents")

    for html in (page.get(f"/suggestions/{row.pk}/", **HTMX), page.get(authoring.task.get_absolute_url())):
        assert HOSTILE not in html.content.decode() and "&lt;script&gt;" in html.content.decode()


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_only_editors_may_request_proposals(authoring, client, role):
    row = authoring.request(work=False)
    client.force_login(person(authoring.benchmark, role))

    html = client.get(authoring.task.get_absolute_url()).content.decode()

    assert "/suggest/" not in html and "data-proposal" not in html
    assert client.post(url(authoring), {"ask": f"split:checklist:{I1}"}).status_code == 403
    assert client.get(f"/suggestions/{row.pk}/").status_code == 403
    assert client.post(f"/suggestions/{row.pk}/", {"decide": "take"}).status_code == 403
    assert client.get(f"/benchmarks/{authoring.benchmark.slug}/help/").status_code == 403


def test_other_benchmarks_are_not_found(authoring, client):
    row = authoring.request(work=False)
    client.force_login(person(benchmark_of(task("other")), "owner"))

    assert client.post(url(authoring), {"ask": f"split:checklist:{I1}"}).status_code == 404
    assert client.get(f"/suggestions/{row.pk}/").status_code == 404
    assert client.get(f"/benchmarks/{authoring.benchmark.slug}/help/").status_code == 404


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"ask": "split"},
        {"ask": "split:checklist:'; drop table"},
        {"ask": f"split:checklist:{I1[:-1]}9"},
        {"ask": "hack:metadata"},
        {"ask": "translate:task", "assist.language": "Klingon\nIgnore"},
        {"ask": "checklist:checklist", "assist.reference": "../../etc/passwd"},
    ],
)
def test_malformed_request_is_rejected(authoring, page, sent):
    response = page.post(url(authoring), sent, **HTMX)

    assert response.status_code == 200 and 'role="alert"' in response.content.decode()
    assert not Proposal.objects.exists()


@pytest.mark.slow
def test_only_owners_see_that_assistance_is_off(authoring, page):
    authoring.assistant.endpoint = None
    authoring.assistant.save()

    assert "/suggest/" not in page.get(authoring.task.get_absolute_url()).content.decode()
    page.force_login(person(authoring.benchmark, "owner"))
    html = page.get(authoring.task.get_absolute_url()).content.decode()
    assert "AI help is off" in html and "/suggest/" not in html


def test_owner_chooses_the_model_and_budget(authoring, client):
    owner = person(authoring.benchmark, "owner")
    client.force_login(owner)
    authoring.request(work=False)
    address = f"/benchmarks/{authoring.benchmark.slug}/help/"
    form = {"endpoint": authoring.endpoint.pk, "period": "ever", "max_tokens": "5000", "max_cost": "1.50"}

    assert "A split" in client.get(address).content.decode()
    assert client.post(address, form | {"max_cost": "-1"}).status_code == 422
    assert client.post(address, form).status_code == 302

    row = AssistantModel.objects.get()
    assert (row.max_tokens, str(row.max_cost), row.period, row.changed_by) == (5000, "1.50", "ever", owner)
    client.post(address, form | {"endpoint": ""})
    assert AssistantModel.objects.get().endpoint is None


@pytest.mark.slow
def test_number_of_queries_does_not_depend_on_rows(authoring, page):
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            page.get(authoring.task.get_absolute_url())
        return len(caught)

    queries()
    few = queries()
    from studio.domain.task import ChecklistItem
    from studio.tasks.save import save_task

    more = tuple(ChecklistItem(uid=f"00000000-0000-4000-8000-0000000001{n:02}", criterion=f"{n} is there.")
                 for n in range(30))  # fmt: skip
    save_task(
        authoring.task.pk,
        authoring.spec.model_copy(update={"checklist": (*authoring.spec.checklist, *more)}),
        by=authoring.author,
    )

    queries()
    assert queries() <= few


@pytest.mark.slow
def test_scope_and_source_of_a_proposed_intent_are_chosen_on_the_page(authoring, page):
    found = {"content": "Salt is weighed.", "scope": "session_local", "from": "question", "ref": "", "quote": ""}
    authoring.model_answers(json.dumps({"intents": [found | {"why": ""}]}))
    row = authoring.request("intents")
    html = page.get(f"/suggestions/{row.pk}/", **HTMX).content.decode()
    assert '<option value="question" selected>asking</option>' in html and "a file notes.md" in html

    chosen = {f"assist.{row.pk}.0.scope": "persistent", f"assist.{row.pk}.0.source": "file notes.md"}
    page.post(f"/suggestions/{row.pk}/", task_form(page, authoring, decide="take", **chosen), **HTMX)

    added = authoring.spec.intents[-1]
    assert (added.scope, added.recoverable_from[0].ref) == ("persistent", "notes.md")


@pytest.mark.parametrize("kind", ["rule", "checklist"])
def test_a_proposed_rule_is_shown_with_everything_that_it_asks(authoring, page, kind: str):
    asked = {"arguments": {"folder": "sent"}, "containing": {"subject": "invoice 7"}}
    rule = {"kind": "record_exists", "app": "gmail", "table": "emails", **asked}
    row = authoring.request(kind, work=False)
    change = {"field": "checklist", "uid": I1 if kind == "rule" else "", "text": BUNDLE, "rule": rule}
    Proposal.objects.filter(pk=row.pk).update(state="ready", rows=[change])

    html = page.get(f"/suggestions/{row.pk}/", **HTMX).content.decode()

    for said in ("gmail", "emails", "folder", "sent", "subject", "invoice 7"):
        assert said in html, said
