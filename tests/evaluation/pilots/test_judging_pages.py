"""Pages and API of judging again and of choosing what scores."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.models import JudgingRound, Pilot, ScoringChoice
from evaluation.pilots.judging_work import work_on
from tests.evaluation.factories import person
from tests.evaluation.pilots.test_rejudging import model_of, run_pilot
from tests.evaluation.pilots.test_rejudging import other as other
from tests.evaluation.pilots.test_rejudging import stub as stub
from tests.evaluation.stub_model import StubModel

pytestmark = pytest.mark.django_db


def signed_in(pilot: Pilot, *roles: str) -> Client:
    client = Client()
    client.force_login(person(pilot.benchmark, *roles))
    return client


def judged_again(pilot: Pilot, client: Client, **data: object) -> JudgingRound:
    response = client.post(f"/pilots/{pilot.pk}/rejudge/", {"samples": 1} | data)
    assert response.status_code == 302, response.content.decode()[-3000:]
    started = JudgingRound.objects.filter(pilot=pilot).last()
    for row in started.judgings.all():
        work_on(row.pk)
    return started


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.slow
def test_cost_of_a_judge_without_a_price_is_unknown_before_and_after(stub: StubModel, other: StubModel):
    pilot = run_pilot(stub)
    client = signed_in(pilot, "author")
    judge = model_of(other, input_price=None)

    page = text_of(client.get(f"/pilots/{pilot.pk}/rejudge/", {"judge": judge.name, "samples": 1}))
    assert "<b>Unknown cost</b> for about 5 calls" in page

    client.post(f"/pilots/{pilot.pk}/rejudge/", {"samples": 1, "judge": judge.name})
    for row in JudgingRound.objects.get(number=2).judgings.all():
        work_on(row.pk)

    page = text_of(client.get(f"/pilots/{pilot.pk}/"))
    assert "6 calls of unknown cost" in page and "estimated unknown" in page


@pytest.mark.slow
def test_page_estimates_the_cost_before_and_shows_cost_and_flips_after(stub: StubModel, other: StubModel):
    pilot = run_pilot(stub)
    client = signed_in(pilot, "author")
    judge = model_of(other, input_price=100_000, output_price=0)

    page = text_of(client.get(f"/pilots/{pilot.pk}/rejudge/", {"judge": judge.name, "samples": 2}))
    assert "<b>$10.00</b> for about 10 calls" in page
    free = text_of(client.get(f"/pilots/{pilot.pk}/rejudge/"))
    assert "<b>$0</b> for about 0 calls" in free
    assert "3 judgings are answered from the record and cost nothing" in free

    response = client.post(f"/pilots/{pilot.pk}/rejudge/", {"samples": 1, "judge": judge.name})
    started = JudgingRound.objects.get(number=2)
    assert response.status_code == 302
    waiting = text_of(client.get(f"/pilots/{pilot.pk}/"))
    assert "3 judgings to go." in waiting and 'hx-select="#judgings"' in waiting
    for row in started.judgings.all():
        work_on(row.pk)

    page = text_of(client.get(f"/pilots/{pilot.pk}/"))
    assert "Judged again" in page and 'hx-select="#judgings"' not in page
    assert "checklist, compat: 0 no to yes, 4 yes to no, of 4" in page
    assert "$6.00" in page and "estimated $5.00" in page


@pytest.mark.slow
def test_choice_of_what_scores_is_made_on_a_page_and_shown_with_its_author(stub: StubModel, other: StubModel):
    pilot = run_pilot(stub)
    client = signed_in(pilot, "author")
    started = judged_again(pilot, client, judge=model_of(other).name)
    data = {"round": started.pk, "compat": "any_turn", "strict": "last_turn", "samples": "majority"}

    refused = client.post(f"/pilots/{pilot.pk}/scoring/", data)
    assert "Judge again with every turn." in text_of(refused)

    assert client.post(f"/pilots/{pilot.pk}/scoring/", data | {"strict": "first_credited"}).status_code == 302
    choice = ScoringChoice.objects.first()
    assert (choice.round, choice.by.username) == (started, client.get("/").wsgi_request.user.username)
    assert f"Chosen by {choice.by}" in text_of(client.get(f"/pilots/{pilot.pk}/"))


@pytest.mark.slow
def test_viewers_see_rounds_but_start_and_choose_nothing(stub: StubModel):
    pilot = run_pilot(stub)
    client = signed_in(pilot, "viewer")

    assert "Judge again" not in text_of(client.get(f"/pilots/{pilot.pk}/"))
    assert client.post(f"/pilots/{pilot.pk}/rejudge/", {"samples": 1}).status_code == 403
    assert client.post(f"/pilots/{pilot.pk}/scoring/", {}).status_code == 403


@pytest.mark.slow
def test_api_judges_again_lists_rounds_and_chooses(stub: StubModel, other: StubModel):
    pilot = run_pilot(stub)
    client = signed_in(pilot, "author")
    address, judge = f"/api/pilots/{pilot.pk}", model_of(other)

    def post(path: str, **data: object):
        return client.post(f"{address}/{path}/", data, content_type="application/json")

    assert post("rejudge", judge=judge.name, estimate=True).json()["estimate"]["calls"] == 5
    assert post("rejudge", judge="nobody").json()["errors"]["judge"]
    assert post("rejudge", prompt="77").json()["errors"]["prompt"]
    started = post("rejudge", judge=judge.name).json()
    for row in JudgingRound.objects.get(pilot=pilot, number=started["round"]).judgings.all():
        work_on(row.pk)

    first, second = client.get(f"{address}/judgings/").json()
    assert (first["scores_pilot"], second["scores_pilot"]) == (True, False)
    assert second["flipped"] == 8
    assert second["judging"]["prompts"]["checklist"]["version"] == "1"
    assert post("scoring", round=2).json()["scores_pilot"] is True
    assert client.get(f"{address}/report/").json()["scores"]["strict"]["comp"] == 0.0
    assert post("scoring", round=9).status_code == 400
