"""What was said and thought in a rehearsal is found by the person who rehearsed, and by nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from evaluation.models import Rehearsal
from evaluation.rehearsals import lifecycle
from studio.models import Membership, Role, User
from studio.search.query import SearchHit, search
from tests.evaluation.factories import person
from tests.evaluation.rehearsals.builders import after_reply, real, reloaded, started, work_on
from tests.evaluation.stub_model import StubModel

pytestmark = pytest.mark.django_db

ANSWER: dict[str, Any] = {"role": "assistant", "content": "Quarterdeck.", "reasoning_content": "Mizzenmast."}


@pytest.fixture
def played(stub: StubModel) -> Rehearsal:
    """With its person as the user."""
    stub.agent = lambda body: ANSWER
    row = started("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row)
    return reloaded(row)


def found(user: User, text: str) -> list[SearchHit]:
    return [hit for hit in search(user, text).hits if hit.kind in ("rehearsal", "rehearsed_thought")]


def test_words_of_a_rehearsal_lead_to_their_turn(stub: StubModel):
    row = after_reply(started("agent", real(stub)), "The fee is due in Bergen.")

    [hit] = found(row.person, "bergen")

    assert (hit.kind_label, hit.url) == ("Rehearsals", f"{row.get_absolute_url()}#turn-1")
    assert hit.title.startswith("Rehearsal · ") and hit.title.endswith(", turn 1")
    assert '<mark class="hit">Bergen</mark>' in hit.snippet


def test_thoughts_of_the_agent_are_found_once_the_rehearsal_is_over(played: Rehearsal, client: Client):
    assert [hit.kind for hit in found(played.person, "quarterdeck")] == ["rehearsal"]
    assert found(played.person, "mizzenmast") == []

    lifecycle.end_rehearsal(played.pk)

    [hit] = found(played.person, "mizzenmast")
    assert (hit.kind_label, hit.url) == ("Thoughts in rehearsals", f"{played.get_absolute_url()}#thoughts-1")
    client.force_login(played.person)
    assert 'id="thoughts-1"' in client.get(played.get_absolute_url()).content.decode()


def test_nobody_else_finds_a_rehearsal(played: Rehearsal):
    lifecycle.end_rehearsal(played.pk)
    benchmark = played.session.revision.task.persona.benchmark

    for role in (Role.OWNER, Role.AUTHOR):
        other = person(benchmark, role)
        assert found(other, "quarterdeck") == found(other, "mizzenmast") == []


def test_who_may_no_longer_rehearse_finds_none_of_theirs(played: Rehearsal):
    Membership.objects.filter(user=played.person).update(role=Role.VIEWER)

    assert found(played.person, "quarterdeck") == []
