"""Exceptions: a person, a reason and a scope of its own, until they are withdrawn."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from evaluation.models import ReleaseException
from evaluation.releases.blocker_kinds import open_blockers, readiness_of
from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release
from evaluation.releases.exceptions import ExceptionOptions, Exceptions, accept_blockers, withdraw_exception
from evaluation.releases.packing import open_archive
from evaluation.releases.readiness import Blocker
from studio.domain.options import OptionsError
from studio.drafts.load import load_task
from studio.models import Benchmark, Event, Task, User
from studio.tasks.save import save_task
from tests.evaluation.builders import benchmark_of, rubric, task
from tests.evaluation.factories import person
from tests.factories import mark_approved
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_benchmark(module_db: None) -> Benchmark:
    """Three tasks; the last is approved."""
    made = benchmark_of(*(task(name, title=f"Letter {name}", checklist=(rubric("It is kind."),)) for name in "abc"))
    mark_approved(Task.objects.filter(task_id="c"))
    return made


@pytest.fixture
def benchmark(shared_benchmark: Benchmark) -> Benchmark:
    return fresh(shared_benchmark)


@pytest.fixture
def manager(benchmark: Benchmark) -> User:
    return person(benchmark, "release_manager", display_name="Ruth")


def accept(benchmark: Benchmark, by: User, rule: str, **scope: str) -> ReleaseException:
    options = ExceptionOptions.read({"rule": rule, "reason": "A <b>trial</b>.", **scope})
    return accept_blockers(benchmark, open_blockers(benchmark), options, by=by)


def blocked(benchmark: Benchmark, rule: str) -> list[str]:
    found = open_blockers(benchmark)
    numbers = {kind.code: kind.number for kind in readiness_of(benchmark).kinds}
    assert numbers.get(rule, 0) == sum(blocker.code == rule for blocker in found)
    return [blocker.task for blocker in found if blocker.code == rule]


@pytest.mark.parametrize("rule", ["task-not-approved", "task-not-piloted"])
def test_exception_for_one_task_leaves_the_others_blocked(benchmark: Benchmark, manager: User, rule: str) -> None:
    user_id = benchmark.personas.get().user_id
    before = blocked(benchmark, rule)
    accept(benchmark, manager, rule, scope="one", persona=user_id, task="a")
    assert blocked(benchmark, rule) == [name for name in before if name != "a"]


def test_exception_for_all_covers_what_there_is_and_not_what_comes_later(benchmark: Benchmark, manager: User) -> None:
    accept(benchmark, manager, "task-not-approved")
    assert blocked(benchmark, "task-not-approved") == []
    Task.objects.filter(task_id="c").update(state="draft")
    assert blocked(benchmark, "task-not-approved") == ["c"]
    assert "task-not-piloted" in {blocker.code for blocker in open_blockers(benchmark)}


def test_exception_for_a_persona_covers_its_later_tasks(benchmark: Benchmark, manager: User) -> None:
    accept(benchmark, manager, "task-not-approved", scope="persona", persona=benchmark.personas.get().user_id)
    Task.objects.filter(task_id="c").update(state="draft")
    assert blocked(benchmark, "task-not-approved") == []


def test_exception_says_when_it_no_longer_applies_and_is_withdrawn(
    benchmark: Benchmark, manager: User, client: Client
) -> None:
    row = accept(benchmark, manager, "task-not-approved")
    client.force_login(manager)
    page = reverse("evaluation:release_new", args=[benchmark.slug])
    shown = client.get(page).content.decode()
    assert "It lets 2 blockers pass" in shown and "A &lt;b&gt;trial&lt;/b&gt;." in shown
    mark_approved(Task.objects.filter(persona__benchmark=benchmark))
    assert "no longer applies" in client.get(page).content.decode()
    Task.objects.filter(task_id="a").update(state="draft")

    client.post(reverse("evaluation:release_exception_withdraw", args=[benchmark.slug, row.pk]))

    assert blocked(benchmark, "task-not-approved") == ["a"]
    assert list(Event.objects.filter(verb__startswith="exception").values_list("actor__display_name", flat=True)) == [
        "Ruth",
        "Ruth",
    ]


@pytest.mark.slow
def test_release_needs_no_reason_for_what_was_accepted_and_shows_whose_it_is(
    benchmark: Benchmark, manager: User
) -> None:
    rules = list(dict.fromkeys(blocker.code for blocker in open_blockers(benchmark)))
    for rule in rules[1:]:
        accept(benchmark, manager, rule)
    with pytest.raises(ReleaseBlockedError) as refused:
        cut_release(benchmark, ReleaseOptions(version="1.0"), by=person(benchmark, "owner", display_name="Ola"))
    assert {blocker.code for blocker in refused.value.blockers} == {rules[0]}
    accept(benchmark, manager, rules[0])

    release = cut_release(benchmark, ReleaseOptions(version="1.0"), by=User.objects.get(display_name="Ola"))

    assert {(each["by"], each["reason"], bool(each["since"])) for each in release.exceptions} == {
        ("Ruth", "A <b>trial</b>.", True)
    }
    scopes = {each["problem"]["code"]: each["scope"] for each in release.manifest["exceptions"]}
    assert (scopes["task-not-piloted"], scopes["too-few-audited"]) == ("task", "benchmark")
    with open_archive(release) as archive:
        assert b"for this task alone: " in archive.read()
    assert ReleaseException.objects.count() == len(rules)


def test_exception_of_one_finding_does_not_cover_the_next_of_its_rule(benchmark: Benchmark, manager: User) -> None:
    row = Task.objects.get(task_id="a")
    where = {"rule": "some-rule", "severity": "error", "message": "It is wrong."}
    row.findings.create(**where, fingerprint="first")
    Task.objects.filter(pk=row.pk).update(n_errors=1)
    user_id = benchmark.personas.get().user_id
    accept(benchmark, manager, "check-some-rule", scope="one", persona=user_id, task="a", place="first")
    assert blocked(benchmark, "check-some-rule") == []
    row.findings.create(**where, fingerprint="second")
    assert blocked(benchmark, "check-some-rule") == ["a"]


def test_task_that_was_accepted_and_is_written_anew_is_no_longer_covered(benchmark: Benchmark, manager: User) -> None:
    accept(benchmark, manager, "task-not-approved")
    row = Task.objects.get(task_id="a")
    save_task(row.pk, load_task(row).model_copy(update={"initial_request": "Another thing."}), by=None)
    assert blocked(benchmark, "task-not-approved") == ["a"]


def test_figure_is_accepted_up_to_what_it_was(benchmark: Benchmark, manager: User) -> None:
    worse = Blocker("judges-disagree", "People disagree.", figure=0.4)
    better = worse._replace(figure=0.03)
    options = ExceptionOptions.read({"rule": "judges-disagree", "reason": "Known."})
    accept_blockers(benchmark, [worse._replace(figure=0.06)], options, by=manager)
    assert Exceptions(benchmark).split([worse])[0] == [worse]
    assert Exceptions(benchmark).split([better])[0] == []


def test_event_of_an_exception_tells_neither_from_what_nor_why(benchmark: Benchmark, manager: User) -> None:
    withdraw_exception(accept(benchmark, manager, "task-not-approved"), by=manager)
    events = Event.objects.filter(verb__startswith="exception").order_by("pk")
    assert [event.summary for event in events] == ["Made an exception.", "Withdrew an exception."]


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"rule": "task-not-approved", "scope": "one", "task": "c"}, "Nothing of this kind blocks"),
        ({"rule": "no-such-rule"}, "Nothing of this kind blocks"),
        ({"rule": "task-not-approved", "scope": "persona"}, "Nothing of this kind blocks"),
    ],
)
def test_nothing_is_accepted_that_does_not_block(
    benchmark: Benchmark, manager: User, wanted: dict[str, str], why: str
) -> None:
    with pytest.raises(OptionsError, match=why):
        accept(benchmark, manager, **wanted)
    assert not ReleaseException.objects.exists()


def test_what_must_be_fixed_is_not_accepted(manager: User, benchmark: Benchmark) -> None:
    Task.objects.filter(persona__benchmark=benchmark).update(state="retired")
    with pytest.raises(OptionsError, match="cannot be accepted"):
        accept(benchmark, manager, "no-tasks")


def test_exception_is_never_changed(benchmark: Benchmark, manager: User) -> None:
    row = accept(benchmark, manager, "task-not-approved")
    with pytest.raises(IntegrityError), transaction.atomic():
        ReleaseException.objects.filter(pk=row.pk).update(reason="Another.")
    withdraw_exception(row, by=manager)
    assert not ReleaseException.objects.exists()


@pytest.mark.slow
def test_page_accepts_for_who_may_release_and_offers_each_scope(
    benchmark: Benchmark, manager: User, client: Client
) -> None:
    address = reverse("evaluation:release_except", args=[benchmark.slug])
    user_id = benchmark.personas.get().user_id
    asked = {"rule": "task-not-approved", "persona": user_id, "task": "a"}
    client.force_login(manager)
    shown = client.get(address, asked).content.decode()
    assert "“Letter a” is not approved" in shown and "“Letter b” is not approved" not in shown
    assert all(text in shown for text in ("This alone", "All 2 as they are now", f"All tasks of {user_id}"))
    stale = {**asked, "scope": "all", "reason": "It is known.", "shown": "of another day"}
    again = client.post(address, stale).content.decode()
    assert "What blocks the release has changed." in again and "of another day" not in again
    refused = client.post(address, {**asked, "scope": "one", "reason": " "})
    assert (refused.status_code, ReleaseException.objects.count()) == (422, 0)
    client.post(address, {**asked, "scope": "one", "reason": "It is known."})
    [row] = ReleaseException.objects.all()
    assert row.covers == [[user_id, "a", "", Task.objects.get(task_id="a").content, 0]]
    by_task = client.get(reverse("evaluation:release_new", args=[benchmark.slug]), {"by": "task"}).content.decode()
    assert by_task.count(">accepted<") == 1


def test_api_makes_lists_and_withdraws_exceptions(benchmark: Benchmark, manager: User, client: Client) -> None:
    client.force_login(manager)
    address = f"/api/benchmarks/{benchmark.slug}/release-exceptions/"
    made = client.post(address, {"rule": "task-not-approved", "reason": "Known."}, "application/json")
    assert (made.status_code, made.json()["lets_pass"]) == (201, 2)
    assert client.get(address).json() == [made.json()]
    assert client.delete(f"{address}{made.json()['id']}/").status_code == 204
    assert client.get(address).json() == []
