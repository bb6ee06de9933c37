"""Web pages of a persona, written in the browser."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studio.domain.persona import PersonaSpec
from studio.domain.web_pages import WebPage
from studio.drafts.load import load_episode
from studio.models import Persona, Role
from studio.personas.files import save_file
from studio.personas.web_pages import WEB_PAGES, PersonaWebPage, find_web_page, web_pages_of
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db
FEES = WebPage(
    address="https://town.org/fees",
    title="Fees: “2026”",
    date="2026-03-01",
    text="A permit costs 40 €.\n\n---\nEnd.",
    tasks=("night",),
)


@pytest.fixture(scope="module")
def shared_desk(module_db) -> SimpleNamespace:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author)
    a_task(persona, task_id="night", title="Night shift")
    save_file(WEB_PAGES, persona, "", FEES, by=author)
    viewer = member(benchmark, Role.VIEWER)
    return SimpleNamespace(benchmark=benchmark, author=author, viewer=viewer, persona=persona)


@pytest.fixture
def desk(shared_desk: SimpleNamespace) -> SimpleNamespace:
    desk = fresh(shared_desk)
    desk.client = Client()
    desk.client.force_login(desk.author)
    return desk


def url(desk: SimpleNamespace, name: str = "") -> str:
    address = reverse("studio:web_page", args=[desk.benchmark.slug, "baker"])
    return f"{address}?name={name}" if name else address


def send(desk: SimpleNamespace, name: str = "", **typed: Any):
    form = form_of(desk.client.get(url(desk, name)).content.decode(), "web-page").data()
    return desk.client.post(url(desk, name), form | typed)


def spec_of(desk: SimpleNamespace) -> PersonaSpec:
    return load_episode(Persona.objects.get(pk=desk.persona.pk), with_tasks=False).persona


def names(desk: SimpleNamespace) -> list[str]:
    return [row.name for row in web_pages_of(spec_of(desk))]


def found_page(desk: SimpleNamespace, name: str) -> PersonaWebPage | None:
    return find_web_page(spec_of(desk), name)


def test_typed_page_is_saved_with_a_name_from_its_title(desk: SimpleNamespace):
    facts = {"address": "https://museum.org/opening", "title": "Öffnungszeiten", "text": "Open\r\nat 9."}

    assert send(desk, **facts, date="2026-04-01").status_code == 302

    found = found_page(desk, "offnungszeiten.md")
    assert found is not None
    assert found.page == WebPage(
        address=facts["address"], title="Öffnungszeiten", date="2026-04-01", text="Open\nat 9."
    )
    assert b"Add a web page" in desk.client.get(reverse("studio:profile", args=[desk.benchmark.slug, "baker"])).content


def test_saved_page_comes_back_into_the_form_as_it_was(desk: SimpleNamespace):
    before = names(desk)

    assert send(desk, before[0]).status_code == 302

    found = found_page(desk, before[0])
    assert found is not None and found.page == FEES
    assert names(desk) == before


def test_file_gives_the_text_without_facts_of_an_earlier_page(desk: SimpleNamespace):
    file = SimpleUploadedFile("x.md", b"---\naddress: https://old.org\n---\nFrom a file.")

    send(desk, address="http://new.org/a%20b", upload=file)

    [new] = set(names(desk)) - {"fees-2026.md"}
    found = found_page(desk, new)
    assert new == "new-org-a-20b.md"
    assert found is not None and found.page == WebPage(
        address="http://new.org/a%20b", title="http://new.org/a%20b", text="From a file."
    )


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"address": "town.org"}, "The address must begin with https:// or http://."),
        ({"address": "https://a b.org"}, "An address has no spaces."),
        ({"address": "http://www.town.org/fees/#x"}, "“Fees: “2026”” has this address already."),
        ({"date": "1 March"}, "Write the date as year, month and day: 2026-03-01."),
        ({"text": " \n"}, "Paste what stands on the page, or choose a file."),
        ({"text": "x" * 400_001}, "This has 400,001 characters; at most 400,000."),
        (
            {"upload": SimpleUploadedFile("x.pdf", b"\xff\xfe\x00")},
            "This is not text: choose a .txt, .md or .html file",
        ),
        ({"tasks": ["unknown"]}, "Choose one of those offered here"),
    ],
)
def test_flaw_is_said_beside_its_field_and_nothing_is_saved(desk: SimpleNamespace, typed: dict[str, Any], message: str):
    before = names(desk)

    response = send(desk, **{"address": "https://new.org", "text": "New."} | typed)

    assert response.status_code == 422
    assert message in response.content.decode()
    assert names(desk) == before


@pytest.mark.slow
def test_page_changed_elsewhere_in_between_is_not_overwritten(desk: SimpleNamespace):
    form = form_of(desk.client.get(url(desk, "fees-2026.md")).content.decode(), "web-page").data()
    theirs = {"text": "Theirs.", "title": "Fees"}
    save_file(WEB_PAGES, desk.persona, "fees-2026.md", FEES.model_copy(update=theirs), by=desk.author)

    response = desk.client.post(url(desk, "fees-2026.md"), form | {"text": "Mine."})

    page = response.content.decode()
    assert response.status_code == 409
    assert "<mark>Mine" in page and "<mark>Theirs" in page
    values = form_of(page, "web-page").data()
    assert (values["text"], values["title"]) == (["Mine."], ["Fees"])
    chosen = desk.client.post(url(desk, "fees-2026.md"), values | {"mine": values["unresolved"]}).content.decode()
    assert desk.client.post(url(desk, "fees-2026.md"), form_of(chosen, "web-page").data()).status_code == 302
    found = found_page(desk, "fees-2026.md")
    assert found is not None and found.page is not None and (found.page.text, found.page.title) == ("Mine.", "Fees")


def delete(desk: SimpleNamespace, name: str, version: int):
    address = reverse("studio:file_delete", args=[desk.benchmark.slug, "baker", "web"])
    return desk.client.post(f"{address}?name={name}", {"base_version": version}, follow=True)


def test_page_is_deleted_and_the_history_keeps_it(desk: SimpleNamespace):
    told = delete(desk, "fees-2026.md", Persona.objects.get().version).content.decode()

    assert "“fees-2026.md” is deleted. The persona&#x27;s history keeps it." in told
    assert names(desk) == []
    note = desk.persona.revisions.latest("number").note
    assert note == "Web page fees-2026.md deleted."
    assert desk.client.get(url(desk, "fees-2026.md")).status_code == 404


def test_page_that_somebody_changed_since_it_was_shown_is_not_deleted(desk: SimpleNamespace):
    shown = Persona.objects.get().version
    text = FEES.model_copy(update={"text": "Theirs."})
    save_file(WEB_PAGES, desk.persona, "fees-2026.md", text, by=desk.author)

    assert "Someone else has saved this in the meantime." in delete(desk, "fees-2026.md", shown).content.decode()
    assert names(desk) == ["fees-2026.md"]


def test_page_saved_in_a_browser_is_uploaded_as_text(desk: SimpleNamespace):
    send(desk, address="http://html.org", upload=SimpleUploadedFile("x.HTML", b"<h1>Fees</h1><script>1</script><p>4"))

    found = found_page(desk, "html-org.md")
    assert found is not None and found.page is not None and found.page.text == "# Fees\n\n4"


def test_viewer_reads_a_page_and_changes_none(desk: SimpleNamespace):
    desk.client.force_login(desk.viewer)

    assert "A permit costs 40 €." in desk.client.get(url(desk, "fees-2026.md")).content.decode()
    assert delete(desk, "fees-2026.md", 1).status_code == 403
    assert desk.client.get(url(desk)).status_code == 403
