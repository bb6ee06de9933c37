"""The preview says what the loop does, because the loop says it."""

from __future__ import annotations

from evaluation.protocol.preview import UserAnswer, preview_user
from studio.domain.task import HiddenIntent, TaskSpec, Trigger


def task(*wishes: str, provided: tuple[int, ...] = (), **more) -> TaskSpec:
    intents = tuple(
        HiddenIntent(uid=str(n), content=text, initial_status="provided" if n in provided else "not_provided")
        for n, text in enumerate(wishes, 1)
    )
    return TaskSpec(task_id="t", initial_request="The plan, please.", intents=intents, **more)


def test_each_intent_is_stated_when_asked_for_and_in_order_otherwise():
    preview = preview_user(task("Rye first.", "No nuts.", "One page."))

    assert preview.opening == "The plan, please."
    assert preview.answers == (UserAnswer(1, "Rye first."), UserAnswer(2, "No nuts."), UserAnswer(3, "One page."))
    assert preview.unasked == preview.answers
    assert (preview.both, preview.max_turns) == ("Rye first.\n\nNo nuts.", 4)


def test_provided_intents_are_never_stated():
    preview = preview_user(task("Rye first.", "No nuts.", provided=(1,)))

    assert (preview.provided, preview.unasked, preview.both) == ((1,), (UserAnswer(2, "No nuts."),), "")


def test_task_without_intents_ends_with_the_first_reply():
    preview = preview_user(task())

    assert (preview.answers, preview.unasked, preview.max_turns) == ((), (), 1)


def test_triggered_task_opens_with_its_signal():
    assert preview_user(task(trigger=Trigger(kind="feed", payload={"a": 1}))).opening.startswith(
        "[Environment signal: feed]"
    )


def test_preview_ends_at_the_turn_limit():
    assert len(preview_user(task(*[f"Wish {n}" for n in range(40)])).unasked) == 29
