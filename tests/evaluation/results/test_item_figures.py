"""Beside each intent and criterion in a task's editor: how hard it was, how telling, and whether it may be a defect."""

from __future__ import annotations

import pytest
from django.test import Client

from studio.drafts.load import load_task
from studio.models import Benchmark, Task
from studio.tasks.save import save_task
from tests.evaluation import builders
from tests.evaluation.builders import benchmark_of
from tests.evaluation.results.builders import tried
from tests.factories import member

pytestmark = pytest.mark.django_db


def places(benchmark: Benchmark) -> tuple[Task, str, str]:
    task = Task.objects.get(task_id="b", persona__benchmark=benchmark)
    user = task.persona.user_id
    editor = f"/b/{benchmark.slug}/p/{user}/tasks/{task.pk}/"
    return task, editor, f"{editor}figures/"


@pytest.mark.slow
def test_rows_of_a_piloted_task_show_their_results_with_a_link_to_the_figure(benchmark: Benchmark, client: Client):
    task, editor, figures = places(benchmark)
    tried(benchmark, "scripted-lazy", {"a": 0, "b": 1, "c": 0}, 1, runs=4)
    client.force_login(member(benchmark, "author"))
    page = client.get(editor).content.decode()
    rows = " ".join(client.get(figures, {"pilot": [1, 3]}).content.decode().split())
    spec = load_task(task)
    never, always = spec.checklist[1].uid, spec.checklist[0].uid
    assert f'hx-get="{figures}"' in page
    assert f'id="figures-{spec.intents[0].uid}"' in page and f'id="figures-{never}"' in page
    said = {row.partition('"')[0]: row for row in rows.split('id="figures-')[1:]}
    assert "0 of 6 sessions met it" in said[never] and "likely defect: never met" in said[never]
    assert "6 of 6 sessions met it" in said[always] and "likely defect: always met" in said[always]
    assert "6 of 6 sessions" in said[spec.intents[0].uid]
    assert f"/benchmarks/{benchmark.slug}/results/charts/?pilot=1" in rows and "figure=items" in rows


@pytest.mark.slow
def test_reworded_row_says_that_its_figures_are_older(benchmark: Benchmark, client: Client):
    task, _, figures = places(benchmark)
    spec = load_task(task)
    intent = spec.intents[0].model_copy(update={"content": "Something else."})
    save_task(task.pk, spec.model_copy(update={"intents": (intent, *spec.intents[1:])}), by=None)
    client.force_login(member(benchmark, "author"))
    rows = client.get(figures).content.decode().split('id="figures-')
    reworded = [row for row in rows if "text changed since" in row]
    assert len(reworded) == 1 and reworded[0].startswith(spec.intents[0].uid)


@pytest.mark.slow
def test_task_that_was_never_piloted_asks_for_no_figures(client: Client):
    made = benchmark_of(builders.task("b", checklist=(builders.rubric("x"),)))
    _, editor, figures = places(made)
    client.force_login(member(made, "author"))
    assert figures not in client.get(editor).content.decode()
    assert "figures-" not in client.get(figures).content.decode()
