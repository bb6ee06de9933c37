"""A benchmark's licence, contributors, files from elsewhere and the makers' own words."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from studio.domain.credits import Credits, FileOrigin
from studio.domain.options import OptionsError
from studio.models import Benchmark
from tests.at_once import after
from tests.factories import BenchmarkFactory, member

OWN_TEXT = "Only at our own school."


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"licence": "WTFPL"}, "licence", "There is no licence “WTFPL”"),
        ({"licence": "own"}, "licence_text", "needs its text"),
        ({"contributors": ["Ada", "Ada"]}, "contributors", "“Ada” is listed twice"),
        ({"contributors": ["Ada\nBob"]}, "contributors", "pattern"),
        ({"file_origins": [{"path": "a"}, {"path": "a"}]}, "file_origins", "“a” is listed twice"),
    ],
)
def test_invalid_credits_are_refused_at_their_field(given: dict[str, object], field: str, message: str):
    with pytest.raises(OptionsError, match=message) as refused:
        Credits.read(given)

    assert refused.value.field == field


def test_text_of_an_own_licence_belongs_to_an_own_licence_alone():
    assert Credits.read({"licence": "own", "licence_text": OWN_TEXT}).licence_text == OWN_TEXT
    assert Credits.read({"licence": "CC-BY-4.0", "licence_text": OWN_TEXT}).licence_text == ""


def test_origin_covers_its_file_or_all_below_its_folder():
    folder, file = FileOrigin(path="law/skills/tables/"), FileOrigin(path="law/a.md")

    assert folder.covers("law/skills/tables/x/y.md") and not folder.covers("law/skills/tables.md")
    assert file.covers("law/a.md") and not file.covers("law/a.md.bak")
    assert FileOrigin(path="a", source="A book", licence="CC0-1.0").is_known
    assert not FileOrigin(path="a", source="A book").is_known


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [{"licence": "WTFPL"}, {"licence": "own"}, {"licence_text": OWN_TEXT}])
def test_database_refuses_an_unknown_licence_and_a_text_without_its_licence(wrong: dict[str, str]):
    with pytest.raises(IntegrityError), transaction.atomic():
        BenchmarkFactory(**wrong)


@pytest.mark.django_db
def test_settings_page_keeps_what_was_written_and_shows_it_again(client: Client):
    benchmark: Benchmark = BenchmarkFactory()
    client.force_login(member(benchmark, "owner"))
    address = f"/b/{benchmark.slug}/change/"
    page = client.get(address)
    shown = {bound.html_name: bound.value() or "" for bound in (*page.context["form"], *page.context["credits"])}
    written = {
        "licence": "own",
        "licence_text": OWN_TEXT,
        "contributors": "Lovelace, Ada\n\n The Bakery Team ",
        "file_origins": "baker/tasks/bread/a.csv | The exchange | CC0-1.0\nbaker/skills/tables/",
        "limits": "One bakery only.",
    }

    refused = client.post(address, shown | written | {"licence_text": ""}).content.decode()
    client.post(address, shown | written)

    assert "Not saved: 1 field below needs attention" in refused and "A licence of your own needs its text." in refused
    benchmark.refresh_from_db()
    assert benchmark.credits == Credits(
        licence="own",
        licence_text=OWN_TEXT,
        contributors=["Lovelace, Ada", "The Bakery Team"],
        file_origins=[
            FileOrigin(path="baker/tasks/bread/a.csv", source="The exchange", licence="CC0-1.0"),
            FileOrigin(path="baker/skills/tables/"),
        ],
        limits="One bakery only.",
    )
    again = client.get(address).content.decode()
    assert "baker/tasks/bread/a.csv | The exchange | CC0-1.0\nbaker/skills/tables/<" in again


@pytest.mark.django_db
def test_line_about_a_file_needs_at_most_three_parts(client: Client):
    benchmark: Benchmark = BenchmarkFactory()
    client.force_login(member(benchmark, "owner"))

    page = client.post(f"/b/{benchmark.slug}/change/", {"name": "B", "file_origins": "a | b | c\nx | y | z | more"})

    assert "Line 2: write path | source | licence." in page.content.decode()


@pytest.mark.django_db
def test_api_replaces_the_credits_for_owners_alone(client: Client):
    benchmark: Benchmark = BenchmarkFactory(prose={"limits": "Old."})
    address = f"/api/benchmarks/{benchmark.slug}/credits/"
    body = json.dumps({"licence": "CC-BY-4.0", "contributors": ["Ada"]})
    client.force_login(member(benchmark, "author"))
    assert client.put(address, body, content_type="application/json").status_code == 403

    client.force_login(member(benchmark, "owner"))
    answer = client.put(address, body, content_type="application/json")
    wrong = client.put(address, json.dumps({"licence": "x"}), content_type="application/json")

    assert (answer.status_code, wrong.status_code) == (200, 400)
    told = client.get(address).json()
    assert (told["licence"], told["contributors"], told["limits"]) == ("CC-BY-4.0", ["Ada"], "")


def settings_of(client: Client, address: str) -> dict[str, object]:
    """What a window sends that was opened now."""
    page = client.get(address)
    shown = {bound.html_name: bound.value() or "" for bound in (*page.context["form"], *page.context["credits"])}
    return shown | {"seen": page.context["seen"]}


@pytest.mark.django_db
def test_a_save_does_not_undo_what_another_window_saved_since(client: Client):
    benchmark: Benchmark = BenchmarkFactory(name="Bakers", description="Bread.")
    client.force_login(member(benchmark, "owner"))
    address = f"/b/{benchmark.slug}/change/"
    first, second = settings_of(client, address), settings_of(client, address)
    client.post(address, first | {"description": "Bread and rolls.", "limits": "One bakery."})

    refused = client.post(address, second | {"description": "Only bread.", "name": "Bakers of Ghent"})

    benchmark.refresh_from_db()
    page = refused.content.decode()
    assert (refused.status_code, benchmark.description, benchmark.name) == (409, "Bread and rolls.", "Bakers")
    assert "<b>Description</b> is now “Bread and rolls.”" in page and "is now “One bakery.”" in page
    kept = {bound.html_name: bound.value() or "" for bound in (*refused.context["form"], *refused.context["credits"])}
    assert (kept["description"], kept["name"], kept["limits"]) == ("Only bread.", "Bakers of Ghent", "One bakery.")

    again = client.post(address, kept | {"seen": refused.context["seen"]})

    benchmark.refresh_from_db()
    assert (again.status_code, benchmark.description, benchmark.credits.limits) == (302, "Only bread.", "One bakery.")


@pytest.mark.django_db(transaction=True)
def test_of_two_windows_that_save_settings_at_once_the_later_is_refused():
    benchmark: Benchmark = BenchmarkFactory(description="Bread.")
    owner, address = member(benchmark, "owner"), f"/b/{benchmark.slug}/change/"
    first, second = Client(), Client()
    for client in (first, second):
        client.force_login(owner)
    shown = settings_of(first, address)

    refused = after(
        lambda: first.post(address, shown | {"description": "Bread and rolls."}),
        lambda: second.post(address, shown | {"description": "Only bread."}),
    )

    benchmark.refresh_from_db()
    assert (refused.status_code, benchmark.description) == (409, "Bread and rolls.")


@pytest.mark.django_db
def test_everything_wrong_in_the_settings_is_said_at_once(client: Client):
    benchmark: Benchmark = BenchmarkFactory()
    client.force_login(member(benchmark, "owner"))
    address = f"/b/{benchmark.slug}/change/"
    wrong = {"name": "", "contributors": "Ada\nAda", "file_origins": "a | b | c | d"}

    page = client.post(address, settings_of(client, address) | wrong).content.decode()

    assert "Not saved: 3 fields below need attention" in page
    assert "“Ada” is listed twice." in page and "Line 1: write path | source | licence." in page
