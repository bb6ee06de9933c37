"""A pilot runs as it was configured when it started."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client

from evaluation.models import ModelEndpoint, Pilot, Session
from evaluation.pilots.session_work import work_on
from evaluation.releases.evidence import gather_evidence
from evaluation.results.pilot_report import pilot_report
from studio.domain.options import OptionsError
from tests.evaluation.builders import intents, pilot_of, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel, decisions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub_key")]


@pytest.mark.slow
def test_edit_of_an_endpoint_in_mid_pilot_changes_nothing_of_the_pilot(stub: StubModel):
    pilot = start(stub, task("a", intents=intents("x")), task("b", intents=intents("y")))
    first, second = Session.objects.order_by("position")
    name, model = pilot.agent_name, pilot.endpoint("agent").model
    work_on(first.pk)

    ModelEndpoint.objects.filter(pk=pilot.agent_id).update(
        name="renamed",
        model="dearer",
        base_url="http://127.0.0.1:9/v1",
        key_env="OTHER_API_KEY",
        params={"temperature": 1.5},
        input_price=Decimal(100),
        timeout_seconds=1,
        max_concurrency=1,
    )
    work_through(pilot)

    second.refresh_from_db()
    assert (second.state, second.cost) == ("finished", 0)
    assert {(body["model"], body.get("temperature")) for body in stub.bodies} <= {(model, None), (model, 0)}
    assert (pilot.agent_name, pilot_report(pilot)["agent"]) == (name, name)
    frozen = pilot.endpoint("agent")
    assert (frozen.key_env, frozen.timeout_seconds, frozen.max_concurrency) == ("STUB_API_KEY", 600, 32)


@pytest.mark.slow
def test_evidence_of_a_release_names_the_model_that_ran(stub: StubModel):
    pilot = start(stub, task("a", intents=intents("x")))
    model = pilot.endpoint("agent").model
    work_through(pilot)
    ModelEndpoint.objects.update(model="another")
    content = Session.objects.get().content

    [evidence] = gather_evidence(pilot.benchmark, {content}).pilots

    assert (evidence["agent"], evidence["user_model"], evidence["judge"]) == (model, model, model)


def test_effort_is_part_of_names_and_of_what_may_stand_side_by_side(stub: StubModel):
    pilot = start(stub, task("a"))
    model = pilot.agent
    ModelEndpoint.objects.filter(pk=model.pk).update(name="gpt-5.x", effort="high")
    model.refresh_from_db()

    other = pilot_of(pilot.benchmark, agent=model, user_model=model, judge=model)

    assert (other.agent_name, other.user_model_name, other.judge_name) == ("gpt-5.x · high",) * 3
    assert pilot.agent_name == f"stub {stub.base_url}"
    Pilot.objects.filter(pk=pilot.pk).update(state=Pilot.State.CANCELLED)
    with pytest.raises(OptionsError, match=f"Pilot {pilot.number} ran with"):
        pilot_of(pilot.benchmark, agent=model, user_model=model, judge=model, mode="changed", base=pilot)


@pytest.mark.parametrize(
    "change",
    [{"effort": "high"}, {"params": {"temperature": 1}}, {"dialect": "glm"}, {"api": "responses"}],
    ids=lambda change: next(iter(change)),
)
def test_a_model_that_is_asked_in_another_way_takes_over_no_sessions(stub: StubModel, change: dict[str, object]):
    pilot = start(stub, task("a"))
    Pilot.objects.filter(pk=pilot.pk).update(state=Pilot.State.CANCELLED)
    ModelEndpoint.objects.filter(pk=pilot.agent_id).update(**change)
    seats = {role: ModelEndpoint.objects.get(pk=pilot.agent_id) for role in ("agent", "user_model", "judge")}

    with pytest.raises(OptionsError, match="take the same, unchanged"):
        pilot_of(pilot.benchmark, **seats, mode="changed", base=pilot)


@pytest.mark.slow
def test_what_the_judge_refused_is_recorded_with_the_pilot(stub: StubModel, client: Client):
    def picky(body: dict) -> str | tuple[int, str]:
        if "temperature" in body:
            return 400, '{"error": {"message": "Unsupported parameter: \'temperature\' is not supported here."}}'
        return decisions(body, lambda index: True)

    stub.checklist = picky
    pilot = start(stub, task("a", checklist=(rubric("There is a note."),)))

    work_through(pilot)

    pilot.refresh_from_db()
    assert pilot.state == Pilot.State.FINISHED
    assert pilot.config["learned"]["judge"] == {"dropped": ["temperature"]}
    client.force_login(person(pilot.benchmark, "owner"))
    page = " ".join(client.get(f"/pilots/{pilot.pk}/").content.decode().split())
    assert "The judge: It refuses temperature: left out." in page
