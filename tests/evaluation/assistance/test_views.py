"""Help in the editor over HTTP: who may ask, what the page shows, what is typed meanwhile, and the owner's choice."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.models import Helper, Suggestion
from studio.models import Task, WorkingCopy
from tests.evaluation.assistance.builders import BUNDLE, I1, split_into
from tests.evaluation.builders import benchmark_of, task
from tests.evaluation.factories import person
from tests.studio.page_forms import form_of

HTMX = {"HTTP_HX_REQUEST": "true"}
PARTS = ("The plan names the baker.", "The plan gives the start of each shift.")
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def url(desk) -> str:
    return f"{desk.task.get_absolute_url()}suggest/"


@pytest.fixture
def page(desk, client: Client) -> Client:
    client.force_login(desk.author)
    return client


def sheet(client: Client, desk, **fields: str) -> dict[str, list[str]]:
    html = client.get(desk.task.get_absolute_url()).content.decode()
    return form_of(html, "task").data(**fields)


def test_a_split_is_asked_for_beside_the_finding_waited_for_and_taken(desk, page):
    desk.says(split_into(*PARTS))
    html = page.get(desk.task.get_absolute_url()).content.decode()
    assert f'value="split:checklist:{I1}"' in html

    asked = page.post(url(desk), sheet(page, desk, ask=f"split:checklist:{I1}"), **HTMX).content.decode()
    row = Suggestion.objects.get()
    here = f"/suggestions/{row.pk}/"
    assert 'hx-trigger="every 1s"' in asked and "Waiting for a worker" in asked
    assert "Cancel" in page.get(desk.task.get_absolute_url()).content.decode()  # also after a reload
    desk.answer(row)
    ready = page.get(here, **HTMX).content.decode()
    assert "every 1s" not in ready and PARTS[1] in ready and "proposed by clever" in ready

    taken = page.post(here, sheet(page, desk, decide="take", **{f"assist.{row.pk}.0": "Mine."}), **HTMX)

    assert taken["HX-Trigger-After-Settle"] == "studio:newer" and "Taken" in taken.content.decode()
    assert [item.criterion for item in desk.spec.checklist][:2] == ["Mine.", PARTS[1]]
    html = page.get(desk.task.get_absolute_url()).content.decode()
    assert "proposed by clever (clever-1)" in html and "edited before accepting" in html
    assert "A split of item 1, proposed by clever, edited before accepting" in html


def test_words_typed_and_not_saved_are_in_the_question_and_stay(desk, page):
    desk.says(split_into(*PARTS))

    page.post(url(desk), sheet(page, desk, title="Typed just now", ask=f"split:checklist:{I1}"), **HTMX)

    row = Suggestion.objects.get()
    assert (row.revision.number, desk.spec.title) == (2, "Typed just now")
    desk.answer(row)
    typed = sheet(page, desk, description="Typed while it worked", decide="take")
    page.post(f"/suggestions/{row.pk}/", typed)  # without a script: the page is loaded again
    html = page.get(desk.task.get_absolute_url()).content.decode()
    assert ">\nTyped while it worked</textarea>" in html and PARTS[1] in html
    assert not any(name.startswith("assist.") for name in WorkingCopy.objects.get().sheet)


@pytest.mark.parametrize("htmx", [HTMX, {}], ids=["htmx", "plain"])
def test_asking_about_an_approved_task_leaves_it_approved_unless_something_was_typed_and_then_says_so(desk, page, htmx):
    desk.says(split_into(*PARTS))
    Task.objects.update(state="approved")

    page.post(url(desk), sheet(page, desk, ask=f"split:checklist:{I1}"), **htmx)
    assert (desk.fresh.state, desk.fresh.version) == ("approved", 1)

    answer = page.post(url(desk), sheet(page, desk, title="Typed", ask=f"split:checklist:{I1}"), follow=True, **htmx)
    assert "Version 1 was approved. Version 2 is a draft" in answer.content.decode()
    assert desk.fresh.state == "draft"
    assert desk.fresh.revisions.get(number=2).note == "Saved before requesting AI help"


def test_taking_a_suggestion_for_an_approved_task_says_that_it_is_a_draft_again(desk, page):
    desk.says(split_into(*PARTS))
    row = desk.ask()
    Task.objects.update(state="approved")

    taken = page.post(f"/suggestions/{row.pk}/", {"decide": "take"}, **HTMX).content.decode()

    assert "Version 1 was approved. Version 2 is a draft" in taken and 'hx-swap-oob="beforeend:#messages"' in taken


def test_a_refusal_tells_the_page_too_that_its_words_became_a_version(desk, page):
    desk.helper.endpoint = None
    desk.helper.save()

    answer = page.post(url(desk), sheet(page, desk, title="Typed", ask="leaks:initial_request"), **HTMX)

    assert "AI help is off" in answer.content.decode()
    assert answer["HX-Trigger-After-Settle"] == "studio:newer" and desk.spec.title == "Typed"


def test_without_scripts_it_works_by_loading_the_page_again(desk, page):
    desk.says(split_into(*PARTS))

    answer = page.post(url(desk), sheet(page, desk, ask=f"split:checklist:{I1}"))
    row = desk.answer(Suggestion.objects.get())
    assert answer["Location"].endswith(f"#suggestion-{row.pk}")
    assert PARTS[0] in page.get(answer["Location"]).content.decode()
    page.post(f"/suggestions/{row.pk}/", {"decide": "dismiss"})

    row.refresh_from_db()
    assert row.state == "dismissed" and desk.spec.checklist[0].criterion == BUNDLE


def test_a_failure_is_shown_and_asked_again(desk, page):
    desk.says("nonsense", "nonsense", "nonsense", split_into(*PARTS))
    row = desk.ask()
    shown = page.get(f"/suggestions/{row.pk}/", **HTMX).content.decode()
    assert "no usable answer" in shown and "Try again" in shown

    page.post(url(desk), {"again": str(row.pk)}, **HTMX)

    assert desk.answer(Suggestion.objects.first()).state == "ready"
    row.refresh_from_db()
    assert row.state == "dismissed"


def test_changed_words_are_shown_beside_the_suggestion(desk, page):
    desk.says(split_into(*PARTS))
    row = desk.ask()
    typed = sheet(page, desk, decide="take", **{f"checklist.{I1}.criterion": "Changed by hand."})
    page.post(f"{desk.task.get_absolute_url()}", {**typed, "decide": []})

    shown = page.post(f"/suggestions/{row.pk}/", {"decide": "take"}, **HTMX).content.decode()

    assert "Changed by hand." in shown and PARTS[0] in shown and "all the same" in shown
    assert desk.spec.checklist[0].criterion == "Changed by hand."
    page.post(f"/suggestions/{row.pk}/", {"decide": "over"}, **HTMX)
    assert desk.spec.checklist[0].criterion == PARTS[0]


def test_what_a_model_writes_is_text_wherever_it_shows(desk, page):
    intent = {"content": f"Say {HOSTILE}.", "scope": "persistent", "from": "question", "ref": "", "quote": HOSTILE,
              "why": HOSTILE}  # fmt: skip
    desk.says(json.dumps({"intents": [intent]}))
    row = desk.ask("intents")

    for html in (page.get(f"/suggestions/{row.pk}/", **HTMX), page.get(desk.task.get_absolute_url())):
        assert HOSTILE not in html.content.decode() and "&lt;script&gt;" in html.content.decode()


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_who_may_not_edit_is_offered_nothing_and_refused(desk, client, role):
    row = desk.ask(work=False)
    client.force_login(person(desk.benchmark, role))

    html = client.get(desk.task.get_absolute_url()).content.decode()

    assert "/suggest/" not in html and "data-proposal" not in html
    assert client.post(url(desk), {"ask": f"split:checklist:{I1}"}).status_code == 403
    assert client.get(f"/suggestions/{row.pk}/").status_code == 404
    assert client.post(f"/suggestions/{row.pk}/", {"decide": "take"}).status_code == 404
    assert client.get(f"/benchmarks/{desk.benchmark.slug}/help/").status_code == 403


def test_someone_elses_benchmark_is_not_there(desk, client):
    row = desk.ask(work=False)
    client.force_login(person(benchmark_of(task("other")), "owner"))

    assert client.post(url(desk), {"ask": f"split:checklist:{I1}"}).status_code == 404
    assert client.get(f"/suggestions/{row.pk}/").status_code == 404
    assert client.get(f"/benchmarks/{desk.benchmark.slug}/help/").status_code == 404


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
def test_a_bent_request_asks_nothing(desk, page, sent):
    answer = page.post(url(desk), sent, **HTMX)

    assert answer.status_code == 200 and 'role="alert"' in answer.content.decode()
    assert not Suggestion.objects.exists()


def test_where_nobody_helps_only_owners_read_a_quiet_line(desk, page):
    desk.helper.endpoint = None
    desk.helper.save()

    assert "/suggest/" not in page.get(desk.task.get_absolute_url()).content.decode()
    page.force_login(person(desk.benchmark, "owner"))
    html = page.get(desk.task.get_absolute_url()).content.decode()
    assert "AI help is off" in html and "/suggest/" not in html


def test_an_owner_chooses_who_helps_and_how_much_it_may_use(desk, client):
    owner = person(desk.benchmark, "owner")
    client.force_login(owner)
    desk.ask(work=False)
    here = f"/benchmarks/{desk.benchmark.slug}/help/"
    form = {"endpoint": desk.endpoint.pk, "period": "ever", "most_tokens": "5000", "most_cost": "1.50"}

    assert "A split" in client.get(here).content.decode()
    assert client.post(here, form | {"most_cost": "-1"}).status_code == 422
    assert client.post(here, form).status_code == 302

    row = Helper.objects.get()
    assert (row.most_tokens, str(row.most_cost), row.period, row.changed_by) == (5000, "1.50", "ever", owner)
    client.post(here, form | {"endpoint": ""})
    assert Helper.objects.get().endpoint is None


def test_a_page_with_many_rows_asks_the_database_no_more_often(desk, page):
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            page.get(desk.task.get_absolute_url())
        return len(caught)

    queries()
    few = queries()
    from studio.domain.task import ChecklistItem
    from studio.tasks.save import save_task

    more = tuple(ChecklistItem(uid=f"00000000-0000-4000-8000-0000000001{n:02}", criterion=f"{n} is there.")
                 for n in range(30))  # fmt: skip
    save_task(desk.task.pk, desk.spec.model_copy(update={"checklist": (*desk.spec.checklist, *more)}), by=desk.author)

    queries()
    assert queries() <= few
