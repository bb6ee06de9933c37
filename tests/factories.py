"""Rows that tests of every app begin with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import factory
from django.db.models import F, QuerySet
from factory.django import DjangoModelFactory

from studio.access.tokens import create_token
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from studio.domain.uids import default_uid
from studio.drafts.load import load_task
from studio.models import Benchmark, Blob, Membership, Persona, Review, Task, TaskState, User
from studio.models.tasks import SPEC_FIELDS
from studio.personas.create import create_persona
from studio.review.checklist import QUESTIONS
from studio.tasks.create import create_task


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person{n}")
    display_name = factory.LazyAttribute(lambda user: user.username.title())


class BenchmarkFactory(DjangoModelFactory[Benchmark]):
    class Meta:
        model = Benchmark

    slug = factory.Sequence(lambda n: f"benchmark-{n}")
    name = factory.LazyAttribute(lambda benchmark: benchmark.slug.replace("-", " ").title())


def stored(path: str, content: bytes) -> FileRef:
    """A file whose content is kept."""
    [sha] = Blob.objects.store([content])
    return FileRef(path=path, sha256=sha, size=len(content))


def member(benchmark: Benchmark, *roles: str) -> User:
    """A new person with these roles."""
    user = UserFactory()
    for role in roles:
        Membership.objects.create(benchmark=benchmark, user=user, role=role)
    return user


def a_persona(benchmark: Benchmark, user_id: str = "baker", *, by: User | None = None, **fields: Any) -> Persona:
    return create_persona(benchmark, PersonaSpec(user_id=user_id, name=user_id.title(), **fields), by=by)


def a_task_spec(task_id: str = "bread", **fields: Any) -> TaskSpec:
    """A small task that the checks have nothing to say against."""
    values: dict[str, Any] = {
        "user_id": "baker",
        "title": "Bread for Saturday",
        "task_type": "short_term_independent",
        "environment_id": "env_baker",
        "description": "An order list becomes a baking plan.",
        "initial_request": "Please make Saturday's baking plan from orders.csv and save it as plan.md.",
        "intents": (
            HiddenIntent(uid=default_uid("baker", task_id, "intents", 1), content="The rye goes in before the rolls."),
        ),
        "checklist": (
            ChecklistItem(uid=default_uid("baker", task_id, "checklist", 1), criterion="The plan bakes the rye first."),
        ),
        "files_read": ("plan.md",),
    }
    return TaskSpec(task_id=task_id, **(values | fields))


def mark_approved(tasks: QuerySet[Task] | None = None) -> None:
    """Approve tasks, all by default, as if they had been submitted and reviewed."""
    tasks = Task.objects.all() if tasks is None else tasks
    answers = {question: {"so": True, "word": ""} for question in QUESTIONS}
    for task in tasks.select_related("persona__benchmark"):
        revision = task.revisions.get(number=task.version)
        for _ in range(task.persona.benchmark.approvals_needed):
            reviewer = UserFactory()
            Review.objects.create(
                revision=revision,
                reviewer=reviewer,
                decision="approved",
                content=task.content,
                parts=task.parts,
                answers=answers,
            )
    tasks.update(state=TaskState.APPROVED, approved_content=F("content"))


def a_task(persona: Persona, task_id: str = "bread", *, by: User | None = None, **fields: Any) -> Task:
    return create_task(persona, a_task_spec(task_id, **fields), by=by)


def persona_row(benchmark: Benchmark, user_id: str, position: int = 0) -> Persona:
    """A row that is not stored yet."""
    row = Persona(benchmark=benchmark, position=position, version=1)
    row.set_spec(PersonaSpec(user_id=user_id))
    return row


def task_row(
    persona: Persona, task_id: str, position: int | None = None, *, state: str = "draft", **fields: Any
) -> Task:
    """A row that is not stored yet, for tests that need many or no versions; ``fields`` of its spec."""
    row = Task(persona=persona, position=position, state=state, version=1)
    row.set_spec(TaskSpec(task_id=task_id, **fields))
    return row


def rewrite(tasks: Iterable[Task], **fields: Any) -> None:
    """Change the tasks' documents without making a version."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    for task in tasks:
        task.set_spec(load_task(task).model_copy(update=values))
        task.save(update_fields=SPEC_FIELDS)


def api_token(user: User, scope: str = "full") -> str:
    """The secret of a new token."""
    return create_token(user, name="a program", scope=scope, days=1)[1]
