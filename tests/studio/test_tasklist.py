"""All tasks of a benchmark: narrowed by the address, and changed together after a look at what would happen."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio import bulk, drafts, publishing
from studio.models import Event, Finding, Role, Task, TaskState
from studio.taxonomies import ensure_taxonomy
from tests.factories import BenchmarkFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    benchmark = BenchmarkFactory(taxonomy=ensure_taxonomy())
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner)
    return benchmark, owner, persona


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def names(client, benchmark, **asked):
    page = client.get(reverse("studio:tasks", args=[benchmark.slug]), asked).context["page"]
    return [task.task_id for task in page]


def code_of(benchmark):
    return benchmark.taxonomy.categories.first().code


def test_the_list_is_narrowed_by_everything_its_address_says(place):
    benchmark, owner, persona = place
    other = a_persona(benchmark, "miller", by=owner)
    code = code_of(benchmark)
    a_task(persona, "bread", by=owner, title="Bread", category=code)
    rolls = a_task(persona, "rolls", by=owner, title="Rolls for the mayor", initial_request="Croissants as well.")
    flour = a_task(other, "flour", by=owner, title="Flour")
    publishing.submit(rolls.pk, by=owner)
    Finding.objects.all().delete()
    Finding.objects.create(task=flour, rule="r", severity="error", message="m", fingerprint="f")
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
    assert names(client, benchmark, q="\0", persona="\0", category="\0") == ["bread", "rolls", "flour"]


def test_the_list_costs_the_same_with_one_row_and_with_three_hundred(place, django_assert_max_num_queries):
    benchmark, owner, persona = place
    a_task(persona, by=owner)
    client, url = signed_in(owner), reverse("studio:tasks", args=[benchmark.slug])
    with django_assert_max_num_queries(30) as few:
        client.get(url)
    Task.objects.bulk_create(
        Task(episode=persona.episode, task_id=f"t{n}", position=n + 5, version=1) for n in range(300)
    )

    with django_assert_max_num_queries(len(few)):
        assert len(client.get(url).context["page"].object_list) == 100


def test_others_see_no_list_and_readers_change_nothing(place):
    benchmark, _, persona = place
    task = a_task(persona)
    url, change = (reverse(f"studio:{name}", args=[benchmark.slug]) for name in ("tasks", "tasks_change"))
    stranger, viewer = signed_in(member(BenchmarkFactory(), Role.OWNER)), signed_in(member(benchmark, Role.VIEWER))

    assert stranger.get(url).status_code == 404
    assert stranger.post(change, {"task": f"{task.pk}:1", "does": "retire"}).status_code == 404
    assert viewer.post(change, {"task": f"{task.pk}:1", "does": "retire", "sure": "1"}).status_code == 403
    assert "See what would change" not in viewer.get(url).content.decode()


def test_a_change_is_shown_before_it_is_made_and_made_as_shown(place):
    benchmark, owner, persona = place
    code = code_of(benchmark)
    bread = a_task(persona, "bread", by=owner)
    rolls = a_task(persona, "rolls", by=owner)
    publishing.submit(rolls.pk, by=owner)
    client, url = signed_in(owner), reverse("studio:tasks_change", args=[benchmark.slug])
    asked = {"task": [f"{bread.pk}:1", f"{rolls.pk}:1"], "does": "category", "category": code, "back": "q=b&evil=1"}

    html = client.post(url, asked).content.decode()
    assert "2 of 2 tasks would change" in html
    assert "Becomes a draft and needs a review again." in html
    assert set(Task.objects.values_list("category", flat=True)) == {""}

    answer = client.post(url, asked | {"sure": "1"})
    assert answer.url == reverse("studio:tasks", args=[benchmark.slug]) + "?q=b"
    assert set(Task.objects.values_list("category", "version", "state")) == {(code, 2, "draft")}
    assert Event.objects.filter(verb="edited", data__fields=["category"]).count() == 2


def test_tasks_are_retired_and_taken_back_and_what_cannot_be_is_left_alone(place):
    benchmark, owner, persona = place
    placed, aside = a_task(persona, "placed", by=owner), a_task(persona, "aside", by=owner)
    drafts.save_order(persona.pk, ["placed"], by=owner)
    chosen = {placed.pk: None, aside.pk: None}

    number, left = bulk.apply(benchmark, chosen, "retire", by=owner)
    assert (number, [line.task.task_id for line in left]) == (1, ["placed"])
    assert Task.objects.get(pk=aside.pk).state == TaskState.RETIRED

    number, left = bulk.apply(benchmark, chosen, "reopen", by=owner)
    assert number == 1 and "not retired" in left[0].refusal
    assert Task.objects.get(pk=aside.pk).state == TaskState.DRAFT


def test_what_was_saved_since_the_preview_is_left_alone(place):
    benchmark, owner, persona = place
    task = a_task(persona, by=owner)
    drafts.save_task(task.pk, drafts.load_task(task).model_copy(update={"title": "Newer"}), by=owner)

    number, left = bulk.apply(benchmark, {task.pk: 1}, "category", code_of(benchmark), by=owner)

    assert number == 0 and "version 2 now" in left[0].refusal


def test_a_category_for_hundreds_costs_as_for_one(place, django_assert_max_num_queries):
    benchmark, owner, persona = place
    first = a_task(persona, by=owner)
    codes = list(benchmark.taxonomy.categories.values_list("code", flat=True))
    with django_assert_max_num_queries(100) as few:
        bulk.apply(benchmark, {first.pk: None}, "category", codes[0], by=owner)
    for n in range(12):
        a_task(persona, f"t{n}", by=owner)
    everything = dict.fromkeys(Task.objects.values_list("pk", flat=True))

    with django_assert_max_num_queries(len(few) + 4):
        assert bulk.apply(benchmark, everything, "category", codes[1], by=owner)[0] == 13


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
def test_a_change_that_says_too_little_is_refused_in_words(place, asked):
    benchmark, owner, persona = place
    a_task(persona, by=owner)
    client = signed_in(owner)

    answer = client.post(reverse("studio:tasks_change", args=[benchmark.slug]), asked | {"sure": "1"}, follow=True)

    assert "Choose" in answer.content.decode()
    assert Task.objects.get().version == 1


def test_all_that_the_filters_let_through_can_be_chosen_at_once(place):
    benchmark, owner, persona = place
    for n in range(3):
        a_task(persona, f"t{n}", by=owner, title="Bun" if n else "Loaf")
    url = reverse("studio:tasks_change", args=[benchmark.slug])
    asked = {"everything": "1", "back": "q=bun", "does": "category", "category": code_of(benchmark)}

    assert "2 of 2 tasks would change" in signed_in(owner).post(url, asked).content.decode()
