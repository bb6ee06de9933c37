"""Authors of texts that another account brought to where they are."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from studio.drafts.authors import authors_of
from studio.drafts.load import load_task
from studio.imports.importer import import_files
from studio.imports.staging import confirm, preview
from studio.models import Revision, Role, Task, User
from studio.review.workflow import approve
from studio.tasks.copy_tasks import copy_tasks
from studio.tasks.create import start_task
from studio.tasks.save import restore_version, save_task
from studio.tasks.transitions import WorkflowError, submit
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh
from tests.studio.imports.archives import zipped

pytestmark = pytest.mark.django_db


class Desk:
    """A task by ``writer``, and ``carrier``, who brings texts elsewhere."""

    def __init__(self) -> None:
        self.benchmark = BenchmarkFactory()
        self.writer = member(self.benchmark, Role.AUTHOR, Role.REVIEWER)
        self.carrier = member(self.benchmark, Role.AUTHOR, Role.REVIEWER)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.writer)
        self.target = a_persona(self.benchmark, "miller", by=self.carrier)
        self.task = a_task(self.persona, by=self.writer)

    def files(self) -> dict[str, bytes]:
        return {
            path.replace("data/baker/", "data/cook/"): content.replace(b"baker", b"cook")
            for path, content in benchmark_files(self.benchmark).items()
            if path.startswith("data/baker/")
        }

    def edit(self, by: User, **fields: Any) -> Revision:
        return save_task(self.task.pk, load_task(self.task).model_copy(update=fields), by=by)


@pytest.fixture(scope="module")
def shared_desk(module_db) -> Desk:
    return Desk()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


def newest(task: Task) -> Revision:
    return task.revisions.get(number=task.version)


def assert_only_reviewer_can_approve(desk: Desk, task: Task) -> None:
    submit(task.pk, by=desk.carrier)
    for person in (desk.writer, desk.carrier):
        with pytest.raises(WorkflowError, match="You wrote part of this version"):
            approve(task.pk, by=person)
    approve(task.pk, by=desk.reviewer)


@pytest.mark.parametrize("moving", [False, True])
def test_writer_cannot_approve_a_copy_made_by_another_account(desk: Desk, moving: bool) -> None:
    [copy] = copy_tasks([desk.task], desk.target, by=desk.carrier, moving=moving)

    assert_only_reviewer_can_approve(desk, copy)


def test_writer_cannot_approve_a_copy_of_a_copy(desk: Desk) -> None:
    [first] = copy_tasks([desk.task], desk.target, by=desk.carrier)
    [second] = copy_tasks([first], a_persona(desk.benchmark, "cook"), by=desk.carrier)

    assert_only_reviewer_can_approve(desk, second)


def test_authors_of_an_approved_version_are_authors_of_its_copy(desk: Desk) -> None:
    submit(desk.task.pk, by=desk.writer)
    approve(desk.task.pk, by=desk.reviewer)
    desk.edit(desk.carrier, title="Bread for Sunday")
    desk.task.refresh_from_db()

    [copy] = copy_tasks([desk.task], desk.target, by=desk.carrier)

    assert authors_of(newest(copy)) == {desk.writer.pk, desk.carrier.pk}


def test_writer_cannot_approve_a_task_started_from_theirs(desk: Desk) -> None:
    new = start_task(desk.target, desk.task, task_id="rolls", request="Please plan the rolls.", by=desk.carrier)

    assert authors_of(newest(new.task)) == {desk.writer.pk, desk.carrier.pk}


def test_uploader_cannot_approve_an_import_that_another_confirmed(desk: Desk) -> None:
    files = desk.files()
    desk.task.delete()
    row = preview(desk.benchmark, zipped(files), name="cook.zip", by=desk.writer, published=False)

    assert confirm(row, by=desk.carrier).ok

    assert_only_reviewer_can_approve(desk, Task.objects.get(persona__user_id="cook"))


def test_writer_cannot_approve_their_exported_text_imported_by_another(desk: Desk) -> None:
    elsewhere = BenchmarkFactory()
    import_files(elsewhere, desk.files(), by=desk.carrier)

    imported = Task.objects.get(persona__benchmark=elsewhere)

    assert authors_of(newest(imported)) == {desk.writer.pk, desk.carrier.pk}


def test_authors_of_a_restored_version_are_authors_of_the_new_one(desk: Desk) -> None:
    submit(desk.task.pk, by=desk.writer)
    approve(desk.task.pk, by=desk.reviewer)
    desk.edit(desk.reviewer, title="Bread for Sunday")

    restored = restore_version(desk.task, 1, by=desk.carrier)

    assert desk.writer.pk in authors_of(restored)


def test_authors_elsewhere_count_until_somebody_approved_the_text(desk: Desk) -> None:
    [copy] = copy_tasks([desk.task], desk.target, by=desk.carrier)
    submit(copy.pk, by=desk.carrier)
    approve(copy.pk, by=desk.reviewer)

    saved = save_task(copy.pk, load_task(copy).model_copy(update={"title": "Rolls"}), by=desk.carrier)

    assert authors_of(saved) == {desk.carrier.pk}


def test_database_rejects_an_approval_by_an_author_elsewhere(desk: Desk) -> None:
    [copy] = copy_tasks([desk.task], desk.target, by=desk.carrier)

    with pytest.raises(IntegrityError, match="wrote part of what they approve"), transaction.atomic():
        newest(copy).reviews.create(reviewer=desk.writer, decision="approved")
    with pytest.raises(IntegrityError, match="frozen"), transaction.atomic():
        newest(copy).origin_authors.through.objects.update(user=desk.reviewer)
