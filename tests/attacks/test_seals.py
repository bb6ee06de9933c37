"""Seals follow what was judged: an auditor who wants to know what the judge or a colleague said before their own answer
is final."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.adjudication import adjudicable_packets
from annotations.campaigns import FrozenDecision, close_campaign, reopen_campaign
from annotations.gold import draw_gold
from annotations.judgments import next_number, open_results, undo_last
from annotations.leases import next_packet, take_seat
from annotations.models import Answer, AuditCampaign, Consensus, Judgment
from annotations.packets import EvidencePart, Material, Sealed, build_content
from annotations.visibility import given_answers
from evaluation.audits.blindness import BlindPilotError, closed_pilots, open_sessions
from evaluation.audits.campaigns import source_of
from evaluation.audits.opening import AuditOptions, open_audit
from evaluation.models import Pilot, Release, ResultsView, Session, Submission, TurnNote
from evaluation.protocol.modes import PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.results.figures.catalogue import FIGURES
from evaluation.trials.examples import list_histories
from evaluation.views.results import DOWNLOADS, EEE
from studio.access import set_roles
from studio.domain.options import OptionsError
from studio.models import Blob, GraderScript, Notification, Role, User
from tests.annotations.builders import open_campaign, record_judgment
from tests.attacks.test_requests import names_asked_for
from tests.evaluation.builders import pilot_of
from tests.evaluation.factories import finish, person, pilot_row, turn, verdict
from tests.everywhere.test_roles import requests, send
from tests.everywhere.world import build_world
from tests.factories import member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
CLOSED = "closed to you while you judge its decisions blind"
MAY_ALL = [role for role in Role.values if role != Role.AUDITOR]


class Desk:
    """A pilot with two judged criteria, another that took its session over, and an audit of both criteria."""

    def __init__(self) -> None:
        self.pilot = pilot_row()
        self.benchmark = self.pilot.benchmark
        self.session = finish(self.pilot)
        turn(self.session, 1, reply="The fee is 70.")
        verdicts = [
            verdict(self.session, index=index, quote="The fee is 70.", reason="The judge's reason.") for index in (1, 2)
        ]
        self.changed = pilot_row(self.benchmark)
        Pilot.objects.filter(pk=self.changed.pk).update(mode="changed", base=self.pilot)
        self.changed.taken_sessions.add(self.session)
        Pilot.objects.update(state="finished", scripted=False)
        self.decisions = [self.decision(row.pk) for row in verdicts]
        self.attacker = person(self.benchmark, *Role.values)
        self.colleague = person(self.benchmark, Role.AUDITOR)
        self.owner = person(self.benchmark, Role.OWNER)
        self.audit = self.open()

    def decision(self, key: int) -> FrozenDecision:
        reply = EvidencePart(role="assistant", label="turn 1", text="The fee is 70.")
        shown = build_content("checklist", "The fee is named.", Material([reply]))
        sealed = Sealed(answers={"decision": "yes"}, reasons={"decision": "The judge's reason."})
        return FrozenDecision(f"verdict:{key}", "all", 1.0, shown, sealed, cluster=f"session:{self.session.pk}")

    def open(self, **options: Any) -> AuditCampaign:
        values = {"name": "audit", "source": source_of(self.pilot), "seed": 1, "overlap": 1, "scripted": False}
        return open_campaign(self.benchmark, self.decisions, by=self.owner, protocol="paper", **(values | options))

    def answer_all(self, answer: str = "no", audit: AuditCampaign | None = None, by: User | None = None) -> None:
        audit, by = audit or self.audit, by or self.attacker
        while packet := next_packet(audit, by):
            record_judgment(packet, auditor=by, answer=answer, number=next_number(packet, by))

    def release(self) -> Release:
        """As somebody else cut it, without the pilot."""
        archive = Blob.objects.store([b""])[0]
        return Release.objects.create(
            benchmark=self.benchmark,
            version="1.0",
            manifest={"evidence": {"audits": {"decisions": 2, "disagreed": 2}}, "totals": {}, "tasks": []},
            exceptions=[{"problem": {"message": "People disagree with 100.0 %"}, "reason": "x", "by": "x"}],
            sha256=archive,
            size=0,
            sums_id=archive,
        )


@pytest.fixture(scope="module")
def shared_desk(module_db: None) -> Desk:
    return Desk()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(user: User, path: str) -> str:
    answer = client_of(user).get(path)
    return "" if answer.status_code == 403 else answer.content.decode()


# The judge's verdict from figures over all audits


@pytest.mark.slow
def test_the_verdict_from_the_disagreement_that_blocks_a_release(desk: Desk) -> None:
    pages = []
    for answer in ("yes", "no"):
        desk.answer_all(answer)
        client = client_of(desk.attacker)
        page = client.get(f"/benchmarks/{desk.benchmark.slug}/releases/").content.decode()
        posted = client.post(f"/benchmarks/{desk.benchmark.slug}/releases/", {"version": "1.0", "accept": ""})
        data = {"benchmark": desk.benchmark.slug, "version": "1.0"}
        api = client.post("/api/releases/", data, content_type="application/json")
        home = client.get("/").content.decode()
        assert (posted.status_code, api.status_code) == (403, 403)
        assert "people have resolved" not in page.lower() and "People disagree with" not in page
        pages.append([text.split(" blocker")[0][-3:] for text in (page, home)])
        for _ in range(2):
            undo_last(desk.audit, desk.attacker)

    assert pages[0] == pages[1]
    assert "people have resolved 0 decisions" in text_of(desk.owner, f"/benchmarks/{desk.benchmark.slug}/releases/")


@pytest.mark.slow
def test_the_verdict_from_the_evidence_of_a_release_that_somebody_else_cut(desk: Desk) -> None:
    release = desk.release()

    for path in ("/api/releases/", "/releases/", f"/benchmarks/{desk.benchmark.slug}/releases/"):
        assert "People disagree with" not in text_of(desk.attacker, path), path
    for path in (f"/releases/{release.pk}/", f"/releases/{release.pk}/download/", f"/api/releases/{release.pk}/"):
        assert client_of(desk.attacker).get(path).status_code == 403, path
    assert client_of(desk.owner).get(f"/api/releases/{release.pk}/").status_code == 200


@pytest.mark.parametrize("where", ["evidence", "left out", "results"])
def test_a_release_that_names_the_pilot_under_audit(desk: Desk, where: str) -> None:
    """As evidence, as left out of it, or in the results that it tells, without a figure of audits."""
    release, number = desk.release(), Pilot.objects.get(pk=desk.changed.pk).number
    evidence = {"evidence": "pilots", "left out": "left_out"}.get(where)
    Release.objects.filter(pk=release.pk).delete()
    release.manifest = {"evidence": {evidence: [{"number": number}]} if evidence else {}, "totals": {}, "tasks": []}
    release.manifest["results"] = [] if evidence else [{"pilots": [{"number": number}]}]
    release.save(force_insert=True)

    for path in (f"/releases/{release.pk}/", f"/releases/{release.pk}/site/", f"/api/releases/{release.pk}/"):
        assert client_of(desk.attacker).get(path).status_code == 403, path


def test_a_release_of_ones_own_whose_evidence_tells(desk: Desk) -> None:
    desk.answer_all()

    with pytest.raises(BlindPilotError):
        cut_release(desk.benchmark, ReleaseOptions(version="1.0", accept="To look at it."), by=desk.attacker)


def order_of_packets(desk: Desk) -> list[str]:
    with transaction.atomic():
        chosen = AuditOptions(pilots=[desk.pilot.pk], unit=AuditCampaign.Unit.DECISION, people=1, seed=7)
        packets = open_audit(desk.benchmark, chosen, by=desk.owner).packets.order_by("position")
        order = list(packets.values_list("source", flat=True))
        transaction.set_rollback(True)
    return order


def test_the_verdict_from_the_order_of_packets_by_who_knows_the_seed(desk: Desk, settings: Any) -> None:
    """Which an audit's page shows; or which packets are control items."""
    for index in range(2, 9):
        verdict(desk.session, index=index, kind="follow_up", met=index % 2 == 0)
    order = order_of_packets(desk)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # frozen rows
        cursor.execute("UPDATE evaluation_verdict SET met = NOT met")
        cursor.execute("SET LOCAL session_replication_role = origin")
    assert len(order) > 7 and order_of_packets(desk) == order

    settings.SECRET_KEY = "another"  # else packets with known answers could be placed by the seed
    assert order_of_packets(desk) != order


