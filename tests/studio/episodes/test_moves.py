"""Steps on the episode's board: each whole or not at all, with the reason; put back one by one."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from studio.domain.arrangement import ArrangementError
from studio.domain.task import Dependency
from studio.episodes import moves
from studio.episodes.board import board_of
from studio.episodes.moves import BoardChangedError, ConfirmationNeededError, Step, arrange, arrangement_now
from studio.imports.export import benchmark_files
from studio.imports.importer import import_files
from studio.models import BoardMove, Event, Role, Task
from studio.models import Dependency as DependencyRow
from studio.review import workflow
from studio.tasks.transitions import retire, submit
from tests.factories import BenchmarkFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    """An episode of five: the third builds on the first, and the two are the group “Rye”."""
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner)
    for name in ("t1", "t2", "t3", "t4", "t5"):
        needed = (Dependency(task_id="t1", carries_over="the oven's hours"),) if name == "t3" else ()
        more = {"checklist": ()} if name == "t1" else {}  # sets up, and is not scored
        group = "Rye" if name in ("t1", "t3") else ""
        a_task(persona, name, by=owner, title=f"Title {name}", group=group, depends_on=needed, **more)
    return persona, owner


def ids(persona):
    return list(
        persona.episode.tasks.filter(position__isnull=False).order_by("position").values_list("task_id", flat=True)
    )


def do(here, does, /, *tasks, **more):
    persona, owner = here
    by = more.pop("by", owner)
    seen, sure = more.pop("seen", ""), more.pop("sure", False)
    return arrange(persona.pk, Step(does, tasks, **more), by=by, seen=seen, sure=sure)


def test_sessions_go_before_another_to_the_end_aside_and_back_alone_or_together(place):
    persona, _ = place
    do(place, "move", "t4", "t2", place="t1")
    assert ids(persona) == ["t2", "t4", "t1", "t3", "t5"]
    do(place, "move", "t2", place="end")
    assert ids(persona) == ["t4", "t1", "t3", "t5", "t2"]
    do(place, "take_out", "t5", "t4")
    assert ids(persona) == ["t1", "t3", "t2"]
    do(place, "move", "t5", place="t3")
    assert ids(persona) == ["t1", "t5", "t3", "t2"]
    do(place, "swap", "t4", place="t2")
    assert ids(persona) == ["t1", "t5", "t3", "t4"]
    do(place, "later", "t5")
    assert ids(persona) == ["t1", "t3", "t5", "t4"]
    do(place, "earlier", "t1")
    assert ids(persona) == ["t1", "t3", "t5", "t4"]


@pytest.mark.parametrize(
    ("does", "tasks", "more", "beside", "words"),
    [
        (
            "move",
            ["t3"],
            {"place": "t1"},
            "t3",
            "“Title t3” builds on “Title t1” (the oven's hours): ",
        ),
        ("move", ["t1", "t2"], {"place": "end"}, "t1", "“Title t3” must come after it"),
        ("take_out", ["t1"], {}, "t1", "“Title t1” would be outside the episode"),
        ("take_out", ["t3"], {}, "t3", "a task outside the episode cannot have dependencies"),
        ("swap", ["t1"], {"place": "t5"}, "t1", "must come after it"),
        ("depend", ["t2"], {"place": "t4", "words": "x"}, "t2", "“Title t2” must come after it"),
        ("depend", ["t2"], {"place": "t2"}, "t2", "cannot build on itself"),
        ("move", [], {"place": "t1"}, "", "Choose at least one task."),
        ("move", ["t1"], {}, "t1", "Choose where to move it."),
        ("move", ["nowhere"], {"place": "t1"}, "", "no longer in this episode"),
        ("group", ["t2"], {"group": "  "}, "t2", "Enter a group name"),
        ("group", ["t2"], {"group": "x" * 201}, "", "the limit is 200"),
        ("describe_group", [], {"group": "Gone", "name": "x"}, "", "“Gone” no longer exists"),
        ("merge_group", [], {"group": "Rye", "name": "Rye"}, "", "Choose the other group"),
        ("burn", ["t1"], {}, "", "Choose what to do."),
        ("undo", [], {}, "", "There is nothing to undo."),
        ("redo", [], {}, "", "There is nothing to redo."),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason_and_nothing_changes(place, does, tasks, more, beside, words):
    persona, _ = place
    before, events = arrangement_now(persona), Event.objects.count()

    with pytest.raises(ArrangementError) as refusal:
        do(place, does, *tasks, **more)

    assert words in str(refusal.value)
    assert refusal.value.task_id == beside
    assert arrangement_now(persona) == before
    assert (Event.objects.count(), BoardMove.objects.count()) == (events, 0)


def test_groups_are_made_renamed_merged_described_and_left(place):
    persona, _ = place
    do(place, "group", "t2", "t4", group=" White   bread ")
    do(place, "describe_group", group="White bread", name="White bread", words=" flour ")
    do(place, "describe_group", group="Rye", name="Dark", words="the starter")
    now = arrangement_now(persona)
    assert now.groups == {"t1": "Dark", "t2": "White bread", "t3": "Dark", "t4": "White bread", "t5": ""}
    assert now.group_notes == {"White bread": "flour", "Dark": "the starter"}

    with pytest.raises(ArrangementError, match="merge them"):
        do(place, "describe_group", group="Dark", name="White bread", words="")
    do(place, "merge_group", group="White bread", name="Dark")
    assert arrangement_now(persona).group_notes == {"Dark": "the starter\nflour"}
    do(place, "ungroup", "t1", "t2", "t3", "t4")
    assert set(arrangement_now(persona).groups.values()) == {""}
    do(place, "undo")
    assert arrangement_now(persona).group_notes == {"Dark": "the starter\nflour"}


def test_what_carries_over_is_written_changed_and_removed(place):
    persona, _ = place
    do(place, "depend", "t3", place="t1", words="the hours, and the rye")
    do(place, "depend", "t5", place="t3", words="")
    needs = arrangement_now(persona).dependencies
    assert needs["t3"] == (Dependency(task_id="t1", carries_over="the hours, and the rye"),)
    assert needs["t5"] == (Dependency(task_id="t3"),)
    do(place, "stop_depending", "t3", place="t1")
    do(place, "move", "t3", place="t1")
    assert ids(persona)[0] == "t3"


def test_steps_are_undone_one_by_one_and_done_again_and_nobody_elses(place):
    persona, owner = place
    other = member(persona.benchmark, Role.AUTHOR)
    digests = [arrangement_now(persona).digest()]
    for step in (("move", "t2"), ("group", "t5"), ("stop_depending", "t3")):
        do(place, *step, place="t1", group="Rye")
        digests.append(arrangement_now(persona).digest())

    with pytest.raises(ArrangementError, match="nothing to undo"):
        do(place, "undo", by=other)
    for expected in reversed(digests[:-1]):
        do(place, "undo")
        assert arrangement_now(persona).digest() == expected
    for expected in digests[1:]:
        do(place, "redo")
        assert arrangement_now(persona).digest() == expected

    do(place, "move", "t4", place="t1", by=other)
    with pytest.raises(ArrangementError, match="changed since"):
        do(place, "undo")
    assert moves.to_undo(persona, owner).summary == "“Title t3” no longer builds on “Title t1”."


def test_the_second_of_two_people_is_told_who_was_first_and_nothing_of_theirs_is_applied(place):
    persona, _ = place
    other = member(persona.benchmark, Role.AUTHOR)
    seen = board_of(persona).seen
    assert seen == arrangement_now(persona).digest()
    do(place, "move", "t5", place="t1", seen=seen, by=other)

    with pytest.raises(
        BoardChangedError, match=(f"{other} changed the board in the meantime: Moved “Title t5” before “Title t1”.")
    ):
        do(place, "move", "t2", place="end", seen=seen)

    assert ids(persona) == ["t5", "t1", "t2", "t3", "t4"]


def test_an_approval_is_not_taken_back_by_a_drag_without_asking(place):
    persona, owner = place
    task = Task.objects.get(task_id="t2")
    reviewer = member(persona.benchmark, Role.REVIEWER)
    submit(task.pk, by=owner)
    workflow.approve(task.pk, by=reviewer, version=1)

    do(place, "move", "t2", place="end")
    task.refresh_from_db()
    assert task.state == "approved"  # the order is no part of what was approved
    with pytest.raises(ConfirmationNeededError, match="“Title t2” is in review, approved or released"):
        do(place, "group", "t2", group="Rye")
    task.refresh_from_db()
    assert (task.state, task.group) == ("approved", None)
    do(place, "group", "t2", group="Rye", sure=True)
    task.refresh_from_db()
    assert (task.state, task.group.name) == ("draft", "Rye")


def test_a_retired_task_is_not_put_into_the_episode(place):
    _, owner = place
    do(place, "take_out", "t5")
    retire(Task.objects.get(task_id="t5").pk, by=owner)
    with pytest.raises(ArrangementError, match="is retired"):
        do(place, "move", "t5", place="t1")


def test_a_new_task_goes_where_it_was_asked_for(place):
    persona, owner = place
    client = Client()
    client.force_login(owner)
    later = Task.objects.get(task_id="t2")
    url = reverse("studio:task_new", args=[persona.benchmark.slug, persona.user_id])
    assert "Title t2" in client.get(url, {"before": later.pk}).content.decode()
    client.post(url, {"task_id": "fresh", "title": "Fresh", "initial_request": "", "before": later.pk})
    assert ids(persona) == ["t1", "fresh", "t2", "t3", "t4", "t5"]


def post(client, persona, **fields):
    return client.post(reverse("studio:order", args=[persona.benchmark.slug, persona.user_id]), fields)


def test_the_board_takes_no_task_of_another_benchmark_and_no_step_of_who_may_only_look(place):
    persona, owner = place
    foreign = a_task(a_persona(BenchmarkFactory(), by=owner), "theirs", by=owner)
    client = Client()
    client.force_login(owner)
    mine = Task.objects.get(task_id="t2")

    answer = post(client, persona, does="move", task=[mine.pk, foreign.pk], place="end")
    assert answer.status_code == 409
    assert "no longer in this episode" in answer.content.decode()
    for place_ in (str(foreign.pk), "t1", "-1", "x" * 5000):
        assert post(client, persona, does="move", task=[mine.pk], place=place_).status_code == 409
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


def test_a_board_of_three_hundred_costs_as_many_queries_as_one_of_a_few(place):
    persona, owner = place
    client = Client()
    client.force_login(owner)
    few = _queries(client, persona)
    rows = [Task(episode=persona.episode, task_id=f"m{n}", position=n + 6, version=1) for n in range(300)]
    Task.objects.bulk_create(rows)
    links = [(rows[n], rows[n - 7]) for n in range(7, 300)]
    DependencyRow.objects.bulk_create(
        DependencyRow(task=a, requires=b, position=1, carries_over="x" * 300) for a, b in links
    )
    assert _queries(client, persona) == few


def _queries(client, persona):
    with CaptureQueriesContext(connection) as caught:
        assert client.get(persona.get_absolute_url()).status_code == 200
    return len(caught)


def test_what_a_group_carries_over_survives_a_way_out_and_back_in(place):
    persona, owner = place
    before = {path: data for path, data in benchmark_files(persona.benchmark).items() if "/tasks/" in path}
    words = "the starter: 2 kg\n„lang“"
    do(place, "describe_group", group="Rye", name="Rye", words=words)
    files = benchmark_files(persona.benchmark)
    assert {path: data for path, data in files.items() if "/tasks/" in path} == before

    elsewhere = BenchmarkFactory()
    for _ in range(2):
        report = import_files(elsewhere, files, by=owner)
        assert (report.ok, report.errors) == (True, [])
        copy = elsewhere.personas.get()
        assert arrangement_now(copy) == arrangement_now(persona)
        assert benchmark_files(elsewhere) == files
    assert report.updated == []


def test_an_episode_of_which_no_group_says_anything_has_no_block(place):
    persona, _ = place
    assert b"studio" not in benchmark_files(persona.benchmark)["data/baker/episode.yaml"]
