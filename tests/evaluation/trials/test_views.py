"""The page that runs a grader script."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.models import ScriptExample
from evaluation.sandbox import SandboxUnavailableError, why_unavailable
from evaluation.trials.examples import ExampleError, read_example
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import GraderScript, Task, User
from studio.personas.create import create_persona
from studio.personas.scripts import create_script
from studio.tasks.create import create_task
from tests.factories import BenchmarkFactory, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db

TEXT = "def score(h):\n    return {'called': int(bool(h))}\n"


@pytest.fixture(scope="module")
def shared_script(module_db) -> GraderScript:
    benchmark = BenchmarkFactory()
    author = member(benchmark, "author")
    persona = create_persona(benchmark, PersonaSpec(user_id="Nurse"), by=author)
    create_task(persona, TaskSpec(task_id="one"), by=author)
    return create_script(persona, "one", TEXT, by=author, task_id=Task.objects.get().pk)


@pytest.fixture
def script(shared_script: GraderScript) -> GraderScript:
    return fresh(shared_script)


def url(script: GraderScript) -> str:
    return reverse("evaluation:script_try", args=[script.persona.benchmark.slug, "Nurse", script.pk])


def author(script: GraderScript) -> Client:
    client = Client()
    client.force_login(User.objects.get(memberships__benchmark=script.persona.benchmark))
    return client


def run(script: GraderScript, **given: str) -> str:
    if reason := why_unavailable():
        pytest.skip(reason)
    answer = author(script).post(url(script), {"source": TEXT, "history": "example"} | given, HTTP_HX_REQUEST="true")
    assert answer.status_code == 200
    return answer.content.decode()


def test_unsaved_script_is_run_and_not_saved(script: GraderScript) -> None:
    shown = run(script, source="def score(h):\n    return {'typed': 1}", history="empty")

    assert "1 of 1" in shown.replace("<b>", "") and "typed" in shown
    script.refresh_from_db()
    assert bytes(script.blob.content).decode() == TEXT


def test_example_is_saved_as_typed_even_if_invalid(script: GraderScript) -> None:
    shown = run(script, example='[{"tool_name": "x"},]')

    assert "Line 1 of the example is not valid JSON" in shown
    assert ScriptExample.objects.get().text == '[{"tool_name": "x"},]'


def test_generated_histories_can_be_chosen(script: GraderScript) -> None:
    assert "✓ 1" in run(script, history="generated:1")


@pytest.mark.parametrize("history", ["generated:0", "generated:999", "session:1", "rehearsal:1", "", "empty:x'"])
def test_unknown_history_is_rejected_with_a_message(script: GraderScript, history: str) -> None:
    shown = run(script, history=history)

    assert "Choose what to run" in shown or "called" in shown


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"tool_name": 1}]', "[" * 100_000, "[" + "{}," * 600 + "{}]", "NaN"]
)
def test_example_that_is_no_list_of_calls_is_rejected(text: str) -> None:
    with pytest.raises(ExampleError):
        read_example(text)


def test_script_output_is_escaped(script: GraderScript) -> None:
    shown = run(script, source="print('<script>alert(1)</script>')\n" + TEXT, history="empty")

    assert "<script>alert" not in shown
    assert "&lt;script&gt;" in shown


def test_page_without_a_sandbox_says_why(script: GraderScript, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SandboxUnavailableError("User namespaces are forbidden.")

    monkeypatch.setattr("evaluation.views.trials.try_script", refuse)
    monkeypatch.setattr("evaluation.views.trials.why_unavailable", lambda: "User namespaces are forbidden.")

    posted = author(script).post(url(script), {"source": TEXT, "history": "empty"}, HTTP_HX_REQUEST="true")
    pane = author(script).get(url(script), HTTP_HX_REQUEST="true")

    assert "User namespaces are forbidden." in posted.content.decode()
    assert "Cannot run here" in pane.content.decode()


@pytest.mark.parametrize(
    ("bounded", "words"), [(True, "the kernel bounds its memory"), (False, "its memory is looked at from outside")]
)
def test_page_says_who_counts_a_scripts_memory(
    script: GraderScript, bounded: bool, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := why_unavailable():
        pytest.skip(reason)
    monkeypatch.setattr("evaluation.views.trials.kernel_bounds_memory", lambda: bounded)

    assert words in author(script).get(url(script), HTTP_HX_REQUEST="true").content.decode()


def test_full_page_without_htmx_keeps_the_typed_text(script: GraderScript) -> None:
    if reason := why_unavailable():
        pytest.skip(reason)
    answer = author(script).post(url(script), {"source": TEXT + "# mine", "history": "example", "example": "[]"})

    page = answer.content.decode()
    assert "# mine" in page and "Unsaved" in page and "0 of 1" in page.replace("<b>", "").replace("</b>", "")


def test_strangers_get_404_and_auditors_cannot_run(script: GraderScript) -> None:
    client = Client()
    client.force_login(User.objects.create(username="stranger"))
    assert client.post(url(script)).status_code == 404

    client.force_login(member(script.persona.benchmark, "auditor"))
    assert client.post(url(script)).status_code == 403


def test_reviewers_example_is_run_and_not_saved(script: GraderScript) -> None:
    client = Client()
    client.force_login(member(script.persona.benchmark, "reviewer"))

    client.post(url(script), {"source": TEXT, "history": "empty", "example": json.dumps([])})

    assert not ScriptExample.objects.exists()
