"""Pages and API of validation."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from evaluation.models import ReferenceSolution, Validation
from evaluation.probes.rules import sweep_rules
from studio.domain.task import ExactCheck
from studio.models import Benchmark, Task
from tests.evaluation.builders import benchmark_of, endpoint, rubric, rule, task
from tests.evaluation.factories import person
from tests.factories import api_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    for name in ("scripted-helpful", "scripted-judge"):
        endpoint(name)
    easy = rule("It repeats.", ExactCheck(kind="reply_contains", text="Please write the note a."))
    return benchmark_of(task("a", checklist=(rubric("It says the fee."), easy)), task("setup"))


def signed_in(benchmark: Benchmark, role: str, client: Client) -> Client:
    client.force_login(person(benchmark, role))
    return client


@pytest.mark.slow
def test_matrix_tells_what_it_takes_starts_within_a_budget_and_can_be_stopped(
    benchmark: Benchmark, client: Client
) -> None:
    signed_in(benchmark, "author", client)
    address = reverse("evaluation:validation", args=[benchmark.slug])
    page = client.get(address).content.decode()
    assert "7 probes of 1 task: 2 answers by scripted-helpful with tools, 7 judgings by scripted-judge." in page
    assert "What it will cost is not known: scripted-helpful and scripted-judge answered nothing here before." in page
    assert "set-up task, exempt" in page

    form = {"agent": "scripted-helpful", "judge": "scripted-judge", "cost": "2"}
    assert client.post(address, form).status_code == 302

    validation = Validation.objects.get()
    assert (validation.state, validation.budget) == ("running", {"cost": 2.0})
    assert 'hx-trigger="every 4s"' in client.get(address).content.decode()
    assert client.post(address, form).status_code == 422
    client.post(reverse("evaluation:validation_stop", args=[benchmark.slug]))
    validation.refresh_from_db()
    assert validation.state == "cancelled"
    resume = reverse("evaluation:validation_resume", args=[benchmark.slug])
    assert "Write the budget as a number" in client.post(resume, {"cost": "much"}, follow=True).content.decode()
    validation.refresh_from_db()
    assert validation.state == "cancelled"
    client.post(resume, {"cost": "3.5", "tokens": "80000"})
    validation.refresh_from_db()
    assert (validation.state, validation.budget) == ("running", {"cost": 3.5, "tokens": 80_000.0})


def test_item_that_takes_no_work_is_named_beside_it(benchmark: Benchmark, client: Client) -> None:
    signed_in(benchmark, "author", client)
    row = Task.objects.get(persona__benchmark=benchmark, task_id="a")
    rule_uid = row.spec["checklist"][1]["uid"]
    sweep_rules()
    address = reverse("evaluation:task_validation", args=[benchmark.slug, row.persona.user_id, row.pk])
    line = client.get(address, headers={"HX-Request": "true"}).content.decode()

    assert f'id="idle-{rule_uid}" hx-swap-oob="true"' in line
    assert "an agent that repeats the request" in line
    assert f'id="idle-{rule_uid}"' in client.get(row.get_absolute_url()).content.decode()
    [told] = client.get(f"/api/benchmarks/{benchmark.slug}/validation/").json()["tasks"][0]["met_without_work"]
    assert (told["uid"], told["by"]) == (rule_uid, ["an agent that repeats the request"])


def test_task_page_takes_a_solution_and_names_what_takes_no_work(benchmark: Benchmark, client: Client) -> None:
    signed_in(benchmark, "author", client)
    row = Task.objects.get(persona__benchmark=benchmark, task_id="a")
    address = reverse("evaluation:task_validation", args=[benchmark.slug, row.persona.user_id, row.pk])
    sweep_rules()
    page = client.get(address).content.decode()
    assert "An agent that repeats the request earns 50% and may earn at most 0%" in page

    bad = client.post(address, {"reply": "Here.", "calls": "no JSON"})
    assert (bad.status_code, "as JSON" in bad.content.decode()) == (422, True)
    call = '[{"name": "read_file", "arguments": {"path": "a.md"}}]'
    added = SimpleUploadedFile("note.md", b"The fee.")
    sent = client.post(address, {"reply": "Here.", "calls": call, "folder": "out", "added": added})
    assert sent.status_code == 302, [sent.context["form"].errors]
    first = ReferenceSolution.objects.get()
    assert (first.reply, list(first.files), first.calls[0]["name"]) == ("Here.", ["out/note.md"], "read_file")
    client.post(address, {"reply": "Better.", "keep": "out/note.md"})
    assert ReferenceSolution.objects.first().turn.files == first.turn.files  # type: ignore[union-attr]


def test_editor_asks_for_one_line(benchmark: Benchmark, client: Client) -> None:
    signed_in(benchmark, "viewer", client)
    row = Task.objects.get(persona__benchmark=benchmark, task_id="a")
    address = reverse("evaluation:task_validation", args=[benchmark.slug, row.persona.user_id, row.pk])
    assert address in client.get(row.get_absolute_url()).content.decode()
    line = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert (
        line.split()
        == (
            "Not validated. Nothing has been probed yet. It has no reference solution. "
            f'<a href="{address}">Probes and solution</a>'
        ).split()
    )


def test_api_tells_what_is_known_and_starts_a_validation(benchmark: Benchmark, client: Client) -> None:
    headers = {"Authorization": f"Bearer {api_token(person(benchmark, 'author'))}"}
    address = reverse("evaluation:api-validation", args=[benchmark.slug])
    found = client.get(address, headers=headers).json()
    assert found["validation"] is None
    assert [(each["task"], each["validated"], each["exempt"]) for each in found["tasks"]] == [
        ("a", False, False),
        ("setup", False, True),
    ]
    started = client.post(address, {"task": "a"}, content_type="application/json", headers=headers)
    assert (started.status_code, started.json()["validation"]["state"]) == (201, "running")
