"""Judging again in batches: half the price, nothing paid twice, and nothing lost when a worker dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from evaluation.llm.batches import look_at_batch, send_batch
from evaluation.model_access import endpoint_of
from evaluation.models import BatchedQuestion, Judging, JudgingBatch, JudgingRound, ModelCall, Pilot, Verdict
from evaluation.pilots import batching
from evaluation.pilots.judging_work import claimable, work_on
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging, resume_round, start_rejudging
from evaluation.results.comparison import round_report
from studio.domain.options import OptionsError
from studio.models import Role
from tests.factories import member
from tests.zoo.batches import SEAT
from tests.zoo.server import Zoo, playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES
from tests.zoo.sessions import KEY_VARIABLE, connect, play

pytestmark = pytest.mark.django_db
OPEN = JudgingBatch.State.OPEN
MILLIONTH = Decimal("0.000001")


@pytest.fixture(autouse=True)
def settings_of_tests(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SESSION_RETRY_SECONDS = 0
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def pilot() -> Pilot:
    with playing(SERVICES["plain"]()) as zoo:
        return play(zoo)


@pytest.fixture(params=["openai-responses", "openai-chat", "qwen"])
def zoo(request: pytest.FixtureRequest) -> Iterator[Zoo]:
    with playing(SERVICES[request.param]()) as zoo:
        yield zoo


@pytest.fixture
def openai() -> Iterator[Zoo]:
    with playing(SERVICES["openai-chat"]()) as zoo:
        yield zoo


def start(pilot: Pilot, zoo: Zoo, **options: Any) -> JudgingRound:
    judge = connect(zoo, "judge", **options)
    return start_rejudging(plan_rejudging(pilot, RejudgingOptions(judge=judge.name, batched=True)), by=None)


def work(judging_round: JudgingRound) -> None:
    """What workers do until nothing is left to do now."""
    while True:
        due = list(claimable().filter(round=judging_round).values_list("pk", flat=True))
        for pk in due:
            work_on(pk)
        JudgingBatch.objects.filter(state=OPEN).update(look_at=None)
        batches = list(batching.due_batches().values_list("pk", flat=True))
        for pk in batches:
            batching.work_on_batch(pk)
        if not claimable().filter(round=judging_round).exists():
            return


def decided(judging_round: JudgingRound) -> list[Any]:
    rows = Verdict.objects.filter(judging__round=judging_round)
    return sorted(rows.values_list("judging__session", "judging__scoring", "kind", "turn", "index", "met"))


def answered_by_hand(pilot: Pilot, openai: Zoo, *bodies: dict[str, Any]) -> JudgingRound:
    """A round whose batch came back with these as its first answers."""
    openai.desk.at_once = False
    judging_round = start(pilot, openai, params={"temperature": None})
    for pk in judging_round.judgings.values_list("pk", flat=True):
        work_on(pk)
    batching.work_on_batch(JudgingBatch.objects.get().pk)
    openai.desk.work()
    name = openai.desk.batches["batch-0"]["output_file_id"]
    rows = [json.loads(line) for line in openai.desk.files[name].splitlines()]
    for row, body in zip(rows, bodies, strict=False):
        row["response"]["body"] = body
    assert len(rows) > len(bodies)
    openai.desk.files[name] = b"\n".join(json.dumps(row).encode() for row in rows)
    openai.desk.at_once = True
    work(judging_round)
    return judging_round


@pytest.mark.slow
def test_an_answer_of_a_batch_that_failed_or_cannot_be_read_is_asked_for_by_itself(pilot: Pilot, openai: Zoo):
    failed = {"choices": [{"message": {"role": "assistant", "content": "The"}, "finish_reason": "error"}]}
    judging_round = answered_by_hand(pilot, openai, failed, {"choices": []})

    assert len([entry for entry in openai.service.log if entry.seat != SEAT]) == 2
    assert set(judging_round.judgings.values_list("state", flat=True)) == {"finished"}


@pytest.mark.slow
def test_more_questions_than_a_batch_takes_are_sent_in_several(
    pilot: Pilot, openai: Zoo, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evaluation.llm.batches.MOST", 1)
    judging_round = start(pilot, openai, params={"temperature": None})
    for pk in judging_round.judgings.values_list("pk", flat=True):
        work_on(pk)
    assert JudgingBatch.objects.count() == BatchedQuestion.objects.values("request_hash").count() > 1
    work(judging_round)

    assert set(JudgingBatch.objects.values_list("total", flat=True)) == {1}
    assert JudgingBatch.objects.count() == len(openai.service.log) > 1
    assert {entry.seat for entry in openai.service.log} == {SEAT}


def test_how_far_a_batch_is_counts_what_failed_in_it(openai: Zoo):
    openai.desk.at_once = False
    endpoint = endpoint_of(connect(openai, "judge"))
    name = send_batch(endpoint, {"a": {"model": "m", "messages": [{"role": "user", "content": "?"}]}}, "tag")
    openai.desk.batches[name]["request_counts"] = {"total": 5, "completed": 2, "failed": 1}

    progress = look_at_batch(endpoint, name)

    assert (progress.over, progress.done, progress.total) == (False, 3, 5)


@pytest.mark.slow
def test_batches_decide_what_single_questions_would_at_half_the_price(pilot: Pilot, zoo: Zoo):
    judging_round = start(pilot, zoo)
    work(judging_round)

    report = round_report(judging_round)
    with playing(SERVICES[zoo.service.name]()) as other:
        judge = connect(other, "user")
        alone = start_rejudging(plan_rejudging(pilot, RejudgingOptions(judge=judge.name)), by=None)
        for pk in alone.judgings.values_list("pk", flat=True):
            work_on(pk)
    log = zoo.service.log
    assert report["states"] == {"finished": judging_round.judgings.count()}
    assert decided(judging_round) == decided(alone) != []
    assert {entry.seat for entry in log} == {SEAT}
    answered = [entry for entry in log if entry.status == 200]
    assert report["calls"]["asked"] == len(answered)
    paid = sum((entry.cost for entry in answered), Decimal(0)) / 2
    assert abs(Decimal(report["cost"]) - paid) < MILLIONTH * len(answered)
    assert Decimal(round_report(alone)["cost"]) > paid * Decimal("1.5")
    assert not BatchedQuestion.objects.filter(unanswered=False).exists()


@pytest.mark.slow
def test_a_parameter_that_a_batch_refuses_is_left_out_of_the_next_one(pilot: Pilot, openai: Zoo):
    work(start(pilot, openai))

    refused = [entry.refused for entry in openai.service.log if entry.status != 200]
    assert {"temperature" in words for words in refused} == {True}
    assert len(openai.desk.batches) == 3, "with a temperature; without; and intents that were asked for"
    assert {entry.seat for entry in openai.service.log} == {SEAT}


@pytest.mark.slow
def test_what_is_not_answered_in_time_is_asked_by_itself(pilot: Pilot, openai: Zoo):
    openai.desk.expires = 1
    judging_round = start(pilot, openai, params={"temperature": None})
    work(judging_round)

    alone = [entry for entry in openai.service.log if entry.seat != SEAT]
    assert len(alone) == 1
    assert set(judging_round.judgings.values_list("state", flat=True)) == {"finished"}
    full = [entry.cost for entry in alone] + [entry.cost / 2 for entry in openai.service.log if entry.seat == SEAT]
    paid = sum(ModelCall.objects.filter(judging__round=judging_round).values_list("cost", flat=True), Decimal(0))
    assert abs(paid - sum(full, Decimal(0))) < MILLIONTH * len(full)


@pytest.mark.slow
def test_a_batch_whose_maker_died_before_it_was_told_is_found_and_not_sent_again(pilot: Pilot, openai: Zoo):
    openai.desk.loses_answer = True
    judging_round = start(pilot, openai, params={"temperature": None})
    for pk in judging_round.judgings.values_list("pk", flat=True):
        work_on(pk)
    [batch] = JudgingBatch.objects.all()

    batching.work_on_batch(batch.pk)
    batch.refresh_from_db()
    assert (batch.service_id, batch.state, "500" in batch.reason) == ("", OPEN, True)
    others = {"id": "of others", "metadata": {"studio_batch": "1"}}
    openai.desk.batches["of others"] = openai.desk.batches["batch-0"] | others
    work(judging_round)

    assert set(judging_round.judgings.values_list("state", flat=True)) == {"finished"}
    assert JudgingBatch.objects.count() == len(openai.desk.batches.keys() - {"of others"}) == 2
    batch.refresh_from_db()
    assert batch.service_id == "batch-0"


@pytest.mark.slow
def test_a_worker_that_died_while_it_took_answers_leaves_the_rest_to_the_next(
    pilot: Pilot, openai: Zoo, monkeypatch: pytest.MonkeyPatch
):
    judging_round = start(pilot, openai, params={"temperature": None})
    for pk in judging_round.judgings.values_list("pk", flat=True):
        work_on(pk)
    [batch] = JudgingBatch.objects.all()
    with monkeypatch.context() as patch:
        patch.setattr(batching, "_finish", _die)
        with pytest.raises(KeyboardInterrupt):
            batching.work_on_batch(batch.pk)
    before = ModelCall.objects.filter(judging__round=judging_round).count()
    JudgingBatch.objects.update(claimed_by="", lease_until=None)
    asked = len(openai.service.log)

    batching.work_on_batch(batch.pk)

    assert before == batch.total or before > 0
    assert ModelCall.objects.filter(judging__round=judging_round).count() == before
    assert len(openai.service.log) == asked
    assert not judging_round.judgings.filter(state=Judging.State.BATCHED).exists()


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_judging_that_waits_when_its_worker_dies_gets_into_a_batch_by_the_sweep(
    pilot: Pilot, openai: Zoo, monkeypatch: pytest.MonkeyPatch
):
    judging_round = start(pilot, openai)
    with monkeypatch.context() as patch:
        patch.setattr("evaluation.pilots.judging_work.collect", lambda: None)
        for pk in judging_round.judgings.values_list("pk", flat=True):
            work_on(pk)
    assert not JudgingBatch.objects.exists()
    batching.collect()
    assert JudgingBatch.objects.get().questions.count() == BatchedQuestion.objects.count() > 0


@pytest.mark.slow
def test_a_batch_that_is_refused_stops_its_judgings_with_the_reason_and_another_can_be_sent(pilot: Pilot, openai: Zoo):
    openai.desk.refuses = "Enqueued token limit reached for gpt-5.4."
    judging_round = start(pilot, openai)
    work(judging_round)
    stopped = judging_round.judgings.filter(state=Judging.State.ERROR)
    assert stopped.count() == judging_round.judgings.count()
    assert "Enqueued token limit reached" in stopped[0].reason
    assert openai.service.log == []

    openai.desk.refuses = ""
    resume_round(judging_round)
    work(judging_round)
    assert set(judging_round.judgings.values_list("state", flat=True)) == {"finished"}


def test_batches_are_offered_only_where_a_service_has_them(pilot: Pilot):
    with playing(SERVICES["deepseek"]()) as zoo:
        judge = connect(zoo, "judge")
    with pytest.raises(OptionsError, match="takes no batches"):
        plan_rejudging(pilot, RejudgingOptions(judge=judge.name, batched=True))


@pytest.mark.slow
def test_the_page_says_how_far_a_batch_is_and_the_form_what_half_costs(pilot: Pilot, openai: Zoo, client: Client):
    client.force_login(member(pilot.benchmark, Role.OWNER))
    openai.desk.at_once = False
    judge = connect(openai, "judge")
    whole = plan_rejudging(pilot, RejudgingOptions(judge=judge.name)).estimate.cost
    address = f"/pilots/{pilot.pk}/rejudge/"
    assert whole is not None
    given = {"judge": judge.name, "samples": 1, "batched": "on"}
    assert client.get(address, given).context["plan"].estimate.cost == str(Decimal(whole) / 2)
    client.post(address, given)
    judging_round = JudgingRound.objects.get(number=2)
    work(judging_round)

    page = " ".join(client.get(pilot.get_absolute_url()).content.decode().split())
    questions = JudgingBatch.objects.get().total
    assert f"A batch with {questions} questions was sent" in page
    assert "0 are answered" in page
