"""Second opinions of the assistant model over HTTP, on saved versions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from evaluation.assistance import opinion_work
from evaluation.assistance.assistant import usage_of
from evaluation.assistance.opinions import due_requests
from evaluation.models import AssistantModel, ModelCall, ModelEndpoint, OpinionRequest, SecondOpinion
from studio.findings.refresh import refresh_findings
from studio.models import Finding
from studio.tasks.checks import check_unsaved
from studio.tasks.save import save_task
from tests.evaluation.assistance.conftest import IMPATIENT, Authoring


@pytest.fixture
def save(authoring: Authoring, django_capture_on_commit_callbacks: Any) -> Callable[..., None]:
    """Save a version, and let a worker do what the queue holds afterwards."""

    def do(**changes: Any) -> None:
        spec = authoring.spec.model_copy(update=changes or {"description": f"Draft {authoring.fresh.version}."})
        with django_capture_on_commit_callbacks(execute=True):
            save_task(authoring.task.pk, spec, by=authoring.author)
        work()

    return do


def work() -> None:
    for pk in list(due_requests().values_list("pk", flat=True)):
        opinion_work.work_on(pk, retry_policy=IMPATIENT)


def texts_of(body: dict[str, Any]) -> dict[str, str]:
    asked = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return dict(json.loads(asked)["texts"])


def kind_of(body: dict[str, Any]) -> str:
    return "leak" if "needs the user may not have said" in body["messages"][0]["content"] else "atomic"


def says(degree: str = "none", count: int = 1, quote: str = "") -> Callable[[dict[str, Any]], str]:
    """The same of every text."""

    def answer(body: dict[str, Any]) -> str:
        row = {"degree": degree, "quote": quote} if kind_of(body) == "leak" else {"count": count}
        return json.dumps(dict.fromkeys(texts_of(body), row))

    return answer


def stored(authoring: Authoring, rule: str) -> list[Finding]:
    return list(Finding.objects.filter(task=authoring.task, rule=rule).order_by("item"))


def messages(authoring: Authoring, rule: str) -> list[tuple[int | None, str]]:
    return [(each.item, each.message) for each in stored(authoring, rule)]


def test_opinion_replaces_the_verdict_of_the_text_rule_and_is_named(authoring, save):
    refresh_findings([authoring.task.persona], ask=False)
    assert [each.item for each in stored(authoring, "intent-in-request")] == [1]
    assert [each.item for each in stored(authoring, "criterion-not-atomic")] == [1]
    authoring.stub.opinion = says("partly", 1, quote="There are 40 loaves")

    save()

    assert [item for item, _ in messages(authoring, "intent-in-request")] == [1, 2]
    assert all("a model’s second opinion" in text for _, text in messages(authoring, "intent-in-request")[1:])
    assert "“There are 40 loaves”" in messages(authoring, "intent-in-request")[1][1]
    assert messages(authoring, "criterion-not-atomic") == []
    assert OpinionRequest.objects.get().state == "answered"


def test_typing_reads_the_stored_answer_and_asks_nobody(authoring, save):
    authoring.stub.opinion = says("none", 3)
    save()
    asked = authoring.stub.asked["opinion"]

    found = check_unsaved(authoring.fresh, authoring.spec.model_copy(update={"description": "Typing."}))

    bundles = [each for each in found if each.rule == "criterion-not-atomic"]
    assert [each.item for each in bundles] == [1, 2]
    assert "Asks for 3 things (a model’s second opinion)" in bundles[1].message
    assert authoring.stub.asked["opinion"] == asked


def test_questions_are_batched_and_the_same_text_is_asked_about_once(authoring, save):
    authoring.stub.opinion = says()
    save()
    assert [(kind_of(body), len(texts_of(body))) for body in authoring.stub.bodies] == [("leak", 2), ("atomic", 2)]

    save(description="Only this differs.")
    assert authoring.stub.asked["opinion"] == 2
    first, second = authoring.spec.checklist
    save(checklist=(first, second.model_copy(update={"criterion": "The plan has 41 loaves."})))

    assert texts_of(authoring.stub.bodies[-1]) == {"1": "The plan has 41 loaves."}
    assert authoring.stub.asked["opinion"] == 3


def test_each_call_is_recorded_and_counts_towards_the_budget_of_ai_help(authoring, save):
    authoring.stub.opinion = says()

    save()

    assert [call.answered for call in ModelCall.objects.filter(opinion_request__isnull=False)] == [True, True]
    assert usage_of(authoring.assistant).tokens.total == 24
    assert (
        usage_of(authoring.assistant).cost
        == sum(call.cost for call in ModelCall.objects.filter(opinion_request__isnull=False))
        > 0
    )


def test_nobody_is_asked_once_the_budget_is_spent(authoring, save):
    AssistantModel.objects.update(max_tokens=5)
    authoring.stub.opinion = says()
    save()
    assert authoring.stub.asked["opinion"] == 1, "the first call spends it"

    save()

    assert authoring.stub.asked["opinion"] == 1
    assert "budget of 5 tokens" in OpinionRequest.objects.get().problem


@pytest.mark.parametrize("scripted", [True, None])
def test_without_a_model_of_its_own_a_benchmark_asks_nobody(authoring, save, scripted):
    authoring.stub.opinion = says("wholly", 4)
    if scripted:
        ModelEndpoint.objects.filter(pk=authoring.endpoint.pk).update(scripted=True)
    else:
        AssistantModel.objects.update(endpoint=None)

    save()

    assert not authoring.stub.asked["opinion"] and not OpinionRequest.objects.exists()
    assert not any("second opinion" in each.message for each in Finding.objects.filter(task=authoring.task))


def test_answers_count_no_longer_once_ai_help_is_off(authoring, save):
    authoring.stub.opinion = says("none", 1)
    save()
    assert not stored(authoring, "intent-in-request")

    AssistantModel.objects.update(endpoint=None)
    save()

    assert [each.item for each in stored(authoring, "intent-in-request")] == [1]


LIES = {
    "no JSON": "I think they are all fine!",
    "cut off": '{"1": {"degree": "none", "qu',
    "wrong numbers": '{"17": {"degree": "none", "quote": ""}, "18": {"count": 1}}',
    "another degree": '{"1": {"degree": "maybe", "quote": ""}, "2": {"count": "many"}}',
    "a list": '[{"degree": "none"}]',
    "nested without end": "[" * 200_000,
    "a number beyond the database": '{"1": {"degree": ["none"], "count": 1e99}, "2": {"count": 99999999999}}',
    "a web page": "<!doctype html><title>Bad gateway</title>",
    "empty": "",
    "an error": (500, "down"),
}


@pytest.mark.parametrize("answer", LIES.values(), ids=LIES)
def test_unusable_answer_leaves_the_verdict_of_the_text_rule(authoring, save, answer):
    refresh_findings([authoring.task.persona], ask=False)
    before = {rule: messages(authoring, rule) for rule in ("intent-in-request", "criterion-not-atomic")}
    authoring.stub.opinion = lambda body: answer

    save()

    assert {rule: messages(authoring, rule) for rule in before} == before
    request = OpinionRequest.objects.get()
    assert request.state == "failed" and request.problem.startswith("clever gave no ")
    assert not SecondOpinion.objects.exists() and not due_requests().exists()


@pytest.mark.slow
def test_one_unusable_answer_does_not_take_the_others_with_it_and_is_asked_for_again(authoring, save):
    good = says("none", 1)
    authoring.stub.opinion = lambda body: good(body) if kind_of(body) == "atomic" else "?"
    save()
    assert not stored(authoring, "criterion-not-atomic") and stored(authoring, "intent-in-request")
    assert OpinionRequest.objects.get().state == "failed"

    authoring.stub.opinion = good
    save()

    assert not stored(authoring, "intent-in-request")
    assert OpinionRequest.objects.get().state == "answered"


def test_quotation_that_the_request_does_not_have_is_not_shown(authoring, save):
    authoring.stub.opinion = says("wholly", 1, quote="<b>words of its own</b>")

    save()

    assert not any("words of its own" in text for _, text in messages(authoring, "intent-in-request"))


def test_version_saved_while_the_model_answers_is_asked_about_too(authoring, save, monkeypatch):
    authoring.stub.opinion = says()
    first, second = authoring.spec.checklist
    later = authoring.spec.model_copy(update={"checklist": (first, second.model_copy(update={"criterion": "Later."}))})
    waiting = [later]
    store = opinion_work.store_opinions

    def save_and_store(*args: Any) -> None:
        store(*args)
        while waiting:
            save_task(authoring.task.pk, waiting.pop(), by=authoring.author)

    monkeypatch.setattr(opinion_work, "store_opinions", save_and_store)
    save()

    assert "Later." in texts_of(authoring.stub.bodies[-1]).values()
    assert OpinionRequest.objects.get().state == "answered"


def test_message_that_came_twice_asks_once(authoring, save):
    authoring.stub.opinion = says()
    save()

    opinion_work.work_on(authoring.task.pk)

    assert authoring.stub.asked["opinion"] == 2


@pytest.mark.slow
def test_editor_says_what_became_of_it(authoring, save, client: Client):
    client.force_login(authoring.author)
    authoring.stub.opinion = says()

    def page() -> str:
        return client.get(authoring.task.get_absolute_url()).content.decode()

    assert "second opinion" not in page()
    save()
    assert "clever gave a second opinion on the saved version." in page()
    OpinionRequest.objects.update(state="asked")
    assert "data-opinion-pending" in page()
    OpinionRequest.objects.update(state="failed", problem="clever gave no usable answer.")
    assert "No second opinion on everything: clever gave no usable answer." in page()
