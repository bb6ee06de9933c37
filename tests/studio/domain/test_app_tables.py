"""Tables of app data as cells and as files, also as files that mean harm."""

from __future__ import annotations

import json

import pytest

from studio.domain.app_tables.cells import numbered, read_record, write_cell
from studio.domain.app_tables.declared import AppField, DeclaredTable
from studio.domain.app_tables.table_files import MAX_BYTES, TableFileError, read_table_file, write_table

NOTES = DeclaredTable(
    "notes",
    "note",
    (
        AppField("note_id", "number", required=True),
        AppField("title", "text", required=True),
        AppField("price", "amount"),
        AppField("pinned", "flag"),
        AppField("tags", "texts"),
        AppField("links", "numbers"),
        AppField("more", "json"),
    ),
    ("title",),
)
RECORDS = [
    {"note_id": 1, "title": "=SUM(A1)", "price": -2.5, "pinned": True, "tags": ["a", "b, c"], "links": [3, 8]},
    {"note_id": 2, "title": 'two\nlines; “quoted” "too"', "tags": ["[x"], "more": {"k": [1, None]}},
    {"note_id": 3, "title": "'-already guarded"},
]


def test_csv_that_was_written_is_read_as_the_same_records():
    read = read_table_file(NOTES, ("\ufeff" + write_table(NOTES, RECORDS)).encode())

    assert list(read.records) == RECORDS
    assert read.flaws == ()


def test_texts_that_a_spreadsheet_would_run_are_guarded_and_numbers_are_not():
    line = write_table(NOTES, RECORDS[:1]).splitlines()[1]

    assert line.startswith("1,'=SUM(A1),-2.5,yes,")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"note_id;title\n7;Rye, wheat\n", "CSV separated by semicolons"),
        (b"Title\tNote ID\nRye, wheat\t7\n", "CSV separated by tabs"),
        ("title|note_id\nRye, wheat|7".encode("utf-16"), "CSV separated by bars"),
        (b'\xef\xbb\xbf"Note_ID","Title"\r\n7,"Rye, wheat"\r\n\r\n', "CSV separated by commas"),
        (b'[{"note_id": 7, "title": "Rye, wheat"}]', "JSON"),
        (b' {"notes": [{"note_id": 7, "title": "Rye, wheat"}]}', "JSON"),
    ],
)
def test_files_of_any_make_are_read(content: bytes, kind: str):
    read = read_table_file(NOTES, content)

    assert (list(read.records), read.flaws, read.kind) == ([{"note_id": 7, "title": "Rye, wheat"}], (), kind)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "This is empty"),
        (b"title\nNUL \0 here", "NUL bytes"),
        (b"title\n\xff\xfe", "not UTF-8 text"),
        (b"PK\x03\x04 a spreadsheet", "must name the columns: note_id, title"),
        (b"title,colour\nRye,red", "“colour” is no column of this table"),
        (b"title,Title\na,b", "“title” stands there twice"),
        (b'title\n"never closed', "cannot be read as CSV"),
        (b"title\n" + b"x" * 200_000, "cannot be read as CSV"),
        (b"x" * (MAX_BYTES + 1), "at most 5,000,000"),
        (b"[" * 100_000, "This is not JSON"),
        (b'[{"price": NaN}]', "NaN is not a valid number there"),
        (b'[{"price": 1e999}]', "1e999 is not a valid number there"),
        (b"[" + b"{}," * 10_000 + b"{}]", "at most 10,000"),
        (b'{"emails": []}', "with the list “notes”"),
        (b"title\n" + b"a\n" * 10_001, "at most 10,000"),
    ],
)
def test_unusable_files_are_refused_with_the_reason(content: bytes, message: str):
    with pytest.raises(TableFileError, match=message):
        read_table_file(NOTES, content)


def test_flaws_name_row_and_column():
    content = b"note_id,title,price,pinned,links\n1,,12 EUR,perhaps,a\n1.5,b\n4,c,1e400,,\n4,d,,,\n"

    assert [str(flaw) for flaw in read_table_file(NOTES, content).flaws] == [
        "Row 1, title: This field is required.",
        "Row 1, price: Write a number, such as 12.50.",
        "Row 1, pinned: Write yes or no.",
        "Row 1, links: Write whole numbers with commas between them, such as 3, 8.",
        "Row 2: This has 2 values; the first line names 5 columns.",
        "Row 2, note_id: Write a whole number, such as 12.",
        "Row 3, price: Write a number, such as 12.50.",
        "Row 4, note_id: Row 3 has 4 too; each note has its own.",
    ]
    assert [str(flaw) for flaw in read_table_file(NOTES, b'[{"note_id": 1, "title": "\\ud800"}]').flaws] == [
        "Row 1: This holds a character that no text has."
    ]
    assert read_record(NOTES, {"note_id": "1", "title": "a", "more": '"\\ud800"'}, 1)[1]
    odd = json.dumps([1, {"title": "a", "colour": "red"}, {"note_id": [1]}]).encode()
    assert [str(flaw) for flaw in read_table_file(NOTES, odd).flaws] == [
        "Row 1: This must be an object with the record’s fields.",
        "Row 2, colour: A note has no such field.",
        "Row 2, note_id: This must be a text or a number.",
    ]


