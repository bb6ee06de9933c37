"""The introduction and the guided first task."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from django.test import Client

from evaluation.models import ModelEndpoint
from evaluation.rehearsals.lifecycle import start_rehearsal
from studio.models import Benchmark, Task, TaskState
from tests.factories import a_persona, a_task, member

SAMPLE = Path(__file__).resolve().parents[3] / "fixtures" / "sample" / "data"


def quoted(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).replace("&#x27;", "'").split())


@pytest.mark.django_db
def test_introduction_is_public_and_quotes_the_sample_word_for_word():
    page = quoted(Client().get("/introduction/").content.decode())
    task = yaml.safe_load((SAMPLE / "vet_practice_manager/tasks/vet_04_fridge_alarm/task.yaml").read_text())

    intents = [row["content"] for row in task["intent"]["hidden_intent"] if row["content"] in page]
    items = [row["criterion"] for row in task["objectives"]["checklist"] if row["criterion"] in page]

    assert task["intent"]["initial_input"] in page
    assert (len(intents), len(items)) == (3, 3)
    assert f"5 of {len(task['intent']['hidden_intent'])} intents" in page
    assert f"8 of {len(task['objectives']['checklist'])} checks" in page


@pytest.mark.django_db
def test_sign_in_and_home_link_to_the_introduction():
    benchmark = Benchmark.objects.create(slug="first", name="First")
    client = Client()
    assert 'href="/introduction/"' in client.get("/login/").content.decode()

    client.force_login(member(benchmark, "viewer"))

    assert 'href="/introduction/"' in client.get("/").content.decode()
    assert "Write your first task" not in client.get("/introduction/").content.decode()


@pytest.mark.django_db
def test_guide_follows_what_the_author_does_and_resumes_where_they_were():
    benchmark = Benchmark.objects.create(slug="first", name="First")
    persona = a_persona(benchmark)
    author, client = member(benchmark, "author"), Client()
    client.force_login(author)

    def step() -> str:
        found = re.search(r"(\d) of 5</span>\s*<p>\s*<b>([^<]+)</b>", client.get("/first-task/").content.decode())
        return " ".join(found.groups()) if found else "none"

    assert step() == "none"
    client.post("/first-task/start/")
    assert step() == "1 Read one."
    assert client.post("/first-task/read/").url == f"/b/first/p/{persona.user_id}/new/"
    assert step() == "2 Write one."
    task = a_task(persona, by=author)
    a_task(persona, "rolls", by=author)
    assert (step(), client.get("/").context["guide"].task) == (f"4 Try it: {task}.", task)
    judge = ModelEndpoint.objects.get(name="scripted-judge")
    start_rehearsal(task, by=author, seat="agent", judge=judge)
    assert step() == f"5 Submit it: {task}."
    Task.objects.update(state=TaskState.IN_REVIEW)
    assert step() == "none"
    author.refresh_from_db()
    assert author.guide_step == "done"


@pytest.mark.slow
@pytest.mark.django_db
def test_guide_can_be_declined_and_started_again():
    benchmark = Benchmark.objects.create(slug="first", name="First")
    author, client = member(benchmark, "author"), Client()
    client.force_login(author)

    assert "Your first task" in client.get("/").content.decode()
    client.post("/first-task/leave/")
    assert "Your first task" not in client.get("/").content.decode()
    client.post("/first-task/start/")
    assert "Continue with step 1" in client.get("/").content.decode()
    client.post("/first-task/read/")
    client.post("/first-task/read/")  # sent twice
    assert "Continue with step 2" in client.get("/").content.decode()
