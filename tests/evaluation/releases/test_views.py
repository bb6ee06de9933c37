from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Release, ReleaseRequest
from evaluation.probes.solutions import write_solution
from evaluation.protocol.given import GivenTurn
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.packing import Progress
from evaluation.releases.requests import MAX_ATTEMPTS, due_releases, make_release, request_release
from evaluation.views.releases import ROWS_PER_KIND
from studio.domain.options import OptionsError
from studio.models import Benchmark, Membership, Role, Task
from tests.evaluation.builders import benchmark_of, rubric, task
from tests.evaluation.factories import person
from tests.factories import mark_approved
from tests.local.processes import wait_until

pytestmark = pytest.mark.django_db


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.fixture
def benchmark() -> Benchmark:
    """One approved task that no real model has tried."""
    made = benchmark_of(task("a", title="The letter", checklist=(rubric("The letter names the fee."),)))
    mark_approved()
    return made


def cut(benchmark: Benchmark) -> Release:
    manager = person(benchmark, "release_manager", display_name="Ruth")
    return cut_release(benchmark, ReleaseOptions(version="1.0", accept="First of all."), by=manager)


def requested(client: Client, benchmark: Benchmark, accept: str = "First of all.") -> ReleaseRequest:
    client.post(f"/benchmarks/{benchmark.slug}/releases/", {"version": "1.0", "accept": accept})
    return ReleaseRequest.objects.get(state=ReleaseRequest.State.ASKED)


def address_of(request: ReleaseRequest) -> str:
    return reverse("evaluation:release_request", args=[request.benchmark.slug, request.pk])


def test_blockers_have_links_and_viewers_cannot_release(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "viewer"))

    page = client.get(f"/benchmarks/{benchmark.slug}/releases/").content.decode()

    assert "too few audited decisions of real judges" in page
    assert "too few decisions audited with the whole session" in page
    assert page.count(f'href="/audits/?benchmark={benchmark.slug}">Go to audits') == 2
    assert "No pilot with a real model has run the current version of “The letter”." in page
    assert f"/benchmarks/{benchmark.slug}/pilots/new/?task=a" in page
    assert 'name="version"' not in page
    answer = client.post(f"/benchmarks/{benchmark.slug}/releases/", {"version": "1.0", "accept": "Mine."})
    assert (answer.status_code, Release.objects.count()) == (403, 0)


@pytest.mark.slow
def test_long_blocker_group_shows_some_and_links_to_all(client: Client):
    benchmark = benchmark_of(
        *(task(f"t{number:02}", title=f"Letter {number:02}") for number in range(ROWS_PER_KIND + 2))
    )
    client.force_login(person(benchmark, "viewer"))
    path = f"/benchmarks/{benchmark.slug}/releases/"

    page = client.get(path).content.decode()
    all_of_a_kind = client.get(path, {"kind": "task-not-approved"}).content.decode()

    assert "“Letter 00” is not approved" in page and "“Letter 07” is not approved" not in page
    assert f"Show all {ROWS_PER_KIND + 2}" in page and "?kind=task-not-approved" in page
    assert "“Letter 07” is not approved" in all_of_a_kind and "has run “Letter" not in all_of_a_kind
    assert "“Letter 00” is not approved" in client.get(path, {"kind": "no-such"}).content.decode()


