from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.models import MadeCall, ModelEndpoint, Rehearsal, Session, Turn
from evaluation.rehearsals import lifecycle
from studio.drafts.autosave import EditorKey, autosave
from studio.drafts.load import load_task
from studio.models import Revision, Task, User
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, task
from tests.evaluation.factories import person
from tests.evaluation.rehearsals.builders import reloaded, work_on

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
def draft(client: Client) -> Task:
    """A task whose author is signed in, and scripted models."""
    benchmark = benchmark_of(task("a", intents=intents("Name the fee.", "Sign it."), assets=(file("given.txt", "x"),)))
    client.force_login(person(benchmark, "author"))
    for name in ("scripted-helpful", "scripted-user"):
        endpoint(name)
    return Task.objects.get(persona__benchmark=benchmark)


def start(client: Client, task: Task, seat: str = "agent", judge: str = "scripted-user") -> Rehearsal:
    ids = {row.name: row.pk for row in ModelEndpoint.objects.all()}
    form = {"seat": seat, "agent": ids["scripted-helpful"], "judge": ids.get(judge, "")}
    answer = client.post(f"{task.get_absolute_url()}rehearse/", form)
    assert answer.status_code == 302, answer.content.decode()
    return Rehearsal.objects.get(pk=answer["Location"].rstrip("/").rpartition("/")[2])


def post(client: Client, row: Rehearsal, action: str, **form: str) -> str:
    answer = client.post(f"/rehearsals/{row.pk}/{action}/", form, follow=True)
    return f"{answer.status_code} {answer.content.decode()}"


def text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.slow
def test_rehearsal_from_the_assistants_seat(client: Client, draft: Task, scripted):
    row = start(client, draft)

    page = post(client, row, "answer", text="Shall I sign it? The fee is 70.")
    assert "is judging which intents the reply met" in page and 'http-equiv="refresh"' in page
    while reloaded(row).state == "working":
        work_on(row)
        page = post(client, row, "answer", text="The fee is named and I sign it.")

    assert "Rehearsal over" in page
    assert "Proc for this session" in page
    assert page.count(f'href="{draft.get_absolute_url()}rehearse/"') == 3
    assert "scripted" in text(page)
    assert "2 of 2" in page or "1 of 2" in page or "0 of 2" in page
    listed = client.get(f"{draft.get_absolute_url()}rehearse/").content.decode()
    assert f"/rehearsals/{row.pk}/" in listed


@pytest.mark.slow
def test_rehearsal_from_the_users_seat_with_manual_decisions(client: Client, draft: Task, scripted):
    row = start(client, draft, "user", "")
    work_on(row)

    page = client.get(f"/rehearsals/{row.pk}/").content.decode()
    assert "What did this reply do?" in page
    assert page.count('value="neither" checked') == 2

    page = post(client, row, "decide", **{"choice.1": "met", "choice.2": "asked", "message": "Yes, sign it."})
    assert "is working on its answer" in page
    work_on(row)
    page = client.get(f"/rehearsals/{row.pk}/").content.decode()
    assert "Yes, sign it." in page
    assert "● completed" in text(page) and "◐ inferred" in text(page)

    assert "Rehearsal over" in post(client, row, "decide")


def test_rehearsal_ended_early_shows_the_unjudged_reply(client: Client, draft: Task, scripted):
    row = start(client, draft, "user", "")
    work_on(row)

    page = text(post(client, row, "end"))

    assert "The rehearsal ended before this reply was judged." in page
    assert "Please write the note a." in page
    assert ("Rehearsal over: You ended it." in page and "0.0 % Proc" in page) or "Proc for this session 0.0 %" in page
    assert page.count("◌ open") == 3


def test_rejected_text_is_shown_again(client: Client, draft: Task, scripted):
    row = start(client, draft)

    assert post(client, row, "answer", text="  ").startswith("422")
    page = post(client, row, "write", path="../out", content="my words")
    assert page.startswith("422") and "my words" in page and "inside the workspace" in page
    page = post(client, row, "keep", position="now-user", excerpt="Name the fee.", kind="intent")
    assert page.startswith("422") and "Intent 1 of the draft already says this." in page


def test_user_returns_to_the_rehearsal_after_signing_in(client: Client, draft: Task, scripted):
    row = start(client, draft)

    assert client.get(f"/rehearsals/{row.pk}/answer/")["Location"] == f"/rehearsals/{row.pk}/#now"
    assert client.get(f"/rehearsals/{row.pk}/nothing/").status_code == 404


def test_model_failure_is_shown_with_the_preserved_text(client: Client, draft: Task, scripted):
    row = start(client, draft)
    ModelEndpoint.objects.filter(name="scripted-user").update(key_env="NOT_SET_API_KEY")

    post(client, row, "answer", text="My long answer.")
    work_on(row)
    page = client.get(f"/rehearsals/{row.pk}/").content.decode()

    assert ">\nMy long answer.</textarea>" in page
    assert "NOT_SET_API_KEY" in page and "Your text is kept" in page


def test_polling_page_refreshes_once_model_work_is_over(client: Client, draft: Task, scripted):
    row = start(client, draft, "user", "")
    asking = {"HX-Request": "true"}

    waiting = client.get(f"/rehearsals/{row.pk}/", headers=asking)
    assert (waiting.status_code, "HX-Refresh" in waiting) == (200, False)
    work_on(row)
    assert client.get(f"/rehearsals/{row.pk}/", headers=asking)["HX-Refresh"] == "true"


