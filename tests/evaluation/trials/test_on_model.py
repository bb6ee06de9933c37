"""A task tried on a model."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.models import Pilot, Session
from evaluation.pilots.start import options_of
from studio.models import Benchmark, Task
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, rubric, task
from tests.evaluation.factories import finish, person, pilot_row, turn, verdict

pytestmark = pytest.mark.django_db


def two_tasks() -> Benchmark:
    for name in ("scripted-helpful", "scripted-user", "scripted-judge"):
        endpoint(name)
    return benchmark_of(task("a"), task("b", "a", checklist=(rubric("The fee is named."),)), task("c"))


def page_of(task_row: Task) -> str:
    return f"{task_row.get_absolute_url()}try/"


@pytest.mark.slow
def test_a_try_runs_once_the_task_and_what_it_builds_on(client: Client):
    benchmark = two_tasks()
    row = Task.objects.get(task_id="b")
    client.force_login(person(benchmark, "author"))

    before = client.get(page_of(row)).content.decode()
    client.post(page_of(row))

    assert "Try on scripted-helpful" in before and "costs nothing" in before
    pilot = Pilot.objects.get()
    assert (pilot.mode, pilot.runs_wanted) == ("task", 1)
    assert list(Session.objects.values_list("revision__task__task_id", flat=True)) == ["a", "b"]


def test_a_try_is_with_the_agent_user_judge_and_protocol_of_the_newest_pilot(client: Client):
    benchmark = two_tasks()
    endpoint("scripted-asks")
    pilot_of(
        benchmark, "scripted-asks", kind="react", params={"memory": "consolidated"}, budgets={"pilot": {"calls": 1}}
    )
    client.force_login(person(benchmark, "author"))

    client.post(page_of(Task.objects.get(task_id="b")))

    pilot = Pilot.objects.latest("number")
    assert (pilot.number, pilot.agent.name, pilot.protocol) == (2, "scripted-asks", "release")
    assert pilot.agent_kind.params == {"memory": "consolidated"}
    assert not pilot.budgets.get("pilot")


def test_the_newest_result_stands_there_intent_by_intent_and_item_by_item(client: Client):
    pilot = pilot_row()
    session = finish(pilot)
    turn(session, 1)
    verdict(session, index=1, met=True)
    client.force_login(person(pilot.benchmark, "viewer"))

    page = client.get(page_of(Task.objects.get()), headers={"HX-Request": "true"}).content.decode()

    assert "The note a must mention the harbour fee." in page and "The fee is named." in page
    assert page.count('<div class="grow stack close">') == 4
    assert "every 3s" not in page and "<html" not in page and "Try on" not in page


def test_a_viewer_cannot_try(client: Client):
    benchmark = two_tasks()
    client.force_login(person(benchmark, "viewer"))

    assert client.post(page_of(Task.objects.get(task_id="a"))).status_code == 403
    assert not Pilot.objects.exists()


@pytest.mark.slow
def test_while_it_runs_the_result_asks_again_and_no_second_try_is_offered(client: Client):
    benchmark = two_tasks()
    client.force_login(person(benchmark, "author"))
    path = page_of(Task.objects.get(task_id="b"))

    page = client.post(path, headers={"HX-Request": "true"}).content.decode()

    assert "every 3s" in page and "Try on scripted-helpful" not in page


def test_a_task_outside_of_the_episode_says_why_it_cannot_be_tried(client: Client):
    benchmark = two_tasks()
    Task.objects.filter(task_id="c").update(position=None)
    client.force_login(person(benchmark, "author"))

    page = client.get(page_of(Task.objects.get(task_id="c"))).content.decode()

    assert "No episode here has the task “c”." in page


def test_options_of_a_pilot_start_another_of_the_same_settings():
    benchmark = two_tasks()
    endpoint("scripted-asks")
    given = {"tasks": ["b"], "runs": 2, "limits": {"turns": 4}, "budgets": {"session": {"tokens": 9000}}}
    first = pilot_of(benchmark, "scripted-asks", mode="task", user_style="verbatim", **given)

    again = options_of(first)

    assert (again.agent, again.mode, again.runs, again.user_style) == ("scripted-asks", "task", 2, "verbatim")
    assert (again.limits["turns"], again.budgets["session"]["tokens"]) == (4, 9000)
    assert again.tasks == ["a", "b"]


def test_options_of_a_pilot_of_all_tasks_name_none():
    assert options_of(pilot_of(two_tasks())).tasks == []
