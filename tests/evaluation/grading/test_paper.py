"""Sessions under the paper protocol: what judges are asked, once, and how it is scored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from evaluation.models import Pilot, Session, Verdict
from evaluation.pilots.judging_work import work_on as judge
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging, start_rejudging
from evaluation.protocol.prompt_files import CURRENT
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from evaluation.results.comparison import round_report, summarize_rounds
from evaluation.results.pilot_report import pilot_report
from evaluation.results.scores import choose_scoring
from studio.domain.options import OptionsError
from studio.domain.task import ExactCheck
from tests.evaluation.builders import file, intents, rubric, rule, task
from tests.evaluation.contents import beginning
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel, decisions, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings) -> Iterator[StubModel]:
    monkeypatch.setenv("STUB_API_KEY", "none")
    settings.SESSION_RETRY_SECONDS, settings.SESSION_ATTEMPTS = 0, 1
    with serving(StubModel()) as model:
        yield model


def writing(*texts: str) -> Any:
    """An agent that writes the n-th text to out.md in turn n, and then answers."""

    def answer(body: dict[str, Any]) -> str | dict[str, Any]:
        messages = body["messages"]
        turn = sum(message["role"] == "user" for message in messages)
        if messages[-1]["role"] != "user" or turn > len(texts):
            return f"Answer {turn}."
        arguments = json.dumps({"path": "out.md", "content": texts[turn - 1]})
        call = {"id": "c", "type": "function", "function": {"name": "write_file", "arguments": arguments}}
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    return answer


def asked(stub: StubModel, judge: str) -> list[str]:
    return [body["messages"][1]["content"] for body in stub.bodies if f"{judge} judge" in str(body["messages"][0])]


def play(stub: StubModel, *tasks: object, **options: object) -> Pilot:
    return work_through(start(stub, *tasks, **{"protocol": "paper", "user_style": "verbatim", **options}))


def test_satisfaction_judge_sees_the_files_of_the_turn_the_calls_and_the_whole_conversation(stub: StubModel):
    stub.agent = writing("first", "second")

    play(stub, task("a", initial_request="Please.", intents=intents("One.", "Two."), assets=(file("in.md", "given"),)))

    first, second = asked(stub, "satisfaction")
    assert '<file path="out.md" status="written this turn" counted="words 1' in first
    assert '<file path="in.md" status="input"' in first
    assert "second" not in first
    assert '<call turn="1" tool="write_file" did="acted" ended="well">' in first
    assert '<user turn="1">\nPlease.\n</user>\n<assistant turn="1" counted' in second
    assert '<user turn="2">\nOne.\n</user>' in second
    assert "\nsecond\n</file>" in second
    shared = beginning(first, second)
    assert "given\n</file>" in shared and "<conversation>" not in shared


def test_follow_up_judge_sees_what_the_user_has_said(stub: StubModel):
    play(stub, task("a", initial_request="Please.", intents=intents("One.", "Two.")))

    latest = asked(stub, "follow-up")[-1]

    assert (
        '<said_by_the_user>\n<user turn="1">\nPlease.\n</user>\n<user turn="2">\nOne.\n</user>\n</said_by_the_user>'
        in latest
    )
    assert '{"decisions": [{"index": 2, "reason": "...", "decision": "YES" or "NO"' in latest
    assert "One entry, for the requirement." in latest


def test_criteria_are_judged_once_on_the_state_at_the_end_and_scored_strictly_alone(stub: StubModel):
    stub.agent = writing("first", "second")

    pilot = play(stub, task("a", intents=intents("One.", "Two."), checklist=(rubric("x"), rubric("y"))))

    (trace,) = asked(stub, "checklist")
    assert "second" in trace
    assert "Answer 1." in trace
    assert "One.\n</requirement>" not in trace
    report = pilot_report(pilot)
    assert (pilot.state, report["protocol"]) == ("finished", "paper")
    assert [name for name in ("compat", "strict") if name in report["scores"]] == ["strict"]
    assert report["sessions"][0]["comp"] == {"strict": 1.0}
    assert Session.objects.get().comp_compat is None


@pytest.mark.slow
def test_what_was_met_and_later_undone_has_regressed(stub: StubModel, client: Client):
    stub.agent = writing("The fee is 30 crowns.", "No fee.")
    item = rule("Names the fee.", ExactCheck(kind="file_contains", path="out.md", text="30 crowns"))

    pilot = play(stub, task("a", intents=intents("One.", "Two."), checklist=(item,)))

    (graded,) = pilot_report(pilot)["sessions"][0]["items"]
    assert (graded["strict"], graded["regressed"]) == (False, True)
    client.force_login(person(pilot.benchmark, "viewer"))
    page = client.get(Session.objects.get().get_absolute_url()).content.decode()
    assert "if the user wanted it undone" in " ".join(page.split())


def test_rule_on_replies_looks_at_all_of_them(stub: StubModel):
    item = rule("Says it.", ExactCheck(kind="reply_contains", text="Answer 1."))
    stub.agent = writing("a", "b")

    pilot = play(stub, task("a", intents=intents("One.", "Two."), checklist=(item,)))

    assert pilot_report(pilot)["sessions"][0]["comp"] == {"strict": 1.0}


@pytest.mark.slow
def test_resumed_session_shows_its_judges_what_came_before(stub: StubModel, settings):
    settings.SESSION_ATTEMPTS = 3
    stub.agent = writing("first", "second")
    broken = [True]

    def satisfaction(body: dict[str, Any]) -> Any:
        if "second" in str(body) and broken:
            broken.clear()
            return 503, "{}"
        return decisions(body, lambda index: False)

    stub.satisfaction = satisfaction

    pilot = start(stub, task("a", initial_request="Please.", intents=intents("One.", "Two.")), protocol="paper")
    for _ in range(3):
        work_through(pilot)

    assert pilot_report(pilot)["state"] == "finished"
    assert '<assistant turn="1"' in asked(stub, "satisfaction")[-1]


@pytest.mark.slow
def test_judging_again_under_the_other_protocol_tells_how_much_differs_and_cannot_score(stub: StubModel):
    stub.agent = writing("first")
    pilot = work_through(
        start(stub, task("a", intents=intents("One.", "Two."), checklist=(rubric("x"),)), protocol="release")
    )
    stub.satisfaction = lambda body: decisions(body, lambda index: index == 1)
    stub.checklist = lambda body: decisions(body, lambda index: False)

    judging_round = start_rejudging(plan_rejudging(pilot, RejudgingOptions(protocol="paper")), by=None)
    for pk in judging_round.judgings.values_list("pk", flat=True):
        assert judge(pk)

    assert set(judging_round.judgings.values_list("scoring", flat=True)) == {"", "strict"}
    assert judging_round.prompts["checklist"]["version"] == CURRENT[ProtocolName.PAPER]["checklist"]
    outcomes = round_report(judging_round)["outcomes"]
    [session] = outcomes.pop("sessions")
    assert outcomes == {"intents": 2, "statuses": 1, "scored": 1, "scores": 1}
    assert session["statuses"] == ({"intent": 1, "before": "provided", "after": "completed"},)
    assert (session["covered"], session["comp"], session["is_scored"]) == ((0, 1), (1.0, 0.0), True)
    client = Client()
    client.force_login(person(pilot.benchmark, "viewer"))
    page = client.get(pilot.get_absolute_url()).content.decode()
    table = page[page.index("What differs by session in round 2") :]
    table = " ".join(table[: table.index("</table>")].split())
    assert "1: provided → completed" in table and "0 → 1" in table and "100.0 → 0.0" in table
    with pytest.raises(OptionsError, match="ran under release"):
        choose_scoring(pilot, judging_round, by=None)


@pytest.mark.slow
def test_what_the_user_said_is_not_counted_as_asked_of_judges(stub: StubModel):
    pilot = play(stub, task("a", intents=intents("One.", "Two."), checklist=(rubric("x"),)), user_style="in-voice")

    [first] = summarize_rounds(pilot)
    assert first.totals["asked"] == stub.asked["satisfaction"] + stub.asked["follow_up"] + stub.asked["checklist"]
    assert stub.asked["voice"] > 0


@pytest.mark.slow
def test_every_turn_is_judged_where_it_is_wanted(stub: StubModel):
    stub.agent = writing("first", "second")
    pilot = play(stub, task("a", intents=intents("One.", "Two."), checklist=(rubric("x"),)))

    judging_round = start_rejudging(plan_rejudging(pilot, RejudgingOptions(every_turn=True)), by=None)
    for pk in judging_round.judgings.values_list("pk", flat=True):
        judge(pk)

    rows = Verdict.objects.filter(judging__round=judging_round, judging__scoring=ScoringMode.STRICT)
    assert list(rows.values_list("turn", flat=True)) == [1, 2, 3]
