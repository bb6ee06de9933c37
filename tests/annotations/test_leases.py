from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from annotations.judgments import HandedIn, next_number, open_results, record_judgment, undo_last
from annotations.leases import LEASE, next_packet
from annotations.models import Judgment, Seat
from annotations.seals import may_see_results
from annotations.visibility import shares_of
from studio.domain.options import OptionsError
from tests.annotations.builders import decided, make_benchmark, make_campaign, make_decision, make_person, open_campaign

pytestmark = pytest.mark.django_db


def expire(**which):
    Seat.objects.filter(**which).update(leased_until=timezone.now() - timedelta(seconds=1))


def answer(packet, person, choice="yes", **fields):
    given = HandedIn(None if choice == "skipped" else {"decision": choice}, **fields)
    return record_judgment(packet, given, auditor=person, number=next_number(packet, person))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_fifty_people_at_once_judge_each_packet_exactly_three_times():
    campaign, people = make_campaign(size=10, overlap=3, auditors=50)
    packet = campaign.packets.first()
    ready = Barrier(len(people), timeout=120)

    def work(person):
        try:
            ready.wait()
            with pytest.raises(OptionsError, match="not yours"):  # by address, without having been given it
                answer(packet, person)
            held = next_packet(campaign, person)
            while held:
                answer(held, person)
                held = next_packet(campaign, person)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(work, people))

    given = list(Judgment.objects.values_list("packet", "auditor"))
    assert len(set(given)) == len(given) == 30
    assert set(Counter(packet for packet, _ in given).values()) == {3}
    assert not Seat.objects.filter(judged=False).exists()


def test_seat_of_who_has_judged_is_not_given_away_when_its_lease_ends():
    campaign, (ana, ben, cem) = make_campaign(size=1, overlap=2, auditors=3)
    answer(next_packet(campaign, ana), ana)
    expire(auditor=ana)

    assert next_packet(campaign, ben) is not None
    assert set(Seat.objects.values_list("auditor", "judged")) == {(ana.pk, True), (ben.pk, False)}
    assert shares_of([campaign], cem)[campaign.pk].pending == ()


@pytest.mark.slow
def test_work_is_spread_evenly_over_those_at_work():
    campaign, people = make_campaign(size=20, auditors=3)
    held = {person: next_packet(campaign, person) for person in people}

    for person in people:  # one after the other, each as far as they may
        while held[person]:
            answer(held[person], person)
            held[person] = next_packet(campaign, person)

    assert sorted(Counter(Judgment.objects.values_list("auditor", flat=True)).values()) == [6, 7, 7]


def test_expired_lease_returns_and_its_holder_can_no_longer_answer():
    campaign, (ana, ben) = make_campaign(size=1, auditors=2)
    packet = next_packet(campaign, ana)
    assert next_packet(campaign, ben) is None
    assert shares_of([campaign], ben)[campaign.pk].returning

    expire(auditor=ana)
    assert next_packet(campaign, ben) == packet

    with pytest.raises(OptionsError, match="someone else is judging it"):
        answer(packet, ana)
    answer(packet, ben)
    assert [row.auditor for row in Judgment.objects.all()] == [ben]


def test_expired_lease_counts_until_somebody_takes_the_seat():
    campaign, (ana,) = make_campaign(size=1)
    packet = next_packet(campaign, ana)
    expire(auditor=ana)

    answer(packet, ana)

    assert Seat.objects.get().judged


def test_packet_stays_leased_to_the_person_who_opens_it_again():
    campaign, (ana,) = make_campaign(size=5)
    first = next_packet(campaign, ana)
    expire(auditor=ana)

    assert next_packet(campaign, ana) == first
    assert Seat.objects.get(auditor=ana).leased_until > timezone.now() + LEASE / 2


def test_skipped_packet_goes_to_somebody_else_and_comes_back_by_undo():
    campaign, (ana, ben) = make_campaign(size=1, auditors=2)
    packet = next_packet(campaign, ana)
    with pytest.raises(OptionsError, match="Say why") as error:
        answer(packet, ana, "skipped", comment=" ")
    assert error.value.field == "comment"
    answer(packet, ana, "skipped", comment="I know who wrote it.")

    assert next_packet(campaign, ana) is None
    undo_last(campaign, ana)
    assert next_packet(campaign, ana) == packet
    answer(packet, ana, "skipped", comment="I do know.")
    assert next_packet(campaign, ben) == packet
    answer(packet, ben, "no")
    with pytest.raises(OptionsError, match="Others judge the decision that you skipped"):
        undo_last(campaign, ana)
    assert decided(packet) == {"decision": "no"}


def test_auditor_stays_blind_while_packets_may_come_back():
    campaign, (ana, ben) = make_campaign(size=1, auditors=2)
    packet = next_packet(campaign, ana)

    assert not may_see_results(ben, campaign)
    with pytest.raises(OptionsError, match="Others are still judging"):
        open_results(campaign, ben)
    answer(packet, ana)
    assert not may_see_results(ben, campaign)  # ana may take it back and skip it
    open_results(campaign, ben)
    assert may_see_results(ben, campaign)


@pytest.mark.parametrize("own_tasks", [False, True])
def test_nobody_judges_a_task_they_wrote_or_approved_unless_the_audit_allows_it(own_tasks):
    benchmark = make_benchmark()
    author, other = (make_person(benchmark, "auditor") for _ in range(2))
    decision = make_decision(1)
    decision = type(decision)(**(vars(decision) | {"involved": frozenset({author.pk})}))
    options = {"name": "x", "source": "pilot:1", "seed": 1, "scripted": False, "by": None, "own_tasks": own_tasks}
    campaign = open_campaign(benchmark, [decision], overlap=1, **options)

    assert (next_packet(campaign, author) is not None) is own_tasks
    assert (next_packet(campaign, other) is None) is own_tasks
    if not own_tasks:
        with pytest.raises(OptionsError, match="For 1 of the 1 decisions there are not 2 auditors") as error:
            open_campaign(benchmark, [decision], overlap=2, **options)
        assert error.value.field == "auditors"


@pytest.mark.parametrize("table", ["annotations_seat", "annotations_judgment", "annotations_packet"])
def test_packet_answered_while_shares_are_read_is_not_lost_between_pending_and_judged(table):
    campaign, [person] = make_campaign(size=3, overlap=1, auditors=1)
    packet = next_packet(campaign, person)
    given = []

    def answer_after_reading(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if f'FROM "{table}"' in sql and not given:
            given.append(packet)
            answer(packet, person)
        return result

    with connection.execute_wrapper(answer_after_reading):
        share = shares_of([campaign], person)[campaign.pk]

    assert given and share.done + len(share.pending) == 3


def test_who_sees_a_whole_session_keeps_their_answers_to_it_and_nobody_else_theirs():
    benchmark = make_benchmark()
    ana, ben = (make_person(benchmark, "auditor") for _ in range(2))
    decision = make_decision(1)
    plan = {"name": "x", "source": "pilot:1", "seed": 1, "overlap": 2, "scripted": False}
    other = open_campaign(benchmark, [make_decision(2)], **plan)
    answer(next_packet(other, ana), ana)
    campaign = open_campaign(benchmark, [decision], second=[replace(decision, truth=True)], **plan)
    for person in (ana, ben):
        answer(next_packet(campaign, person), person)

    assert next_packet(campaign, ana).truth

    locked = set(Seat.objects.filter(full_session=True).values_list("packet__campaign", "packet__truth", "auditor"))
    assert locked == {(campaign.pk, False, ana.pk)}
    undo_last(campaign, ben)
    undo_last(other, ana)
