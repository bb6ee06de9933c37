"""Statistics and gaps; the sample's numbers were counted by hand in its folders."""

from __future__ import annotations

import pytest
from django.test import Client

from studio.domain.task import Recovery, ToolEvidence, Trigger
from studio.imports.sample import load_sample
from studio.imports.taxonomy import ensure_taxonomy
from studio.models import Benchmark, Persona, Role, Task
from studio.reports.gaps import gaps_by_persona, other_gaps
from studio.reports.statistics import categories_of, figures_of, idle_tools, skills_of, tools_of
from studio.tasks.create import create_task
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member, persona_row, rewrite

pytestmark = pytest.mark.django_db


@pytest.fixture
def sample():
    load_sample()
    return Benchmark.objects.get(slug="sample")


def page(benchmark, name):
    client = Client()
    client.force_login(member(benchmark, Role.OWNER))
    return client.get(f"/b/{benchmark.slug}/{name}").content.decode()


def test_tool_usage_counts_needs_evidence_rules_and_sources():
    benchmark = BenchmarkFactory()
    persona = a_persona(benchmark, tools=("gmail__a", "gmail__b", "gmail__c", "read_file", "gmail__d"))
    intents = a_task_spec().intents
    intent = intents[0].model_copy(update={"recoverable_from": (Recovery(kind="tool", ref="gmail__c.result"),)})
    a_task(persona, "one", tools=("gmail__a",))
    a_task(
        persona, "two", tools=("gmail__a",), tool_evidence=(ToolEvidence(tool="mcp_appworld_gmail__b", call=("x",)),)
    )
    a_task(persona, "three", intents=(intent,))

    rows = {tool.name: (tool.domain, tool.personas, tool.tasks) for _, group in tools_of(benchmark) for tool in group}

    assert rows == {
        "gmail__a": ("gmail", 1, 2),
        "gmail__b": ("gmail", 1, 1),
        "gmail__c": ("gmail", 1, 1),
        "gmail__d": ("gmail", 1, 0),
        "read_file": ("workspace", 1, 0),
    }
    assert idle_tools(benchmark) == {persona.pk: (2, 5)}
    descriptions = {tool.name: tool.description for _, group in tools_of(benchmark) for tool in group}
    assert (
        descriptions["read_file"]
        == "Open a file: text, Word, Excel, PowerPoint, PDF, mail, notebooks, and pictures to look at"
    )
    assert descriptions["gmail__a"] == "A"


def test_unused_and_unknown_categories_are_counted():
    benchmark = BenchmarkFactory(taxonomy=ensure_taxonomy())
    persona = a_persona(benchmark)
    for name, category in (("a", "F"), ("b", "F"), ("c", "ZZ"), ("d", "")):
        a_task(persona, name, category=category)

    rows, without = categories_of(benchmark)

    assert ({row.code: row.tasks for row in rows if row.tasks}, len(rows), without) == ({"F": 2, "ZZ": 1}, 19, 1)


def test_gaps_name_the_persona_the_fix_and_the_page():
    benchmark = BenchmarkFactory(plan_sessions=3, plan_groups=1, plan_standalone=1, plan_signals=0)
    whole, short = a_persona(benchmark, "whole"), a_persona(benchmark, "short")
    setup = a_task(whole, "t1", checklist=())
    create_task(whole, a_task_spec("t2", depends_on=({"task_id": "t1"},)), by=None)
    a_task(whole, "t3")
    a_task(short, "t1")

    (persona_gaps,) = gaps_by_persona(benchmark)

    assert persona_gaps.persona == short
    assert [(gap.message, gap.unfinished) for gap in persona_gaps.gaps] == [
        ("1 of 3 planned tasks written.", True),
        ("None of 1 planned dependency group formed.", True),
    ]
    assert persona_gaps.gaps[0].address == f"/b/{benchmark.slug}/p/short/new/"
    rewrite(Task.objects.filter(persona=whole).exclude(pk=setup.pk), trigger=Trigger(kind="feed"))
    assert "1 of 3 planned tasks written." in page(benchmark, "gaps/")
    assert persona_gaps.gaps[0].fix in page(benchmark, "gaps/")