# The session under audit at another address


@pytest.mark.parametrize(
    "path",
    [
        "/pilots/{changed}/",
        "/pilots/{changed}/report.json",
        "/pilots/{changed}/usage/",
        "/sessions/{session}/",
        "/api/pilots/{changed}/report/",
        "/api/pilots/{changed}/",
        "/api/sessions/{session}/",
    ],
)
def test_the_session_under_audit_in_a_pilot_that_took_it_over(desk: Desk, path: str) -> None:
    path = path.format(changed=desk.changed.pk, session=desk.session.pk)

    assert client_of(desk.attacker).get(path).status_code == 403
    assert client_of(desk.owner).get(path).status_code == 200


def test_the_pilot_that_control_items_were_drawn_from(desk: Desk) -> None:
    """To know the answers that check the auditor."""
    known = pilot_row(desk.benchmark)
    gold = replace(desk.decisions[0], source="gold:1", control="gold", known={"decision": "no"})
    desk.decisions.append(gold)
    desk.open(name="with known answers", gold_sources=[source_of(known)])

    assert client_of(desk.attacker).get(f"/pilots/{known.pk}/").status_code == 403
    assert client_of(desk.owner).get(f"/pilots/{known.pk}/").status_code == 200


@pytest.mark.parametrize("page", ["", "charts/", "sessions/", "compare/"])
def test_scores_and_charts_of_a_pilot_that_took_the_session_over(desk: Desk, page: str) -> None:
    number = Pilot.objects.get(pk=desk.changed.pk).number
    path = f"/benchmarks/{desk.benchmark.slug}/results/{page}?pilot={number}"

    assert f"/sessions/{desk.session.pk}/" not in text_of(desk.attacker, path)
    document = client_of(desk.attacker).get(f"/api/benchmarks/{desk.benchmark.slug}/results/?pilot={number}")
    assert document.status_code == 400
    assert f'"number": {number}' not in text_of(desk.attacker, "/api/pilots/")