def test_calls_that_the_agent_has_made_are_shown_while_it_works(client: Client, draft: Task):
    row = start(client, draft, "user", "")
    Session.objects.update(state="running")
    MadeCall.objects.create(session=row.session, turn=1, key="1", name="read_file", record={"result": "x"})
    MadeCall.objects.create(session=row.session, turn=1, key="2", name="exec")

    now = text(client.get(f"/rehearsals/{row.pk}/", headers={"HX-Request": "true"}).content.decode())

    assert now == "read_file done exec runs"
    assert "exec runs" in text(client.get(f"/rehearsals/{row.pk}/").content.decode())


@pytest.mark.slow
def test_files_are_written_shown_changed_and_removed(client: Client, draft: Task, scripted):
    row = start(client, draft)

    assert ("“notes/a.md” was added to the workspace.") in post(
        client, row, "write", path="notes/a.md", content="one\r\ntwo"
    )
    page = client.get(f"/rehearsals/{row.pk}/?file=notes/a.md").content.decode()
    assert "one\ntwo</textarea>" in page
    assert "notes/a.md" not in text(post(client, row, "remove", path="notes/a.md")).partition("Workspace")[2]


@pytest.mark.slow
def test_extracting_text_returns_to_its_turn(client: Client, draft: Task, scripted):
    row = start(client, draft)
    post(client, row, "answer", text="The fee is 70.")
    work_on(row)

    answer = client.post(
        f"/rehearsals/{row.pk}/keep/", {"position": "1-agent", "excerpt": "Use euros.", "kind": "item"}
    )
    quick = client.post(
        f"/rehearsals/{row.pk}/keep/",
        {"position": "1-agent", "excerpt": "Use cents.", "kind": "intent"},
        headers={"HX-Request": "true"},
    )

    assert answer["Location"].endswith(f"/rehearsals/{row.pk}/#turn-1")
    assert "Extracted as intent 3 in the draft" in text(quick.content.decode())
    spec = load_task(draft)
    assert (spec.checklist[-1].criterion, spec.intents[-1].content) == ("Use euros.", "Use cents.")
    assert set(Revision.objects.filter(task=draft, number__gt=1).values_list("note", flat=True)) == {"From a rehearsal"}


def test_reviewer_can_rehearse_but_not_extract(client: Client, draft: Task, scripted):
    benchmark = draft.persona.benchmark
    client.force_login(person(benchmark, "reviewer"))
    row = start(client, draft)

    assert "Make an intent" not in client.get(f"/rehearsals/{row.pk}/").content.decode()
    assert post(client, row, "keep", excerpt="x", kind="intent").startswith("403")


def test_rehearsal_is_private(client: Client, draft: Task, scripted):
    row = start(client, draft)
    benchmark = draft.persona.benchmark
    for roles, start_page in ((("author",), 200), (("auditor",), 403), ((), 404)):
        other: User = person(benchmark, *roles)
        client.force_login(other)
        assert client.get(f"/rehearsals/{row.pk}/").status_code == 404
        assert client.post(f"/rehearsals/{row.pk}/delete/").status_code == 404
        assert client.get(f"{draft.get_absolute_url()}rehearse/").status_code == start_page
    assert Rehearsal.objects.exists()


@pytest.mark.slow
def test_text_of_users_and_models_is_escaped(client: Client, draft: Task, scripted):
    row = start(client, draft, "user", "")
    work_on(row)
    turn = row.session.turns.get()
    turn.delete()
    turn.reply = turn.note = HOSTILE
    turn.save(force_insert=True)
    Session.objects.update(reason=HOSTILE)
    assert "alert(1)" in client.get(f"/rehearsals/{row.pk}/").content.decode()
    post(client, row, "decide", **{"choice.1": "met", "quote.1": HOSTILE, "message": HOSTILE})

    page = client.get(f"/rehearsals/{row.pk}/").content.decode()

    assert "alert(1)" in page
    assert not re.search(r"<script>alert|<img", page)


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


@pytest.mark.slow
def test_number_of_queries_does_not_depend_on_turns(client: Client, draft: Task, scripted):
    row = start(client, draft)
    lifecycle.write_file(row.pk, "a.md", b"1")
    session = row.session
    Session.objects.update(turn_count=1)
    short = queries_of(client, f"/rehearsals/{row.pk}/")
    snapshot = session.turns.get().snapshot
    Turn.objects.bulk_create(
        Turn(session=session, number=number, user_message="m", reply="x", next_message="m", snapshot=snapshot)
        for number in range(2, 40)
    )
    Session.objects.update(turn_count=39)

    assert queries_of(client, f"/rehearsals/{row.pk}/") == short < 28


@pytest.mark.slow
def test_list_has_a_constant_number_of_queries(client: Client, draft: Task, scripted):
    address = f"{draft.get_absolute_url()}rehearse/"
    start(client, draft)
    short = queries_of(client, address)
    for _ in range(5):
        start(client, draft)

    assert queries_of(client, address) == short < 15


def test_editor_links_to_rehearsals(client: Client, draft: Task):
    assert f"{draft.get_absolute_url()}rehearse/" in client.get(draft.get_absolute_url()).content.decode()


def test_start_page_says_that_unsaved_changes_are_not_rehearsed(client: Client, draft: Task):
    address = f"{draft.get_absolute_url()}rehearse/"
    assert "not in a version yet" not in client.get(address).content.decode()
    user = User.objects.get(pk=client.session["_auth_user_id"])
    autosave(EditorKey(task=draft), user, {"title": ["Typed"]}, base_version=draft.version)

    assert "not in a version yet" in client.get(address).content.decode()
