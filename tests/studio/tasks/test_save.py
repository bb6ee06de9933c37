from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExactCheck,
    HiddenIntent,
    Recovery,
    TaskSpec,
    ToolEvidence,
    Trigger,
)
from studio.drafts.load import load_episode, load_task
from studio.drafts.validate import DraftError, StaleDraftError
from studio.models import Benchmark, Persona, Task, User
from studio.personas.create import create_persona
from studio.personas.files import PROFILE, save_file
from studio.tasks.create import create_task
from studio.tasks.save import save_task
from tests.drafts import save_order
from tests.factories import mark_approved, stored

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> User:
    return User.objects.create(username="ada")


@pytest.fixture
def persona(author: User) -> Persona:
    benchmark = Benchmark.objects.create(slug="bench", name="Bench")
    return create_persona(benchmark, PersonaSpec(user_id="Nurse"), by=author)


def intent(content: str, **more: object) -> HiddenIntent:
    return HiddenIntent(uid=str(uuid.uuid4()), content=content, **more)


def full_task() -> TaskSpec:
    first = intent("Metric units", scope="persistent", recoverable_from=(Recovery(kind="session", ref="t1"),))
    second = intent("Two pages", initial_status="provided", source={"content": "Two pages", "odd": 1})
    return TaskSpec(
        task_id="t2",
        title="Plan",
        category="B",
        trigger=Trigger(kind="feed", payload={"z": 1, "a": [2, None]}),
        initial_request="Write the plan.\n",
        intents=(first, second),
        checklist=(
            ChecklistItem(uid=str(uuid.uuid4()), criterion="In metres", weight=2, follows_from=(first.uid,)),
            ChecklistItem(
                uid=str(uuid.uuid4()),
                criterion="A file",
                grader="rule",
                rule=ExactCheck(kind="file_exists", path="plan.md"),
            ),
        ),
        files_read=("plan.md",),
        tool_evidence=(ToolEvidence(tool="gmail__send_email", call=("subject",)),),
        depends_on=(Dependency(task_id="t1", carries_over="the units"),),
        group="plans",
        assets=(stored("b.txt", b"b"), stored("a.txt", b"a")),
        metadata={"theme": "x", "difficulty": "easy"},
        source={"z": 1, "a": 2},
    )


def test_saved_task_is_loaded_unchanged(persona: Persona, author: User) -> None:
    create_task(persona, TaskSpec(task_id="t1", title="Units"), by=author)
    spec = full_task()

    row = create_task(persona, spec, by=author)

    loaded = load_task(row)
    by_path = spec.model_copy(update={"assets": (spec.assets[1], spec.assets[0])})
    assert loaded == by_path
    assert loaded.content_hash() == by_path.content_hash()
    assert TaskSpec.model_validate(row.revisions.get().spec) == loaded


def test_unchanged_save_makes_no_revision(persona: Persona, author: User) -> None:
    create_task(persona, TaskSpec(task_id="t1"), by=author)
    row = create_task(persona, full_task(), by=author)

    revision = save_task(row.pk, load_task(row), by=author)

    assert revision.number == 1
    assert row.revisions.count() == 1


def test_save_makes_a_revision_and_an_event_and_withdraws_the_approval(persona: Persona, author: User) -> None:
    row = create_task(persona, TaskSpec(task_id="t1", title="Old"), by=author)
    mark_approved(Task.objects.filter(pk=row.pk))

    revision = save_task(row.pk, load_task(row).model_copy(update={"title": "New"}), by=author)

    row.refresh_from_db()
    event = row.events.first()
    assert (revision.number, row.version, row.state, row.title) == (2, 2, "draft", "New")
    assert event is not None
    assert (event.verb, event.summary, event.data) == (
        "edited",
        "Changed the title.",
        {"fields": ["title"], "version": 2},
    )


def test_items_follow_from_the_same_intents_when_these_move(persona: Persona, author: User) -> None:
    create_task(persona, TaskSpec(task_id="t1"), by=author)
    row = create_task(persona, full_task(), by=author)
    spec = load_task(row)

    save_task(row.pk, spec.model_copy(update={"intents": spec.intents[::-1]}), by=author)

    assert load_task(row).intents == spec.intents[::-1]
    assert load_task(row).checklist[0].follows_from == (spec.intents[0].uid,)


def test_stale_save_raises_an_error(persona: Persona, author: User) -> None:
    row = create_task(persona, TaskSpec(task_id="t1"), by=author)
    save_task(row.pk, TaskSpec(task_id="t1", title="First tab"), by=author, base_version=1)

    with pytest.raises(StaleDraftError) as caught:
        save_task(row.pk, TaskSpec(task_id="t1", title="Second tab"), by=author, base_version=1)

    assert caught.value.current == 2
    assert load_task(row).title == "First tab"