def test_sessions_of_a_pilot_that_took_the_session_over_as_examples(desk: Desk) -> None:
    task = desk.session.revision.task

    assert list(open_sessions(desk.attacker)) == []
    assert len(list_histories(GraderScript(), "", [task], desk.attacker)["Sessions"]) == 0


@pytest.mark.slow
def test_what_an_earlier_audit_found_of_the_same_sessions(desk: Desk) -> None:
    earlier = desk.open(name="earlier", auditors=[desk.colleague])
    desk.answer_all(audit=earlier, by=desk.colleague)
    close_campaign(earlier, by=desk.owner)
    client = client_of(desk.attacker)

    for path in (f"/audits/{earlier.pk}/", f"/audits/{earlier.pk}/report/", f"/audits/{earlier.pk}/export.csv"):
        assert "The judge" not in client.get(path, follow=True).content.decode(), path
    assert client.get(f"/api/audits/{earlier.pk}/results/").status_code == 409
    assert client.get(f"/audits/{earlier.pk}/corrections/").status_code == 403
    page = client.get(f"/audits/{earlier.pk}/").content.decode()
    assert "The results are closed to you" in page and f"/audits/{desk.audit.pk}/" in page
    assert client_of(desk.owner).get(f"/api/audits/{earlier.pk}/results/").status_code == 200


def test_the_results_of_a_finished_audit_while_another_asks_the_same(desk: Desk) -> None:
    other = desk.open(name="other")
    desk.answer_all()

    answer = client_of(desk.attacker).post(f"/api/audits/{desk.audit.pk}/results/")

    assert answer.status_code == 409
    desk.answer_all(audit=other)
    open_results(other, desk.attacker)
    assert client_of(desk.attacker).get(f"/api/audits/{desk.audit.pk}/results/").status_code == 200


@pytest.mark.slow
def test_audits_of_the_same_sessions_are_finished_one_by_one_and_open_together(desk: Desk) -> None:
    other = desk.open(name="other")
    client = client_of(desk.attacker)
    for audit in (desk.audit, other):
        desk.answer_all(audit=audit)
        page = client.get(f"/audits/{audit.pk}/").content.decode()
        assert "You have judged everything assigned to you" in page
        final = client.post(f"/audits/{audit.pk}/results/", follow=True).content.decode()
        assert ("The results are closed to you" in final) == (audit == desk.audit)

    assert "The results are closed to you" not in client.get(f"/audits/{desk.audit.pk}/").content.decode()


def test_rows_of_pilots_in_the_administration(desk: Desk) -> None:
    User.objects.filter(pk=desk.attacker.pk).update(is_staff=True, is_superuser=True)
    client = client_of(User.objects.get(pk=desk.attacker.pk))
    release = desk.release()

    rows = {"pilot": desk.changed.pk, "session": desk.session.pk, "release": release.pk}
    for table, key in rows.items():
        assert client.get(f"/admin/evaluation/{table}/{key}/change/").status_code == 302, table
        assert f"/{table}/{key}/change/" not in client.get(f"/admin/evaluation/{table}/").content.decode()


def test_rows_in_the_administration_after_leaving_the_benchmark(desk: Desk) -> None:
    User.objects.filter(pk=desk.attacker.pk).update(is_staff=True, is_superuser=True)
    set_roles(desk.benchmark, desk.attacker, [], by=desk.owner)
    client = client_of(User.objects.get(pk=desk.attacker.pk))

    for table, key in {"pilot": desk.pilot.pk, "session": desk.session.pk}.items():
        assert client.get(f"/admin/evaluation/{table}/{key}/change/").status_code == 302, table


