"""The task list: filters and bulk changes."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from studio.domain.task import Trigger
from studio.drafts.load import load_episode, load_task
from studio.episodes import moves
from studio.findings.queries import count_findings
from studio.imports.taxonomy import ensure_taxonomy
from studio.models import Autosave, Event, Finding, Role, Task, TaskState
from studio.personas.files import PROFILE, save_file
from studio.review import bulk
from studio.review.assignments import set_assignees
from studio.review.bulk import BulkChangeError
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.drafts import save_order
from tests.factories import BenchmarkFactory, a_persona, a_task, member, task_row
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory(taxonomy=ensure_taxonomy())
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner)
    return benchmark, owner, persona


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def names(client, benchmark, **asked):
    page = client.get(reverse("studio:tasks", args=[benchmark.slug]), asked).context["page"]
    return [task.task_id for task in page]


def code_of(benchmark):
    return benchmark.taxonomy.categories.first().code


@pytest.mark.slow
def test_list_applies_all_filters_of_its_address(project):
    benchmark, owner, persona = project
    other = a_persona(benchmark, "miller", by=owner)
    code = code_of(benchmark)
    a_task(persona, "bread", by=owner, title="Bread", category=code)
    rolls = a_task(persona, "rolls", by=owner, title="Rolls for the mayor", initial_request="Croissants as well.")
    flour = a_task(other, "flour", by=owner, title="Flour")
    submit(rolls.pk, by=owner)
    Finding.objects.all().delete()
    Finding.objects.create(task=flour, rule="r", severity="error", message="m", fingerprint="f")
    count_findings(Task.objects.values_list("pk", flat=True))
    client = signed_in(member(benchmark, Role.VIEWER))

    assert names(client, benchmark) == ["bread", "rolls", "flour"]
    assert names(client, benchmark, persona="miller") == ["flour"]
    assert names(client, benchmark, state="in_review") == ["rolls"]
    assert names(client, benchmark, category=code) == ["bread"]
    assert names(client, benchmark, category="none") == ["rolls", "flour"]
    assert names(client, benchmark, trigger="webhook") == []
    assert names(client, benchmark, findings="error") == ["flour"]
    assert names(client, benchmark, findings="none") == ["bread", "rolls"]
    assert names(client, benchmark, q="croissant") == ["rolls"]
    assert names(client, benchmark, q="oll") == ["rolls"]
    assert names(client, benchmark, q="bread", persona="baker", state="draft") == ["bread"]
    assert names(client, benchmark, state="x", trigger="x", findings="x") == ["bread", "rolls", "flour"]


def test_number_of_queries_of_the_list_is_constant(project, django_assert_max_num_queries):
    benchmark, owner, persona = project
    a_task(persona, by=owner)
    client, url = signed_in(owner), reverse("studio:tasks", args=[benchmark.slug])
    with django_assert_max_num_queries(30) as few:
        client.get(url)
    Task.objects.bulk_create(task_row(persona, f"t{n}", n + 5) for n in range(300))

    with django_assert_max_num_queries(len(few)):
        assert len(client.get(url).context["page"].object_list) == 50


def test_list_is_hidden_from_other_benchmarks_and_read_only_for_viewers(project):
    benchmark, _, persona = project
    task = a_task(persona)
    url, change = (reverse(f"studio:{name}", args=[benchmark.slug]) for name in ("tasks", "tasks_change"))
    stranger, viewer = signed_in(member(BenchmarkFactory(), Role.OWNER)), signed_in(member(benchmark, Role.VIEWER))

    assert stranger.get(url).status_code == 404
    assert stranger.post(change, {"task": f"{task.pk}:1", "does": "retire"}).status_code == 404
    assert viewer.post(change, {"task": f"{task.pk}:1", "does": "retire", "sure": "1"}).status_code == 403
    assert "Preview changes" not in viewer.get(url).content.decode()


@pytest.mark.parametrize(("does", "status"), [("writer", 200), ("category", 403), ("retire", 403)])
def test_reviewer_may_assign_people_in_bulk_and_change_nothing_else(project, does: str, status: int):
    benchmark, owner, persona = project
    sent = {"task": f"{a_task(persona).pk}:1", "does": does, "person": owner.username, "category": code_of(benchmark)}
    client = signed_in(member(benchmark, Role.REVIEWER))

    assert client.post(reverse("studio:tasks_change", args=[benchmark.slug]), sent).status_code == status


def test_bulk_change_is_applied_as_previewed(project):
    benchmark, owner, persona = project
    code = code_of(benchmark)
    bread = a_task(persona, "bread", by=owner)
    rolls = a_task(persona, "rolls", by=owner)
    submit(rolls.pk, by=owner)
    client, url = signed_in(owner), reverse("studio:tasks_change", args=[benchmark.slug])
    asked = {"task": [f"{bread.pk}:1", f"{rolls.pk}:1"], "does": "category", "category": code, "back": "q=b&evil=1"}

    html = client.post(url, asked).content.decode()
    assert "2 of 2 tasks would change" in html
    assert "Becomes a draft and needs another review." in html
    assert set(Task.objects.values_list("category", flat=True)) == {""}

    answer = client.post(url, asked | {"sure": "1"})
    assert answer.url == reverse("studio:tasks", args=[benchmark.slug]) + "?q=b"
    assert set(Task.objects.values_list("category", "version", "state")) == {(code, 2, "draft")}
    assert Event.objects.filter(verb="edited", data__fields=["category"]).count() == 2


def test_bulk_retirement_is_all_or_nothing(project):
    benchmark, owner, persona = project
    placed, aside = a_task(persona, "placed", by=owner), a_task(persona, "aside", by=owner)
    save_order(persona.pk, ["placed"], by=owner)

    with pytest.raises(BulkChangeError, match=r"Nothing was changed\. .*It is in the episode"):
        bulk.apply(benchmark, {placed.pk: None, aside.pk: None}, "retire", by=owner)
    assert set(Task.objects.values_list("state", flat=True)) == {"draft"}
    assert bulk.apply(benchmark, {aside.pk: None}, "retire", by=owner) == 1
    with pytest.raises(BulkChangeError, match="not retired"):
        bulk.apply(benchmark, {placed.pk: None, aside.pk: None}, "reopen", by=owner)
    assert bulk.apply(benchmark, {aside.pk: None}, "reopen", by=owner) == 1
    assert Task.objects.get(pk=aside.pk).state == TaskState.DRAFT


def test_save_after_the_preview_rejects_the_bulk_change(project):
    benchmark, owner, persona = project
    task, other = a_task(persona, by=owner), a_task(persona, "other", by=owner)
    save_task(task.pk, load_task(task).model_copy(update={"title": "Newer"}), by=owner)
    asked = {"does": "category", "category": code_of(benchmark), "task": [f"{task.pk}:1", f"{other.pk}:1"], "sure": "1"}

    answer = signed_in(owner).post(reverse("studio:tasks_change", args=[benchmark.slug]), asked)

    assert answer.status_code == 409
    assert ("Nothing was changed. “Newer”: It has been saved since; it is now at version 2.") in answer.content.decode()
    assert set(Task.objects.values_list("category", flat=True)) == {""}


@pytest.mark.slow
def test_bulk_grouping_is_an_undoable_board_move(project):
    benchmark, owner, persona = project
    other = a_persona(benchmark, "miller", by=owner)
    rows = [a_task(persona, "a", by=owner), a_task(persona, "b", by=owner, group="Rye"), a_task(other, "c", by=owner)]
    submit(rows[0].pk, by=owner)
    chosen = {row.pk: None for row in rows}

    lines = bulk.plan(benchmark, chosen, "group", "  Rye ")
    assert [(line.before, line.after, line.differs) for line in lines] == [
        ("none", "Rye", True), ("Rye", "Rye", False), ("none", "Rye", True),
    ]  # fmt: skip
    assert lines[0].note == "Becomes a draft and needs another review."
    assert bulk.apply(benchmark, chosen, "group", "  Rye ", by=owner) == 2
    assert list(Task.objects.values_list("group", flat=True)) == ["Rye"] * 3
    moves.make_move(persona.pk, moves.Move("undo"), by=owner)
    assert Task.objects.get(pk=rows[0].pk).group == ""
    assert bulk.apply(benchmark, chosen, "group", "", by=owner) == 2
    assert Task.objects.filter(group="").count() == 3
    assert len(bulk.plan(benchmark, chosen, "group", "x" * 200)) == 3
    with pytest.raises(BulkChangeError, match="at most 200"):
        bulk.apply(benchmark, chosen, "group", "x" * 201, by=owner)


@pytest.mark.slow
def test_bulk_change_sets_only_tools_that_the_persona_has(project):
    benchmark, owner, persona = project
    mill = a_persona(benchmark, "miller", by=owner, tools=("grind", "bake"))
    save_file(PROFILE, persona, "", load_episode(persona).persona.model_copy(update={"tools": ("bake",)}), by=owner)
    one, two = a_task(persona, by=owner), a_task(mill, "flour", by=owner)
    client, url = signed_in(owner), reverse("studio:tasks_change", args=[benchmark.slug])
    asked = {"task": [f"{one.pk}:1", f"{two.pk}:1"], "does": "tools"}

    first = client.post(url, asked).content.decode()
    assert 'value="bake"' in first and 'value="grind"' in first and "tasks would change" not in first
    shown = client.post(url, asked | {"asked": "1", "tools": ["bake", "grind"]}).content.decode()
    assert "Baker does not have “grind”." in shown and "1 of 2 tasks would change" in shown
    refused = client.post(url, asked | {"asked": "1", "tools": ["bake", "grind"], "sure": "1"})
    assert (refused.status_code, Task.objects.filter(version=1).count()) == (409, 2)
    assert client.post(url, asked | {"asked": "1", "tools": ["bake"], "sure": "1"}).status_code == 302
    assert list(Task.objects.values_list("spec__tools", flat=True)) == [["bake"], ["bake"]]
    assert bulk.apply(benchmark, {one.pk: None}, "tools", "", by=owner) == 1
    assert load_task(one).tools == ()
    with pytest.raises(BulkChangeError, match="does not have “sharpen”"):
        bulk.apply(benchmark, {one.pk: None}, "skills", "sharpen", by=owner)


def test_tasks_of_another_benchmark_are_not_changed_in_bulk(project):
    benchmark, owner, _ = project
    other = a_task(a_persona(BenchmarkFactory(), "miller"), "flour")
    save_order(other.persona_id, [], by=owner)

    with pytest.raises(BulkChangeError, match="Choose at least one task"):
        bulk.apply(benchmark, {other.pk: None}, "retire", by=owner)

    assert Task.objects.get().state == TaskState.DRAFT


def test_preview_tells_which_tasks_are_not_in_review(project):
    benchmark, owner, persona = project
    row = a_task(persona, by=owner)

    [line] = bulk.plan(benchmark, {row.pk: None}, "withdraw", by=owner)

    assert (line.refusal, line.differs) == ("It is not in review.", False)


def test_text_that_others_have_not_saved_keeps_no_task_from_its_review(project):
    benchmark, owner, persona = project
    row, then = a_task(persona, by=owner), {"seen_at": timezone.now(), "autosaved_at": timezone.now()}
    other = member(benchmark, Role.AUTHOR)
    Autosave.objects.create(task=row, user=other, base_version=1, form_data={"title": ["x"]}, **then)

    [line] = bulk.plan(benchmark, {row.pk: None}, "submit", by=owner)

    assert line.refusal == ""


def test_drafts_are_submitted_and_withdrawn_in_bulk(project):
    benchmark, owner, persona = project
    good, bad = a_task(persona, by=owner), a_task(persona, "bad", by=owner, title="Another", initial_request=" ")
    unsaved = a_task(persona, "unsaved", by=owner, title="Unsaved")
    then = {"seen_at": timezone.now(), "autosaved_at": timezone.now()}
    Autosave.objects.create(task=unsaved, user=owner, base_version=1, form_data={"title": ["x"]}, **then)
    Autosave.objects.create(task=good, user=owner, seen_at=timezone.now())  # its page is open, and nothing typed
    chosen = {good.pk: None, bad.pk: None, unsaved.pk: None}

    lines = bulk.plan(benchmark, chosen, "submit", by=owner)
    assert [bool(line.refusal) for line in lines] == [False, False, True]
    assert "it cannot be approved until they are fixed" in lines[1].note
    with pytest.raises(BulkChangeError, match="save them first"):
        bulk.apply(benchmark, chosen, "submit", by=owner)
    assert bulk.apply(benchmark, {good.pk: None, bad.pk: None}, "submit", by=owner) == 2
    with pytest.raises(BulkChangeError, match="Only a draft"):
        bulk.apply(benchmark, {good.pk: None}, "submit", by=owner)
    assert bulk.apply(benchmark, {good.pk: None}, "withdraw", by=owner) == 1
    assert Task.objects.get(pk=good.pk).state == TaskState.DRAFT


def test_preview_of_submissions_says_which_tasks_have_blanks(project):
    benchmark, owner, persona = project
    good, begun = a_task(persona, by=owner), a_task(persona, "begun", by=owner, title="Bread for <insert the day>")

    lines = bulk.plan(benchmark, {good.pk: None, begun.pk: None}, "submit", by=owner)

    assert [(line.task, line.refusal) for line in lines] == [
        (good, ""),
        (begun, "It has blanks that must be filled in before a review."),
    ]


@pytest.mark.slow
def test_number_of_queries_of_a_bulk_change_is_constant(project, django_assert_max_num_queries):
    benchmark, owner, persona = project
    first = a_task(persona, by=owner)
    codes = list(benchmark.taxonomy.categories.values_list("code", flat=True))
    with django_assert_max_num_queries(100) as few:
        bulk.apply(benchmark, {first.pk: None}, "category", codes[0], by=owner)
    for n in range(12):
        a_task(persona, f"t{n}", by=owner)
    everything = dict.fromkeys(Task.objects.values_list("pk", flat=True))

    with django_assert_max_num_queries(len(few) + 4):
        assert bulk.apply(benchmark, everything, "category", codes[1], by=owner) == 13


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"does": "x"},
        {"does": "category", "category": "nowhere"},
        {"does": "retire"},
        {"task": "x:y", "does": "retire"},
    ],
)
def test_incomplete_bulk_change_is_rejected_with_a_message(project, asked):
    benchmark, owner, persona = project
    a_task(persona, by=owner)
    client = signed_in(owner)

    answer = client.post(reverse("studio:tasks_change", args=[benchmark.slug]), asked | {"sure": "1"}, follow=True)

    assert "Choose" in answer.content.decode()
    assert Task.objects.get().version == 1


def test_all_filtered_tasks_can_be_selected(project):
    benchmark, owner, persona = project
    for n in range(3):
        a_task(persona, f"t{n}", by=owner, title="Bun" if n else "Loaf")
    url = reverse("studio:tasks_change", args=[benchmark.slug])
    asked = {"everything": "1", "back": "q=bun", "does": "category", "category": code_of(benchmark)}

    assert "2 of 2 tasks would change" in signed_in(owner).post(url, asked).content.decode()


def columns(client, benchmark, **asked):
    return client.get(reverse("studio:tasks", args=[benchmark.slug]), asked).context["columns"]


def test_the_list_has_no_column_that_tells_nothing_of_its_tasks(project):
    benchmark, owner, persona = project
    task = a_task(persona, "bread", by=owner)
    client = signed_in(owner)

    assert columns(client, benchmark) == set()

    a_task(a_persona(benchmark, "miller", by=owner), "flour", by=owner, category=code_of(benchmark))
    set_assignees(task.pk, by=owner, writer=owner, reviewers=[])

    assert columns(client, benchmark) == {"persona", "category", "people"}
    assert columns(client, benchmark, persona="miller") == {"category"}


def test_a_task_begun_by_an_event_brings_the_column_of_triggers(project):
    benchmark, owner, persona = project
    a_task(persona, "bread", by=owner, trigger=Trigger(kind="heartbeat"))

    assert columns(signed_in(owner), benchmark) == {"trigger"}
