"""Splits: set for whole groups, kept by copies, exports and imports, and never cutting a group."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from studio.domain.arrangement import ArrangementError
from studio.domain.episode import Split
from studio.domain.task import Dependency
from studio.drafts.load import frozen_episode, load_episode, load_task
from studio.drafts.validate import DraftError
from studio.episodes.moves import Move, make_move
from studio.imports.importer import find_reading_errors, import_files
from studio.models import Persona, Revision, Role, Task, TaskState, User
from studio.review import bulk
from studio.tasks.copy_tasks import copy_tasks
from studio.tasks.create import start_task
from studio.tasks.save import save_task
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, mark_approved, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
CUT = "The group “Rye” would be cut"


@pytest.fixture(scope="module")
def shared_desk(module_db) -> tuple[Persona, User]:
    """A persona with four tasks, of which t3 builds on t1 in the group “Rye”, and its owner."""
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner)
    for name in ("t1", "t2", "t3", "t4"):
        needed = (Dependency(task_id="t1", carries_over="the oven's hours"),) if name == "t3" else ()
        more = {"checklist": ()} if name == "t1" else {}  # sets up, and is not scored
        group = "Rye" if name in ("t1", "t3") else ""
        a_task(persona, name, by=owner, title=f"Title {name}", group=group, depends_on=needed, **more)
    return persona, owner


@pytest.fixture
def desk(shared_desk: tuple[Persona, User]) -> tuple[Persona, User]:
    return fresh(shared_desk)


def hold(desk: tuple[Persona, User], *tasks: str, split: str = "held_out") -> None:
    persona, owner = desk
    make_move(persona.pk, Move("split", tasks, split=split), by=owner)


def splits_of(persona: Persona) -> dict[str, str]:
    return {name: split for name, split in persona.tasks.values_list("task_id", "split") if split != Split.PUBLIC}


def test_group_is_held_out_as_a_whole_without_ending_approvals_and_can_be_undone(desk):
    persona, owner = desk
    mark_approved(persona.tasks.all())

    hold(desk, "t1", "t3")
    assert splits_of(persona) == {"t1": "held_out", "t3": "held_out"}
    assert set(persona.tasks.values_list("state", flat=True)) == {TaskState.APPROVED}
    assert {task.outdated for task in persona.tasks.all()} == {False}

    make_move(persona.pk, Move("undo"), by=owner)
    assert splits_of(persona) == {}
    make_move(persona.pk, Move("redo"), by=owner)
    assert splits_of(persona) == {"t1": "held_out", "t3": "held_out"}


def test_split_that_cuts_a_group_is_refused_by_its_name(desk):
    persona, owner = desk
    with pytest.raises(ArrangementError, match=f"{CUT}: “Title t1” is public and “Title t3” is held-out"):
        hold(desk, "t3")
    hold(desk, "t1", "t3")
    with pytest.raises(ArrangementError, match=CUT):
        make_move(persona.pk, Move("depend", ("t4",), target="t1"), by=owner)
    with pytest.raises(ArrangementError, match=CUT):
        make_move(persona.pk, Move("group", ("t2",), group="Rye"), by=owner)
    with pytest.raises(ArrangementError, match="Choose a split"):
        hold(desk, "t2", split="secret")
    assert splits_of(persona) == {"t1": "held_out", "t3": "held_out"}


def test_editor_cannot_tie_a_task_to_one_of_another_split(desk):
    persona, owner = desk
    hold(desk, "t1", "t3")
    row = persona.tasks.get(task_id="t4")
    for fields in ({"depends_on": (Dependency(task_id="t1"),)}, {"group": "Rye"}):
        with pytest.raises(DraftError, match="would be cut"):
            save_task(row.pk, load_task(row).model_copy(update=fields), by=owner)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studio_task SET split = 'held_out' WHERE task_id = 't3'",
        "UPDATE studio_task SET split = 'held_out' WHERE task_id = 't1'",
    ],
)
def test_database_refuses_to_cut_a_group(desk, statement: str):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
        with pytest.raises(IntegrityError, match="belong together"), transaction.atomic():
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        transaction.set_rollback(True)


def test_database_knows_no_other_split(desk):
    with pytest.raises(IntegrityError, match="task_split_known"), transaction.atomic():
        Task.objects.filter(task_id="t2").update(split="secret")


def test_frozen_episode_has_the_splits_of_then(desk):
    persona, _ = desk
    hold(desk, "t2", split="validation")
    frozen = persona.revisions.get(number=Persona.objects.get(pk=persona.pk).version)
    hold(desk, "t2", split="public")

    revisions = Revision.objects.filter(task__persona=persona)
    assert frozen_episode(frozen, revisions).splits == {"t2": Split.VALIDATION}
    assert load_episode(persona).splits == {}


def test_copies_keep_the_split(desk):
    persona, owner = desk
    hold(desk, "t1", "t2", "t3")
    other = a_persona(persona.benchmark, "other", by=owner)

    copy_tasks(list(persona.tasks.filter(task_id__in=["t1", "t3"])), other, by=owner)
    assert splits_of(other) == {"t1": "held_out", "t3": "held_out"}
    assert load_episode(other).splits == splits_of(other)

    original = persona.tasks.select_related("persona__benchmark").get(task_id="t2")
    new = start_task(persona, original, task_id="t2_again", by=owner).task
    assert new.split == "held_out"
    newest = persona.revisions.first()
    assert newest.episode["splits"]["t2_again"] == "held_out"


def test_renamed_task_stays_held_out(desk):
    persona, owner = desk
    hold(desk, "t1", "t3")
    row = persona.tasks.get(task_id="t1")
    save_task(row.pk, load_task(row).model_copy(update={"task_id": "oven"}), by=owner)
    assert splits_of(persona) == {"oven": "held_out", "t3": "held_out"}
    assert persona.revisions.first().episode["splits"] == {"oven": "held_out", "t3": "held_out"}


def test_splits_are_exported_and_imported(desk):
    persona, _ = desk
    hold(desk, "t1", "t3")
    hold(desk, "t2", split="validation")
    files = benchmark_files(persona.benchmark)

    other = BenchmarkFactory()
    assert not import_files(other, files, by=None).errors
    assert splits_of(other.personas.get()) == {"t1": "held_out", "t2": "validation", "t3": "held_out"}
    assert benchmark_files(other) == files


def test_import_never_makes_a_task_more_open(desk):
    persona, _ = desk
    files = benchmark_files(persona.benchmark)
    hold(desk, "t1", "t3")

    report = import_files(persona.benchmark, files, by=None)
    assert splits_of(persona) == {"t1": "held_out", "t3": "held_out"}
    assert "“t1” is held-out here and public there." in [warning.message for warning in report.warnings]


def test_files_of_one_split_leave_tasks_of_others_where_they_are(desk):
    persona, owner = desk
    hold(desk, "t1", "t3")
    files = benchmark_files(persona.benchmark)
    only = {
        path: content.replace(b"\nstudio:", b"\nother:") if path.endswith("episode.yaml") else content
        for path, content in files.items()
        if "/t1/" not in path and "/t3/" not in path
    }
    folder = f"data/{persona.user_id}"
    episode = f"schema_version: v2\nepisode_id: e\nuser_id: {persona.user_id}\ntasks:\n- task_id: t4\n- task_id: t2\n"
    only[f"{folder}/episode.yaml"] = episode.encode()

    report = import_files(persona.benchmark, only, by=owner)
    assert not report.errors
    order = list(persona.tasks.filter(position__isnull=False).order_by("position").values_list("task_id", flat=True))
    assert sorted(order) == ["t1", "t2", "t3", "t4"]
    assert order.index("t4") < order.index("t2") and order.index("t1") < order.index("t3")
    assert load_task(persona.tasks.get(task_id="t3")).depends_on[0].carries_over == "the oven's hours"
    assert splits_of(persona) == {"t1": "held_out", "t3": "held_out"}


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ("{t1: held_out}", CUT),
        ("{t1: held_out, t3: held_out, t9: held_out}", "there is no such task"),
        ("{t2: secret}", "is unknown"),
        ("held_out", "must be a mapping"),
    ],
)
def test_splits_that_are_not_understood_stop_an_import(desk, splits: str, message: str):
    persona, _ = desk
    files = benchmark_files(persona.benchmark)
    path = f"data/{persona.user_id}/episode.yaml"
    hold_all = files[path].decode().partition("\nstudio:")[0] + f"\nstudio:\n  splits: {splits}\n"
    errors = find_reading_errors({**files, path: hold_all.encode()})
    assert any(message in error["message"] for error in errors), errors


def test_board_sets_the_split_of_a_whole_group_and_refuses_to_cut_it(desk, client: Client):
    persona, owner = desk
    client.force_login(owner)
    address = persona.get_absolute_url()
    keys = {task.task_id: task.pk for task in persona.tasks.all()}
    page = client.get(address, {"task": keys["t3"]}).content.decode()
    assert "of the 2 tasks of its" in page

    move = reverse("studio:board_move", args=[persona.benchmark.slug, persona.user_id])
    refused = client.post(move, {"does": "split", "task": keys["t3"], "split": "held_out"})
    assert refused.status_code == 409
    assert CUT in refused.content.decode()
    client.post(move, {"does": "split", "task": [keys["t1"], keys["t3"]], "split": "held_out"})
    assert splits_of(persona) == {"t1": "held_out", "t3": "held_out"}
    assert "held-out" in client.get(address).content.decode()


def test_list_of_tasks_shows_filters_and_sets_splits(desk, client: Client):
    persona, owner = desk
    keys = {task.task_id: task.pk for task in persona.tasks.all()}
    with pytest.raises(bulk.BulkChangeError, match=CUT):
        bulk.apply(persona.benchmark, {keys["t3"]: None}, "split", "held_out", by=owner)
    assert bulk.apply(persona.benchmark, {keys["t2"]: None, keys["t4"]: None}, "split", "held_out", by=owner) == 2

    client.force_login(owner)
    page = client.get(reverse("studio:tasks", args=[persona.benchmark.slug]), {"split": "held_out"}).content.decode()
    assert "Title t2" in page
    assert "Title t1" not in page
    listed = client.get(f"/api/benchmarks/{persona.benchmark.slug}/tasks/").json()["results"]
    assert {row["task_id"] for row in listed if row["split"] == "held_out"} == {"t2", "t4"}
