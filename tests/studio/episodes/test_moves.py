"""Moves on the episode's board, and their undo."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from studio.domain.arrangement import ArrangementError
from studio.domain.task import Dependency
from studio.episodes.board import board_of
from studio.episodes.moves import (
    BoardChangedError,
    ConfirmationNeededError,
    Move,
    current_arrangement,
    make_move,
    to_undo,
)
from studio.imports.importer import import_files
from studio.models import BoardMove, Event, Role, Task
from studio.review import workflow
from studio.tasks.transitions import retire, submit
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, member, task_row
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_board(module_db):
    """A persona with five tasks, of which t3 builds on t1 in the group “Rye”, and its owner."""
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner)
    for name in ("t1", "t2", "t3", "t4", "t5"):
        needed = (Dependency(task_id="t1", carries_over="the oven's hours"),) if name == "t3" else ()
        more = {"checklist": ()} if name == "t1" else {}  # sets up, and is not scored
        group = "Rye" if name in ("t1", "t3") else ""
        a_task(persona, name, by=owner, title=f"Title {name}", group=group, depends_on=needed, **more)
    return persona, owner


@pytest.fixture
def board(shared_board):
    return fresh(shared_board)


def ids(persona):
    return list(persona.tasks.filter(position__isnull=False).order_by("position").values_list("task_id", flat=True))


def do(board, action, /, *tasks, **more):
    persona, owner = board
    by = more.pop("by", owner)
    seen, confirmed = more.pop("seen", ""), more.pop("confirmed", False)
    return make_move(persona.pk, Move(action, tasks, **more), by=by, seen=seen, confirmed=confirmed)


@pytest.mark.slow
def test_tasks_are_moved_swapped_and_taken_out_alone_or_together(board):
    persona, _ = board
    do(board, "move", "t4", "t2", target="t1")
    assert ids(persona) == ["t2", "t4", "t1", "t3", "t5"]
    do(board, "move", "t2", target="end")
    assert ids(persona) == ["t4", "t1", "t3", "t5", "t2"]
    do(board, "take_out", "t5", "t4")
    assert ids(persona) == ["t1", "t3", "t2"]
    do(board, "move", "t5", target="t3")
    assert ids(persona) == ["t1", "t5", "t3", "t2"]
    do(board, "swap", "t4", target="t2")
    assert ids(persona) == ["t1", "t5", "t3", "t4"]
    do(board, "later", "t5")
    assert ids(persona) == ["t1", "t3", "t5", "t4"]
    do(board, "earlier", "t1")
    assert ids(persona) == ["t1", "t3", "t5", "t4"]


@pytest.mark.parametrize(
    ("action", "tasks", "more", "task_id", "message"),
    [
        (
            "move",
            ["t3"],
            {"target": "t1"},
            "t3",
            "“Title t3” builds on “Title t1” (the oven's hours): ",
        ),
        ("move", ["t1", "t2"], {"target": "end"}, "t1", "“Title t3” must come after it"),
        ("take_out", ["t1"], {}, "t1", "“Title t1” would be outside the episode"),
        ("take_out", ["t3"], {}, "t3", "a task outside the episode cannot have dependencies"),
        ("swap", ["t1"], {"target": "t5"}, "t1", "must come after it"),
        ("depend", ["t2"], {"target": "t4", "carries_over": "x"}, "t2", "“Title t2” must come after it"),
        ("depend", ["t2"], {"target": "t2"}, "t2", "cannot build on itself"),
        ("move", [], {"target": "t1"}, "", "Choose at least one task."),
        ("move", ["t1"], {}, "t1", "Choose where to move it."),
        ("move", ["nowhere"], {"target": "t1"}, "", "no longer in this episode"),
        ("group", ["t2"], {"group": "  "}, "t2", "Enter a group name"),
        ("group", ["t2"], {"group": "x" * 201}, "", "the limit is 200"),
        ("describe_group", [], {"group": "Gone", "name": "x"}, "", "“Gone” no longer exists"),
        ("merge_group", [], {"group": "Rye", "name": "Rye"}, "", "Choose the other group"),
        ("burn", ["t1"], {}, "", "Choose what to do."),
        ("undo", [], {}, "", "There is nothing to undo."),
        ("redo", [], {}, "", "There is nothing to redo."),
    ],
)
def test_impossible_move_is_rejected_with_the_reason_and_changes_nothing(board, action, tasks, more, task_id, message):
    persona, _ = board
    before, events = current_arrangement(persona), Event.objects.count()

    with pytest.raises(ArrangementError) as refusal:
        do(board, action, *tasks, **more)

    assert message in str(refusal.value)
    assert refusal.value.task_id == task_id
    assert current_arrangement(persona) == before
    assert (Event.objects.count(), BoardMove.objects.count()) == (events, 0)


@pytest.mark.slow
def test_groups_are_created_renamed_merged_described_and_left(board):
    persona, _ = board
    do(board, "group", "t2", "t4", group=" White   bread ")
    do(board, "describe_group", group="White bread", name="White bread", carries_over=" flour ")
    do(board, "describe_group", group="Rye", name="Dark", carries_over="the starter")
    now = current_arrangement(persona)
    assert now.groups == {"t1": "Dark", "t2": "White bread", "t3": "Dark", "t4": "White bread", "t5": ""}
    assert now.group_notes == {"White bread": "flour", "Dark": "the starter"}

    with pytest.raises(ArrangementError, match="merge them"):
        do(board, "describe_group", group="Dark", name="White bread", carries_over="")
    do(board, "merge_group", group="White bread", name="Dark")
    assert current_arrangement(persona).group_notes == {"Dark": "the starter\nflour"}
    do(board, "ungroup", "t1", "t2", "t3", "t4")
    assert set(current_arrangement(persona).groups.values()) == {""}
    do(board, "undo")
    assert current_arrangement(persona).group_notes == {"Dark": "the starter\nflour"}


def test_dependencies_are_added_changed_and_removed(board):
    persona, _ = board
    do(board, "depend", "t3", target="t1", carries_over="the hours, and the rye")
    do(board, "depend", "t5", target="t3", carries_over="")
    needs = current_arrangement(persona).dependencies
    assert needs["t3"] == (Dependency(task_id="t1", carries_over="the hours, and the rye"),)
    assert needs["t5"] == (Dependency(task_id="t3"),)
    do(board, "stop_depending", "t3", target="t1")
    do(board, "move", "t3", target="t1")
    assert ids(persona)[0] == "t3"


@pytest.mark.slow
def test_users_undo_and_redo_only_their_own_moves_one_by_one(board):
    persona, owner = board
    other = member(persona.benchmark, Role.AUTHOR)
    digests = [current_arrangement(persona).digest()]
    for move in (("move", "t2"), ("group", "t5"), ("stop_depending", "t3")):
        do(board, *move, target="t1", group="Rye")
        digests.append(current_arrangement(persona).digest())

    with pytest.raises(ArrangementError, match="nothing to undo"):
        do(board, "undo", by=other)
    for expected in reversed(digests[:-1]):
        do(board, "undo")
        assert current_arrangement(persona).digest() == expected
    for expected in digests[1:]:
        do(board, "redo")
        assert current_arrangement(persona).digest() == expected

    do(board, "move", "t4", target="t1", by=other)
    with pytest.raises(ArrangementError, match="changed since"):
        do(board, "undo")
    assert to_undo(persona, owner).summary == "“Title t3” no longer builds on “Title t1”."


def test_move_on_an_outdated_board_is_rejected_and_names_who_changed_it(board):
    persona, _ = board
    other = member(persona.benchmark, Role.AUTHOR)
    seen = board_of(persona).seen
    assert seen == current_arrangement(persona).digest()
    do(board, "move", "t5", target="t1", seen=seen, by=other)

    with pytest.raises(
        BoardChangedError, match=(f"{other} changed the board in the meantime: Moved “Title t5” before “Title t1”.")
    ):
        do(board, "move", "t2", target="end", seen=seen)

    assert ids(persona) == ["t5", "t1", "t2", "t3", "t4"]


def test_move_that_ends_an_approval_needs_confirmation(board):
    persona, owner = board
    task = Task.objects.get(task_id="t2")
    reviewer = member(persona.benchmark, Role.REVIEWER)
    submit(task.pk, by=owner)
    workflow.approve(task.pk, by=reviewer, version=1)

    do(board, "move", "t2", target="end")
    task.refresh_from_db()
    assert task.state == "approved"  # the order is no part of what was approved
    with pytest.raises(ConfirmationNeededError, match="“Title t2” is in review, approved or released"):
        do(board, "group", "t2", group="Rye")
    task.refresh_from_db()
    assert (task.state, task.group) == ("approved", "")
    do(board, "group", "t2", group="Rye", confirmed=True)
    task.refresh_from_db()
    assert (task.state, task.group) == ("draft", "Rye")


def test_retired_task_cannot_be_moved_into_the_episode(board):
    _, owner = board
    do(board, "take_out", "t5")
    retire(Task.objects.get(task_id="t5").pk, by=owner)
    with pytest.raises(ArrangementError, match="is retired"):
        do(board, "move", "t5", target="t1")


def test_new_task_is_inserted_before_the_given_task(board):
    persona, owner = board
    client = Client()
    client.force_login(owner)
    later = Task.objects.get(task_id="t2")
    url = reverse("studio:task_new", args=[persona.benchmark.slug, persona.user_id])
    assert "Title t2" in client.get(url, {"before": later.pk}).content.decode()
    client.post(url, {"task_id": "fresh", "title": "Fresh", "initial_request": "", "before": later.pk})
    assert ids(persona) == ["t1", "fresh", "t2", "t3", "t4", "t5"]


def post(client, persona, **fields):
    return client.post(reverse("studio:board_move", args=[persona.benchmark.slug, persona.user_id]), fields)


@pytest.mark.slow
def test_board_rejects_foreign_tasks_and_users_who_may_not_edit(board):
    persona, owner = board
    foreign = a_task(a_persona(BenchmarkFactory(), by=owner), "theirs", by=owner)
    client = Client()
    client.force_login(owner)
    mine = Task.objects.get(task_id="t2")

    answer = post(client, persona, does="move", task=[mine.pk, foreign.pk], place="end")
    assert answer.status_code == 409
    assert "no longer in this episode" in answer.content.decode()
    for target in (str(foreign.pk), "t1", "-1", "x" * 5000):
        assert post(client, persona, does="move", task=[mine.pk], place=target).status_code == 409
    assert post(client, persona, does="move", task=[mine.pk, mine.pk], place="end", seen="stale").status_code == 409
    assert ids(persona) == ["t1", "t2", "t3", "t4", "t5"]
    post(client, persona, does="move", task=[mine.pk, mine.pk], place="end")
    assert ids(persona) == ["t1", "t3", "t4", "t5", "t2"]

    viewer = Client()
    viewer.force_login(member(persona.benchmark, Role.VIEWER))
    assert post(viewer, persona, does="move", task=[mine.pk], place="end").status_code == 403
    stranger = Client()
    stranger.force_login(member(BenchmarkFactory(), Role.OWNER))
    assert post(stranger, persona, does="move", task=[mine.pk], place="end").status_code == 404


@pytest.mark.slow
def test_number_of_queries_does_not_depend_on_the_number_of_tasks(board):
    persona, owner = board
    client = Client()
    client.force_login(owner)
    few = _queries(client, persona)
    needs = [(Dependency(task_id=f"m{n - 7}", carries_over="x" * 300),) if n >= 7 else () for n in range(300)]
    Task.objects.bulk_create(task_row(persona, f"m{n}", n + 6, depends_on=needs[n]) for n in range(300))
    assert _queries(client, persona) == few


def _queries(client, persona):
    with CaptureQueriesContext(connection) as caught:
        assert client.get(persona.get_absolute_url()).status_code == 200
    return len(caught)


def test_group_notes_survive_export_and_import(board):
    persona, owner = board
    before = {path: data for path, data in benchmark_files(persona.benchmark).items() if "/tasks/" in path}
    text = "the starter: 2 kg\n„lang“"
    do(board, "describe_group", group="Rye", name="Rye", carries_over=text)
    files = benchmark_files(persona.benchmark)
    assert {path: data for path, data in files.items() if "/tasks/" in path} == before

    elsewhere = BenchmarkFactory()
    for _ in range(2):
        report = import_files(elsewhere, files, by=owner)
        assert (report.ok, report.errors) == (True, [])
        copy = elsewhere.personas.get()
        assert current_arrangement(copy) == current_arrangement(persona)
        assert benchmark_files(elsewhere) == files
    assert report.updated == []


def test_export_without_group_notes_has_no_studio_block(board):
    persona, _ = board
    assert b"studio" not in benchmark_files(persona.benchmark)["data/baker/episode.yaml"]
