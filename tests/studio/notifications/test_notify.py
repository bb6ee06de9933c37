"""Notifications, the inbox and email digests."""

from __future__ import annotations

import json

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from studio import access
from studio.domain.persona import PersonaSpec
from studio.drafts.load import load_task
from studio.imports.importer import import_files
from studio.models import Digest, Notification, Role
from studio.notifications import inbox, notify
from studio.notifications.inbox import send_digests
from studio.review import comments, workflow
from studio.tasks.save import save_task
from studio.tasks.transitions import submit, withdraw
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory()
    author, reviewer = member(benchmark, Role.AUTHOR), member(benchmark, Role.REVIEWER)
    for person in (author, reviewer):
        person.email = f"{person.username}@example.org"
        person.save()
    task = a_task(a_persona(benchmark, by=author), by=author)
    return benchmark, author, reviewer, task


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def kinds_of(person):
    return [row.kind for row in reversed(inbox.inbox_of(person))]


def retitle(task, title, by):
    return save_task(task.pk, load_task(task).model_copy(update={"title": title}), by=by)


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def test_each_step_of_a_review_notifies_those_concerned(project):
    benchmark, author, reviewer, task = project
    viewer = member(benchmark, Role.VIEWER)

    submit(task.pk, by=author)
    assert kinds_of(reviewer) == ["review_asked"]

    workflow.request_changes(task.pk, by=reviewer, text="Say for whom.")
    assert kinds_of(author) == ["changes_requested"]
    assert "Say for whom." in inbox.inbox_of(author)[0].text

    submit(task.pk, by=author)
    workflow.approve(task.pk, by=reviewer)
    assert kinds_of(author) == ["changes_requested", "approved"]

    retitle(task, "Bread for Sunday", author)
    assert kinds_of(reviewer) == ["review_asked", "review_asked", "edited_after"]

    retitle(task, "Bread for Monday", author)
    assert kinds_of(reviewer)[3:] == []
    assert kinds_of(viewer) == []


def test_authors_are_not_asked_to_review(project):
    benchmark, author, reviewer, task = project
    owner = member(benchmark, Role.OWNER)
    retitle(task, "Mine", owner)

    submit(task.pk, by=author)

    assert kinds_of(owner) == []
    assert kinds_of(reviewer) == ["review_asked"]


def test_first_of_two_approvals_notifies_nobody_and_an_edit_notifies_the_approver(project):
    benchmark, author, reviewer, task = project
    benchmark.approvals_needed = 2
    benchmark.save()
    submit(task.pk, by=author)
    workflow.approve(task.pk, by=reviewer)
    assert kinds_of(author) == []

    retitle(task, "Another title", author)

    assert kinds_of(reviewer) == ["review_asked", "edited_after"]


def test_comment_notifies_mentioned_members_only(project):
    _, author, reviewer, task = project
    stranger = member(BenchmarkFactory(), Role.OWNER)

    comments.add_comment(
        task.pk,
        by=author,
        text=f"(@{reviewer.username}): mail x@{author.username}? @{stranger.username} @{author.username}.",
    )

    assert kinds_of(reviewer) == ["mentioned"]
    assert kinds_of(author) == []
    assert Notification.objects.filter(user=stranger).count() == 0
    assert inbox.inbox_of(reviewer)[0].address.partition("#")[2].startswith("comment-")
    assert notify.mentions_in("@a.b. and @c, not d@e") == {"a.b", "c"}


def test_import_notifies_editors_and_approvers_of_changed_tasks(project):
    benchmark, author, reviewer, task = project
    submit(task.pk, by=author)
    workflow.approve(task.pk, by=reviewer)
    owner = member(benchmark, Role.OWNER)
    files = {path: data.replace(b"rolls", b"buns") for path, data in benchmark_files(benchmark).items()}

    assert import_files(benchmark, files, by=owner).ok

    assert kinds_of(author) == ["approved", "imported"]
    assert kinds_of(reviewer) == ["review_asked", "edited_after"]
    assert kinds_of(owner) == []


def test_number_of_queries_does_not_depend_on_the_number_of_recipients(project, django_assert_max_num_queries):
    benchmark, author, _, task = project
    submit(task.pk, by=author)
    withdraw(task.pk, by=author)
    with django_assert_max_num_queries(60) as few:
        submit(task.pk, by=author)
    withdraw(task.pk, by=author)
    for _ in range(30):
        member(benchmark, Role.REVIEWER)

    with django_assert_max_num_queries(len(few)):
        submit(task.pk, by=author)

    assert Notification.objects.count() == 3 + 30


def test_notifications_are_marked_read_one_by_one_or_all_together(project):
    _, author, reviewer, task = project
    for text in "one", "two", "three":
        comments.add_comment(task.pk, by=author, text=f"@{reviewer.username} <b>{text}</b>")
    client = signed_in(reviewer)
    html = client.get(reverse("studio:inbox")).content.decode()
    assert "Inbox: 3 unread" in html
    assert "&lt;b&gt;two" in html

    first = inbox.inbox_of(reviewer)[0]
    assert client.post(reverse("studio:notification", args=[first.pk])).url == first.address
    assert inbox.count_unread(reviewer) == 2
    assert "Inbox: 2 unread" in client.get("/").content.decode()
    assert len(client.get(reverse("studio:inbox") + "?unread=1").context["page"].object_list) == 2

    client.post(reverse("studio:inbox_read_all"))
    assert inbox.count_unread(reviewer) == 0


