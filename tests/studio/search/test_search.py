"""Search results, visibility, cost and index maintenance."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.models import ModelEndpoint
from studio.domain.base import FileRef
from studio.domain.task import ChecklistItem, ExpectedArtifact, HiddenIntent
from studio.domain.task import HiddenIntent as Intent
from studio.domain.uids import default_uid
from studio.drafts.load import load_task
from studio.imports.importer import import_files
from studio.models import Blob, Role, Task
from studio.review import comments
from studio.search.query import find_destinations, search
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member, rewrite, stored, task_row
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory(name="Village bakery")
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner, occupation="Runs a bakery by the canal")
    task = a_task(persona, "radio_02_briefing", by=owner, reference_workflow="Weigh the flour twice.")
    return benchmark, owner, persona, task


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def kinds(user, text, **filters):
    return [hit.kind for hit in search(user, text, **filters).hits]


def intents(task_id, *contents):
    return tuple(
        Intent(uid=default_uid("baker", task_id, "intents", n), content=content) for n, content in enumerate(contents)
    )


@pytest.mark.slow
def test_every_kind_of_row_is_found_by_its_text(project):
    _, owner, _, task = project
    [sha] = Blob.objects.store([b"x"])
    spec = load_task(task).model_copy(update={"assets": (FileRef(path="supplier_terms.csv", sha256=sha, size=1),)})
    save_task(task.pk, spec, by=owner)
    comments.add_comment(task.pk, by=owner, text="Who pays the miller?")

    assert kinds(owner, "village") == ["benchmark"]
    assert kinds(owner, "canals") == ["persona"]
    assert kinds(owner, "flour") == ["task"]
    assert kinds(owner, "rolls") == ["intent"]
    assert kinds(owner, '"bakes the rye first"') == ["criterion"]
    assert kinds(owner, "supplier terms") == ["file"]
    assert kinds(owner, "upplier_ter") == ["file"]
    assert kinds(owner, "miller") == ["comment"]
    assert kinds(owner, "02_brief") == ["task"]


def test_pilots_and_releases_are_found_by_name(project):
    from tests.evaluation.factories import pilot_row

    pilot = pilot_row()
    reader = member(pilot.benchmark, Role.VIEWER)

    [hit] = search(reader, f"pilot {pilot.agent.name}").hits

    assert (hit.kind, hit.url) == ("pilot", pilot.get_absolute_url())
    assert ModelEndpoint.objects.filter(name=pilot.agent.name).exists()
    assert search(member(BenchmarkFactory(), Role.OWNER), f"pilot {pilot.agent.name}").hits == []


def test_terms_can_be_excluded_quoted_and_combined(project):
    _, owner, _, _ = project

    assert "task" in kinds(owner, "saturday bread")
    assert kinds(owner, '"bread saturday"') == []
    assert "task" in kinds(owner, "saturday -monday")
    assert "task" not in kinds(owner, "bread -saturday")
    assert "task" in kinds(owner, "xylophone or flour")


@pytest.mark.parametrize(
    "text", ["", "  ", "\0", "%", "_", "'", '"', "\\", "the", "-", "((", "a & | !", "x" * 5000, "\ue000\ue001", "🥐"]
)
def test_any_query_returns_a_result(project, text):
    _, owner, _, _ = project

    assert search(owner, text).total >= 0
    assert find_destinations(owner, text) is not None


def test_search_is_limited_to_own_benchmarks(project):
    stranger = member(BenchmarkFactory(), Role.OWNER)

    for text in ("village", "canals", "flour", "rye", "02_brief"):
        assert search(stranger, text).total == 0
        assert find_destinations(stranger, text) == []
    assert search(stranger, "flour", benchmark=project[0].slug).total == 0


@pytest.mark.slow
def test_index_follows_edits_renames_imports_and_restores(project):
    benchmark, owner, _, task = project
    first = load_task(task)

    save_task(task.pk, first.model_copy(update={"intents": intents(task.task_id, "Only sourdough.")}), by=owner)
    assert kinds(owner, "sourdough") == ["intent"]
    assert "intent" not in kinds(owner, "rolls")

    renamed = load_task(task).model_copy(update={"task_id": "canal_boat"})
    save_task(task.pk, renamed, by=owner)
    assert kinds(owner, "canal_b") == ["task"]

    save_task(task.pk, first.model_copy(update={"task_id": "canal_boat"}), by=owner, note="Restored version 1.")
    assert kinds(owner, "sourdough") == []
    assert kinds(owner, "rolls") == ["intent"]

    files = {path: content.replace(b"rolls", b"croissants") for path, content in benchmark_files(benchmark).items()}
    assert import_files(benchmark, files, by=owner).ok
    assert kinds(owner, "rolls") == []
    assert kinds(owner, "croissant") == ["intent"]


def test_rows_are_found_in_their_task_alone_and_by_all_words(project):
    _, owner, _persona, task = project
    spec = load_task(task)
    fields = {
        "intents": [HiddenIntent(uid=default_uid("baker", "bread", "intents", n), content=text) for n, text in
                    enumerate(["Nothing but brioche.", "Plain rolls."], 1)],
        "checklist": [*spec.checklist, ChecklistItem(uid=default_uid("x", "y", "z", 1), criterion="Brioche is named.")],
        "assets": [stored("brioche.md", b"x")],
        "expected_artifacts": [ExpectedArtifact(path="notes/brioche-plan.md")],
    }  # fmt: skip
    rewrite([task], **fields)

    assert sorted(kinds(owner, "brioche")) == ["artifact", "criterion", "file", "intent"]
    assert kinds(owner, "brioche rolls") == []
    assert sorted(kinds(owner, "rioch")) == ["artifact", "file"]
    rewrite([task], intents=())
    assert sorted(kinds(owner, "brioche")) == ["artifact", "criterion", "file"]


@pytest.mark.slow
def test_very_long_texts_are_found_by_their_start(project):
    _, owner, persona, _ = project
    long = "wheat " + " ".join(f"word{n}é" for n in range(150_000))

    a_task(persona, "long", by=owner, initial_request=long, description=long, reference_workflow=long)

    assert "task" in kinds(owner, "wheat")


def test_snippets_mark_matches_and_are_escaped(project):
    _, owner, persona, _ = project
    nasty = "<script>alert(1)</script> \ue000 <b>barley</b> \ue001 & more"
    a_task(persona, "nasty", by=owner, initial_request=nasty)

    [hit] = search(owner, "barley").hits

    assert '<mark class="hit">barley</mark>' in hit.snippet
    assert "<script" not in hit.snippet and "<b>" not in hit.snippet
    assert "\ue000" not in hit.snippet and "\ue001" not in hit.snippet


def test_filters_do_not_change_the_counts_of_other_kinds(project):
    _, owner, persona, task = project
    submit(task.pk, by=owner)
    a_task(persona, "other", by=owner, title="Bread for Sunday")

    everything = search(owner, "bread")
    assert everything.counts["task"] == 2
    assert kinds(owner, "rye", kind="intent") == ["intent", "intent"]
    assert set(search(owner, "rye", kind="intent").counts) >= {"intent", "criterion"}
    assert kinds(owner, "bread", kind="task", state="in_review") == ["task"]
    assert kinds(owner, "bread", kind="task", state="approved") == []
    assert search(owner, "bread", kind="nonsense", state="nonsense").total == everything.total
    assert search(owner, "bread", benchmark="nowhere").total == 0


@pytest.mark.slow
def test_page_is_paginated_with_a_constant_number_of_queries(project, django_assert_max_num_queries):
    _, owner, persona, _ = project
    client = Client()
    client.force_login(owner)
    url = reverse("studio:search")
    with django_assert_max_num_queries(40) as few:
        assert "Bread for" in client.get(url, {"q": "bread"}).content.decode()
    Task.objects.bulk_create(task_row(persona, f"t{n}", title=f"Bread number {n}") for n in range(300))

    with django_assert_max_num_queries(len(few)):
        html = client.get(url, {"q": "bread", "kind": "task"}).content.decode()

    assert "1–30 of 301" in html
    assert "31–60 of 301" in client.get(url, {"q": "bread", "kind": "task", "page": 2}).content.decode()
    assert client.get(url, {"q": "bread", "page": "99"}).status_code == 200
    assert client.get(url, {"q": "bread", "page": "-1"}).status_code == 200


def test_more_matches_than_are_ranked_can_be_reached(project, monkeypatch):
    _, owner, _, task = project
    monkeypatch.setattr("studio.search.query.RANKED", 2)
    monkeypatch.setattr("studio.search.query.PAGE", 2)
    for each in (task, a_task(a_persona(BenchmarkFactory(), "stranger"))):
        uids = [default_uid("x", "y", "intents", n) for n in range(5)]
        rewrite([each], intents=[HiddenIntent(uid=uid, content=f"Xylophone {n}") for n, uid in enumerate(uids)])

    own = search(owner, "xylophone")
    assert (own.total, own.beyond, len(own.hits)) == (4, {"intent"}, 2)
    found = [search(owner, "xylophone", page=page) for page in (2, 3, 4)]
    assert [(each.total, set(each.beyond), len(each.hits)) for each in found] == [
        (5, set(), 2),
        (5, set(), 1),
        (5, set(), 0),
    ]
    assert search(owner, "xylophone", state="approved").total == 0


def test_destinations_are_found_by_parts_and_despite_typos(project, django_assert_max_num_queries):
    _, owner, persona, task = project
    Task.objects.bulk_create(task_row(persona, f"t{n}", title=f"Bun {n}") for n in range(30))

    assert find_destinations(owner, "brief")[0].url == task.get_absolute_url()
    assert find_destinations(owner, "breifing")[0].url == task.get_absolute_url()
    assert find_destinations(owner, "villa")[0].kind == "Benchmark"
    assert find_destinations(owner, "baker")[0].url == persona.get_absolute_url()
    with django_assert_max_num_queries(4):
        assert len(find_destinations(owner, "bun")) == 10


def test_palette_returns_json_to_signed_in_users(project):
    _, owner, _, task = project
    client = Client()
    assert client.get(reverse("studio:destinations"), {"q": "brief"}).status_code == 302
    client.force_login(owner)

    answer = client.get(reverse("studio:destinations"), {"q": "brief"}).json()

    assert answer["places"][0]["url"] == task.get_absolute_url()
    assert a_task_spec().title == answer["places"][0]["label"]