def test_unchanged_cells_leave_stored_values_untouched():
    stored = {"note_id": 1, "title": "a\r\nb", "price": "2", "tags": [], "unknown": 5}
    cells = {field.name: write_cell(field, stored.get(field.name)).replace("\r\n", "\n") for field in NOTES.fields}

    assert read_record(NOTES, cells, 1, stored) == (stored, [])
    assert read_record(NOTES, cells | {"price": ""}, 1, stored)[0] == {
        name: value for name, value in stored.items() if name != "price"
    }


def test_records_without_a_number_get_the_one_the_app_gives():
    assert [record["note_id"] for record in numbered(NOTES, [{}, {"note_id": 4}, {}])] == [5, 4, 6]


LETTERS = DeclaredTable(
    "letters",
    "letter",
    (
        AppField("letter_id", "number"),
        AppField("day", "text", form="date"),
        AppField("hour", "text", form="time"),
        AppField("sent_at", "text", form="moment"),
        AppField("sender", "text", form="email"),
        AppField("recipients", "texts", form="email"),
        AppField("number", "text", form="phone"),
        AppField("priority", "text", choices=("low", "high")),
        AppField("days", "texts", choices=("monday", "friday")),
    ),
)
GOOD = {
    "day": "2026-04-13",
    "hour": "09:30",
    "sent_at": "2026-04-13T09:30:00",
    "sender": "ada@example.com",
    "recipients": "noor@example.com, hal@example.com",
    "number": "+4155550100",
    "priority": "high",
    "days": "monday, friday",
}
BAD = [
    ("day", "13 April", "Write a date such as 2026-04-13."),
    ("day", "2026-02-30", "Write a date such as 2026-04-13."),
    ("hour", "25:00", "Write a time from 00:00 to 23:59, such as 09:30."),
    ("sent_at", "2026-04-13", "Write a date and a time such as 2026-04-13T09:30:00."),
    ("sender", "Ada", "Write an address such as ada@example.com."),
    ("recipients", "noor@example.com, Hal", "Write an address such as ada@example.com."),
    ("number", "call me", "Write digits only, such as 4155550100."),
    ("priority", "soon", "“soon” is none of low, high."),
    ("days", "monday, someday", "“someday” is none of monday, friday."),
]


def test_dates_addresses_and_choices_are_read_as_they_are():
    record, flaws = read_record(LETTERS, GOOD, 1)

    assert flaws == []
    assert record["recipients"] == ["noor@example.com", "hal@example.com"]
    assert {name: write_cell(LETTERS.fields[at], record[name]) for at, name in enumerate(GOOD, 1)} == GOOD


def test_a_moment_picked_in_a_browser_has_its_seconds():
    assert read_record(LETTERS, {"sent_at": "2026-04-13T09:30"}, 1)[0] == {"sent_at": "2026-04-13T09:30:00"}


@pytest.mark.parametrize(("field", "text", "message"), BAD)
def test_what_is_no_date_address_or_choice_is_refused_in_a_cell_and_in_both_kinds_of_file(field, text, message):
    [in_cell] = read_record(LETTERS, {field: text}, 1)[1]
    [in_csv] = read_table_file(LETTERS, f'{field}\n"{text}"\n'.encode()).flaws
    value = text.split(", ") if field in ("recipients", "days") else text
    [in_json] = read_table_file(LETTERS, json.dumps([{field: value}]).encode()).flaws

    assert [flaw.message for flaw in (in_cell, in_csv, in_json)] == [message] * 3
    assert [flaw.column for flaw in (in_cell, in_csv, in_json)] == [field] * 3


def test_what_stands_there_stays_although_it_has_no_such_form():
    stored = {"letter_id": 1, "day": "next week"}

    assert read_record(LETTERS, {"day": "next week", "hour": "09:30"}, 1, stored) == ({**stored, "hour": "09:30"}, [])
