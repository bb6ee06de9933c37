"""`manage.py audit` and `manage.py audit_report`."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotations.figures import campaign_figures
from annotations.models import AuditCampaign, Judgment
from evaluation.audits.campaigns import audits_of
from evaluation.audits.freezing import people_involved_in
from evaluation.audits.pdf import PrintError, print_pdf
from studio.dev.browser import find_chromium
from studio.domain.options import OptionsError
from studio.models import Review
from studio.review.checklist import QUESTIONS
from tests.annotations.builders import make_person, open_audit, record_judgment
from tests.evaluation.factories import finish, pilot_row, turn, verdict

pytestmark = pytest.mark.django_db


def judged_pilot(benchmark=None):
    pilot = pilot_row(benchmark)
    session = finish(pilot)
    for number in (1, 2, 3):
        turn(session, number)
        verdict(session, turn=number, met=number != 2)
        verdict(session, "satisfaction", turn=number, met=number == 1)
    return pilot


def run(command, *arguments):
    out = StringIO()
    try:
        call_command(command, *arguments, "--json", stdout=out, stderr=StringIO())
    except SystemExit as exit:
        return exit.code, json.loads(out.getvalue())
    return 0, json.loads(out.getvalue())


@pytest.mark.slow
def test_audit_of_two_pilots_is_opened_and_reported():
    first = judged_pilot()
    second = judged_pilot(first.benchmark)
    people = [make_person(first.benchmark, "auditor") for _ in range(3)]
    where = ("--benchmark", first.benchmark.slug, "--pilot", str(first.pk), str(second.pk))

    status, opened = run("audit", *where, "--size", "12", "--seed", "4")

    campaign = AuditCampaign.objects.get()
    assert (status, opened) == (0, {"campaign": campaign.pk, "packets": 12, "judgments_wanted": 36})
    assert (campaign.seed, campaign.overlap, list(audits_of(first)), list(audits_of(second))) == (
        4, 3, [campaign], [campaign],
    )  # fmt: skip
    for packet in campaign.packets.all():
        for person, choice in zip(people, ("yes", "yes", "no"), strict=True):
            record_judgment(packet, auditor=person, answer=choice, number=1)
    status, report = run("audit_report", "--campaign", str(campaign.pk))
    assert report == json.loads(json.dumps(campaign_figures(campaign)))
    assert (report["judgments"], report["resolved"], report["undecided"], report["unit"]) == (36, 12, 0, "decision")
    (people_row,) = report["table6"]
    assert people_row["source"] == "people"
    assert [people_row[axis]["count"] for axis in ("checklist", "intents")] == [2, 4]
    assert [people_row[axis]["n"] for axis in ("checklist", "intents")] == [6, 6]
    assert people_row["checklist"]["low"] == pytest.approx(0.0968, abs=5e-5)
    assert report["errors"][-1]["confusion"] == {
        "judge_yes_people_yes": 6, "judge_yes_people_no": 0, "judge_no_people_yes": 6, "judge_no_people_no": 0,
    }  # fmt: skip
    assert {row["kind"] for row in report["agreement"]} == {"Checklist", "Intent satisfied"}
    for row in report["agreement"]:
        assert row["fleiss_kappa"]["value"] == pytest.approx(-0.5)
        assert row["gwet_ac1"]["value"] == pytest.approx((1 / 3 - 4 / 9) / (5 / 9))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--people", "4"), "4 people must judge each decision, but only 3 people are assigned"),
        (("--size", "0"), "--size: Choose at least 1."),
        (("--seed", "-1"), "--seed: Choose at least 0."),
    ],
)
def test_audit_that_cannot_be_opened_says_why(arguments, message):
    pilot = judged_pilot()
    for _ in range(3):
        make_person(pilot.benchmark, "auditor")

    status, document = run("audit", "--benchmark", pilot.benchmark.slug, "--pilot", str(pilot.pk), *arguments)

    assert (status, document["campaign"]) == (2, None)
    assert message in document["errors"][0]["message"]
    assert not AuditCampaign.objects.exists()


def test_unknown_pilot_and_campaign_are_usage_errors():
    pilot = judged_pilot()

    assert run("audit", "--benchmark", pilot.benchmark.slug, "--pilot", "0")[0] == 2
    assert run("audit_report", "--campaign", "0")[0] == 2


@pytest.mark.slow
def test_writers_and_approvers_of_a_task_do_not_audit_it():
    pilot = judged_pilot()
    revision = pilot.runs.get().sessions.first().revision
    writer, approver, other = (make_person(pilot.benchmark, "auditor", "author", "reviewer") for _ in range(3))
    given = {"content": revision.task.content, "answers": {name: {"so": True, "word": ""} for name in QUESTIONS}}
    Review.objects.create(revision=revision, reviewer=approver, decision="approved", **given)
    revision.task.revisions.create(number=revision.number + 1, spec=revision.spec, sha256="1" * 64, created_by=writer)
    revision.task.version = revision.number + 1
    revision.task.save(update_fields=["version"])

    assert people_involved_in([revision.task])[revision.task.pk] >= {writer.pk, approver.pk}
    with pytest.raises(OptionsError, match="there are not 2 auditors who neither wrote"):
        open_audit(pilot, overlap=2, by=None)
    campaign = open_audit(pilot, by=None)
    record_judgment(campaign.packets.first(), auditor=other, answer="yes", number=1)
    assert open_audit(pilot, overlap=3, by=None, own_tasks=True).packets.first().involved == []
    assert Judgment.objects.count() == 1


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason="needs Chromium")
def test_report_is_written_as_a_pdf(tmp_path):
    pilot = judged_pilot()
    make_person(pilot.benchmark, "auditor")
    campaign = open_audit(pilot, by=None)
    path = tmp_path / "report.pdf"

    call_command("audit_report", "--campaign", str(campaign.pk), "--pdf", str(path), stdout=StringIO())

    assert path.read_bytes().startswith(b"%PDF")


def test_report_says_what_to_do_without_a_browser(tmp_path, monkeypatch):
    monkeypatch.setattr("evaluation.audits.pdf.find_chromium", lambda: None)

    with pytest.raises(PrintError, match="open the report in a browser and print it"):
        print_pdf("<p>x</p>", tmp_path / "report.pdf")