@pytest.mark.parametrize("table", ["pilot", "session", "release"])
def test_judging_after_having_looked_in_the_administration(desk: Desk, table: str) -> None:
    late = User.objects.create(username="late", is_staff=True, is_superuser=True)
    key = {"pilot": desk.pilot.pk, "session": desk.session.pk, "release": desk.release().pk}[table]

    assert client_of(late).get(f"/admin/evaluation/{table}/{key}/change/").status_code == 200

    set_roles(desk.benchmark, late, [Role.AUDITOR], by=desk.owner)
    assert desk.audit.openings.filter(person=late).exists()
    assert next_packet(desk.audit, late) is None


# Blindness that ends too early


def test_looking_when_everything_is_judged_but_can_be_undone(desk: Desk) -> None:
    desk.answer_all()

    assert closed_pilots(desk.attacker) == {desk.pilot.pk, desk.changed.pk}
    assert client_of(desk.attacker).get(f"/pilots/{desk.pilot.pk}/").status_code == 403


def test_looking_when_others_judged_everything_and_may_still_hand_it_back(desk: Desk) -> None:
    desk.answer_all(by=desk.colleague)

    assert client_of(desk.attacker).get(f"/pilots/{desk.pilot.pk}/").status_code == 403
    undo_last(desk.audit, desk.colleague)
    record_judgment(
        next_packet(desk.audit, desk.colleague),  # type: ignore[arg-type]  # undone, so there is one
        auditor=desk.colleague,
        answer="skipped",
        comment="Not for me.",
        number=3,
    )
    assert next_packet(desk.audit, desk.attacker) is not None


def test_skipping_everything_to_look(desk: Desk) -> None:
    while packet := next_packet(desk.audit, desk.attacker):
        record_judgment(packet, auditor=desk.attacker, answer="skipped", comment="Later.", number=1)

    assert client_of(desk.attacker).get(f"/sessions/{desk.session.pk}/").status_code == 403


@pytest.mark.parametrize("answered", [False, True])
def test_giving_up_the_auditor_role_to_look(desk: Desk, answered: bool) -> None:
    if answered:
        desk.answer_all()
    set_roles(desk.benchmark, desk.attacker, MAY_ALL, by=desk.attacker)
    client = client_of(desk.attacker)

    assert client.get(f"/pilots/{desk.changed.pk}/").status_code == 403
    assert client.get(f"/api/audits/{desk.audit.pk}/results/").status_code == 409
    page = client.get(f"/audits/{desk.audit.pk}/").content.decode()
    assert "Its results open to you when it is closed" in page and "The judge" not in page
    client.post(f"/audits/{desk.audit.pk}/results/")

    set_roles(desk.benchmark, desk.attacker, Role.values, by=desk.attacker)
    assert client.get(f"/pilots/{desk.changed.pk}/").status_code == 403
    if not answered:
        assert next_packet(desk.audit, desk.attacker) is not None


def test_giving_up_a_role_that_came_after_the_audit_began(desk: Desk) -> None:
    late = person(desk.benchmark, *Role.values)
    record_judgment(next_packet(desk.audit, late), auditor=late, answer="yes")  # type: ignore[arg-type]  # one is left

    set_roles(desk.benchmark, late, MAY_ALL, by=desk.owner)

    assert client_of(late).get(f"/pilots/{desk.pilot.pk}/").status_code == 403


def test_adjudicating_while_still_asked(desk: Desk) -> None:
    audit = desk.open(
        name="of two", overlap=2, auditors=[desk.attacker, desk.colleague, person(desk.benchmark, "auditor")]
    )
    packet = audit.packets.get(position=1)
    for answer, auditor in zip(("yes", "no"), (desk.colleague, audit.auditors.order_by("pk")[2]), strict=True):
        record_judgment(packet, auditor=auditor, answer=answer)
    client = client_of(desk.attacker)

    assert client.get(f"/audits/{audit.pk}/adjudicate/1/").status_code == 403
    data = {"decision": True, "reason": "To see."}
    answer = client.post(f"/api/audits/{audit.pk}/packets/1/adjudication/", data, content_type="application/json")
    assert answer.status_code == 403
    assert adjudicable_packets(desk.attacker) == {}
    assert not Notification.objects.filter(user=desk.attacker, kind="adjudication").exists()
    assert Notification.objects.filter(user=desk.owner, kind="adjudication").exists()


