"""Autosave on the pages of a persona's profile, skills, grader scripts and web pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import reverse

from studio.drafts.load import load_episode
from studio.models import Autosave, Blob, DiscardedText, Persona, Role, User
from studio.personas.files import save_file
from studio.personas.scripts import STARTER_SCRIPT, create_script
from studio.personas.skills import SKILLS, SkillText
from studio.personas.web_pages import WEB_PAGES, WebPage
from tests.factories import BenchmarkFactory, a_persona, member
from tests.shared_rows import fresh, rolled_back
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db


@dataclass
class Writer:
    """A user on one of the pages, with the form as sent."""

    user: User
    address: str
    autosave_address: str
    form_id: str

    def __post_init__(self) -> None:
        self.client = Client()
        self.client.force_login(self.user)
        self.form = form_of(self.page(), self.form_id).data()

    def page(self) -> str:
        return self.client.get(self.address).content.decode()

    def write(self, **fields: str) -> Writer:
        self.form |= {name: [value] for name, value in fields.items()}
        return self

    def autosave(self, **more: list[str]) -> dict:
        answer = self.client.post(self.autosave_address, self.form | more).json()
        if "page" in answer:
            self.form = form_of(answer["page"], self.form_id).data()
        self.form |= {"base_version": [str(answer["version"])], "base_draft": [str(answer["draft"])]}
        return answer

    def save(self):
        return self.client.post(self.address, self.form)


@dataclass
class Desk:
    field: str
    stored: Callable[[], str]
    ana: Writer
    ben: Writer
    persona: Persona


@pytest.fixture(scope="module", params=["profile", "skill", "script", "web page"])
def shared_desk(request, module_db) -> Iterator[Desk]:
    with rolled_back():
        yield a_desk(request.param)


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


def a_desk(kind: str) -> Desk:
    benchmark = BenchmarkFactory()
    ana, ben = member(benchmark, Role.AUTHOR), member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=ana)
    here = [benchmark.slug, persona.user_id]
    script = create_script(persona, "rye", STARTER_SCRIPT, by=ana)
    save_file(SKILLS, persona, "", SkillText(name="rye", text="First the sour."), by=ana)
    facts = {"address": "https://rye.org", "title": "Rye", "text": "First the sour."}
    save_file(WEB_PAGES, persona, "", WebPage(**facts), by=ana)

    def keep(kind: str, name: object) -> str:
        return reverse("studio:file_autosave", args=[*here, kind]) + f"?name={name}"

    def spec():
        return load_episode(Persona.objects.get(pk=persona.pk)).persona

    def text(files) -> str:
        return Blob.objects.read([files[0].sha256])[files[0].sha256].decode().rstrip("\n")

    page, keep, form, field, stored = {
        "profile": (reverse("studio:profile", args=here), reverse("studio:profile_autosave", args=here), "profile",
                    "role_text", lambda: spec().role_text),
        "skill": (reverse("studio:skill", args=[*here, "rye"]),
                  keep("skill", "rye"), "skill", "text",
                  lambda: text(spec().skills[0].files)),
        "script": (reverse("studio:script", args=[*here, script.pk]),
                   keep("script", script.pk), "grader",
                   "source", lambda: text(spec().scripts)),
        "web page": (reverse("studio:web_page", args=here) + "?name=rye.md",
                     keep("web", "rye.md"), "web-page",
                     "text", lambda: WEB_PAGES.find(spec(), "rye.md").text),
    }[kind]  # fmt: skip
    return Desk(field, stored, Writer(ana, page, keep, form), Writer(ben, page, keep, form), persona)


def test_autosaved_text_makes_no_version_and_can_be_discarded(desk):
    before = Persona.objects.get().version

    answer = desk.ana.write(**{desk.field: "Kept words"}).autosave()

    assert (answer["version"], answer["problem"], "versioned" in answer) == (before, "", False)
    assert "Kept words" in desk.ana.page() and "discard them" in desk.ana.page()
    assert "Kept words" not in desk.ben.page()
    assert Persona.objects.get().version == before
    desk.ana.client.post(desk.ana.address, desk.ana.form | {"discard": "1"})
    assert "Kept words" not in desk.ana.page()


def test_discarded_text_can_be_taken_back_by_its_author(desk):
    desk.ana.write(**{desk.field: "Kept words"}).autosave()
    desk.ana.client.post(desk.ana.address, desk.ana.form | {"discard": "1"})
    kept = DiscardedText.objects.get()
    assert "You discarded changes" in desk.ana.page()

    desk.ben.client.post(desk.ben.address, desk.ben.form | {"undo_discard": str(kept.pk)})
    assert "Kept words" not in desk.ben.page()
    desk.ana.client.post(desk.ana.address, desk.ana.form | {"undo_discard": str(kept.pk)})

    assert "Kept words" in desk.ana.page()
    assert not DiscardedText.objects.exists()


def test_save_makes_a_version_and_discards_the_autosaved_text(desk):
    desk.ana.write(**{desk.field: "Kept words"}).autosave()

    assert desk.ana.save().status_code == 302

    assert desk.stored() == "Kept words"
    assert "discard them" not in desk.ana.page()
    assert not Autosave.objects.filter(form_data__isnull=False).exists()


def test_users_see_each_other_on_the_same_page_only(desk):
    desk.ana.client.get(desk.ana.autosave_address)

    assert desk.ben.client.get(desk.ben.autosave_address).json()["others"] == [str(desk.ana.user)]
    elsewhere = (
        reverse("studio:file_autosave", args=[desk.persona.benchmark.slug, desk.persona.user_id, "skill"])
        + "?name=other"
    )
    assert desk.ben.client.get(elsewhere).json()["others"] == []


def test_second_editor_resolves_the_conflict(desk):
    desk.ana.write(**{desk.field: "Her words"}).save()

    answer = desk.ben.write(**{desk.field: "His words"}).autosave()

    assert "Use theirs" in answer["page"] and desk.ben.form[desk.field][0].startswith("His words")
    assert desk.ben.save().status_code == 409
    assert desk.stored() == "Her words"
    assert "His words" in desk.ben.page()
    taken = desk.ben.client.post(desk.ben.address, desk.ben.form | {"take": desk.ben.form["unresolved"]})
    desk.ben.form = form_of(taken.content.decode(), desk.ben.form_id).data()
    assert desk.ben.form[desk.field][0].startswith("Her words") and "unresolved" not in desk.ben.form


def test_changes_on_other_pages_of_the_persona_do_not_conflict(desk):
    save_file(SKILLS, desk.persona, "", SkillText(name="wheat", text="Other."), by=desk.ben.user)

    desk.ana.write(**{desk.field: "Her words"}).autosave()

    assert "unresolved" not in desk.ana.form
    assert desk.ana.save().status_code == 302
    assert desk.stored() == "Her words"
    assert [one.name for one in load_episode(Persona.objects.get()).persona.skills] == ["rye", "wheat"]


def test_own_version_from_another_window_is_not_overwritten(desk):
    other = Writer(desk.ana.user, desk.ana.address, desk.ana.autosave_address, desk.ana.form_id)
    other.write(**{desk.field: "First words"}).save()

    assert desk.ana.write(**{desk.field: "Later words"}).save().status_code == 409

    assert desk.stored() == "First words" and "Later words" in desk.ana.page()


def test_a_save_by_script_makes_a_version_and_says_where_the_page_is_then(desk):
    said = desk.ana.write(**{desk.field: "By script"}).autosave(save_version=["1"])

    pages = reverse("studio:profile", args=[desk.persona.benchmark.slug, desk.persona.user_id]) + "#web"
    assert said["versioned"] and said["address"] == (pages if "/web/" in desk.ana.address else desk.ana.address)
    assert desk.stored() == "By script"


def test_errors_of_a_save_by_script_are_named_by_input(desk):
    what = {"role_text": "x", "text": " ", "source": " "}[desk.field]
    more = {"name": [""]} if desk.field == "text" else {}

    said = desk.ana.write(**{desk.field: what}).autosave(save_version=["1"], **more)

    assert bool(said.get("errors")) == bool(said["problem"]) == (desk.field != "role_text")


def test_rejected_save_is_autosaved_with_a_message(desk):
    what = {"role_text": "x\0y", "text": " ", "source": " "}[desk.field]

    answer = desk.ana.write(**{desk.field: what}).save()

    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode() or "form-errors" in answer.content.decode()
    assert desk.stored() != what


def test_viewers_cannot_autosave_and_strangers_get_404(desk):
    viewer, stranger = Client(), Client()
    viewer.force_login(member(desk.persona.benchmark, Role.VIEWER))
    stranger.force_login(member(BenchmarkFactory(), Role.OWNER))

    assert viewer.post(desk.ana.autosave_address, desk.ana.form).status_code == 403
    assert stranger.post(desk.ana.autosave_address, desk.ana.form).status_code == 404
    assert stranger.get(desk.ana.autosave_address).status_code == 404
