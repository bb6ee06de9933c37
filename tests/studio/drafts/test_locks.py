"""Rows that one transaction locks are not had by another, on a connection of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction

from studio.drafts.autosave import EditorKey, autosave, locked_text
from studio.drafts.contents import refresh_contents
from studio.drafts.load import lock, lock_all
from studio.models import Autosave, Benchmark, Persona, Role, Task
from tests.at_once import is_free
from tests.factories import BenchmarkFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def task() -> Task:
    benchmark: Benchmark = BenchmarkFactory()
    return a_task(a_persona(benchmark, by=member(benchmark, Role.AUTHOR)))


@pytest.mark.parametrize("take", [lock, lambda pk: lock_all([pk])])
def test_a_task_is_locked_until_the_transaction_ends(task: Task, take: Callable[[int], object]) -> None:
    with transaction.atomic():
        assert is_free(Task, task.pk)
        take(task.pk)
        assert not is_free(Task, task.pk)

    assert is_free(Task, task.pk)


@pytest.mark.parametrize("of_persona", [False, True])
def test_autosaved_text_is_locked_until_the_transaction_ends(task: Task, of_persona: bool) -> None:
    persona: Persona = task.persona
    key = EditorKey(persona=persona, name="profile") if of_persona else EditorKey(task=task)
    writer = persona.benchmark.memberships.get().user
    autosave(key, writer, {"title": ["Rye"]}, base_version=1)
    row = Autosave.objects.get()

    with transaction.atomic():
        assert is_free(Autosave, row.pk)
        locked_text(key, writer)
        assert not is_free(Autosave, row.pk)

    assert is_free(Autosave, row.pk)


def test_what_scores_depend_on_is_computed_by_one_save_of_a_persona_at_a_time(task: Task) -> None:
    """Else one would compute it from what the other replaces."""
    with transaction.atomic():
        assert is_free(Persona, task.persona_id)
        refresh_contents([task.persona_id], by=None)
        assert not is_free(Persona, task.persona_id)

    assert is_free(Persona, task.persona_id)