def test_whether_a_colleague_answered_the_same_from_how_long_the_answer_takes(desk: Desk) -> None:
    """What the database is asked is the same, also for whoever answers next."""
    desk.decisions += [replace(row, source=f"{row.source}0") for row in desk.decisions]
    audit = desk.open(name="of two", overlap=2, auditors=[desk.attacker, desk.colleague])
    asked = []
    for number, packet in enumerate(audit.packets.order_by("position")):
        record_judgment(packet, auditor=desk.colleague, answer="yes")
        take_seat(packet.pk, desk.attacker)
        with CaptureQueriesContext(connection) as queries:
            record_judgment(packet, auditor=desk.attacker, answer=("yes", "no", "yes", "no")[number])
        asked.append([" ".join(words[:3]) for words in (query["sql"].split() for query in queries) if words[1] != "TO"])

    assert Notification.objects.filter(kind="adjudication").count() == 1
    assert len({tuple(re.sub(r"_x\d+", "", line) for line in each) for each in asked}) == 1


def test_whether_a_colleague_answered_the_same_from_what_counts_as_a_known_answer(desk: Desk) -> None:
    audit = desk.open(name="of two", overlap=2, auditors=[desk.attacker, desk.colleague])
    for auditor in (desk.attacker, desk.colleague):
        desk.answer_all("no", audit, auditor)

    drawn, _ = draw_gold(desk.benchmark, "decision", 5, 1, without=[], auditors=[])

    assert drawn == []
    close_campaign(audit, by=desk.owner)
    assert len(draw_gold(desk.benchmark, "decision", 5, 1, without=[], auditors=[])[0]) == 2


# What was opened


def test_closing_an_audit_to_look_and_reopening_it_to_answer_otherwise(desk: Desk) -> None:
    desk.answer_all()
    close_campaign(desk.audit, by=desk.attacker)
    assert client_of(desk.attacker).get(f"/sessions/{desk.session.pk}/").status_code == 200
    reopen_campaign(desk.audit, by=desk.attacker, reason="Once more.")

    with pytest.raises(OptionsError, match="can no longer be changed"):
        undo_last(AuditCampaign.objects.get(pk=desk.audit.pk), desk.attacker)


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/pilots/{pilot}/", "pilot:{pilot}"),
        ("/pilots/{changed}/", "pilot:{pilot}"),
        ("/pilots/", "pilot:{pilot}"),
        ("/sessions/{session}/", "pilot:{pilot}"),
        ("/api/sessions/{session}/", "pilot:{pilot}"),
        ("/benchmarks/{slug}/results/?pilot=1", "pilot:{pilot}"),
        ("/api/benchmarks/{slug}/results/?pilot=1", "pilot:{pilot}"),
        ("/benchmarks/{slug}/releases/", "evidence"),
        ("/releases/{release}/", "release:{release}"),
        ("/audits/judges/{slug}/", "evidence"),
        ("/audits/people/{slug}/", "auditors"),
        ("/audits/{audit}/", "results"),
        ("/api/audits/{audit}/packets/", "results"),
        ("/", "evidence"),
    ],
)
def test_judging_after_having_looked_without_being_asked(desk: Desk, path: str, what: str) -> None:
    """Whoever was no auditor when they looked, and then becomes one."""
    late = person(desk.benchmark, Role.OWNER)
    names = {"pilot": desk.pilot.pk, "changed": desk.changed.pk, "session": desk.session.pk, "audit": desk.audit.pk}
    names |= {"slug": desk.benchmark.slug, "release": desk.release().pk}
    packet = desk.audit.packets.get(position=1)

    assert client_of(late).get(path.format(**names)).status_code == 200
    client_of(late).get(path.format(**names))
    set_roles(desk.benchmark, late, [Role.OWNER, Role.AUDITOR], by=desk.owner)

    opening = desk.audit.openings.get(person=late)
    assert opening.what == what.format(**names)
    assert next_packet(desk.audit, late) is None
    with pytest.raises(OptionsError, match="You have seen the results"):
        record_judgment(packet, auditor=late, answer="no")


def test_an_answer_that_was_under_way_while_its_auditor_looked(desk: Desk) -> None:
    """It is stored, marked, and counts in nothing."""
    packet = desk.audit.packets.get(position=1)
    late = person(desk.benchmark, Role.OWNER)
    client_of(late).get(f"/sessions/{desk.session.pk}/")
    row = Judgment.objects.create(packet=packet, auditor=late, number=1)
    Answer.objects.create(packet=packet, question="decision", by="person", judgment=row, value="no")

    assert given_answers([desk.audit.pk]) == {}
    history = client_of(desk.owner).get(f"/api/audits/{desk.audit.pk}/results/").json()["history"]
    assert history["answers_after_opening"] == 1
    assert {(each["by"], each["what"]) for each in history["openings"]} == {
        (late.username, f"pilot:{desk.pilot.pk}"),
        (desk.owner.username, "results"),
    }
    assert not Consensus.objects.filter(packet=packet).exists()