def test_retired_tasks_do_not_count_towards_the_plan():
    benchmark = BenchmarkFactory(plan_sessions=1, plan_groups=0, plan_standalone=1, plan_signals=0)
    task = a_task(a_persona(benchmark))

    assert gaps_by_persona(benchmark) == []
    Task.objects.filter(pk=task.pk).update(state="retired")
    assert len(gaps_by_persona(benchmark)) == 1


def test_unused_categories_and_tools_are_gaps():
    benchmark = BenchmarkFactory(taxonomy=ensure_taxonomy())
    persona = a_persona(benchmark, tools=("gmail__a",))

    def messages():
        return [gap.message for gap in other_gaps(benchmark, {persona.pk: persona})]

    assert messages() == ["No task has a category.", "Baker: 1 of 1 tools is used by no task."]
    a_task(persona, "a", category="F", tools=("gmail__a",))
    a_task(persona, "b")
    assert [message.split(":")[0] for message in messages()] == [
        "17 of 18 categories have no task",
        "1 task has no category.",
    ]


def test_empty_benchmark_has_guidance_on_every_page():
    benchmark = BenchmarkFactory()

    assert "No personas yet" in page(benchmark, "")
    assert "no statistics" in page(benchmark, "statistics/")
    assert "No episodes yet" in page(benchmark, "gaps/")


def test_number_of_queries_does_not_depend_on_the_number_of_personas(django_assert_max_num_queries):
    benchmark = BenchmarkFactory()
    a_task(a_persona(benchmark))

    def count():
        figures_of(Persona.objects.filter(benchmark=benchmark))
        tools_of(benchmark)
        skills_of(benchmark)
        gaps_by_persona(benchmark)
        other_gaps(benchmark, {})

    with django_assert_max_num_queries(30) as few:
        count()
    Persona.objects.bulk_create(persona_row(benchmark, f"p{n}") for n in range(300))
    with django_assert_max_num_queries(len(few)):
        count()


def test_statistics_of_the_sample_match_its_folders(sample):
    keys = {
        persona.user_id: sum(len(script.keys or ()) for script in persona.grader_scripts.all())
        for persona in sample.personas.all()
    }
    figures = {persona.user_id: figures_of([persona])[persona.pk] for persona in sample.personas.all()}

    radio, vet = figures["radio_producer"], figures["vet_practice_manager"]
    assert (radio.tasks, radio.sessions, radio.local, radio.persistent, radio.rubric) == (7, 7, 12, 21, 21)
    assert (vet.tasks, vet.sessions, vet.local, vet.persistent, vet.rubric) == (7, 7, 7, 26, 16)
    assert (radio.rule, vet.rule) == (12 + keys["radio_producer"], 14 + keys["vet_practice_manager"])
    assert (radio.dependencies, radio.files, radio.tools, radio.skills) == (2, 11, 6, 1)
    assert (vet.dependencies, vet.files, vet.tools, vet.skills) == (3, 8, 18, 2)
    assert {row.code: row.tasks for row in categories_of(sample)[0] if row.tasks} == {
        "E": 1, "L": 3, "M": 1, "N": 2, "P": 1, "R": 6,
    }  # fmt: skip
    assert [gap.message for each in gaps_by_persona(sample) for gap in each.gaps] == [
        "2 of 3 planned standalone tasks written."
    ]
    html = " ".join(page(sample, "statistics/").split())
    assert '<th scope="row">Total</th> <td class="number">14</td> <td class="number">14</td>' in html
    assert '<th scope="row">Average per task</th> <td></td> <td></td> <td class="number">4.7</td>' in html
