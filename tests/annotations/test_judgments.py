from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import DatabaseError, connection, transaction

from annotations.adjudication import adjudicate
from annotations.campaigns import close_campaign
from annotations.judgments import next_number, open_results, own_answers, take_back, undo_last
from annotations.leases import next_packet
from annotations.models import Answer, Consensus, Judgment
from annotations.seals import sealed_to
from annotations.visibility import pending_packets
from studio.domain.options import OptionsError
from tests.annotations.builders import decided, make_campaign, make_person, record_judgment

pytestmark = pytest.mark.django_db


def judge_all(campaign, auditor, answer="yes"):
    asked = []
    while packet := next_packet(campaign, auditor):
        asked.append(packet.pk)
        record_judgment(packet, auditor=auditor, answer=answer, number=1)
    return asked


def test_auditor_judges_every_packet_once():
    campaign, (ana,) = make_campaign(size=4)

    asked = judge_all(campaign, ana)

    assert sorted(asked) == sorted(campaign.packets.values_list("pk", flat=True))
    assert next_packet(campaign, ana) is None


def test_auditors_share_packets_without_overlap():
    campaign, (ana, ben) = make_campaign(size=6, auditors=2)

    first = next_packet(campaign, ana)
    record_judgment(first, auditor=ana, answer="yes", number=1)

    assert first.pk not in pending_packets(campaign, ben)
    assert len(pending_packets(campaign, ben)) == 3


def test_overlap_needs_enough_judgments_per_packet():
    campaign, (ana, ben, cem) = make_campaign(size=2, auditors=3, overlap=2)

    judge_all(campaign, ana)
    judge_all(campaign, ben)

    assert pending_packets(campaign, cem) == ()


@pytest.mark.django_db(transaction=True)
def test_concurrent_duplicate_is_stored_once():
    campaign, (ana,) = make_campaign(size=1)
    packet = campaign.packets.get()
    ready = Barrier(2)

    def send(_: int) -> int:
        ready.wait()
        try:
            return record_judgment(packet, auditor=ana, answer="yes", number=1).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        stored = set(pool.map(send, range(2)))

    assert stored == {Judgment.objects.get().pk}


def test_order_is_personal_and_stable():
    campaign, (ana, ben) = make_campaign(size=20, auditors=2)

    assert pending_packets(campaign, ana) == pending_packets(campaign, ana)
    assert pending_packets(campaign, ana) != pending_packets(campaign, ben)


def test_judgment_has_evidence_comment_and_time():
    campaign, (ana,) = make_campaign()
    packet = campaign.packets.first()

    record_judgment(
        packet, auditor=ana, answer="yes", number=1, comment=" clear ", milliseconds=4200,
        evidence=["papers\n by five", "", "papers by five", "what is missing"],
    )  # fmt: skip

    row = Judgment.objects.get()
    assert (row.in_short, row.comment, row.milliseconds) == ("yes", "clear", 4200)
    assert row.evidence == ["papers by five", "what is missing"]


def test_duplicate_answer_is_stored_once():
    campaign, (ana,) = make_campaign()
    packet = campaign.packets.first()

    first = record_judgment(packet, auditor=ana, answer="no", number=1)
    second = record_judgment(packet, auditor=ana, answer="no", number=1)

    assert first == second
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize("number", [1, 2])
def test_changed_answer_needs_an_undo(number):
    campaign, (ana,) = make_campaign()
    packet = campaign.packets.first()
    record_judgment(packet, auditor=ana, answer="no", number=1)

    with pytest.raises(OptionsError, match="already answered this one"):
        record_judgment(packet, auditor=ana, answer="yes", number=number)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"answer": "maybe"}, "answer", "yes, no or unsure"),
        ({"evidence": ["nobody said this"]}, "evidence", "“nobody said this” does not occur in what is shown"),
        ({"evidence": [str(n) for n in range(30)]}, "evidence", "at most 20"),
        ({"comment": "x" * 5001}, "comment", "under 5000"),
        ({"number": 3}, "", "already answered this one"),
    ],
)
def test_invalid_answer_is_rejected(changes, field, message):
    campaign, (ana,) = make_campaign()

    with pytest.raises(OptionsError, match=message) as error:
        record_judgment(campaign.packets.first(), **({"auditor": ana, "answer": "yes", "number": 1} | changes))

    assert error.value.field == field
    assert not Judgment.objects.exists()


def test_only_assigned_auditors_judge_while_open():
    campaign, (ana,) = make_campaign()
    viewer = make_person(campaign.benchmark, "viewer")
    packet = campaign.packets.first()

    with pytest.raises(OptionsError, match="You are not assigned"):
        record_judgment(packet, auditor=viewer, answer="yes", number=1)
    close_campaign(campaign, by=ana)
    with pytest.raises(OptionsError, match="closed in the meantime"):
        record_judgment(packet, auditor=ana, answer="yes", number=1)
    campaign.refresh_from_db()
    assert (next_packet(campaign, ana), next_packet(campaign, viewer)) == (None, None)


