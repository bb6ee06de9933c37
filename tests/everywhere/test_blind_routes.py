"""Every address as an auditor with packets pending: nothing sealed is in any answer. New addresses are in it by
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import transaction
from django.test import Client

from annotations.leases import next_packet
from annotations.models import AuditCampaign
from studio.models import Role
from tests.annotations.builders import make_person, make_session, open_campaign, record_judgment
from tests.everywhere.test_roles import data_for, more_for, query_for
from tests.everywhere.world import World, build_world, routes

pytestmark = pytest.mark.django_db

SEALED = (
    "sealed quote",
    "sealed reason",
    "sealed-judge-model",
    "what a colleague wrote",
    "sealed label",
    "sealed known",
)
"""Of the judge, and of another auditor."""
NOT_FOR_AUDITORS = frozenset({"studio:logout", "account_logout"})
ANSWERS = {"intent-1": "provided", "item-1": "no", "item-2": "yes"}


@pytest.fixture
def world() -> World:
    return build_world()


@pytest.fixture
def campaigns(world: World) -> list[AuditCampaign]:
    """Of single decisions and of sessions; a colleague has judged, and the auditor holds a packet of each."""
    colleague = make_person(world.benchmark, "auditor")
    auditor = world.people[Role.AUDITOR]
    options = {"source": "pilot:0", "seed": 7, "overlap": 2, "scripted": False, "by": None, "unit": "session"}
    sessions = open_campaign(
        world.benchmark,
        [
            replace(
                make_session(number, {"intent-1": "inferred", "item-1": "yes", "item-2": "yes"}),
                known={"item-2": "sealed known"},
                labels={"persona": "sealed label", "model": "sealed label"},
            )
            for number in (1, 2)
        ],
        name="sessions",
        auditors=[auditor, colleague],
        **options,
    )
    answers = {"answer": "answered", "answers": ANSWERS, "comment": "what a colleague wrote"}
    record_judgment(sessions.packets.get(position=1), auditor=colleague, number=1, **answers)
    for campaign in (world.campaign, sessions):
        assert next_packet(campaign, auditor)
    return [world.campaign, sessions]


def addresses(world: World, campaigns: list[AuditCampaign]) -> Iterator[str]:
    for route in routes():
        if route.name in NOT_FOR_AUDITORS:
            continue
        of_audits = route.name.startswith(("annotations:", "evaluation:api-audit")) and "pk" in route.arguments
        for campaign in campaigns if of_audits else campaigns[:1]:
            for position in (1, 2) if "position" in route.arguments else (1,):
                more = more_for(route.name, world) | ({"pk": campaign.pk} if of_audits else {})
                yield route.reverse(world, **more, position=position) + query_for(route.name, world)


@pytest.mark.timeout(300)
def test_nothing_sealed_is_in_any_answer_to_an_auditor_who_still_judges(world: World, campaigns: list[AuditCampaign]):
    client = Client(raise_request_exception=False)
    client.force_login(world.people[Role.AUDITOR])
    tried = 0
    leaks = []
    for address in addresses(world, campaigns):
        with transaction.atomic():
            answer = client.get(address)
            text = (b"".join(answer) if answer.streaming else answer.content).decode("utf-8", "replace")
            transaction.set_rollback(True)
        tried += 1
        text += str(dict(answer.headers))
        leaks += [f"{address}: {secret}" for secret in SEALED if secret in text]

    assert tried > 150
    assert leaks == []


def test_what_is_posted_to_an_audit_answers_with_nothing_sealed(world: World, campaigns: list[AuditCampaign]):
    client = Client(raise_request_exception=False)
    client.force_login(world.people[Role.AUDITOR])
    leaks = []
    for route in routes():
        if not route.name.startswith(("annotations:", "evaluation:api-audit")):
            continue
        for campaign in campaigns:
            more = more_for(route.name, world) | ({"pk": campaign.pk} if "pk" in route.arguments else {})
            with transaction.atomic():
                data = data_for(route.name, "POST", world) | {"answer": "answered", "number": "1"}
                answer = client.post(route.reverse(world, **more), data, follow=True)
                transaction.set_rollback(True)
            leaks += [f"{route.name}: {secret}" for secret in SEALED if secret in answer.content.decode()]

    assert leaks == []
