"""What a pilot makes of an agent's service that refuses, filters, cuts and fails; user and judge are well."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.models import ModelCall, Pilot, Session, Turn
from tests.evaluation.builders import benchmark_of, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.zoo.server import playing
from tests.zoo.service import KEY, Service
from tests.zoo.services import SERVICES
from tests.zoo.services.plain import Plain
from tests.zoo.sessions import KEY_VARIABLE, connect

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def settings_of_tests(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SESSION_RETRY_SECONDS = 0
    settings.SESSION_ATTEMPTS = 3
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def play(service: Service, request: str = "Please write the note a.") -> Pilot:
    told = {"intents": intents("The note says whose fee it is."), "checklist": (rubric("The note exists."),)}
    benchmark = benchmark_of(task("a", initial_request=request, **told))
    with playing(service) as agents, playing(Plain()) as others:
        seats = {"user_model": connect(others, "user"), "judge": connect(others, "judge")}
        return work_through(pilot_of(benchmark, agent=connect(agents, "agent"), **seats))


def outcome() -> tuple[str, int]:
    session = Session.objects.get()
    return session.state, session.turn_count


def endings() -> list[str]:
    return list(ModelCall.objects.filter(purpose="agent").order_by("pk").values_list("ending", flat=True))


def service_of(name: str, *faults: str, **fields: Any) -> Service:
    service = SERVICES[name]()
    service.faults = list(faults)
    for field, value in fields.items():
        setattr(service, field, value)
    return service


@pytest.mark.parametrize(
    ("name", "fault", "ending", "reply", "note"),
    [
        ("plain", "refusal", "refused", "I can't help with that.", ""),
        ("azure", "answer_filtered", "filtered", "", "The service’s filter held the reply back."),
        ("azure", "prompt_filtered", "filtered", "", "The service’s filter held the reply back."),
        ("plain", "cut_text", "cut", "", "The reply was cut off at the model’s limit of length."),
        ("plain", "only_a_thought", "empty", "", "The model said nothing."),
    ],
)
def test_how_the_agents_model_answered_is_its_answer_and_no_failure_of_the_endpoint(
    name: str, fault: str, ending: str, reply: str, note: str
):
    pilot = play(service_of(name, fault))

    first = Turn.objects.get(number=1)
    assert (pilot.state, outcome(), endings()[0]) == ("finished", ("finished", 2), ending)
    assert (first.reply, first.note) == (reply, note)


@pytest.mark.slow
def test_a_call_whose_arguments_were_cut_is_not_made_and_the_turn_goes_on():
    play(service_of("plain", "cut_arguments"))

    assert (outcome(), endings()[0]) == (("finished", 2), "cut")
    first = Turn.objects.get(number=1)
    assert first.reply == "Note 1 is in notes/turn-1.md."
    assert ModelCall.objects.order_by("pk")[0].invalid_calls == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault"),
    [("openrouter", "error_in_200"), ("groq", "tool_use_failed"), ("plain", "busy"), ("plain", "html")],
)
def test_what_passes_by_itself_is_asked_again_within_the_call(name: str, fault: str):
    service = service_of(name, fault)
    play(service)
    assert outcome() == ("finished", 2)
    assert ModelCall.objects.filter(answered=False).count() == 0
    assert ModelCall.objects.order_by("pk")[0].attempts == 2


@pytest.mark.parametrize("fault", ["quota", "detail"])
def test_what_cannot_succeed_is_sent_once_and_stops_the_pilot_with_its_reason(fault: str):
    service = service_of("plain", *[fault] * 10)
    pilot = play(service)
    session = Session.objects.get()
    assert (pilot.state, session.state) == ("stopped", "error")
    assert ("quota" in session.reason) == (fault == "quota")
    assert len(service.log) == 1


def test_a_key_that_is_missing_stops_the_pilot_at_once_with_its_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(KEY_VARIABLE)
    service = service_of("deepseek")
    pilot = play(service)
    session = Session.objects.get()
    assert (pilot.state, session.state, session.retry_at) == ("stopped", "error", None)
    assert session.reason.endswith(f"needs its key in the environment variable {KEY_VARIABLE}, which is not set.")
    assert service.log == []


def test_a_context_that_is_too_small_is_the_agents_failure_and_not_asked_again_and_again():
    service = service_of("llama.cpp", context=1_000)
    pilot = play(service)
    session = Session.objects.get()
    assert (pilot.state, session.state) == ("finished", "failed")
    assert "longer than the model can read" in session.reason
    assert len(service.log) <= 2
    assert set(endings()) == {"too_long"}


def test_a_context_that_is_cut_without_a_word_has_a_name():
    pilot = play(service_of("ollama", context=1_500), "Please write the note a." + " It is about fees." * 2_000)
    session = Session.objects.get()
    assert (pilot.state, session.state) == ("stopped", "error")
    assert "without a word" in session.reason
