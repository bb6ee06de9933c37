"""Tasks that are remembered between requests."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from studio.domain.task import Dependency, TaskSpec
from studio.drafts import load
from studio.drafts.load import load_episode, load_episodes, load_task
from studio.models import DependencyGroup, Persona, Task
from studio.tasks.save import save_task
from tests.factories import BenchmarkFactory, a_persona, a_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def persona() -> Persona:
    persona = a_persona(BenchmarkFactory())
    for name in ("bread", "rolls", "cake"):
        a_task(persona, name, group="morning")
    return persona


def test_of_an_episode_only_the_tasks_that_changed_are_read_again(
    persona: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_episode(persona)
    changed = Task.objects.get(task_id="rolls")
    Task.objects.filter(pk=changed.pk).update(version=changed.version + 1, title="Rolls for Sunday")
    read: list[int] = []
    load_tasks = load.load_tasks

    def noted(keys: Iterable[int]) -> dict[int, TaskSpec]:
        read.extend(found := list(keys))
        return load_tasks(found)

    monkeypatch.setattr(load, "load_tasks", noted)
    episode = load_episode(persona)
    assert read == [changed.pk]
    assert [task.title for task in episode.tasks] == ["Bread for Saturday", "Rolls for Sunday", "Bread for Saturday"]


def test_remembered_tasks_are_as_the_database_has_them_after_every_kind_of_change(persona: Persona) -> None:
    bread, rolls, cake = Task.objects.order_by("position")
    other = a_persona(persona.benchmark, "smith")  # of several personas, nothing is remembered

    def change(task: Task, **fields: object) -> None:
        save_task(task.pk, load_task(task).model_copy(update=fields), by=None)

    for step in (
        lambda: change(cake, depends_on=(Dependency(task_id="rolls"),)),
        lambda: change(rolls, title="Rolls for Sunday", intents=()),
        lambda: change(rolls, task_id="buns"),
        lambda: change(bread, group="evening"),
        lambda: DependencyGroup.objects.filter(name="morning").update(name="noon"),
        lambda: Task.objects.filter(pk=bread.pk).update(position=None),
        lambda: bread.delete(),
    ):
        step()
        assert load_episode(persona) == load_episodes([persona, other])[persona.pk]