def test_answers_given_before_a_look_count(desk: Desk) -> None:
    desk.answer_all()
    open_results(desk.audit, desk.attacker)

    assert {
        answer for row in given_answers([desk.audit.pk]).values() for one in row.values() for answer in one.values()
    } == {"no"}
    assert client_of(desk.attacker).get(f"/sessions/{desk.session.pk}/").status_code == 200


# Everything that can be read


class Game:
    """A world in which the judge's and a colleague's sealed answers to the same question can be turned round. An
    attacker who reads the same either way can only guess, and is right half of the time.

    A pilot of each mode took the audited session over, results from outside are audited with it, and a release has
    both as evidence."""

    def __init__(self) -> None:
        self.world = build_world()
        world, self.benchmark = self.world, self.world.benchmark
        verdicts = [verdict(world.session, index=index, quote="Rye first.", reason="As asked.") for index in (1, 2)]
        TurnNote.objects.create(turn=world.session.turns.get(), author=world.people[Role.REVIEWER], text="Said: true.")
        self.takers = [pilot_of(self.benchmark) for _ in PilotMode]
        for taker, mode in zip(self.takers, PilotMode, strict=True):
            Pilot.objects.filter(pk=taker.pk).update(mode=mode, base=world.pilot)
            taker.taken_sessions.add(world.session)
        self.submitted = pilot_of(self.benchmark)
        verdict(finish(self.submitted), quote="Rye first.", reason="As asked.")
        Pilot.objects.update(state="finished", scripted=False, protocol="paper")
        Pilot.objects.filter(pk=self.submitted.pk).update(imported="submission")
        ResultsView.objects.update(in_releases=True)
        options = ReleaseOptions(version="2.0", accept="To look at it.")
        self.release = cut_release(self.benchmark, options, by=world.people[Role.OWNER])
        Submission.objects.create(pilot=self.submitted, release=self.release, sha256="0" * 64)
        self.attacker = member(self.benchmark, *Role.values)
        self.colleague = member(self.benchmark, Role.AUDITOR)
        self.reader = member(self.benchmark, *MAY_ALL)
        for user in (self.attacker, self.reader):
            User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
        shown = build_content(
            "checklist", "Rye?", Material([EvidencePart(role="assistant", label="turn 1", text="Rye")])
        )
        sealed = Sealed(answers={"decision": "yes"})
        cluster = f"session:{world.session.pk}"
        self.audit = world.campaign = open_campaign(
            self.benchmark,
            [FrozenDecision(f"verdict:{row.pk}", "all", 1.0, shown, sealed, cluster=cluster) for row in verdicts],
            by=self.reader,
            name="the audit",
            source=f"{source_of(world.pilot)} {source_of(self.submitted)}",
            rounds={source_of(pilot): 1 for pilot in (world.pilot, self.submitted)},
            seed=1,
            overlap=2,
            scripted=False,
            protocol="paper",
            auditors=[self.attacker, self.colleague],
        )
        for packet in self.audit.packets.all():
            record_judgment(packet, auditor=self.colleague, answer="yes")
        self.asked: dict[str, list[str]] = {}
        self.named = self.learn()

    def learn(self) -> set[str]:
        """What the addresses can be asked for, as they look for it when everything may be shown; returns the names."""
        client, known = client_of(self.reader), self.values()
        everything: set[str] = set()
        with pytest.MonkeyPatch.context() as patch:
            for route, method, _, address in requests(self.world):
                if method == "GET" and route.name not in NOT_PLAYED:
                    with names_asked_for(patch) as names:
                        send(client, method, address, route.name, self.world)
                    everything |= names
                    found = [f"{name}={value}" for name in sorted(names & known.keys()) for value in known[name]]
                    of = "".join(f"pilot={row.number}&" for row in self.pilots) if "pilot" in names else ""
                    self.asked[route.name] = [of + each for each in found]
        return everything

    def values(self) -> dict[str, list[str]]:
        """What to ask for by each name that could lead to something sealed."""
        pilots = [Pilot.objects.get(pk=row.pk) for row in self.pilots[:3]]
        session = self.world.session
        return {
            "pilot": [str(each) for row in pilots for each in {row.number, row.pk}],
            **{key: [str(row.number) for row in pilots] for key in ("like", "with", "round", "base")},
            "format": [*(style for style, _ in (*DOWNLOADS, EEE)), "api"],
            "figure": [*FIGURES],
            "view": ["1"],
            "scoring": [*ScoringMode],
            "by": ["task"],
            "kind": ["too-few-audited", "judges-disagree", "turn", "pilot"],
            **{key: ["rye", "asked", "true", "pilot", "release", "said"] for key in ("q", "text")},
            "since": ["1.0"],
            "beside": [str(session.pk)],
            "turn": ["1"],
            "history": [f"session:{session.pk}"],
            "benchmark": [self.benchmark.slug],
            **{key: ["0", "1"] for key in ("first", "second")},
            "waiting": ["audits", "releases"],
            "state": ["open", "closed", "finished"],
            "within": [f"pilot:{self.world.pilot.pk}"],
        }

    @property
    def pilots(self) -> list[Pilot]:
        return [self.world.pilot, self.submitted, *self.takers]

    def addresses(self) -> Iterator[tuple[str, str, str]]:
        """Name, method and address of everything; of each pilot and release; and with all that it can be asked for."""
        for route, method, _, address in requests(self.world):
            final = (route.name, method) == ("evaluation:api-audit-results", "POST")  # one's answers, and it tells then
            if route.name in NOT_PLAYED or final or route.name.startswith(("mfa_", "account_")):
                continue
            yield route.name, method, address
            if method != "GET":
                continue
            if "pk" in route.arguments:
                for row in self.others(route.name):
                    yield route.name, method, route.reverse(self.world, pk=row.pk)
            mark = "&" if "?" in address else "?"
            for query in self.asked.get(route.name, ()):
                yield route.name, method, f"{address}{mark}{query}"
        for table, rows in (("pilot", self.pilots), ("session", [self.world.session]), ("release", [self.release])):
            yield "admin", "GET", f"/admin/evaluation/{table}/"
            for row in rows:
                yield "admin", "GET", f"/admin/evaluation/{table}/{row.pk}/change/"

    def others(self, name: str) -> Sequence[Pilot | Release]:
        """What an address with a key is of, too."""
        if name.startswith(("evaluation:pilot", "evaluation:api-pilot")):
            return [self.submitted, *self.takers]
        return [self.release] if name.startswith(("evaluation:release", "evaluation:api-release")) else []

    def read(self, user: User, names: re.Pattern[str], only: Collection[str] = ()) -> dict[str, str]:
        """What each address answers, of which nothing stays."""
        client = Client(raise_request_exception=False)
        client.force_login(user)
        found = {}
        for name, method, address in self.addresses():
            if not names.match(name) or (only and f"{method} {address}" not in only):
                continue
            answer = send(client, method, address, name, self.world)
            client.cookies.pop("messages", None)  # of a step, for the next page
            body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[arg-type, attr-defined]
            headers = {name: value for name, value in answer.headers.items() if name not in OF_EACH_ANSWER}
            text = f"{answer.status_code} {headers} {body.decode('utf-8', 'replace')}"
            found[f"{method} {address}"] = VARYING.sub("", text)
        return found

    def turn_round(self) -> None:
        """All that the judge and the colleague said, as if they had said it from the beginning."""
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")  # frozen rows
            cursor.execute("UPDATE evaluation_verdict SET met = NOT met, reason = 'As asked: ' || NOT met")
            cursor.execute(
                "UPDATE annotations_answer SET value = CASE value WHEN 'yes' THEN 'no' ELSE 'yes' END"
                " WHERE by = 'judge' OR judgment_id IN (SELECT id FROM annotations_judgment WHERE auditor_id = %s)",
                [self.colleague.pk],
            )
            cursor.execute("UPDATE evaluation_turnnote SET text = 'Said: false.'")
            cursor.execute(
                "UPDATE evaluation_release SET manifest = (manifest::jsonb || %s::jsonb)::json WHERE id = %s",
                [json.dumps({"scores": "turned round"}), self.release.pk],
            )
            cursor.execute("SET LOCAL session_replication_role = origin")
        Pilot.objects.update(scores=None, scores_key="")
        Session.objects.filter(pk=self.world.session.pk).update(graded_strict_at=timezone.now())

    def told(self, user: User, names: re.Pattern[str], only: Collection[str] = ()) -> set[str]:
        """Addresses that answer otherwise once the secret is turned round."""
        before = self.read(user, names, only)
        with transaction.atomic():
            self.turn_round()
            after = self.read(user, names, only)
            transaction.set_rollback(True)
        differing = {address for address in before if before[address] != after[address]}
        again = self.read(user, names, differing)
        by_themselves = {address for address in differing if before[address] != again[address]}
        assert not [address for address in by_themselves if address.startswith("GET ")]  # new rows get new numbers
        return differing - by_themselves


