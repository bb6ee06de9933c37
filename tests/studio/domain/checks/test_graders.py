"""The rules about grader scripts, on scripts of our own."""

from __future__ import annotations

import pytest

from studio.domain.base import FileRef
from studio.domain.task import TaskSpec
from tests.studio.domain.checks.graders import GRADERS, NOTE, Case, findings

IDS = [f"{case.rule}-{number}" for number, case in enumerate(GRADERS)]


@pytest.mark.parametrize("case", GRADERS, ids=IDS)
def test_a_rule_finds_the_flaw_of_a_script(case: Case) -> None:
    found = [f for f in findings(case.flawed, case.report or None, criteria=case.criteria) if f.rule == case.rule]

    assert [(each.field, each.item, each.severity) for each in found] == [(*case.place, case.severity)]
    assert case.about in found[0].message
    assert found[0].message.endswith(".") and found[0].mend.endswith(".")


@pytest.mark.parametrize("case", GRADERS, ids=IDS)
def test_a_rule_leaves_alone_a_script_that_only_looks_alike(case: Case) -> None:
    found = findings(case.sound, case.sound_report or None, criteria=case.criteria)

    assert [each for each in found if each.rule == case.rule] == []


def test_a_script_that_was_not_run_yet_is_said_nothing_of_but_what_its_text_shows() -> None:
    rules = {each.rule for each in findings(NOTE % "'repair' in text") if each.rule.startswith("grader")}

    assert rules == set()


def test_an_item_that_is_a_key_of_the_script_counts_it_twice() -> None:
    report = {"keys": ("note_names_the_repairs",)}

    found = findings(NOTE % "'repair' in text", report, criteria=("[tools] note_names_the_repairs",))

    assert ["counts it twice" in each.message for each in found if each.rule == "grader-key-unknown"] == [True]


def test_words_of_earlier_sessions_and_files_are_known() -> None:
    source = NOTE % "'repair' in text and 'boiler room' in text"
    before = (TaskSpec(task_id="a", initial_request="Where is the key of the boiler room?"),)

    assert any(each.rule == "grader-word-unasked" for each in findings(source))
    assert not any(each.rule == "grader-word-unasked" for each in findings(source, before=before))


def test_nothing_is_said_of_words_where_a_file_of_the_task_cannot_be_read() -> None:
    source = NOTE % "'warranty' in text"
    photo = FileRef(path="plan.png", sha256="9" * 64, size=3)

    assert not any(each.rule == "grader-word-unasked" for each in findings(source, assets=(photo,)))
