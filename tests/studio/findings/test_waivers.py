from __future__ import annotations

import json
import re
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from studio.domain import findings as domain_findings
from studio.domain.task import HiddenIntent
from studio.drafts.load import load_task
from studio.findings import waivers
from studio.findings.queries import findings_of, open_findings
from studio.findings.waivers import WaiverError
from studio.models import ErrorWaiver, Event, Finding, Role, TaskState, Waiver
from studio.review import workflow
from studio.tasks.transitions import WorkflowError, submit
from tests.factories import a_task, member
from tests.studio.page_forms import form_of
from tests.studio.review.test_workflow import Desk

pytestmark = pytest.mark.django_db

LEAK = HiddenIntent(uid="2d1f3c8e-0000-4000-8000-000000000001", content="The plan is saved as plan.md.")


def leaking() -> tuple[Desk, Finding]:
    """A desk whose request gives away an intent, and that error."""
    desk = Desk()
    desk.owner = member(desk.benchmark, Role.OWNER)
    desk.edit(by=desk.author, intents=(*load_task(desk.task).intents, LEAK))
    return desk, Finding.objects.get(task=desk.task, rule="intent-in-request", severity="error")


def a_warning(desk: Desk) -> Finding:
    desk.edit(by=desk.author, title="")
    return Finding.objects.get(task=desk.task, rule="empty-title")


def test_warning_is_waived_with_a_reason_and_an_error_is_not():
    desk, error = leaking()
    warning = a_warning(desk)

    with pytest.raises(WaiverError, match="Say why"):
        waivers.add_waiver(desk.task.pk, warning.fingerprint, by=desk.author, reason=" ")
    with pytest.raises(WaiverError, match="must be fixed"):
        waivers.add_waiver(desk.task.pk, error.fingerprint, by=desk.author, reason="I like it")
    waivers.add_waiver(desk.task.pk, warning.fingerprint, by=desk.author, reason="It has none on purpose.")
    waivers.add_waiver(desk.task.pk, warning.fingerprint, by=desk.reviewer, reason="On purpose.")

    assert [(waiver.reason, waiver.by) for waiver in Waiver.objects.all()] == [("On purpose.", desk.reviewer)]


def test_waiver_is_of_one_task_however_alike_the_findings_of_others_are():
    desk, error = leaking()
    warning = a_warning(desk)
    other = a_task(desk.persona, "twin")
    for each in (error, warning):
        Finding.objects.create(
            task=other, **{name: getattr(each, name) for name in ("rule", "severity", "fingerprint", "message")}
        )
    row = {"task": desk.task, "fingerprint": error.fingerprint, "rule": error.rule, "message": error.message}
    ErrorWaiver.objects.create(**row, reason="An example.", by=desk.owner)
    waivers.add_waiver(desk.task.pk, warning.fingerprint, by=desk.author, reason="On purpose.")

    same = Finding.objects.filter(fingerprint__in=(error.fingerprint, warning.fingerprint))
    twins = set(same.filter(task=other))
    assert set(open_findings() & same) == twins
    assert {row.waived for row in findings_of(desk.benchmark) if row in twins} == {None}
    assert {row.waived for row in findings_of(desk.benchmark) if row.task == desk.task} >= {
        "An example.",
        "On purpose.",
    }
    assert [len(part) for part in waivers.split_waived(other, twins)] == [2, 0]
    assert [len(part) for part in waivers.split_waived(desk.task, same.filter(task=desk.task))] == [0, 2]
    assert waivers.waiver_reasons([other]) == {}
    assert set(waivers.waiver_reasons([desk.task]).values()) == {"An example.", "On purpose."}


def test_waiver_can_be_removed():
    desk = Desk()
    warning = a_warning(desk)
    waivers.add_waiver(desk.task.pk, warning.fingerprint, by=desk.author, reason="So be it.")

    waivers.remove_waiver(desk.task.pk, warning.fingerprint, by=desk.author)
    waivers.remove_waiver(desk.task.pk, warning.fingerprint, by=desk.author)

    assert not Waiver.objects.exists()
    assert Event.objects.filter(verb="unwaived").count() == 1