INDIFFERENT = set(
    """accept_warnings action actor after agent answer.correct answer.feasible answer.realistic answer.well_scoped app
    assignee at author before body_part budget_calls budget_cost budget_tokens category command_connection
    command_program compose cost cursor difficulty does download example file findings folder forward from judge mode
    model name next no-op_text note only page page_size part path pattern persona place protocol raw
    react_context_tokens react_instructions react_memory react_tools reason reply reviewer rule runs scope scripts
    second service session_budget_calls session_budget_cost session_budget_tokens severity source split tag target
    task task_type tasks thread tokens tool tool_calls tools trigger turns unread until user_model user_style version
    writer""".split()
)
"""Names that lead to nothing that is sealed: which page, in which order, what a form is filled with."""
NOT_PLAYED = {
    *("studio:logout", "studio:token_revoke", "studio:tokens", "studio:styleguide", "usersessions_list"),
    "studio:benchmark_new",
}
"""Signed-in devices, keys, and pages that differ by themselves."""
VARYING = re.compile(
    r"""(?:csrfmiddlewaretoken" value="|X-CSRFToken(?:"|&quot;): (?:"|&quot;))\w+"""
    r"""|20\d\d-\d\d-\d\d[T ][\d:.]+|<time.*?</time>|\d+ (?:second|minute)s?|just now|name="seed" value="\d+\"""",
    re.DOTALL,
)
"""Tokens, numbers of requests, times, seeds."""
OF_EACH_ANSWER = ("Content-Length", "Expires", "X-Request-ID")
EVERYTHING = re.compile("")
WHERE_JUDGES_ARE = re.compile(
    "evaluation:(?!endpoint|benchmark_endpoint|rehears)|annotations:|results|admin|studio:(home|recent|inbox|search)"
)
PHASES = {
    "before": [],
    "during": ["answer"],
    "all answered": ["answer", "answer"],
    "answered, undone and answered otherwise": ["answer", "answer", "undo", "otherwise"],
    "one answered, one skipped": ["answer", "skip"],
    "all answered, without the role": ["answer", "answer", "drop"],
    "without the role": ["drop"],
    "the role given up and taken again": ["answer", "drop", "look", "take"],
}


