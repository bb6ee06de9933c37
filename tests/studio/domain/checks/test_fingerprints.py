"""Findings that a dismissal must tell apart, and those it must know again."""

from __future__ import annotations

import pytest

from studio.domain.base import FileRef
from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, Recovery, TaskSpec
from tests.studio.domain.checks.builders import after, check, intent, item, scored, task
from tests.studio.domain.checks.cases.structure import STRUCTURAL_CASES


def by_rule(name: str, findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule == name]


def ruled(kind: str, **more: object) -> TaskSpec:
    rule = ExactCheck.model_validate({"kind": kind, **more})
    return scored("t", checklist=(item(grader="rule", rule=rule),))


def scripted(source: str, **more: object) -> list[Finding]:
    script = FileRef(path="scripts/t.py", sha256="5" * 64, size=1)
    persona = PersonaSpec(user_id="Pilot", tools=("gmail__login", "spotify__login"), files=(), scripts=(script,))
    tasks = (scored("t", grader_script="scripts/t.py", **more),)
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=tasks)
    return find_problems(episode, texts={script.sha256: source})


SIGNS_IN = """def score(history):
    mail = any(c["tool"] == "gmail__login" and c["args"]["username"] == "ada@example.com" for c in history)
    music = any(c["tool"] == "spotify__login" and c["args"]["username"] == "ada@example.com" for c in history)
    return {"mail": int(mail), "music": int(music)}
"""


@pytest.mark.parametrize(
    ("rule", "findings"),
    [
        ("rule-incomplete", check(ruled("file_contains"))),
        ("rule-incomplete", check(ruled("record_exists"))),
        ("sign-in-missing", scripted(SIGNS_IN)),
        (
            "recovery-unknown",
            check(
                scored(
                    "t", intents=(intent(recoverable_from=(Recovery(kind=kind, ref="x") for kind in ("tool", "file"))),)
                ),
                tools=("a__b",),
            ),
        ),
    ],
)
def test_two_flaws_of_a_rule_in_one_place_are_told_apart(rule: str, findings: list[Finding]) -> None:
    found = by_rule(rule, findings)
    assert len({finding.message for finding in found}) == len(found) == 2
    assert len({(finding.task, finding.fingerprint) for finding in found}) == 2


def test_fingerprints_of_an_episode_differ() -> None:
    for name, findings, _ in STRUCTURAL_CASES:
        known = {(finding.task, finding.rule, finding.fingerprint) for finding in findings}
        assert len(known) == len(findings), name


def test_a_passage_that_a_text_repeats_is_found_once() -> None:
    request = "Plan Monday 5 May 2026. Is it Monday 5 May 2026?"
    assert len(by_rule("date-weekday", check(scored("t", initial_request=request)))) == 1


def test_rows_without_an_id_are_told_apart_by_what_they_name() -> None:
    needs = tuple(each.model_copy(update={"carries_over": "TODO"}) for each in after("a", "b"))
    found = by_rule("placeholder", check(task("a"), task("b"), scored("t", depends_on=needs)))
    assert len({finding.fingerprint for finding in found}) == len(found) == 2


BEFORE = intent("Uses the blue paper from the shop"), item("The list names the blue paper")


@pytest.mark.parametrize(
    ("rule", "spec"),
    [
        (
            "duplicate-criterion",
            scored("t", checklist=(item("Names the sum", weight=1), item("names the sum"))),
        ),
        ("duplicate-intent", scored("t", intents=(intent("Wants metric units"), intent("wants metric units")))),
        (
            "contradiction",
            scored(
                "t",
                intents=(intent("The volunteers are asked to answer before 5:00 tomorrow."),),
                checklist=(item("The volunteers are asked to answer before 6:00 tomorrow."),),
            ),
        ),
        (
            "persistent-not-earlier",
            scored("t", intents=(intent(scope="persistent", recoverable_from=(Recovery(kind="question"),)),)),
        ),
    ],
)
def test_a_dismissal_outlives_a_move_of_the_row_that_is_named(rule: str, spec: TaskSpec) -> None:
    need, criterion = BEFORE
    moved = spec.model_copy(update={"intents": (need, *spec.intents), "checklist": (criterion, *spec.checklist)})

    [old], [new] = by_rule(rule, check(spec)), by_rule(rule, check(moved))

    assert old.message != new.message and old.fingerprint == new.fingerprint
