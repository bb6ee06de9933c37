"""The rules about grader scripts, on their cases."""

from __future__ import annotations

import pytest

from studio.domain.base import FileRef
from studio.domain.task import TaskSpec
from tests.studio.domain.checks.cases.scripts import NOTE, SCRIPT_CASES, ScriptCase, findings_of_script

IDS = [f"{case.rule}-{number}" for number, case in enumerate(SCRIPT_CASES)]


@pytest.mark.parametrize("case", SCRIPT_CASES, ids=IDS)
def test_rule_reports_the_flawed_script(case: ScriptCase) -> None:
    findings = findings_of_script(case.flawed, case.report or None, criteria=case.criteria)
    [finding] = [finding for finding in findings if finding.rule == case.rule]

    assert (finding.field, finding.item, finding.severity) == (*case.location, case.severity)
    assert case.message in finding.message
    assert finding.message.endswith(".") and finding.fix.endswith(".")


@pytest.mark.parametrize("case", SCRIPT_CASES, ids=IDS)
def test_rule_accepts_the_sound_script(case: ScriptCase) -> None:
    findings = findings_of_script(case.sound, case.sound_report or None, criteria=case.criteria)

    assert case.rule not in {finding.rule for finding in findings}


def test_sound_script_that_was_not_run_yet_has_no_findings() -> None:
    findings = findings_of_script(NOTE % "'repair' in text")

    assert not [finding for finding in findings if finding.rule.startswith("grader")]


def test_item_that_repeats_a_script_key_is_reported() -> None:
    report = {"keys": ("note_names_the_repairs",)}

    findings = findings_of_script(NOTE % "'repair' in text", report, criteria=("[tools] note_names_the_repairs",))

    [finding] = [finding for finding in findings if finding.rule == "grader-key-unknown"]
    assert "counts it twice" in finding.message


def test_required_text_may_come_from_an_earlier_session() -> None:
    source = NOTE % "'repair' in text and 'boiler room' in text"
    before = (TaskSpec(task_id="a", initial_request="Where is the key of the boiler room?"),)

    assert any(finding.rule == "grader-word-unasked" for finding in findings_of_script(source))
    assert not any(finding.rule == "grader-word-unasked" for finding in findings_of_script(source, before=before))


def test_required_text_is_not_reported_if_a_file_is_unreadable() -> None:
    source = NOTE % "'warranty' in text"
    photo = FileRef(path="plan.png", sha256="9" * 64, size=3)

    assert not any(finding.rule == "grader-word-unasked" for finding in findings_of_script(source, assets=(photo,)))
