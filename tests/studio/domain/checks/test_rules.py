"""Each rule on the smallest episode that breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.domain.checks import RULES, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import read_personas
from studio.domain.task import (
    Dependency,
    Trigger,
)
from tests.studio.domain.checks.builders import check, item, scored
from tests.studio.domain.checks.cases.structure import SOUND, STRUCTURAL_CASES


def test_sound_episode_has_no_findings() -> None:
    assert check(*SOUND) == []


@pytest.mark.parametrize(
    ("name", "findings", "location"), STRUCTURAL_CASES, ids=[name for name, _, _ in STRUCTURAL_CASES]
)
def test_rule_reports_the_flaw_with_its_location(
    name: str, findings: list[Finding], location: tuple[str, str, int | None]
) -> None:
    [finding] = [finding for finding in findings if finding.rule == name]

    assert (finding.task, finding.field, finding.item) == location
    assert finding.severity == RULES[name].severity
    assert finding.persona == "Pilot"
    assert finding.message.endswith(".") and finding.fix.endswith(".")


def test_blank_of_a_template_is_to_fill_in_in_every_field() -> None:
    payload = {"event": "x", "rows": [{"deep": "<insert the order>"}]}
    unfilled = scored(
        "t",
        title="An XXX large order",
        initial_request="Order <3 boxes, a < b and <b>bold</b>.",
        trigger=Trigger(kind="webhook", payload=payload),
        depends_on=(Dependency(task_id="a", carries_over="<insert what>"),),
        checklist=(item("Names <insert the sum\nand why>."),),
    )

    findings = [finding for finding in check(scored("a"), unfilled) if finding.rule in ("placeholder", "to-fill-in")]

    assert {(finding.field, finding.item, finding.rule) for finding in findings} == {
        ("title", None, "placeholder"),
        ("trigger", None, "to-fill-in"),
        ("depends_on", 1, "to-fill-in"),
        ("checklist", 1, "to-fill-in"),
    }
    assert {finding.severity for finding in findings} == {"warning"}


def test_every_rule_has_a_description() -> None:
    assert {name for name, _, _ in STRUCTURAL_CASES} <= RULES.keys()
    assert all(rule.about for rule in RULES.values())


def test_single_task_is_checked_within_its_episode() -> None:
    episode = EpisodeSpec(
        episode_id="ep", persona=PersonaSpec(user_id="Pilot"), tasks=(scored("a", title=""), scored("b", title=""))
    )

    assert {finding.task for finding in find_problems(episode, "b")} == {"b"}


def test_errors_come_first() -> None:
    assert [f.severity for f in check(scored("t", title="", intents=()))] == ["error", "warning"]


def test_signal_may_be_json_in_the_request() -> None:
    assert check(scored("t", trigger=Trigger(kind="webhook"), initial_request='{"event": "x"}')) == []


def test_fingerprint_survives_reordering_of_items() -> None:
    [before] = check(scored("t", checklist=(item(weight=-1), item("b"))))
    [after_move] = check(scored("t", checklist=(item("b"), item(weight=-1))))

    assert (before.item, after_move.item) == (1, 2)
    assert before.fingerprint == after_move.fingerprint


def test_sample_passes_every_rule() -> None:
    root = Path(__file__).parents[4] / "fixtures" / "sample"
    files = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "data").rglob("*") if path.is_file()
    }

    reading = read_personas(files)

    assert (reading.errors, reading.warnings) == ([], [])
    findings = [finding for episode in reading.episodes for finding in find_problems(episode)]
    assert [finding for finding in findings if finding.severity != "hint"] == []
