"""Imported tasks that are marked as already approved, by two people."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from studio.drafts.load import load_task
from studio.imports.importer import ImportReport, import_files
from studio.imports.publication import PublicationError, confirm_publication, decline_publication
from studio.imports.staging import confirm, preview
from studio.models import CheckedTask, Event, Finding, Import, Notification, Review, Role, Task, TaskState, User
from studio.reports.todo import todo_of
from studio.tasks.save import save_task
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, api_token, member
from tests.studio.imports.archives import zipped

pytestmark = pytest.mark.django_db


class Desk:
    """A benchmark with two owners, and the files of a persona that was published elsewhere."""

    def __init__(self) -> None:
        self.benchmark = BenchmarkFactory()
        self.owner = member(self.benchmark, Role.OWNER)
        self.second = member(self.benchmark, Role.OWNER)
        self.author = member(self.benchmark, Role.AUTHOR)

    def files(self, **replaced: str) -> dict[str, bytes]:
        """With two tasks, “bread” and “rolls”."""
        elsewhere = BenchmarkFactory()
        persona = a_persona(elsewhere)
        a_task(persona)
        request = "Please make Monday's baking plan from orders.csv and save it as plan.md."
        a_task(persona, "rolls", title="Rolls for Monday", initial_request=request)
        files = benchmark_files(elsewhere)
        persona.delete()
        for old, new in replaced.items():
            files = {path: content.replace(old.encode(), new.encode()) for path, content in files.items()}
        return files

    def publish(self, *, by: User | None = None, **replaced: str) -> ImportReport:
        return import_files(self.benchmark, self.files(**replaced), by=by or self.owner, published=True)

    def request(self) -> Import:
        return Import.objects.get(publication="requested")

    def states(self) -> dict[str, str]:
        return dict(Task.objects.values_list("task_id", "state"))

    def write(self, task_id: str, **fields: Any) -> None:
        task = Task.objects.get(task_id=task_id)
        save_task(task.pk, load_task(task).model_copy(update=fields), by=self.author)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.slow
def test_tasks_are_approved_once_another_owner_confirms(desk: Desk) -> None:
    report = desk.publish()
    assert desk.states() == {"bread": "draft", "rolls": "draft"}

    assert confirm_publication(desk.request().pk, by=desk.second) == 2

    assert desk.states() == {"bread": "approved", "rolls": "approved"}
    assert report.to_json()["publication"]["tasks"] == 2
    review = Review.objects.filter(revision__task__task_id="bread").get()
    assert (review.decision, review.reviewer) == ("approved_elsewhere", desk.second)
    assert f"requested by {desk.owner}" in review.text
    verbs = Event.objects.filter(task__task_id="bread").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["imported", "approved_elsewhere"]
    row = Import.objects.get()
    assert (row.publication, row.publication_by) == ("confirmed", desk.second)
    assert row.publication_at is not None


def test_only_owners_can_ask(desk: Desk) -> None:
    for person in (desk.author, None):
        with pytest.raises(PermissionDenied, match="Only an owner"):
            import_files(desk.benchmark, desk.files(), by=person, published=True)

    assert not Task.objects.exists()


def test_who_asked_cannot_confirm(desk: Desk) -> None:
    desk.publish()

    with pytest.raises(PublicationError, match="another owner has to confirm"):
        confirm_publication(desk.request().pk, by=desk.owner)
    with pytest.raises(PermissionDenied):
        confirm_publication(desk.request().pk, by=desk.author)

    assert set(desk.states().values()) == {"draft"}


def test_only_owner_is_told_to_add_another(desk: Desk) -> None:
    desk.benchmark.memberships.filter(user=desk.second).delete()
    desk.publish()

    with pytest.raises(PublicationError, match="Add one under Members"):
        confirm_publication(desk.request().pk, by=desk.owner)


def test_uploader_of_a_preview_cannot_confirm_what_another_imported(desk: Desk) -> None:
    row = preview(desk.benchmark, zipped(desk.files()), name="baker.zip", by=desk.owner, published=True)
    assert confirm(row, by=desk.second).ok

    for person in (desk.owner, desk.second):
        with pytest.raises(PublicationError):
            confirm_publication(row.pk, by=person)


@pytest.mark.slow
def test_unchanged_drafts_of_colleagues_are_left_alone(desk: Desk) -> None:
    import_files(desk.benchmark, desk.files(), by=desk.author)

    report = desk.publish()

    assert report.publishable == []
    assert {row["reason"] for row in report.not_publishable} == {"Its text is unchanged."}
    assert not Import.objects.exists()


@pytest.mark.slow
def test_task_that_was_written_here_is_left_alone_even_if_the_import_changes_it(desk: Desk) -> None:
    import_files(desk.benchmark, desk.files(), by=desk.owner)
    desk.write("bread", title="Bread by hand")

    report = desk.publish(plan="scheme")
    confirm_publication(desk.request().pk, by=desk.second)

    assert [row["task"] for row in report.not_publishable] == ["bread"]
    assert desk.states() == {"bread": "draft", "rolls": "approved"}


def test_text_written_here_is_known_under_another_persona(desk: Desk) -> None:
    a_task(a_persona(desk.benchmark, "miller"), by=desk.author)

    report = desk.publish()

    assert [row["task"] for row in report.not_publishable] == ["bread"]
    assert report.not_publishable[0]["reason"] == "It was written in the studio."


def test_errors_of_the_checks_prevent_confirmation(desk: Desk) -> None:
    asked = "Please make Saturday's"
    desk.publish(**{asked: f"The rye goes in before the rolls. {asked}"})

    with pytest.raises(PublicationError, match="The checks find errors in “Bread for Saturday”"):
        confirm_publication(desk.request().pk, by=desk.second)
    Finding.objects.all().delete()  # as if they had not been checked yet
    CheckedTask.objects.all().delete()
    with pytest.raises(PublicationError, match="The checks find errors"):
        confirm_publication(desk.request().pk, by=desk.second)

    assert set(desk.states().values()) == {"draft"}


@pytest.mark.slow
def test_task_edited_since_the_import_is_reviewed_here(desk: Desk) -> None:
    desk.publish()
    desk.write("bread", title="Bread by hand")

    assert confirm_publication(desk.request().pk, by=desk.second) == 1

    assert desk.states() == {"bread": "draft", "rolls": "approved"}


@pytest.mark.slow
def test_request_whose_tasks_all_changed_cannot_be_confirmed(desk: Desk) -> None:
    desk.publish()
    desk.write("bread", title="Bread by hand")
    desk.write("rolls", title="Rolls by hand")

    with pytest.raises(PublicationError, match="All of these tasks have changed"):
        confirm_publication(desk.request().pk, by=desk.second)


@pytest.mark.slow
def test_request_is_answered_once(desk: Desk) -> None:
    desk.publish()
    row = desk.request()

    decline_publication(row.pk, by=desk.second)

    with pytest.raises(PublicationError, match="already been answered"):
        confirm_publication(row.pk, by=desk.second)
    assert set(desk.states().values()) == {"draft"}


def test_dry_run_asks_nobody(desk: Desk) -> None:
    report = import_files(desk.benchmark, desk.files(), by=desk.owner, published=True, dry_run=True)

    assert (len(report.publishable), report.publication) == (2, None)
    assert (Import.objects.count(), Notification.objects.count()) == (0, 0)


@pytest.mark.slow
def test_other_owners_are_notified_and_find_it_among_their_todos(desk: Desk) -> None:
    desk.publish()

    told = Notification.objects.filter(text__contains="asks you to confirm").values_list("user", flat=True)
    assert list(told) == [desk.second.pk]
    groups = {person: [g.key for g in todo_of(person)] for person in (desk.owner, desk.second)}
    assert (groups[desk.owner], groups[desk.second]) == (["drafts", "releases"], ["publications", "releases"])
    confirm_publication(desk.request().pk, by=desk.second)
    assert Notification.objects.filter(user=desk.owner, text__contains="were approved elsewhere").exists()


@pytest.mark.slow
def test_database_rejects_an_approval_elsewhere_that_nobody_or_an_author_confirms(desk: Desk) -> None:
    desk.publish()
    revision = Task.objects.get(task_id="bread").revisions.get()

    for reviewer in (None, desk.owner):
        with pytest.raises(IntegrityError), transaction.atomic():
            revision.reviews.create(reviewer=reviewer, decision="approved_elsewhere")
    with pytest.raises(IntegrityError, match="publication_by_two"), transaction.atomic():
        Import.objects.update(publication="confirmed", publication_by=desk.owner)


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.slow
def test_page_leads_from_the_import_to_the_second_owner(desk: Desk) -> None:
    archive = SimpleUploadedFile("baker.zip", zipped(desk.files()))
    start = reverse("studio:import_start", args=[desk.benchmark.slug])
    owner, second = client_of(desk.owner), client_of(desk.second)

    previewed = owner.post(start, {"archive": archive, "published": "on"}, follow=True).content.decode()
    row = Import.objects.get()
    asked = owner.post(reverse("studio:import_decide", args=[desk.benchmark.slug, row.pk]), follow=True)
    waiting = second.get(row.get_absolute_url()).content.decode()
    answer = reverse("studio:import_publication", args=[desk.benchmark.slug, row.pk])
    refused = owner.post(answer, follow=True).content.decode()
    done = second.post(answer, follow=True).content.decode()

    assert "<b>2 tasks</b>" in previewed
    assert "Another owner has been asked" in asked.content.decode()
    assert "Withdraw request" in asked.content.decode()
    assert "Confirm 2 tasks" in waiting
    assert "You asked for it" in refused
    assert "2 tasks marked as approved elsewhere." in done
    assert "confirmed by <b>" in done


@pytest.mark.slow
def test_author_is_not_offered_to_publish_and_cannot_answer(desk: Desk) -> None:
    client = client_of(desk.author)
    start = reverse("studio:import_start", args=[desk.benchmark.slug])
    archive = SimpleUploadedFile("baker.zip", zipped(desk.files()))

    assert 'name="published"' not in client.get(start).content.decode()
    client.post(start, {"archive": archive, "published": "on"})
    assert Import.objects.get().published is False
    desk.publish()
    answer = reverse("studio:import_publication", args=[desk.benchmark.slug, desk.request().pk])
    assert client.post(answer).status_code == 403


@pytest.mark.slow
def test_api_asks_and_answers(desk: Desk) -> None:
    def api(person: User, path: str, data: dict[str, Any]) -> Any:
        key = api_token(person)
        address = f"/api/benchmarks/{desk.benchmark.slug}/imports/{path}"
        return Client().post(address, data, headers={"Authorization": f"Token {key}"})

    def send() -> dict[str, Any]:
        return {"archive": SimpleUploadedFile("baker.zip", zipped(desk.files())), "published": "true"}

    assert api(desk.author, "", send()).status_code == 403
    asked = api(desk.owner, "", send()).json()["publication"]
    answer = f"{asked['import']}/publication/"

    assert asked["tasks"] == 2
    assert api(desk.author, answer, {"decision": "confirm"}).status_code == 403
    assert api(desk.owner, answer, {"decision": "confirm"}).status_code == 409
    assert api(desk.second, answer, {"decision": "confirm"}).json() == {"approved": 2}
    assert set(desk.states().values()) == {TaskState.APPROVED}
