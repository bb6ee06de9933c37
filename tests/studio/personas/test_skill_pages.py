"""A persona's skills on their pages."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from studio.drafts.load import load_episode, load_task
from studio.models import Blob, Role, Task
from studio.tasks.create import create_task
from studio.tasks.save import save_task
from tests.factories import BenchmarkFactory, a_persona, a_task_spec, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db
TEXT = "---\nname: rye\ndescription: Bakes rye.\n---\n# Rye\n\nFirst the sour. <script>alert(1)</script>\n"


@pytest.fixture(scope="module")
def shared_desk(module_db) -> SimpleNamespace:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=("oven__heat", "mail__send"))
    client = Client()
    client.force_login(author)
    return SimpleNamespace(benchmark=benchmark, author=author, persona=persona, client=client)


@pytest.fixture
def desk(shared_desk: SimpleNamespace) -> SimpleNamespace:
    return fresh(shared_desk)


def url(desk, name: str = "skill_new", *more: str) -> str:
    return reverse(f"studio:{name}", args=[desk.benchmark.slug, "baker", *more])


def write(desk, name: str = "rye", text: str = TEXT, *, at: str | None = None, **more):
    return desk.client.post(at or url(desk), {"name": name, "text": text, **more})


def texts(desk) -> dict[str, str]:
    desk.persona.refresh_from_db()
    hashes = {skill.name: skill.files[0].sha256 for skill in load_episode(desk.persona).persona.skills}
    contents = Blob.objects.read(list(hashes.values()))
    return {name: contents[sha256].decode() for name, sha256 in hashes.items()}


def test_each_change_of_a_skill_makes_a_version(desk):
    write(desk)
    write(desk, text=TEXT + "Then rest.\n", at=url(desk, "skill", "rye"))
    answer = write(desk, "dark-rye", TEXT, at=url(desk, "skill", "rye"))

    assert answer.headers["Location"] == url(desk, "skill", "dark-rye")
    assert texts(desk) == {"dark-rye": TEXT}
    notes = list(desk.persona.revisions.order_by("-number").values_list("note", flat=True)[:3])
    assert notes == ["Renamed the skill “rye” to “dark-rye”.", "Wrote the skill “rye”.", "Wrote the skill “rye”."]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("", TEXT, "Enter a name for the skill"),
        ("RYE", TEXT, "A skill “RYE” already"),
        ("../x", TEXT, "not a valid folder name"),
        ("a/b", TEXT, "not a valid folder name"),
        ("x" * 201, TEXT, "the limit is 200"),
        ("wheat", "  \n", "Write what the assistant should do"),
        ("wheat", "a\0b", "U+0000"),
    ],
)
def test_invalid_skill_is_reported_beside_its_field_and_preserved(desk, name, text, message):
    write(desk)

    answer = write(desk, name, text)

    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert list(texts(desk)) == ["rye"]


def test_skill_in_use_can_be_neither_deleted_nor_renamed(desk):
    write(desk)
    task = create_task(desk.persona, a_task_spec(skills=("rye",)), by=desk.author)

    answer = desk.client.post(url(desk, "file_delete", "skill") + "?name=rye", follow=True).content.decode()
    renamed = write(desk, "dark-rye", at=url(desk, "skill", "rye")).content.decode()

    assert "cannot be deleted while “Bread for Saturday” use it" in answer
    assert "cannot be renamed" in renamed
    save_task(task.pk, a_task_spec(), by=desk.author)
    desk.client.post(url(desk, "file_delete", "skill") + "?name=rye")
    assert texts(desk) == {}


@pytest.mark.slow
def test_only_edits_of_the_same_skill_conflict(desk):
    write(desk)
    write(desk, "wheat")
    page = form_of(desk.client.get(url(desk, "skill", "rye")).content.decode(), "skill").data()
    write(desk, "wheat", "Other.", at=url(desk, "skill", "wheat"))
    assert desk.client.post(url(desk, "skill", "rye"), page | {"text": ["Mine."]}).status_code == 302

    other = Client()
    other.force_login(member(desk.benchmark, Role.AUTHOR))
    late = other.post(url(desk, "skill", "rye"), page | {"text": ["Later."]})

    assert late.status_code == 409
    assert "Mine" in late.content.decode()
    form = form_of(late.content.decode(), "skill").data()
    assert other.post(url(desk, "skill", "rye"), form).status_code == 409
    chosen = other.post(url(desk, "skill", "rye"), form | {"mine": form["unresolved"]}).content.decode()
    other.post(url(desk, "skill", "rye"), form_of(chosen, "skill").data())
    assert texts(desk)["rye"] == "Later."


def test_skill_text_is_shown_escaped_on_the_task_page(desk):
    write(desk)
    task = create_task(desk.persona, a_task_spec(), by=desk.author)

    page = desk.client.get(task.get_absolute_url()).content.decode()
    text = desk.client.get(url(desk, "skill", "rye") + "?part=text").content.decode()

    assert "Bakes rye." in page
    assert "oven__heat" in page
    assert "Path within the workspace" in page  # a parameter of a tool that every assistant has
    assert "<h1>Rye</h1>" in text
    assert "<script" not in text


def test_viewers_can_read_and_strangers_get_404(desk):
    write(desk)
    viewer, stranger = Client(), Client()
    viewer.force_login(member(desk.benchmark, Role.VIEWER))
    stranger.force_login(member(BenchmarkFactory(), Role.OWNER))

    read = viewer.get(url(desk, "skill", "rye"))
    assert "<h1>Rye</h1>" in read.content.decode()
    assert "<textarea" not in read.content.decode()
    assert viewer.get(url(desk)).status_code == 403
    assert viewer.post(url(desk, "skill", "rye"), {"name": "rye", "text": "x"}).status_code == 403
    assert viewer.post(url(desk, "file_delete", "skill") + "?name=rye").status_code == 403
    assert stranger.get(url(desk, "skill", "rye")).status_code == 404


def test_skill_that_the_persona_lost_stays_picked_and_is_marked(desk):
    task = create_task(desk.persona, a_task_spec(tools=("gone__tool", "mail__send")), by=desk.author)
    url = task.get_absolute_url()
    html = desk.client.get(url).content.decode()

    assert "not available to the persona" in html
    desk.client.post(url, form_of(html, "task").data() | {"title": ["Rolls"]})

    assert load_task(Task.objects.get(pk=task.pk)).tools == ("gone__tool", "mail__send")