def play(game: Game, step: str) -> None:
    by = game.attacker
    if step in ("drop", "take"):
        set_roles(game.benchmark, by, MAY_ALL if step == "drop" else Role.values, by=by)
    elif step == "undo":
        undo_last(game.audit, by)
    elif step == "look":
        game.read(by, WHERE_JUDGES_ARE)
    else:
        packet = next_packet(game.audit, by)
        assert packet is not None
        answer = {"answer": "yes", "otherwise": "no", "skip": "skipped"}[step]
        record_judgment(packet, auditor=by, answer=answer, comment="So.", number=next_number(packet, by))


def test_everything_that_can_be_asked_for_is_played_or_known_to_tell_nothing(game: Game) -> None:
    assert " ".join(sorted(game.named - game.values().keys() - INDIFFERENT)) == ""


@pytest.fixture(scope="module")
def shared_game(module_db: None) -> Game:
    return Game()


@pytest.fixture
def game(shared_game: Game) -> Game:
    return fresh(shared_game)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_sealed_answers_where_judges_and_audits_are_shown(game: Game) -> None:
    for _ in range(2):
        play(game, "answer")

    assert game.told(game.attacker, WHERE_JUDGES_ARE) == set()


@pytest.mark.minutes
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("phase", PHASES)
def test_the_sealed_answers_from_everything_that_can_be_read(game: Game, phase: str) -> None:
    for step in PHASES[phase]:
        play(game, step)

    assert game.told(game.attacker, EVERYTHING) == set()


@pytest.mark.minutes
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("role", MAY_ALL)
def test_the_sealed_answers_in_each_role_that_also_audits(game: Game, role: str) -> None:
    set_roles(game.benchmark, game.attacker, [role, Role.AUDITOR], by=game.reader)
    play(game, "answer")

    assert game.told(game.attacker, EVERYTHING) == set()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_game_is_won_by_those_who_are_not_asked(game: Game) -> None:
    """Else the tests above would prove nothing."""
    for _ in range(2):
        play(game, "answer")
    expected = {
        f"GET /sessions/{game.world.session.pk}/",
        *(f"GET /pilots/{taker.pk}/" for taker in game.takers),
        f"GET /audits/{game.audit.pk}/",
        f"GET /audits/{game.audit.pk}/export.csv",
        f"GET /api/audits/{game.audit.pk}/results/",
        f"GET /benchmarks/{game.benchmark.slug}/releases/",
        f"GET /releases/{game.release.pk}/",
        f"GET /api/releases/{game.release.pk}/site/",
        f"GET /api/pilots/{game.submitted.pk}/report/",
    }
    assert game.told(game.reader, WHERE_JUDGES_ARE, expected) == expected