def test_missing_reason_is_rejected_and_input_preserved(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager"))

    page = client.post(f"/benchmarks/{benchmark.slug}/releases/", {"version": "1.0"}).content.decode()

    assert "accept them as exceptions with a reason" in page
    assert 'value="1.0"' in page
    assert re.findall(r'name="(\w+)"[^>]* autofocus', page) == ["accept"]
    assert not Release.objects.exists()


def test_reason_is_recorded_in_the_release(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager", display_name="Ruth"))

    request = requested(client, benchmark, accept="To <b>try</b> the way.")
    make_release(request.pk)

    release = Release.objects.get()
    answer = client.get(address_of(request), follow=True)
    assert answer.redirect_chain == [(f"/releases/{release.pk}/", 302)]
    page = answer.content.decode()
    assert "Ruth accepted 3 exceptions: To &lt;b&gt;try&lt;/b&gt; the way." in text_of(page)
    assert release.sha256 in page


def test_release_page_tells_what_its_manager_wrote_of_the_changes(client: Client, benchmark: Benchmark):
    cut(benchmark)
    client.force_login(person(benchmark, "release_manager"))
    options = {"version": "1.1", "accept": "Again.", "changes": "The fee\nis <b>named</b>."}

    client.post(f"/benchmarks/{benchmark.slug}/releases/", options)
    make_release(ReleaseRequest.objects.get().pk)

    page = client.get(Release.objects.get(version="1.1").get_absolute_url()).content.decode()
    assert "<p>The fee<br>is &lt;b&gt;named&lt;/b&gt;.</p>" in page


@pytest.mark.slow
def test_page_shows_the_release_that_is_being_made_and_takes_no_second_one(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager"))
    page = f"/benchmarks/{benchmark.slug}/releases/"

    request = requested(client, benchmark)
    shown = client.get(page).content.decode()

    assert "Release 1.0 is being made" in shown and "Waiting for a worker…" in shown and 'name="version"' not in shown
    assert "is being made. Wait" in client.post(page, {"version": "1.1", "accept": "x"}, follow=True).content.decode()
    ReleaseRequest.objects.update(step="Packing", done=1, of=3)
    part = client.get(address_of(request), headers={"HX-Request": "true"})
    assert "Packing: 1 of 3 personas…" in text_of(part.content.decode())
    make_release(request.pk)
    over = client.get(address_of(request), headers={"HX-Request": "true"})
    assert over["HX-Redirect"] == Release.objects.get().get_absolute_url()


@pytest.mark.slow
def test_what_a_worker_refuses_stands_in_the_form_with_what_was_typed(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager"))
    request = requested(client, benchmark, accept="My reason.")
    cut(benchmark)

    make_release(request.pk)
    page = client.get(address_of(request), follow=True).content.decode()

    assert "Release 1.0 already exists" in page and "My reason." in page and 'value="1.0"' in page
    client.force_login(person(benchmark, "owner"))
    assert "My reason." not in client.get(address_of(request), follow=True).content.decode()


@pytest.mark.slow
def test_refusal_is_over_with_the_next_release(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager"))
    request = requested(client, benchmark, accept="My reason.")
    Membership.objects.update(role=Role.VIEWER)
    make_release(request.pk)
    Membership.objects.update(role=Role.RELEASE_MANAGER)
    page = f"/benchmarks/{benchmark.slug}/releases/"

    assert "My reason." in client.get(page).content.decode()
    cut(benchmark)
    assert "My reason." not in client.get(page).content.decode()


def test_release_of_a_worker_that_died_is_made_by_the_next_once(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager"))
    request = requested(client, benchmark)
    assert due_releases().claim(request.pk)

    make_release(request.pk)
    assert not Release.objects.exists()
    ReleaseRequest.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    make_release(request.pk)
    make_release(request.pk)

    assert Release.objects.count() == 1


def test_worker_that_lost_its_lease_leaves_no_release(
    client: Client, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
):
    client.force_login(person(benchmark, "release_manager"))
    request = requested(client, benchmark)

    def cut_slowly(*args: Any, **kwargs: Any) -> Release:
        release = cut_release(*args, **kwargs)
        ReleaseRequest.objects.update(claimed_by="another")
        return release

    monkeypatch.setattr("evaluation.releases.requests.cut_release", cut_slowly)
    make_release(request.pk)

    request.refresh_from_db()
    assert not Release.objects.exists() and request.is_going_on


def test_release_that_kills_its_workers_is_given_up(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager"))
    request = requested(client, benchmark)
    ReleaseRequest.objects.update(attempts=MAX_ATTEMPTS)

    make_release(request.pk)

    page = client.get(address_of(request), follow=True).content.decode()
    assert "The studio stopped several times while it made this release." in page


@pytest.mark.parametrize("left", [True, False])
def test_who_may_no_longer_release_gets_none(client: Client, benchmark: Benchmark, left: bool):
    manager = person(benchmark, "release_manager")
    client.force_login(manager)
    request = requested(client, benchmark)
    own = Membership.objects.filter(user=manager)
    own.delete() if left else own.update(role=Role.VIEWER)

    make_release(request.pk)

    request.refresh_from_db()
    assert not Release.objects.exists()
    assert request.refused == {"field": "", "message": "You may no longer release this benchmark."}


def test_defect_of_the_studio_ends_a_release_with_a_sentence(
    client: Client, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
):
    client.force_login(person(benchmark, "release_manager"))
    request = requested(client, benchmark)
    monkeypatch.setattr("evaluation.releases.requests.cut_release", lambda *_, **__: 1 / 0)

    make_release(request.pk)

    page = client.get(f"/benchmarks/{benchmark.slug}/releases/").content.decode()
    assert "Internal error: ZeroDivisionError. Try again." in page and "First of all." in page


def test_what_only_the_making_of_a_release_finds_is_listed(
    client: Client, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
):
    client.force_login(person(benchmark, "release_manager"))
    request = requested(client, benchmark)
    error = {"file": "clerk/profile.yaml", "message": "It has no name.", "fix": "Give it one."}
    monkeypatch.setattr("evaluation.releases.cut.find_reading_errors", lambda _: [error])

    make_release(request.pk)

    address, told = f"/benchmarks/{benchmark.slug}/releases/", "It has no name. Give it one. This must be fixed first"
    page = client.get(address).content.decode()
    assert f"clerk/profile.yaml: {told}" in text_of(page)
    assert 'name="version"' in page  # for when it is fixed
    assert told in text_of(client.post(address, {"version": "not one", "accept": "Mine."}).content.decode())


def test_two_people_at_once_ask_for_one_release(benchmark: Benchmark):
    owner = person(benchmark, "owner")
    request_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=owner)

    with pytest.raises(OptionsError, match="is being made"):
        request_release(benchmark, ReleaseOptions(version="1.1", accept="x"), by=owner)


@pytest.mark.django_db(transaction=True)
def test_progress_is_seen_by_others_while_the_release_is_not(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evaluation.releases.requests.SHOWN_EVERY", 0.01)
    asked = request_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=person(benchmark, "owner"))
    seen: list[str] = []

    def cut_and_look(*args: Any, progress: Progress, **kwargs: Any) -> Release:
        release = cut_release(*args, progress=progress, **kwargs)
        with ThreadPoolExecutor(1) as other:
            other.submit(look).result()
        return release

    def look() -> None:
        wait_until(lambda: ReleaseRequest.objects.get().step == "Packing", "the progress", seconds=60)
        seen.append(f"{ReleaseRequest.objects.get().done} {Release.objects.count()}")
        connection.close()

    monkeypatch.setattr("evaluation.releases.requests.cut_release", cut_and_look)
    make_release(asked.pk)

    assert (seen, Release.objects.count()) == (["1 0"], 1)


def test_existing_version_is_rejected(client: Client, benchmark: Benchmark):
    cut(benchmark)
    client.force_login(person(benchmark, "owner"))

    page = client.post(f"/benchmarks/{benchmark.slug}/releases/", {"version": "1.0", "accept": "x"}).content.decode()

    assert "Release 1.0 already exists" in page


def test_empty_benchmark_cannot_be_released_with_a_reason(client: Client):
    empty = Benchmark.objects.create(slug="empty", name="Empty")
    client.force_login(person(empty, "owner"))

    page = client.get("/benchmarks/empty/releases/").content.decode()

    assert "There are no tasks to release." in page
    assert 'name="accept"' not in page


def test_download_is_the_exact_archive(client: Client, benchmark: Benchmark):
    release = cut(benchmark)
    client.force_login(person(benchmark, "viewer"))

    answer = client.get(f"/releases/{release.pk}/download/")

    assert hashlib.sha256(answer.getvalue()).hexdigest() == release.sha256
    assert answer["Content-Disposition"] == f'attachment; filename="{benchmark.slug}-1.0.zip"'
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_release_of_another_benchmark_is_not_found(client: Client, benchmark: Benchmark):
    release = cut(benchmark)
    client.force_login(person())

    paths = [f"/releases/{release.pk}/", f"/releases/{release.pk}/download/", f"/benchmarks/{benchmark.slug}/releases/"]

    assert [client.get(path).status_code for path in paths] == [404, 404, 404]
    assert release.sha256[:12] not in client.get("/releases/").content.decode()


def test_list_has_a_constant_number_of_queries(client: Client, benchmark: Benchmark, django_assert_num_queries):
    release = cut(benchmark)
    client.force_login(person(benchmark, "viewer"))
    client.get("/releases/")
    Release.objects.bulk_create(
        Release(
            benchmark=benchmark,
            version=f"2.{n}",
            manifest=release.manifest,
            sha256=release.sha256,
            size=release.size,
            sums_id=release.sums_id,
        )
        for n in range(30)
    )

    with django_assert_num_queries(7):  # session, person, seals, count, releases, benchmarks, inbox
        page = client.get("/releases/").content.decode()
    assert "2.29" in page


def test_home_of_who_may_release_counts_what_blocks_it(client: Client, benchmark: Benchmark):
    people = {role: person(benchmark, role) for role in ("release_manager", "author")}
    pages = {}
    for role, user in people.items():
        client.force_login(user)
        pages[role] = text_of(client.get("/").content.decode())

    assert "What blocks the next release Bench · 3 blockers" in pages["release_manager"]
    assert "blocks the next release" not in pages["author"]


def test_readiness_lists_each_task_with_what_blocks_it_and_where_to_mend_it(client: Client, benchmark: Benchmark):
    client.force_login(person(benchmark, "release_manager"))
    Task.objects.update(state="draft")

    page = client.get(f"/benchmarks/{benchmark.slug}/releases/?by=task").content.decode()

    rows = list(Task.objects.filter(persona__benchmark=benchmark))
    for row in rows:
        assert f'href="{row.get_absolute_url()}"' in page
        assert f"/pilots/new/?task={row.task_id}" in page
    assert page.count(">not approved</a>") == len(rows) > 0
    assert page.count(">current version not piloted with a real model</a>") == len(rows)


@pytest.mark.slow
def test_release_with_many_exceptions_lists_them_folded_and_counts_solutions(client: Client):
    benchmark = benchmark_of(*(task(f"t{number}", checklist=(rubric("It is there."),)) for number in range(4)))
    write_solution(Task.objects.get(task_id="t1"), GivenTurn("There."), by=None)
    release = cut(benchmark)
    client.force_login(person(benchmark, "viewer"))

    page = client.get(release.get_absolute_url()).content.decode()

    assert re.search(r"<summary>All \d+</summary>", page)
    assert re.search(r"<dt>reference solutions</dt>\s*<dd>1</dd>", page)
