"""A pilot is closed to those who judge its decisions, wherever it is shown."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns import FrozenDecision, close_campaign
from annotations.judgments import open_results
from annotations.models import AuditCampaign
from annotations.packets import EvidencePart, Material, Sealed, build_content
from evaluation.audits.blindness import BlindPilotError, closed_pilots, open_pilots, open_sessions
from evaluation.audits.campaigns import source_of
from evaluation.models import Pilot, Release, ReleaseException, Session
from evaluation.releases.exceptions import ExceptionOptions, accept_blockers, withdraw_exception
from evaluation.releases.readiness import Blocker
from evaluation.trials.examples import list_histories
from studio.models import Blob, Event, GraderScript, User
from studio.search.query import search
from tests.annotations.builders import open_campaign, record_judgment
from tests.evaluation.factories import finish, person, pilot_row, turn, verdict
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
SECRETS = ("scripted-helpful", "scripted-judge", "It says 70.", "Thanks, that was all I needed.")
CLOSED = "closed to you while you judge its decisions blind"


class Desk:
    """A finished pilot, with one decision of one session to be judged by ``auditor``."""

    def __init__(self) -> None:
        self.pilot = pilot_row()
        self.session = finish(self.pilot)
        turn(self.session, 1, reply="The fee is 70.")
        turn(
            self.session,
            2,
            message="Thanks, that was all I needed.",
            reply="You are welcome.",
            thoughts=[f"A guess. {SECRETS[2]}"],
        )
        decision = verdict(self.session, quote="The fee is 70.", reason="It says 70.")
        self.auditor = person(self.pilot.benchmark, "auditor", "owner")
        self.colleague = person(self.pilot.benchmark, "viewer")
        reply = EvidencePart(role="assistant", label="turn 1", text="The fee is 70.")
        shown = build_content("checklist", "The fee is named.", Material([reply]))
        self.audit = open_campaign(
            self.pilot.benchmark,
            [FrozenDecision(f"verdict:{decision.pk}", "all", 1.0, shown, Sealed(answers={"decision": "yes"}))],
            name="audit",
            source=source_of(self.pilot),
            seed=1,
            overlap=1,
            scripted=True,
            by=None,
            auditors=[self.auditor],
        )
        archive = Blob.objects.store([b""])[0]
        evidence = {"pilots": [{"number": self.pilot.number, "agent": "scripted-helpful", "judge": "scripted-judge"}]}
        self.release = Release.objects.create(
            benchmark=self.pilot.benchmark,
            version="1.0",
            manifest={"evidence": evidence, "totals": {}, "tasks": []},
            sha256=archive,
            size=0,
            sums_id=archive,
        )

    def paths(self) -> list[str]:
        pilot, session, release = self.pilot.pk, self.session.pk, self.release.pk
        return [
            f"/pilots/{pilot}/",
            f"/pilots/{pilot}/report.json",
            f"/sessions/{session}/",
            f"/sessions/{session}/turns/1/file/?path=a.md",
            f"/sessions/{session}/turns/1/download/?path=a.md",
            f"/releases/{release}/",
            f"/releases/{release}/download/",
            f"/api/pilots/{pilot}/",
            f"/api/pilots/{pilot}/report/",
            f"/api/pilots/{pilot}/sessions/",
            f"/api/sessions/{session}/",
            f"/api/releases/{release}/download/",
        ]


@pytest.fixture(scope="module")
def shared_desk(module_db) -> Desk:
    return Desk()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.slow
def test_every_page_of_the_pilot_is_closed_to_its_auditor(desk: Desk) -> None:
    client = client_of(desk.auditor)

    for path in desk.paths():
        answer = client.get(path)
        text = answer.content.decode()
        assert answer.status_code == 403, path
        assert CLOSED in text, path
        assert not [secret for secret in SECRETS if secret in text], path
    assert client.post(f"/pilots/{desk.pilot.pk}/cancel/").status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/pilots/",
        "/benchmarks/{slug}/pilots/",
        "/api/pilots/",
        "/api/sessions/",
        "/api/sessions/?pilot={pilot}",
        "/api/releases/",
        "/releases/",
        "/audits/new/?benchmark={slug}",
        "/search/?q=pilot",
        "/search/?q=needed",
        "/search/?q=needed&within={pilot}",
        "/search/?q=guess",
        "/",
        "/b/{slug}/",
        "/b/{slug}/history/",
        "/happened/",
        "/inbox/",
        "/audits/",
        "/audits/{audit}/",
    ],
)
def test_lists_feeds_and_search_name_neither_agent_nor_judge(desk: Desk, path: str) -> None:
    slug = desk.pilot.benchmark.slug

    answer = client_of(desk.auditor).get(path.format(slug=slug, pilot=desk.pilot.pk, audit=desk.audit.pk), follow=True)

    text = answer.content.decode()
    assert answer.status_code == 200
    assert not [secret for secret in SECRETS if secret in text]
    assert f'"/sessions/{desk.session.pk}/' not in text


def test_colleague_finds_what_the_auditor_does_not_and_that_is_recorded(desk: Desk) -> None:
    assert not search(desk.auditor, "guess").hits
    assert not desk.audit.openings.exists()

    assert [hit.kind for hit in search(desk.colleague, "guess").hits] == ["thought"]

    opening = desk.audit.openings.get()
    assert (opening.person, opening.what) == (desk.colleague, f"pilot:{desk.pilot.pk}")


def test_list_says_why_a_pilot_is_missing(desk: Desk) -> None:
    assert "1 pilot is closed to you" in client_of(desk.auditor).get("/pilots/").content.decode()
    assert "closed to you" not in client_of(desk.colleague).get("/pilots/").content.decode()


def test_pilot_is_open_to_colleagues_who_do_not_judge_it(desk: Desk) -> None:
    client = client_of(desk.colleague)

    assert closed_pilots(desk.colleague) == set()
    assert client.get(f"/pilots/{desk.pilot.pk}/").status_code == 200
    assert "It says 70." in client.get(f"/sessions/{desk.session.pk}/").content.decode()
    assert "scripted-helpful" in client.get("/search/?q=pilot").content.decode()


def test_pilot_opens_with_the_audits_results(desk: Desk) -> None:
    record_judgment(desk.audit.packets.get(), auditor=desk.auditor, answer="yes", number=1)
    assert closed_pilots(desk.auditor) == {desk.pilot.pk}

    open_results(AuditCampaign.objects.get(), desk.auditor)

    assert closed_pilots(desk.auditor) == set()
    assert client_of(desk.auditor).get(f"/pilots/{desk.pilot.pk}/").status_code == 200


def test_pilot_opens_when_the_audit_is_closed(desk: Desk) -> None:
    close_campaign(desk.audit, by=desk.auditor)

    assert list(open_pilots(desk.auditor)) == [desk.pilot]
    assert list(open_sessions(desk.auditor)) == list(Session.objects.filter(run__pilot=desk.pilot))


def test_sessions_of_a_closed_pilot_are_no_examples_for_grader_scripts(desk: Desk) -> None:
    tasks = [desk.session.revision.task]

    def sessions(user: User) -> int:
        return len(list_histories(GraderScript(), "", tasks, user)["Sessions"])

    assert (sessions(desk.auditor), sessions(desk.colleague)) == (0, 1)


def test_start_of_a_pilot_does_not_name_its_agent(desk: Desk) -> None:
    assert Event.objects.get(verb="piloted").summary == f"Started pilot {desk.pilot.number}."


def test_other_pilots_stay_open(desk: Desk) -> None:
    other = Pilot.objects.get(pk=pilot_row(benchmark=desk.pilot.benchmark).pk)

    assert list(open_pilots(desk.auditor)) == [other]


def test_search_does_not_find_a_closed_pilot_by_its_agent(desk: Desk) -> None:
    found = [search(user, "scripted-helpful", kind="pilot").total for user in (desk.auditor, desk.colleague)]

    assert found == [0, 1]


def test_who_still_judges_neither_makes_nor_sees_nor_withdraws_an_exception(desk: Desk) -> None:
    benchmark, by = desk.pilot.benchmark, person(desk.pilot.benchmark, "owner")
    worse = Blocker("judges-disagree", "People disagree.", figure=0.4)
    options = ExceptionOptions.read({"rule": worse.code, "reason": "Forty percent are fine."})
    row = accept_blockers(benchmark, [worse], options, by=by)
    client = client_of(desk.auditor)
    api, page = f"/api/benchmarks/{benchmark.slug}/release-exceptions/", f"/benchmarks/{benchmark.slug}/releases/"

    for closed in (
        lambda: accept_blockers(benchmark, [worse], options, by=desk.auditor),
        lambda: withdraw_exception(row, by=desk.auditor),
    ):
        with pytest.raises(BlindPilotError):
            closed()
    assert client.delete(f"{api}{row.pk}/").status_code == 403
    assert (
        client.post(reverse("evaluation:release_exception_withdraw", args=[benchmark.slug, row.pk])).status_code == 403
    )
    assert all("Forty percent" not in client.get(path).content.decode() for path in (api, page))

    record_judgment(desk.audit.packets.get(), auditor=desk.auditor, answer="no")
    open_results(desk.audit, desk.auditor)
    withdraw_exception(row, by=desk.auditor)
    assert not ReleaseException.objects.exists()
