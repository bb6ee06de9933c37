"""A task or persona that is loaded is the document of its newest revision."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.domain.base import Spec
from studio.domain.task import ChecklistItem, ExactCheck, HiddenIntent, Recovery, TaskSpec, ToolEvidence, Trigger
from studio.drafts.load import load_episodes, load_task, load_tasks
from studio.drafts.save_tasks import canonical
from studio.imports.importer import import_path
from studio.models import Benchmark, Persona, PersonaRevision, Revision, Task
from studio.tasks.save import save_task
from tests.factories import BenchmarkFactory, a_persona, a_task

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
documents = st.dictionaries(words, values, max_size=3)
uids = st.uuids().map(str)
intents = st.builds(
    HiddenIntent,
    uid=uids,
    content=words,
    scope=st.sampled_from(["session_local", "persistent"]),
    initial_status=st.sampled_from(["not_provided", "provided"]),
    recoverable_from=st.lists(st.builds(Recovery, kind=st.sampled_from(["tool", "file"]), ref=words), max_size=2).map(
        tuple
    ),
    source=documents,
)
items = st.builds(
    ChecklistItem,
    uid=uids,
    criterion=words,
    weight=st.floats(0.1, 9),
    grader=st.sampled_from(["rubric", "rule"]),
    rule=st.none() | st.builds(ExactCheck, kind=st.just("tool_called"), tool=words, arguments=documents),
    evidence=st.lists(words, max_size=2).map(tuple),
    source=documents,
)


@st.composite
def specs(draw: st.DrawFn) -> TaskSpec:
    wanted = draw(st.lists(intents, max_size=3, unique_by=lambda intent: intent.uid))
    known = [intent.uid for intent in wanted]
    return TaskSpec(
        task_id="bread",
        title=draw(words),
        description=draw(words),
        category=draw(words),
        trigger=Trigger(kind=draw(st.sampled_from(["user_message", "webhook"])), payload=draw(documents)),
        initial_request=draw(words),
        intents=tuple(wanted),
        checklist=tuple(
            item.model_copy(update={"follows_from": tuple(draw(st.lists(st.sampled_from(known))) if known else ())})
            for item in draw(st.lists(items, max_size=3, unique_by=lambda item: item.uid))
        ),
        files_read=tuple(draw(st.lists(words, max_size=3))),
        tool_evidence=tuple(
            ToolEvidence(tool=tool, call=("a",), source=draw(documents)) for tool in draw(st.lists(words, max_size=2))
        ),
        group=draw(words),
        tools=tuple(draw(st.lists(words, max_size=3))),
        reference_workflow=draw(words),
        metadata=draw(documents),
        source=draw(documents),
    )


def written(spec: Spec) -> str:
    """With the order of keys and the types of numbers."""
    return repr(spec.to_json())


def assert_documents(tasks: Iterable[Task], personas: Iterable[Persona]) -> None:
    rows = {row.pk: row for row in tasks}
    newest = Revision.objects.filter(task__in=rows)
    documents = {each.task_id: each.spec for each in newest if each.number == rows[each.task_id].version}
    loaded = load_tasks(rows)
    assert {pk: repr(documents[pk]) for pk in rows} == {pk: written(spec) for pk, spec in loaded.items()}
    people = list(personas)
    for pk, episode in load_episodes(people).items():
        [persona] = (each for each in people if each.pk == pk)
        revision = PersonaRevision.objects.get(persona=pk, number=persona.version)
        assert (repr(revision.spec), list(revision.episode["order"])) == (
            written(episode.persona),
            [task.task_id for task in episode.tasks],
        )
        assert [loaded[task.pk] for task in Task.objects.filter(persona=pk, position__gt=0)] == [*episode.tasks]


def of_benchmark(benchmark: Benchmark) -> tuple[Iterable[Task], Iterable[Persona]]:
    return Task.objects.filter(persona__benchmark=benchmark), benchmark.personas.all()


def test_every_task_and_persona_of_the_sample_is_its_newest_revision() -> None:
    benchmark = BenchmarkFactory()
    assert not import_path(benchmark, ROOT / "fixtures/sample", by=None).errors
    assert_documents(*of_benchmark(benchmark))


def test_every_task_and_persona_of_the_published_data_is_its_newest_revision(pibench_data: Path) -> None:
    benchmark = BenchmarkFactory()
    assert not import_path(benchmark, pibench_data, by=None).errors
    assert_documents(*of_benchmark(benchmark))


@pytest.fixture(scope="module")
def shared_task(module_db: None) -> Task:
    return a_task(a_persona(BenchmarkFactory()), "bread")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(spec=specs())
def test_any_task_is_loaded_as_it_was_saved(shared_task: Task, spec: TaskSpec) -> None:
    saved = save_task(shared_task.pk, spec, by=None).task
    assert written(load_task(saved)) == written(canonical(spec))
    assert_documents([saved], [saved.persona])


def test_uids_of_other_programs_become_canonical_when_saved() -> None:
    task = a_task(a_persona(BenchmarkFactory()), "bread")
    spec = load_task(task)
    odd = spec.model_copy(update={"intents": (HiddenIntent(uid=str(uuid.uuid4()).upper(), content="Rye first."),)})
    assert_documents([save_task(task.pk, odd, by=None).task], [])
