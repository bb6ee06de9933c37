"""The history of a new sample benchmark: reviews, a pilot, an audit and two releases, so that everyone finds some of
their own work in it. Made by the functions that pages call."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from annotations.decided import judge_answers
from annotations.judgments import HandedIn, record_judgment
from annotations.leases import take_seat
from annotations.models import AuditCampaign, Packet
from annotations.packets import DECISION, NO, YES
from evaluation.audits.opening import AuditOptions, open_audit
from evaluation.models import Pilot
from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.drafts.load import load_task
from studio.models import Benchmark, Task, User
from studio.review import bulk
from studio.review.checklist import QUESTIONS, ReviewAnswer
from studio.review.comments import add_comment
from studio.review.workflow import approve, request_changes
from studio.tasks.save import save_task
from studio.tasks.transitions import submit

PERSONA = "radio_producer"
DECISIONS = 10
JUDGED = 7
"""Decisions that the second auditor judged; the first is a little behind."""
EXCEPTIONS = "A first look at the format: everything here was played by a script, so it is evidence of nothing."
COMMENT = "Two of the six items only look for a name in phone_list.md. A list without a telephone number would pass."
REQUESTED = "A good task with one gap: the phone list is checked for names only."
DESCRIPTIONS = {
    "radio_02_briefing": "Two sources that disagree become one sheet for the presenter of a live interview, on "
    "which the order of the questions matters as much as what they ask.",
    "radio_04_music_return": "A month's log becomes a return to the rights society. What counts and what does not is "
    "exact, so is the grading; the template leaves no choice of columns.",
    "vet_06_booster_texts": "A list with a few traps in it becomes text messages and a phone list. Getting one of them "
    "wrong hurts somebody.",
}
"""The author's newest edits, by task."""


def people_of(benchmark: Benchmark) -> dict[str, User]:
    return {user.username: user for user in User.objects.filter(memberships__benchmark=benchmark)}


def approve_tasks(benchmark: Benchmark) -> None:
    people, tasks = people_of(benchmark), _tasks_of(benchmark)
    bulk.apply(benchmark, {task.pk: None for task in tasks.values()}, "submit", by=people["author"])
    for task in tasks.values():
        _approve(task, by=people["reviewer"])


def audit_and_release(benchmark: Benchmark, pilot: Pilot) -> None:
    """Release, change a task, release again; audit the pilot; and leave something to do for everyone."""
    people, tasks = people_of(benchmark), _tasks_of(benchmark)
    _release_twice(benchmark, tasks["vet_03_nurses_rota"], people)
    _audit(pilot, people)
    _leave_work(tasks, people)


def _tasks_of(benchmark: Benchmark) -> dict[str, Task]:
    return {row.task_id: row for row in Task.objects.filter(persona__benchmark=benchmark)}


def _approve(task: Task, *, by: User) -> None:
    approve(task.pk, by=by, answers={key: ReviewAnswer(True) for key in QUESTIONS})


def _release_twice(benchmark: Benchmark, changed: Task, people: Mapping[str, User]) -> None:
    cut_release(benchmark, ReleaseOptions(version="0.1", accept=EXCEPTIONS), by=people["manager"])
    spec = load_task(changed)
    request = f"{spec.initial_request}\n\nI need it by Wednesday noon, so that they can still swap."
    save_task(
        changed.pk,
        spec.model_copy(update={"initial_request": request}),
        by=people["author"],
        note="The request says by when.",
    )
    submit(changed.pk, by=people["author"])
    _approve(changed, by=people["reviewer"])
    cut_release(benchmark, ReleaseOptions(version="0.2", accept=EXCEPTIONS), by=people["manager"])


def _audit(pilot: Pilot, people: Mapping[str, User]) -> AuditCampaign:
    """Two people judge some decisions and differ on one; the rest waits for the first of them."""
    first, second = people["auditor"], people["auditor2"]
    auditors = [first.username, second.username]
    name = "First look at the judge"
    options = AuditOptions(pilots=[pilot.pk], size=DECISIONS, people=2, auditors=auditors, name=name)
    campaign = open_audit(pilot.benchmark, options, by=people["owner"])
    judged = judge_answers([campaign.pk])
    for number, packet in enumerate(campaign.packets.order_by("position")[:JUDGED]):
        agrees = judged[packet.pk][DECISION]
        differs = NO if agrees == YES else YES
        _take_seat(packet, second)
        record_judgment(packet, HandedIn({DECISION: differs if number == 1 else agrees}), auditor=second, number=1)
        if number < JUDGED - 2:
            _take_seat(packet, first)
            record_judgment(packet, HandedIn({DECISION: agrees}), auditor=first, number=1)
    return campaign


@transaction.atomic
def _take_seat(packet: Packet, auditor: User) -> None:
    take_seat(packet.pk, auditor)


def _leave_work(tasks: Mapping[str, Task], people: Mapping[str, User]) -> None:
    """A task in review, one with requested changes, and a draft."""
    author, reviewer = people["author"], people["reviewer"]
    for task_id, description in DESCRIPTIONS.items():
        spec = load_task(tasks[task_id]).model_copy(update={"description": description})
        save_task(tasks[task_id].pk, spec, by=author, note="The description says what is hard about it.")
    submit(tasks["radio_02_briefing"].pk, by=author)
    returned = tasks["vet_06_booster_texts"].pk
    submit(returned, by=author)
    add_comment(returned, by=reviewer, field="checklist", text=COMMENT)
    request_changes(returned, by=reviewer, text=REQUESTED)