def test_waiver_ends_when_its_text_changes():
    desk = Desk()
    task = load_task(desk.task)
    desk.edit(by=desk.author, intents=(task.intents[0].model_copy(update={"initial_status": "provided"}),))
    finding = Finding.objects.get(task=desk.task, rule="initial-status-provided")
    waivers.add_waiver(desk.task.pk, finding.fingerprint, by=desk.author, reason="It is said at once.")
    open_now = lambda: waivers.split_waived(desk.task, Finding.objects.filter(task=desk.task, rule=finding.rule))  # noqa: E731
    assert (len(open_now()[0]), len(open_now()[1])) == (0, 1)

    task = load_task(desk.task)
    desk.edit(by=desk.author, intents=(task.intents[0].model_copy(update={"content": "Something else."}),))

    assert (len(open_now()[0]), len(open_now()[1])) == (1, 0)


def test_owner_who_is_no_author_can_dismiss_an_error_and_the_task_be_approved():
    desk, error = leaking()
    submit(desk.task.pk, by=desk.author)
    with pytest.raises(WorkflowError, match="The checks find an error"):
        workflow.approve(desk.task.pk, by=desk.reviewer)

    waivers.waive_error(desk.task.pk, error.fingerprint, by=desk.owner, reason="The name is only an example.")
    workflow.approve(desk.task.pk, by=desk.reviewer)

    assert desk.state == TaskState.APPROVED
    assert Event.objects.filter(verb="approved").get().summary.startswith("Version 2. 1 error dismissed.")


@pytest.mark.parametrize(("role", "message"), [("reviewer", "Only an owner"), ("author", "Only an owner")])
def test_only_owners_can_dismiss_an_error(role: str, message: str):
    desk, error = leaking()

    with pytest.raises(WaiverError, match=message):
        waivers.waive_error(desk.task.pk, error.fingerprint, by=getattr(desk, role), reason="Mine.")


def test_owner_who_is_an_author_cannot_dismiss_an_error():
    desk, error = leaking()
    desk.edit(by=desk.owner, description="A word more.")

    with pytest.raises(WaiverError, match="You wrote part of this version"):
        waivers.waive_error(desk.task.pk, error.fingerprint, by=desk.owner, reason="Mine.")


def test_errors_about_missing_parts_cannot_be_dismissed():
    desk, _ = leaking()
    desk.edit(by=desk.author, intents=())
    error = Finding.objects.get(task=desk.task, rule="no-intents")

    with pytest.raises(WaiverError, match="not a matter of judgement"):
        waivers.waive_error(desk.task.pk, error.fingerprint, by=desk.owner, reason="Mine.")
    with pytest.raises(WaiverError, match="no longer report this"):
        waivers.waive_error(desk.task.pk, "gone", by=desk.owner, reason="Mine.")


def test_database_rejects_error_waivers_without_a_reason_and_duplicates():
    desk, error = leaking()
    row = {"task": desk.task, "fingerprint": "f", "rule": error.rule, "message": "M.", "by": desk.owner}
    ErrorWaiver.objects.create(**row, reason="Because.")

    for reason in ("", "Again."):
        with pytest.raises(IntegrityError), transaction.atomic():
            ErrorWaiver.objects.create(**row, reason=reason)


def test_waiver_of_a_warning_does_not_cover_an_error():
    desk, error = leaking()
    Waiver.objects.create(task=desk.task, fingerprint=error.fingerprint, rule=error.rule, reason="R", by=desk.author)
    submit(desk.task.pk, by=desk.author)

    with pytest.raises(WorkflowError, match="The checks find an error"):
        workflow.approve(desk.task.pk, by=desk.reviewer)


