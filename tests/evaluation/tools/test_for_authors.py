"""Apps as authors edit them: what a field takes is read from what the app's tools take."""

from __future__ import annotations

import json

import pytest

from studio.domain.app_data import check_records, declared_apps, declared_tables, read_app

APPS = ["amazon", "file_system", "gmail", "phone", "simple_note", "splitwise", "spotify", "todoist"]


@pytest.mark.parametrize("app", APPS)
def test_the_example_of_an_app_has_no_flaw(app: str):
    assert check_records(app, json.loads(read_app(app, None).example)) == []


def test_dates_addresses_and_choices_are_declared():
    fields = {
        (app, table.name, field.name): field
        for app in declared_apps()
        for table in declared_tables(app)
        for field in table.fields
    }

    assert fields["todoist", "tasks", "priority"].choices == ("low", "medium", "high", "urgent")
    assert fields["phone", "alarms", "repeat_days"].choices[:2] == ("monday", "tuesday")
    assert fields["todoist", "tasks", "due_date"].form == "date"
    assert fields["phone", "alarms", "time"].form == "time"
    assert fields["gmail", "emails", "sent_at"].form == "moment"
    assert fields["gmail", "emails", "recipients"].form == "email"
    assert fields["phone", "messages", "receiver"].form == "phone"
    assert fields["simple_note", "notes", "title"].form == ""


def test_people_sign_in_to_the_phone_by_number_and_elsewhere_by_email():
    assert {app for app, declared in declared_apps().items() if declared.signs_in_by == "phone_number"} == {"phone"}


def test_stored_data_with_an_impossible_date_is_named_and_can_be_used():
    tasks = [{"title": "Call", "project_id": 1, "due_date": "soon"}]
    data = {"accounts": [{"username": "a@b.org"}], "projects": [{"owner": "a@b.org", "name": "P"}], "tasks": tasks}

    [flaw] = [flaw for flaw in check_records("todoist", data) if flaw.table == "tasks"]

    assert (flaw.column, flaw.message, flaw.serious) == ("due_date", "Write a date such as 2026-04-13.", False)