def test_named_auditors_exclude_others():
    campaign, (ana, ben) = make_campaign(auditors=2)
    campaign.auditors.set([ana])

    assert next_packet(campaign, ben) is None
    assert next_packet(campaign, ana) is not None


def test_named_auditor_without_the_role_judges_no_more():
    campaign, (ana, ben) = make_campaign(auditors=2)
    campaign.auditors.set([ana, ben])
    packet = next_packet(campaign, ana)
    campaign.benchmark.memberships.filter(user=ana).delete()

    assert next_packet(campaign, ana) is None
    with pytest.raises(OptionsError, match="You are not assigned"):
        record_judgment(packet, auditor=ana, answer="yes", number=1)


def test_undo_adds_a_row_and_asks_again():
    campaign, (ana,) = make_campaign(size=1)
    packet = campaign.packets.get()
    record_judgment(packet, auditor=ana, answer="yes", number=1)
    assert decided(packet) == {"decision": "yes"}

    assert undo_last(campaign, ana) == packet

    assert [(row.number, row.in_short) for row in packet.judgments.order_by("number")] == [(1, "yes"), (2, "undone")]
    assert not Consensus.objects.exists()
    assert next_packet(campaign, ana) == packet
    record_judgment(packet, auditor=ana, answer="no", number=next_number(packet, ana))
    assert decided(packet) == {"decision": "no"}


def test_second_undo_reverts_the_previous_answer():
    campaign, (ana,) = make_campaign(size=3)
    first, second, _ = judge_all(campaign, ana)[-3:]
    undo_last(campaign, ana)

    assert undo_last(campaign, ana).pk == second
    assert undo_last(campaign, ana).pk == first
    with pytest.raises(OptionsError, match="no answer to undo"):
        undo_last(campaign, ana)


def test_own_answers_that_can_be_taken_back_are_the_newest_of_each_packet_latest_first():
    campaign, (ana, ben) = make_campaign(size=2, overlap=2, auditors=2)
    first, second = campaign.packets.all()
    for person in (ana, ben):
        record_judgment(first, auditor=person, answer="yes", number=1)
    record_judgment(second, auditor=ana, answer="no", number=1)
    assert [row.packet for row in own_answers(campaign, ana)] == [second, first]

    take_back(second, ana)
    assert [row.packet for row in own_answers(campaign, ana)] == [first]
    record_judgment(second, auditor=ana, answer="yes", number=3)

    assert [(row.packet, row.number) for row in own_answers(campaign, ana)] == [(second, 3), (first, 1)]


def test_adjudicated_answer_cannot_be_undone():
    campaign, (ana, ben) = make_campaign(size=1, overlap=2, auditors=2)
    packet = campaign.packets.get()
    record_judgment(packet, auditor=ana, answer="yes", number=1)
    record_judgment(packet, auditor=ben, answer="no", number=1)
    adjudicate(
        packet, by=make_person(campaign.benchmark, "owner"), answers={"decision": "yes"}, reason="It is said in turn 1."
    )

    with pytest.raises(OptionsError, match="adjudicated"):
        undo_last(campaign, ana)


def test_database_rejects_changes_to_judgments_and_packets():
    campaign, (ana,) = make_campaign(size=1)
    record_judgment(campaign.packets.get(), auditor=ana, answer="yes", number=1)

    for rows, change in (
        (Judgment.objects, {"state": "undone"}),
        (Answer.objects, {"value": "no"}),
        (campaign.packets, {"stratum": "x"}),
    ):
        with pytest.raises(DatabaseError, match="frozen"), transaction.atomic():
            rows.update(**change)


def test_auditors_are_blind_to_the_source_until_they_open_the_results():
    campaign, (ana, ben) = make_campaign(size=3, auditors=2)
    viewer = make_person(campaign.benchmark, "viewer")
    sealed = {f"audit:{campaign.pk}", "pilot:1"}
    assert (sealed_to(ana), sealed_to(ben), sealed_to(viewer)) == (sealed, sealed, set())

    judge_all(campaign, ana)

    assert (sealed_to(ana), sealed_to(ben)) == (sealed, sealed)
    open_results(campaign, ana)
    assert (sealed_to(ana), sealed_to(ben)) == (set(), sealed)


def test_results_stay_closed_until_everything_is_judged():
    campaign, (ana,) = make_campaign()

    with pytest.raises(OptionsError, match="Finish judging first"):
        open_results(campaign, ana)

    judge_all(campaign, ana)
    open_results(campaign, ana)
    open_results(campaign, ana)
    assert campaign.benchmark.events.filter(verb="audit_results_read").count() == 1
