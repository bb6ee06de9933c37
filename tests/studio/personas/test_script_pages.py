"""Pages of grader scripts, without running any."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import GraderScript, Persona, Task, User
from studio.personas.create import create_persona
from studio.personas.files import save_file
from studio.personas.scripts import SCRIPTS, STARTER_SCRIPT, ScriptText, create_script
from studio.tasks.create import create_task
from tests.factories import BenchmarkFactory, member
from tests.studio.page_forms import form_of, joined

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> User:
    return member(BenchmarkFactory(), "author")


@pytest.fixture
def script(author: User) -> GraderScript:
    benchmark = author.memberships.get().benchmark
    persona = create_persona(benchmark, PersonaSpec(user_id="Nurse"), by=author)
    create_task(persona, TaskSpec(task_id="one"), by=author)
    return create_script(persona, "one", STARTER_SCRIPT, by=author, task_id=Task.objects.get().pk)


def url(script: GraderScript, name: str = "script", *more: int) -> str:
    return reverse(f"studio:{name}", args=[script.persona.benchmark.slug, "Nurse", script.pk, *more])


def version(script: GraderScript) -> int:
    return Persona.objects.get(pk=script.persona_id).version


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_form_saves_line_feeds(script: GraderScript, author: User) -> None:
    answer = signed_in(author).post(url(script), {"source": "a = 1\r\nb = 2", "base_version": version(script)})

    assert answer.status_code == 302
    script.refresh_from_db()
    assert bytes(script.blob.content) == b"a = 1\nb = 2\n"


@pytest.mark.slow
def test_stale_save_shows_both_versions_and_preserves_input(script: GraderScript, author: User) -> None:
    before = version(script)
    save_file(
        SCRIPTS,
        script.persona,
        script.path,
        ScriptText(source="theirs = 1\n"),
        by=member(script.persona.benchmark, "author"),
    )

    answer = signed_in(author).post(url(script), {"source": "mine = 1", "base_version": before, "note": "Why"})

    page = answer.content.decode()
    assert answer.status_code == 409
    assert "<mark>theirs</mark>" in page and "<mark>mine</mark>" in page and 'value="Why"' in page
    form = form_of(page, "grader").data()
    assert form["source"] == ["mine = 1\r\n"]
    assert signed_in(author).post(url(script), form).status_code == 409  # nothing is chosen yet
    taken = signed_in(author).post(url(script), form | {"take": form["unresolved"]}).content.decode()
    assert form_of(taken, "grader").data()["source"] == ["theirs = 1\r\n"]
    chosen = signed_in(author).post(url(script), form | {"mine": form["unresolved"]}).content.decode()
    assert signed_in(author).post(url(script), form_of(chosen, "grader").data()).status_code == 302
    script.refresh_from_db()
    assert bytes(script.blob.content) == b"mine = 1\n"


def test_rejected_save_preserves_input(script: GraderScript, author: User) -> None:
    answer = signed_in(author).post(url(script), {"source": " ", "base_version": version(script)})

    assert answer.status_code == 422
    assert "The script is empty." in answer.content.decode()


def test_versions_are_compared_and_restored(script: GraderScript, author: User) -> None:
    save_file(
        SCRIPTS,
        script.persona,
        script.path,
        ScriptText(source=STARTER_SCRIPT.replace("letter_written", "letter_there")),
        by=author,
    )
    numbers = list(script.persona.revisions.order_by("number").values_list("number", flat=True))
    client = signed_in(author)

    page = client.get(url(script, "script_version", numbers[-1])).content.decode()
    client.post(url(script, "script_restore", numbers[-2]))

    page = joined(page)
    assert "<del>letter_written</del>" in page and "<ins>letter_there</ins>" in page
    script.refresh_from_db()
    assert bytes(script.blob.content).decode() == STARTER_SCRIPT
    assert client.get(url(script, "script_version", 999)).status_code == 404


def test_strangers_get_404_and_viewers_cannot_save(script: GraderScript, author: User) -> None:
    stranger, reader = member(BenchmarkFactory(), "owner"), member(script.persona.benchmark, "auditor")
    place = [script.persona.benchmark.slug, script.persona.user_id, "script"]
    delete = f"{reverse('studio:file_delete', args=place)}?name={script.pk}"

    assert signed_in(stranger).get(url(script)).status_code == 404
    assert signed_in(reader).get(url(script)).status_code == 200
    assert signed_in(reader).post(url(script), {"source": "x = 1"}).status_code == 403
    assert signed_in(reader).post(delete).status_code == 403


def test_starter_script_has_keys_and_only_the_expected_findings(script: GraderScript) -> None:
    given: dict[str, object] = {}
    exec(STARTER_SCRIPT, given)

    assert given["score"]([]) == {"letter_written": 0, "letter_names_the_deadline": 0}  # type: ignore[operator]
    rules = set(Task.objects.get().findings.values_list("rule", flat=True))
    assert {rule for rule in rules if rule.startswith("grader")} == {"grader-word-unasked"}


def test_number_of_queries_does_not_depend_on_the_number_of_versions(
    script: GraderScript, author: User, django_assert_max_num_queries
) -> None:
    client = signed_in(author)
    with django_assert_max_num_queries(40) as few:
        client.get(url(script))
    for number in range(5):
        save_file(SCRIPTS, script.persona, script.path, ScriptText(source=f"a = {number}\n"), by=author)

    with django_assert_max_num_queries(len(few)):
        client.get(url(script))
