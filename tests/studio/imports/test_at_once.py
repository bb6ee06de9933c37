"""Two people decide on one import at the same moment, in transactions of their own."""

from __future__ import annotations

import pytest

from studio.drafts.load import load_episode, load_task
from studio.files.uploads import UploadError
from studio.imports.importer import import_files
from studio.imports.publication import PublicationError, confirm_publication
from studio.imports.staging import confirm, preview
from studio.models import Benchmark, Event, Import, Persona, Review, Role, Task
from studio.personas.files import PROFILE, save_file
from studio.tasks.save import save_task
from tests.at_once import after
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.studio.imports.archives import zipped

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory()


@pytest.fixture
def files() -> dict[str, bytes]:
    """Of a persona with one task, which is nowhere in the studio."""
    elsewhere = BenchmarkFactory()
    persona = a_persona(elsewhere)
    a_task(persona)
    files = benchmark_files(elsewhere)
    persona.delete()
    return files


def test_an_upload_that_two_people_confirm_at_once_is_imported_once(
    benchmark: Benchmark, files: dict[str, bytes]
) -> None:
    first, second = member(benchmark, Role.AUTHOR), member(benchmark, Role.AUTHOR)
    row = preview(benchmark, zipped(files), name="baker.zip", by=first, published=False)

    with pytest.raises(UploadError, match="already been completed"):
        after(lambda: confirm(row, by=first), lambda: confirm(row, by=second))

    assert Event.objects.filter(verb="imported", task=None, persona=None).count() == 1


def test_of_two_owners_who_confirm_at_once_the_second_is_told_that_it_is_done(
    benchmark: Benchmark, files: dict[str, bytes]
) -> None:
    asking, first, second = (member(benchmark, Role.OWNER) for _ in range(3))
    import_files(benchmark, files, by=asking, published=True)
    pk = Import.objects.get().pk

    with pytest.raises(PublicationError, match="already been answered"):
        after(lambda: confirm_publication(pk, by=first), lambda: confirm_publication(pk, by=second))

    assert Review.objects.get().reviewer == first


def test_what_is_saved_while_an_owner_confirms_is_not_approved(benchmark: Benchmark, files: dict[str, bytes]) -> None:
    asking, other, author = (member(benchmark, role) for role in (Role.OWNER, Role.OWNER, Role.AUTHOR))
    import_files(benchmark, files, by=asking, published=True)
    pk, task = Import.objects.get().pk, Task.objects.get()
    edited = load_task(task).model_copy(update={"title": "Bread by hand"})

    with pytest.raises(PublicationError, match="All of these tasks have changed"):
        after(lambda: save_task(task.pk, edited, by=author), lambda: confirm_publication(pk, by=other))


def test_of_two_imports_of_a_new_persona_at_once_the_second_finds_it(
    benchmark: Benchmark, files: dict[str, bytes]
) -> None:
    second = after(lambda: import_files(benchmark, files, by=None), lambda: import_files(benchmark, files, by=None))

    assert (second.errors, len(second.unchanged)) == ([], 1)


def test_an_import_follows_what_is_saved_of_its_tasks_just_now(benchmark: Benchmark, files: dict[str, bytes]) -> None:
    import_files(benchmark, files, by=None)
    task, author = Task.objects.get(), member(benchmark, Role.AUTHOR)
    edited = load_task(task).model_copy(update={"title": "Bread by hand"})

    after(lambda: save_task(task.pk, edited, by=author), lambda: import_files(benchmark, files, by=None))

    assert list(task.revisions.order_by("number").values_list("number", "spec__title")) == [
        (1, task.title), (2, "Bread by hand"), (3, task.title),
    ]  # fmt: skip


def test_an_import_follows_what_is_saved_of_its_persona_just_now(benchmark: Benchmark, files: dict[str, bytes]) -> None:
    import_files(benchmark, files, by=None)
    persona, author = Persona.objects.get(), member(benchmark, Role.AUTHOR)
    edited = load_episode(persona).persona.model_copy(update={"role_text": "Bakes by hand."})

    after(
        lambda: save_file(PROFILE, persona, "", edited, by=author),
        lambda: import_files(benchmark, files, by=None),
    )

    persona.refresh_from_db()
    assert (persona.version, load_episode(persona).persona.role_text != "Bakes by hand.") == (3, True)