@pytest.mark.slow
def test_waiver_of_an_unsaved_finding_survives_the_save(client):
    desk = Desk()
    client.force_login(desk.author)
    page = client.get(desk.task.get_absolute_url()).content.decode()
    data = form_of(page, "task").data() | {"title": ""}
    where = [desk.benchmark.slug, desk.persona.user_id, desk.task.pk]
    result = client.post(reverse("studio:check", args=where), data).json()
    [fingerprint] = [each for each in result["fingerprints"] if each not in set_of(desk)]

    answer = client.post(
        reverse("studio:waive", args=where), data | {"fingerprint": fingerprint, "reason": "It needs none."}
    ).json()

    assert answer["problem"] == ""
    assert fingerprint not in answer["fingerprints"]
    assert "It needs none." in answer["findings"]
    assert desk.task.version == 1
    desk.edit(by=desk.author, title="")
    assert not [
        one for one in waivers.split_waived(desk.task, desk.task.findings.all())[0] if one.rule == "empty-title"
    ]


def set_of(desk: Desk) -> set[str]:
    return set(desk.task.findings.values_list("fingerprint", flat=True))


def test_findings_of_other_benchmarks_cannot_be_waived(client):
    desk = Desk()
    client.force_login(Desk().author)

    answer = client.post(reverse("studio:waive", args=[desk.benchmark.slug, desk.persona.user_id, desk.task.pk]), {})

    assert answer.status_code == 404


@pytest.mark.slow
def test_author_is_not_offered_to_dismiss_errors(client):
    desk, error = leaking()
    where = reverse("studio:waive", args=[desk.benchmark.slug, desk.persona.user_id, desk.task.pk])
    asked = {"fingerprint": error.fingerprint, "reason": "R", "verdict": "set_aside"}

    client.force_login(desk.author)
    assert 'value="set_aside"' not in client.get(desk.task.get_absolute_url()).content.decode()
    assert client.post(where, asked).status_code == 403
    client.force_login(desk.owner)
    assert 'value="set_aside"' in client.get(desk.task.get_absolute_url()).content.decode()
    client.post(where, asked)
    page = client.get(desk.task.get_absolute_url()).content.decode()

    assert ErrorWaiver.objects.get().by == desk.owner
    assert "Error:" in page and json.dumps(error.message) not in page


def test_a_finding_is_called_wrong_with_one_click_and_owners_see_checks_that_are_mostly_wrong(client):
    desk = Desk()
    desk.owner = member(desk.benchmark, Role.OWNER)
    vague = tuple(
        HiddenIntent(uid=f"2d1f3c8e-0000-4000-8000-00000000000{n}", content=f"The {name} should be professional.")
        for n, name in enumerate(("report", "letter", "table"))
    )
    desk.edit(by=desk.author, intents=vague)
    found = Finding.objects.filter(task=desk.task, rule="intent-vague")
    persona = desk.task.persona
    address = reverse("studio:waive", args=[desk.benchmark.slug, persona.user_id, desk.task.pk])
    client.force_login(desk.author)

    for finding in found:
        client.post(address, {"fingerprint": finding.fingerprint, "verdict": "waive", "wrong": "1", "reason": ""})

    assert {waiver.reason for waiver in Waiver.objects.all()} == {waivers.WRONG}
    [rule] = waivers.doubted_rules(desk.benchmark)
    assert (rule.name, rule.found, rule.dismissed, rule.wrong) == ("intent-vague", 3, 3, 3)
    listing = reverse("studio:findings", args=[desk.benchmark.slug])
    assert "1 check mostly dismissed here" not in client.get(listing).content.decode()
    client.force_login(desk.owner)
    page = client.get(listing).content.decode()
    assert "1 check mostly dismissed here" in page and "3 of 3 dismissed, 3 as wrong" in page
    assert f"“{rule.example}”" in page and "intent-vague" not in page


def test_a_check_that_is_seldom_dismissed_is_not_doubted():
    desk = Desk()
    warning = a_warning(desk)
    waivers.add_waiver(desk.task.pk, warning.fingerprint, by=desk.author, reason=waivers.WRONG)

    assert waivers.doubted_rules(desk.benchmark) == []