def test_notification_links_to_the_task_of_a_renamed_persona(project):
    _, author, reviewer, task = project
    comments.add_comment(task.pk, by=author, text=f"@{reviewer.username} look")
    persona = task.persona
    persona.set_spec(PersonaSpec(user_id="miller"))
    persona.save()

    answer = signed_in(reviewer).post(reverse("studio:notification", args=[inbox.inbox_of(reviewer)[0].pk]))

    assert "/p/miller/tasks/" in answer.url
    assert "#comment-" in answer.url


def test_inbox_shows_only_own_notifications_of_current_benchmarks(project):
    benchmark, author, reviewer, task = project
    submit(task.pk, by=author)
    row = inbox.inbox_of(reviewer)[0]

    assert signed_in(author).post(reverse("studio:notification", args=[row.pk])).status_code == 404
    access.set_roles(benchmark, reviewer, [], by=author)

    assert kinds_of(reviewer) == []
    assert inbox.count_unread(reviewer) == 0
    assert signed_in(reviewer).post(reverse("studio:notification", args=[row.pk])).status_code == 404
    assert send_digests() == []


def test_unread_notifications_are_counted_in_one_query(project, django_assert_num_queries):
    _, author, reviewer, task = project
    submit(task.pk, by=author)

    with django_assert_num_queries(1):
        assert inbox.count_unread(reviewer) == 1


def test_notification_settings_are_respected(project):
    _, author, reviewer, task = project
    client = signed_in(reviewer)
    url = reverse("studio:notification_choices")
    client.post(url, {"review_asked": "not", "mentioned": "inbox", "nonsense": "email", "approved": "nonsense"})

    submit(task.pk, by=author)
    comments.add_comment(task.pk, by=author, text=f"@{reviewer.username} look")

    assert kinds_of(reviewer) == ["mentioned"]
    assert send_digests() == []
    assert inbox.choices_of(reviewer)["approved"] == "email"
    assert client.get(url).status_code == 200


def test_digests_are_sent_once_and_recorded(project, settings):
    settings.PUBLIC_ADDRESS = "https://studio.example.org"
    _, author, reviewer, task = project
    submit(task.pk, by=author, text="x")
    comments.add_comment(task.pk, by=author, text=f"@{reviewer.username} look\nhere")

    call_command("send_digests")
    call_command("send_digests")

    [message] = mail.outbox
    assert message.to == [reviewer.email]
    assert message.subject == "π-Bench Studio: 2 new notifications"
    assert f"{author} asked for a review of “Bread for Saturday”." in message.body
    assert f"https://studio.example.org{task.get_absolute_url()}#comment-" in message.body
    digest = Digest.objects.get()
    assert (digest.to, digest.text, digest.notifications.count()) == (reviewer.email, message.body, 2)


def test_digest_command_prints_one_document(project, settings, capsys):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    _, author, reviewer, task = project
    submit(task.pk, by=author)

    call_command("send_digests", "--json")

    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"sent": [{"user": reviewer.username, "to": reviewer.email}]}
    assert "asked for a review" in printed.err


def test_digest_leaves_out_read_notifications_and_users_without_an_address(project):
    _, author, reviewer, task = project
    submit(task.pk, by=author)
    reviewer.email = ""
    reviewer.save()
    assert send_digests() == []
    reviewer.email = "r@example.org"
    reviewer.save()
    inbox.mark_read(reviewer)
    assert send_digests() == []


def test_failed_digest_is_retried_and_others_are_sent(project, settings):
    benchmark, author, reviewer, task = project
    other = member(benchmark, Role.REVIEWER)
    other.email = "other@example.org"
    other.save()
    submit(task.pk, by=author)
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = (
        "django.core.mail.backends.smtp.EmailBackend",
        "127.0.0.1",
        1,
    )

    with pytest.raises(OSError, match="refused"):
        send_digests()
    assert Digest.objects.count() == 0

    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert {each.user for each in send_digests()} == {reviewer, other}


def test_finished_pilot_notifies_who_started_it():
    from evaluation.models import Session
    from evaluation.pilots.lifecycle import finish_pilot
    from tests.evaluation.factories import finish, pilot_row

    pilot = pilot_row()
    starter = member(pilot.benchmark, Role.AUTHOR)
    pilot.created_by = starter
    pilot.save()
    for _ in Session.objects.filter(run__pilot=pilot):
        finish(pilot)

    finish_pilot(pilot.pk)
    finish_pilot(pilot.pk)

    [row] = inbox.inbox_of(starter)
    assert (row.kind, row.address) == ("pilot_ended", pilot.get_absolute_url())


def test_resolving_or_reopening_a_thread_notifies_its_participants(project):
    benchmark, author, reviewer, task = project
    silent, third = member(benchmark, Role.REVIEWER), member(benchmark, Role.AUTHOR)
    root = comments.add_comment(task.pk, by=reviewer, text="For <b>whom</b>?")
    comments.reply(root, by=third, text="For the shop.")
    before = {person: len(kinds_of(person)) for person in (author, reviewer, third, silent)}

    comments.resolve(root, by=author, resolved=True)
    comments.resolve(root, by=author, resolved=True)  # a second click is nothing new

    kinds = {person: kinds_of(person)[before[person] :] for person in before}
    assert kinds == {author: [], reviewer: ["settled"], third: ["settled"], silent: []}
    notification = inbox.inbox_of(reviewer)[0]
    assert "resolved a comment" in notification.text and notification.address.endswith(f"#comment-{root.pk}")
    comments.resolve(root, by=reviewer, resolved=False)
    assert "reopened" in inbox.inbox_of(third)[0].text
    assert "<b>whom" not in signed_in(third).get(reverse("studio:inbox")).content.decode()