@pytest.mark.parametrize(
    ("change", "field", "item"),
    [
        ({"title": "a\x00b"}, "title", None),
        ({"metadata": {"a": ["\ud800"]}}, "metadata", None),
        ({"task_id": "x" * 201}, "task_id", None),
        ({"task_id": "../x"}, "task_id", None),
        ({"task_id": "a/b"}, "task_id", None),
        ({"assets": (FileRef(path="../x", sha256="a" * 64, size=1),)}, "assets", 1),
        ({"depends_on": (Dependency(task_id="t1"),)}, "depends_on", 1),
        ({"depends_on": (Dependency(task_id="nowhere"),)}, "depends_on", 1),
        ({"checklist": (ChecklistItem(uid="a", criterion="x", weight=0),)}, "checklist", 1),
    ],
)
def test_error_names_the_field_that_cannot_be_stored(
    persona: Persona, author: User, change: dict[str, object], field: str, item: int | None
) -> None:
    row = create_task(persona, TaskSpec(task_id="t1"), by=author)

    with pytest.raises(DraftError) as caught:
        save_task(row.pk, load_task(row).model_copy(update=change), by=author)

    assert (caught.value.field, caught.value.item) == (field, item)
    assert row.revisions.count() == 1


def test_tasks_left_out_of_the_order_stay_as_unplaced_drafts(persona: Persona, author: User) -> None:
    create_task(persona, TaskSpec(task_id="t1"), by=author)
    create_task(persona, full_task(), by=author)
    create_task(persona, TaskSpec(task_id="t3"), by=author)

    save_order(persona.pk, ["t1", "t2"], by=author)

    episode = load_episode(persona)
    connection.check_constraints()
    assert persona.revisions.latest("number").episode["order"] == ["t1", "t2"]
    assert ([t.task_id for t in episode.tasks], [t.task_id for t in episode.unplaced]) == (["t1", "t2"], ["t3"])


def test_persona_is_saved_with_its_files_and_tools(persona: Persona, author: User) -> None:
    spec = PersonaSpec(
        user_id="Nurse",
        name="Nora",
        preferences={"z": 1, "a": 2},
        long_term_goals=("rest", {"odd": True}),
        tools=("gmail__send_email", "amazon__login"),
        skills=(Skill(name="triage", files=(stored("SKILL.md", b"# Triage"),)),),
        scripts=(stored("scripts/x.py", b"def score(h): return {}"),),
        files=(stored("notes.txt", b"n"),),
        tools_source=["gmail__send_email", "amazon__login"],
    )

    save_file(PROFILE, persona, "", spec, by=author)

    persona.refresh_from_db()
    loaded = load_episode(persona).persona
    assert loaded == spec
    assert loaded.content_hash() == spec.content_hash()
    assert persona.version == 2


@pytest.mark.slow
def test_number_of_queries_to_load_an_episode_is_constant(
    persona: Persona, author: User, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    create_task(persona, TaskSpec(task_id="t1", intents=(intent("a"),)), by=author)
    with django_assert_num_queries(2):  # type: ignore[operator]
        load_episode(persona)
    create_task(persona, full_task(), by=author)
    for number in range(3, 10):
        create_task(persona, TaskSpec(task_id=f"t{number}", intents=(intent("a"), intent("b"))), by=author)

    with django_assert_num_queries(2):  # type: ignore[operator]
        load_episode(persona)


def test_findings_are_stored_on_save(persona: Persona, author: User) -> None:
    row = create_task(persona, TaskSpec(task_id="t1"), by=author)
    assert row.findings.filter(rule="empty-title").count() == 1

    save_task(row.pk, load_task(row).model_copy(update={"title": "Named"}), by=author)

    assert row.findings.filter(rule="empty-title").count() == 0


def test_renamed_task_is_renamed_in_its_document(persona: Persona, author: User) -> None:
    row = create_task(persona, TaskSpec(task_id="t1", source={"x": 1, "task_id": "t1 "}), by=author)

    save_task(row.pk, load_task(row).model_copy(update={"task_id": "t9"}), by=author)

    row.refresh_from_db()
    assert (row.task_id, load_task(row).source) == ("t9", {"x": 1, "task_id": "t9"})


def test_tasks_that_depend_on_a_renamed_task_get_a_new_version(persona: Persona, author: User) -> None:
    row = create_task(persona, TaskSpec(task_id="t1"), by=author)
    dependent = create_task(persona, full_task(), by=author)

    save_task(row.pk, load_task(row).model_copy(update={"task_id": "t9"}), by=author)

    newest = dependent.revisions.first()
    assert newest is not None and (newest.number, newest.spec["depends_on"][0]["task_id"]) == (2, "t9")
    order = persona.revisions.first()
    assert order is not None and order.episode["order"] == ["t9", "t2"]


def test_ids_are_unique_ignoring_case(persona: Persona, author: User) -> None:
    create_task(persona, TaskSpec(task_id="t1"), by=author)
    row = create_task(persona, TaskSpec(task_id="t2"), by=author)

    with pytest.raises(DraftError):
        create_task(persona, TaskSpec(task_id="T1"), by=author)
    with pytest.raises(DraftError):
        save_task(row.pk, TaskSpec(task_id="T1"), by=author)
    with pytest.raises(DraftError):
        create_persona(persona.benchmark, PersonaSpec(user_id="nurse"), by=author)


def test_a_changed_title_touches_no_other_rows(persona: Persona, author: User) -> None:
    create_task(persona, TaskSpec(task_id="t1", intents=(intent("a"),)), by=author)
    row = create_task(persona, full_task(), by=author)
    spec = load_task(row).model_copy(update={"title": "Only this"})
    with CaptureQueriesContext(connection) as queries:
        save_task(row.pk, spec, by=author)

    changes = [query["sql"] for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    tables = {sql.split('"')[1] for sql in changes}
    assert tables <= {"studio_task", "studio_revision", "studio_event", "studio_finding", "studio_checkedtask"}
    assert load_task(row) == spec