def nine_questions() -> tuple[Desk, list[Finding]]:
    """A desk whose nine items are questions, and what is said of that."""
    desk = leaking()[0]
    item = load_task(desk.task).checklist[0]
    items = (item.model_copy(update={"uid": str(uuid4()), "criterion": f"Is crate {n} full?"}) for n in range(1, 10))
    desk.edit(by=desk.author, checklist=tuple(items))
    return desk, list(Finding.objects.filter(task=desk.task, rule="criterion-interrogative").order_by("item"))


def test_nine_identical_findings_are_one_with_nine_places_and_are_dismissed_together(client):
    desk, found = nine_questions()
    assert len({row.fingerprint for row in found}) == 9
    client.force_login(desk.author)

    editor = client.get(desk.task.get_absolute_url()).content.decode()
    pane = editor.partition('data-live="findings"')[2].partition("data-tab-body")[0]
    listed = client.get(reverse("studio:findings", args=[desk.benchmark.slug])).content.decode()
    links = re.findall(r"data-show=[^>]*>([^<]+)</a>", pane)
    assert [" ".join(text.split()) for text in links].count("item 9") == 1 and "Show" in map(str.strip, links)
    for page in (pane, listed):
        assert page.count(found[0].message) == 1
        assert [f"#f-checklist-{n}" in page for n in range(1, 10)] == [True] * 9
    api = client.get(f"/api/benchmarks/{desk.benchmark.slug}/findings/").json()["results"]
    assert sorted(row["item"] for row in api if row["rule"] == found[0].rule) == [*range(1, 10)]

    place = reverse("studio:waive", args=[desk.benchmark.slug, desk.persona.user_id, desk.task.pk])
    all_places = {"fingerprint": [row.fingerprint for row in found]}
    client.post(place, all_places | {"reason": "Ours are."})

    assert Waiver.objects.filter(task=desk.task, reason="Ours are.").count() == 9
    summaries = Event.objects.filter(task=desk.task, verb="waived").values_list("summary", flat=True)
    assert list(summaries) == [f"{found[0].message} (9 places) Ours are."]
    assert "(9 places)" in client.get(desk.task.get_absolute_url()).content.decode()
    client.post(place, all_places | {"verdict": "unwaive"})
    assert not Waiver.objects.exists()


def test_nothing_is_dismissed_if_one_of_the_places_is_gone():
    desk, found = nine_questions()

    with pytest.raises(WaiverError, match="no longer report"):
        waivers.add_waiver(desk.task.pk, found[0].fingerprint, "gone", by=desk.author, reason="So be it.")
    with pytest.raises(WaiverError, match="no longer report"):
        waivers.add_waiver(desk.task.pk, by=desk.author, reason="So be it.")

    assert not Waiver.objects.exists()


def test_dismissed_word_of_one_row_is_found_in_another():
    desk = Desk()
    item = load_task(desk.task).checklist[0]
    rows = [item.model_copy(update={"uid": str(uuid4()), "criterion": f"The {n} is laid out nicely."}) for n in "ab"]
    desk.edit(by=desk.author, checklist=tuple(rows))
    first, second = Finding.objects.filter(task=desk.task, rule="criterion-vague").order_by("item")
    assert first.passage == second.passage

    waivers.add_waiver(desk.task.pk, first.fingerprint, by=desk.author, reason="So be it.")

    assert list(open_findings().filter(rule="criterion-vague")) == [second]


def test_dismissal_outlives_other_words_of_the_same_rule():
    said = domain_findings.Finding(rule="r", severity="hint", message="“Rye” is named 2 times.", fix="F.", task="t")
    reworded = said.model_copy(update={"message": "Named 2 times: “Rye”.", "fix": "Name it once."})
    others = [said.model_copy(update={"message": text}) for text in ("“Rye” is named 3 times.", "“Oats” 2 times.")]

    assert reworded.fingerprint == said.fingerprint
    assert not {said.fingerprint} & {other.fingerprint for other in others}
