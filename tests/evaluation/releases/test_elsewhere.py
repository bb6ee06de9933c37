"""Tasks that an import marked as approved block a release until somebody accepts that."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from evaluation.models import ElsewhereAcceptance
from evaluation.releases.elsewhere import accept_elsewhere
from studio.domain.options import OptionsError
from studio.drafts.load import load_task
from studio.imports.importer import import_files
from studio.imports.publication import confirm_publication
from studio.models import Benchmark, Event, Import, Role, Task, User
from studio.tasks.save import save_task
from tests.drafts import benchmark_files
from tests.evaluation.builders import release_blockers
from tests.factories import BenchmarkFactory, a_persona, a_task, api_token, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
CODE = "task-approved-elsewhere"


class Desk:
    """A benchmark with two tasks that an owner imported and another confirmed."""

    def __init__(self) -> None:
        self.benchmark = BenchmarkFactory()
        self.owner = member(self.benchmark, Role.OWNER)
        self.second = member(self.benchmark, Role.OWNER)
        self.manager = member(self.benchmark, Role.RELEASE_MANAGER)
        elsewhere = a_persona(BenchmarkFactory())
        a_task(elsewhere)
        request = "Please make Monday's baking plan from orders.csv and save it as plan.md."
        a_task(elsewhere, "rolls", title="Rolls for Monday", initial_request=request)
        files = benchmark_files(elsewhere.benchmark)
        elsewhere.delete()
        import_files(self.benchmark, files, by=self.owner, published=True)
        confirm_publication(Import.objects.get().pk, by=self.second)

    def task(self, task_id: str) -> Task:
        return Task.objects.get(task_id=task_id)


@pytest.fixture(scope="module")
def shared_desk(module_db) -> Desk:
    return Desk()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


def blocking(benchmark: Benchmark) -> list[str]:
    return [blocker.task for blocker in release_blockers(benchmark) if blocker.code == CODE]


def test_task_approved_elsewhere_blocks_a_release_until_accepted_by_name(desk: Desk) -> None:
    assert blocking(desk.benchmark) == ["bread", "rolls"]
    message = next(b.message for b in release_blockers(desk.benchmark) if b.code == CODE)
    assert f"as {desk.second} confirmed on" in message

    assert accept_elsewhere(desk.benchmark, [desk.task("bread").pk], by=desk.manager) == 1

    assert blocking(desk.benchmark) == ["rolls"]
    row = ElsewhereAcceptance.objects.get()
    assert (row.by, row.review.revision.task.task_id) == (desk.manager, "bread")
    assert row.at is not None
    assert Event.objects.get(verb="accepted_elsewhere").actor == desk.manager


def test_all_are_accepted_in_one_step_and_once(desk: Desk) -> None:
    assert accept_elsewhere(desk.benchmark, by=desk.manager) == 2

    assert blocking(desk.benchmark) == []
    with pytest.raises(OptionsError, match="There is no approval elsewhere"):
        accept_elsewhere(desk.benchmark, by=desk.manager)


def test_importer_cannot_accept_their_own_tasks(desk: Desk) -> None:
    with pytest.raises(OptionsError, match="You wrote part of"):
        accept_elsewhere(desk.benchmark, by=desk.owner)

    assert not ElsewhereAcceptance.objects.exists()


def test_edited_task_needs_a_review_in_place_of_an_acceptance(desk: Desk) -> None:
    bread = desk.task("bread")
    save_task(bread.pk, load_task(bread).model_copy(update={"title": "Bread by hand"}), by=desk.owner)

    assert blocking(desk.benchmark) == ["rolls"]
    assert "task-not-approved" in {blocker.code for blocker in release_blockers(desk.benchmark)}


def test_acceptance_is_never_changed(desk: Desk) -> None:
    accept_elsewhere(desk.benchmark, by=desk.manager)

    with pytest.raises(IntegrityError, match="frozen"), transaction.atomic():
        ElsewhereAcceptance.objects.update(by=desk.second)


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.slow
def test_page_accepts_one_or_all_for_who_may_release(desk: Desk) -> None:
    author = member(desk.benchmark, Role.AUTHOR)
    page, accept = (
        reverse(f"evaluation:{name}", args=[desk.benchmark.slug]) for name in ("release_new", "release_accept")
    )
    manager = client_of(desk.manager)

    assert "Accept all 2" not in client_of(author).get(page).content.decode()
    assert client_of(author).post(accept).status_code == 403
    assert "Accept all 2" in manager.get(page).content.decode()
    one = manager.post(accept, {"task": desk.task("bread").pk}, follow=True).content.decode()
    assert "Accepted under your name: 1 task." in one
    assert "Accepted under your name: 1 task." in manager.post(accept, follow=True).content.decode()
    assert "There is no approval elsewhere" in manager.post(accept, {"task": "x"}, follow=True).content.decode()
    assert blocking(desk.benchmark) == []


def test_api_accepts_for_who_may_release(desk: Desk) -> None:
    def send(person: User) -> tuple[int, object]:
        key = api_token(person)
        data = {"benchmark": desk.benchmark.slug}
        response = Client().post(
            "/api/releases/accept-elsewhere/", data, "application/json", headers={"Authorization": f"Token {key}"}
        )
        return response.status_code, response.json()

    assert send(member(desk.benchmark, Role.AUTHOR))[0] == 403
    assert send(desk.owner)[0] == 409
    assert send(desk.manager) == (200, {"accepted": 2})
