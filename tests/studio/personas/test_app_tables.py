"""Tables of app data edited in the browser, imported and exported."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studio.domain.app_tables import table_files
from studio.models import Persona, Role
from studio.personas import app_data
from studio.personas.app_data import save_apps
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of
from tests.studio.personas.test_app_data import NOTES, data_of

pytestmark = pytest.mark.django_db
MORE = {
    "accounts": NOTES["accounts"],
    "notes": [*NOTES["notes"], {"note_id": 7, "owner": "ada@example.com", "title": "Rye", "tags": ["a", "b"]}],
}


@pytest.fixture(scope="module")
def shared_desk(module_db) -> SimpleNamespace:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=("simple_note__login",))
    save_apps(persona, {"simple_note": json.dumps(MORE)}, "", by=author)
    return SimpleNamespace(benchmark=benchmark, author=author, persona=persona)


@pytest.fixture
def desk(shared_desk: SimpleNamespace) -> SimpleNamespace:
    desk = fresh(shared_desk)
    desk.client = Client()
    desk.client.force_login(desk.author)
    return desk


def url(desk: SimpleNamespace, name: str = "app_table", *, table: str = "notes", rest: tuple[str, ...] = ()) -> str:
    return reverse(f"studio:{name}", args=[desk.benchmark.slug, "baker", "simple_note", table, *rest])


def notes_of(desk: SimpleNamespace, table: str = "notes") -> list[dict[str, Any]]:
    return json.loads(data_of(desk.persona)["simple_note"]).get(table, [])


def grid(desk: SimpleNamespace) -> dict[str, list[str]]:
    return form_of(desk.client.get(url(desk)).content.decode(), "records").data()


def new_note(form: dict[str, list[str]], **cells: str) -> dict[str, list[str]]:
    added = {f"records.new1.{name}": [text] for name, text in cells.items()}
    return {**form, "records": [*form["records"], "new1"], **added}


def send(desk: SimpleNamespace, mode: str, content: bytes | str, **more: Any):
    data = {"mode": mode, **more}
    if isinstance(content, bytes):
        return desk.client.post(url(desk, "app_import"), data | {"file": SimpleUploadedFile("notes.csv", content)})
    return desk.client.post(url(desk, "app_import"), data | {"content": content})


def test_records_are_added_changed_and_deleted_in_one_version(desk: SimpleNamespace):
    form = grid(desk)
    before = Persona.objects.get(pk=desk.persona.pk).version
    form |= {"records.r1.title": ["Rye bread"], "records.r1.pinned": ["yes"]}
    form["records"].remove("r0")

    answer = desk.client.post(url(desk), new_note(form, owner="ada@example.com", title="New", tags="x, y"))

    assert answer.status_code == 302
    assert Persona.objects.get(pk=desk.persona.pk).version == before + 1
    assert notes_of(desk) == [
        {"note_id": 7, "owner": "ada@example.com", "title": "Rye bread", "tags": ["a", "b"], "pinned": True},
        {"note_id": 8, "owner": "ada@example.com", "title": "New", "tags": ["x", "y"]},
    ]
    assert notes_of(desk, "accounts") == MORE["accounts"]


def test_file_close_to_the_limit_is_imported_although_its_records_are_longer_as_json(
    desk: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(table_files, "MAX_BYTES", 900)
    rows = "".join(f"{number},ada@example.com,Note {number}\n" for number in range(20, 50))
    page = send(desk, "add", f"note_id,owner,title\n{rows}".encode()).content.decode()
    form = form_of(page, "import")

    assert len(form.data()["content"][0]) > 900
    assert 'enctype="multipart/form-data" id="import"' in page  # three bytes for each quote otherwise
    answer = desk.client.post(url(desk, "app_import"), form.data() | {"save": "yes"})
    assert answer.status_code == 302
    assert len(notes_of(desk)) == len(MORE["notes"]) + 30


def test_preview_says_that_an_apps_data_would_become_too_long(desk: SimpleNamespace, monkeypatch: pytest.MonkeyPatch):
    rows = "".join(f"{number},ada@example.com,Note {number}\n" for number in range(20, 50))
    monkeypatch.setattr(app_data, "MAX_TEXT", 1_000)
    answer = send(desk, "add", f"note_id,owner,title\n{rows}".encode())

    assert answer.status_code == 422
    assert "an app&#x27;s data has at most 1,000. Leave out records or columns." in answer.content.decode()
    assert 'id="import"' not in answer.content.decode()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"note_id": "seven", "title": "a", "owner": "ada@example.com"}, "Write a whole number, such as 12."),
        ({"note_id": "9", "owner": "ada@example.com"}, "This field is required."),
        ({"note_id": "7", "title": "a", "owner": "ada@example.com"}, "Row 2 has 7 too; each note has its own."),
    ],
)
def test_refused_cells_stay_on_the_page_and_nothing_is_saved(desk: SimpleNamespace, cells, message: str):
    before = notes_of(desk)
    answer = desk.client.post(url(desk), new_note(grid(desk), **cells))

    page = answer.content.decode()
    assert answer.status_code == 422
    assert message in page
    typed = form_of(page, "records").data()
    assert typed["records"][-1] == "new1" and typed["records.new1.note_id"] == [cells["note_id"]]
    assert notes_of(desk) == before


def test_reference_that_leads_nowhere_is_saved_and_named(desk: SimpleNamespace):
    answer = desk.client.post(url(desk), new_note(grid(desk), owner="bea@example.com", title="New"), follow=True)

    assert "Row 3, owner: there is no account" in answer.content.decode()
    assert len(notes_of(desk)) == 3


def test_table_that_somebody_else_changed_is_not_overwritten(desk: SimpleNamespace):
    form = grid(desk)
    desk.client.post(url(desk), new_note(form, owner="ada@example.com", title="Hers"))

    answer = desk.client.post(url(desk), new_note(form, owner="ada@example.com", title="Mine"))

    assert answer.status_code == 422
    assert "This table was changed in the meantime" in answer.content.decode()
    assert "Mine" in answer.content.decode()
    assert [note["title"] for note in notes_of(desk)][-1] == "Hers"


def test_records_outside_of_a_search_stay(desk: SimpleNamespace):
    page = desk.client.get(url(desk) + "?q=rye").content.decode()
    form = form_of(page, "records").data()
    assert form["records"] == ["r1"]

    desk.client.post(url(desk) + "?q=rye", form | {"records": []})

    assert [note["title"] for note in notes_of(desk)] == ["Flour <b>order</b>"]


def test_row_buttons_work_without_scripts(desk: SimpleNamespace):
    page = desk.client.post(url(desk), grid(desk) | {"do": ["records:remove:r0"]}).content.decode()

    assert form_of(page, "records").data()["records"] == ["r1"]
    assert len(notes_of(desk)) == 2


def test_csv_is_shown_first_and_then_imported(desk: SimpleNamespace):
    shown = send(desk, "add", b"title;owner;note_id\nOats;ada@example.com;7\nRice;ada@example.com;\n")

    page = shown.content.decode()
    assert shown.status_code == 200
    assert "CSV separated by semicolons: 2 records." in page and "1 is new, 1" in page
    assert len(notes_of(desk)) == 2

    form = form_of(page, "import").data()
    answer = desk.client.post(url(desk, "app_import"), form | {"save": ["yes"]})

    assert answer.status_code == 302
    assert [(note["note_id"], note["title"]) for note in notes_of(desk)] == [
        (8, "Flour <b>order</b>"), (7, "Oats"), (9, "Rice"),
    ]  # fmt: skip


def test_flaws_of_an_import_name_rows_of_the_file(desk: SimpleNamespace):
    page = send(desk, "add", "title,owner,note_id\nOats,ada@example.com,7\nRice,eve,\nRye,eve,8\n").content.decode()

    assert re.findall(r"Row (\d), owner: there is no account", page) == ["2", "3"]


def test_json_replaces_the_table_if_asked_to(desk: SimpleNamespace):
    text = json.dumps([{"owner": "ada@example.com", "title": "Only"}])

    form = form_of(send(desk, "replace", text).content.decode(), "import").data()
    desk.client.post(url(desk, "app_import"), form | {"save": ["yes"]})

    assert [note["title"] for note in notes_of(desk)] == ["Only"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"title,owner\n,ada@example.com\n", "Row 1, title: This field is required."),
        (b'[{"title": 5, "owner": "a"}, {"title": "b", "owner": []}]', "Row 1, title: Input should be a valid string."),
        (b'[{"title": "\\ud800", "owner": "a"}]', "Row 1: This holds a character that no text has."),
        (b"title\0", "NUL bytes"),
        (b"a,b\n1,2", "must name the columns"),
        (b"x" * 5_000_001, "a table has at most 5,000,000"),
    ],
)
def test_import_with_flaws_saves_nothing_even_if_told_to(desk: SimpleNamespace, content: bytes, message: str):
    before = notes_of(desk)

    answer = send(desk, "replace", content, save="yes")

    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert notes_of(desk) == before


def test_tables_are_downloaded_as_csv_and_json(desk: SimpleNamespace):
    csv = desk.client.get(url(desk, "app_export", rest=("csv",)))
    records = desk.client.get(url(desk, "app_export", rest=("json",)))

    assert csv["Content-Disposition"] == 'attachment; filename="simple_note-notes.csv"'
    assert "7,ada@example.com,Rye,," in csv.content.decode("utf-8-sig")
    assert [record["note_id"] for record in json.loads(records.content)] == [8, 7]
    assert desk.client.get(url(desk, "app_export", rest=("exe",))).status_code == 404


def test_unknown_table_is_not_found(desk: SimpleNamespace):
    assert desk.client.get(url(desk, table="tokens")).status_code == 404


def test_records_are_offered_by_the_names_people_write(desk: SimpleNamespace):
    contacts = [{"owner": "1", "first_name": "Denise", "last_name": "Maldonado", "phone_number": "415"}]
    save_apps(desk.persona, {"phone": json.dumps({"contacts": contacts})}, "", by=desk.author)

    answer = desk.client.get(reverse("studio:app_names", args=[desk.benchmark.slug, "baker"]))

    assert answer.json()["records"][3:] == [
        ["Denise Maldonado", "Phone contact"],
        ["Flour <b>order</b>", "Simple Note note"],
        ["Rye", "Simple Note note"],
    ]


def test_finding_about_a_record_goes_once_the_app_holds_it(desk: SimpleNamespace):
    task = a_task(desk.persona, by=desk.author, initial_request="Read me the note “Oats”, please.")
    assert task.findings.filter(rule="request-unknown-record").exists()

    desk.client.post(url(desk), new_note(grid(desk), owner="ada@example.com", title="Oats"))

    assert not task.findings.filter(rule="request-unknown-record").exists()


def test_dates_are_picked_and_a_stored_text_that_is_none_is_kept_and_named(desk: SimpleNamespace):
    owner = {"owner": "ada@example.com"}
    notes = [
        {**owner, "title": "A", "created_at": "2026-04-13T09:30:00"},
        {**owner, "title": "B", "created_at": "once"},
    ]
    accounts = [{"username": "ada@example.com", "password": "invented"}]
    save_apps(desk.persona, {"simple_note": json.dumps({"accounts": accounts, "notes": notes})}, "", by=desk.author)

    page = desk.client.get(url(desk)).content.decode()
    desk.client.post(url(desk), new_note(grid(desk), **owner, title="C", created_at="2026-05-01T10:00"))
    refused = desk.client.post(url(desk), new_note(grid(desk), **owner, title="D", created_at="tomorrow"))

    assert '<input type="datetime-local" name="records.r0.created_at" value="2026-04-13T09:30:00"' in page
    assert '<input type="text" name="records.r1.created_at" value="once"' in page
    assert "Write a date and a time such as 2026-04-13T09:30:00." in page
    assert [note["created_at"] for note in notes_of(desk)] == ["2026-04-13T09:30:00", "once", "2026-05-01T10:00:00"]
    assert refused.status_code == 422
