"""Pilots whose user speaks in the persona's voice."""

from __future__ import annotations

import pytest

from evaluation.models import ModelCall, Session
from evaluation.pilots.plans import PilotError
from evaluation.results.pilot_report import pilot_report
from tests.evaluation.builders import benchmark_of, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


def one_task() -> object:
    return task("a", checklist=(rubric("x"),), intents=intents("The fee is 30 crowns.", "Sign as Ada."))


def test_the_user_says_answers_in_voice_and_those_of_which_no_phrasing_held_verbatim(stub: StubModel):
    stub.voice_check = lambda body: (
        '{"says_all": true, "holds_back": %s, "reason": ""}'
        % ("false" if "Sign as Ada" in str(body).partition("must_hold_back")[0] else "true")
    )
    pilot = work_through(start(stub, one_task(), user_style="in-voice"))

    turns = list(Session.objects.get().turns.values_list("next_message", "next_style"))
    assert turns == [("As I would say it.", "in-voice"), ("Sign as Ada.", "verbatim"), ("", "")]
    assert (stub.asked["voice"], stub.asked["voice_check"]) == (4, 2)  # the same words are not checked again
    report = pilot_report(pilot)
    assert (report["user_style"], report["said_verbatim"]) == ("in-voice", 1)
    assert set(ModelCall.objects.filter(purpose="voice").values_list("judging__scoring", flat=True)) == {""}
    assert pilot.config["user"]["prompts"]["voice"]["version"] == "1"


def test_verbatim_asks_nobody_how_to_say_it(stub: StubModel):
    pilot = work_through(start(stub, one_task()))

    assert stub.asked["voice"] == 0
    assert list(Session.objects.get().turns.values_list("next_message", "next_style")) == [
        ("The fee is 30 crowns.", ""), ("Sign as Ada.", ""), ("", ""),
    ]  # fmt: skip
    assert pilot.user_style == "verbatim"


@pytest.mark.parametrize(("style", "words"), [("in-voice", "scripted model"), ("sung", "no style “sung”")])
def test_unavailable_style_is_rejected(style, words):
    with pytest.raises(PilotError, match=words) as error:
        pilot_of(benchmark_of(one_task()), user_style=style)
    assert error.value.field == "user_style"
