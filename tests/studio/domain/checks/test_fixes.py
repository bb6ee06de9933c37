"""One-click fixes."""

from __future__ import annotations

from typing import Any

import pytest

from studio.domain.checks import RULES, find_problems
from studio.domain.checks.fixes import fix_for
from studio.domain.checks.rules.texts import unescaped
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, HiddenIntent, TaskSpec
from studio.files.tokens import FileTokens
from studio.forms.fixes import changes_of
from studio.forms.tasks import task_form
from tests.studio.domain.checks.builders import after, intent, item, scored, task
from tests.studio.domain.checks.cases import CASES, build

TOKENS = FileTokens(benchmark=1)


def episode_of(*tasks: TaskSpec) -> EpisodeSpec:
    return EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="Pilot"), tasks=tasks)


STRUCTURAL: list[tuple[str, EpisodeSpec]] = [
    ("dependency-itself", episode_of(scored("t", depends_on=after("t")))),
    ("dependency-twice", episode_of(task("a"), scored("t", depends_on=after("a", "a")))),
    ("dependency-unknown", episode_of(scored("t", depends_on=after("x")))),
    ("duplicate-criterion", episode_of(scored("t", checklist=(item("a b"), item("A  b"))))),
    ("duplicate-intent", episode_of(scored("t", intents=(intent("a b"), intent("A  b"))))),
    ("empty-criterion", episode_of(scored("t", checklist=(item(), item(""))))),
    ("empty-intent", episode_of(scored("t", intents=(intent(), intent(" "))))),
    ("files-read-absolute", episode_of(scored("t", files_read=("/help.md",)))),
    ("initial-status-provided", episode_of(scored("t", intents=(intent(initial_status="provided"),)))),
    ("persistent-alone", episode_of(scored("t", intents=(intent(scope="persistent"),)))),
    (
        "scope-unmarked",
        episode_of(
            task("t", intents=(intent("a b c"), intent("Lengths of boats are always given in metres"))),
            scored("u", depends_on=after("t"), intents=(intent("Lengths of boats are given in metres"),)),
        ),
    ),
    ("weight-not-positive", episode_of(scored("t", checklist=(item(weight=-1),)))),
]
FIXABLE: list[tuple[str, EpisodeSpec, dict[str, str]]] = [(name, episode, {}) for name, episode in STRUCTURAL] + [
    (case.rule, *build(case, case.flawed)) for case in CASES if RULES[case.rule].one_click and case.has_fix
]


@pytest.mark.parametrize(("name", "episode", "texts"), FIXABLE, ids=[name for name, *_ in FIXABLE])
def test_fix_removes_its_finding_and_changes_only_the_fields_it_names(
    name: str, episode: EpisodeSpec, texts: dict[str, str]
) -> None:
    finding = next(each for each in find_problems(episode, texts=texts) if each.rule == name)
    original = episode.task(finding.task)
    assert original is not None

    fix = fix_for(finding, episode)

    assert fix is not None
    assert fix == fix_for(finding.model_copy(update={"message": "Said in other words."}), episode)
    assert fix.label and fix.effect.endswith(".")
    fixed = fix.apply(original)
    tasks = tuple(fixed if each.task_id == original.task_id else each for each in episode.tasks)
    remaining = find_problems(episode.model_copy(update={"tasks": tasks}), original.task_id, texts=texts)
    assert finding.fingerprint not in {each.fingerprint for each in remaining}
    changed = {edit.field for edit in fix.edits}
    assert {each for each in TaskSpec.model_fields if getattr(fixed, each) != getattr(original, each)} == changed
    assert changes_of(fix, task_form(original, TOKENS))


def test_every_fix_has_a_case() -> None:
    assert {name for name, *_ in FIXABLE} == {name for name, rule in RULES.items() if rule.one_click}


@pytest.mark.parametrize(
    ("escaped", "expected"),
    [
        (r"He said \"no\"", 'He said "no"'),
        ("Fish &amp; chips", "Fish & chips"),
        ("itâ€™s", "it’s"),
        ("cafÃ©", "café"),
        (r"\ud83d\ude00 \u00e9", "😀 é"),
        (r"\u0000 \ud800", " �"),
        (r"C:\notes", r"C:\notes"),
    ],
)
def test_escape_sequences_and_mojibake_are_decoded(escaped: str, expected: str) -> None:
    assert unescaped(escaped) == expected


def test_dependency_on_a_scored_task_has_no_fix() -> None:
    before: dict[str, Any] = {"expected_artifacts": ("tides.csv",), "initial_request": "Collect the tides, please."}
    asks = scored("t", initial_request="Read the figures in tides.csv and say which week is best.")
    for first, offered in ((task("a", **before), True), (scored("a", **before), False)):
        episode = episode_of(first, asks)
        finding = next(each for each in find_problems(episode, "t") if each.rule == "undeclared-dependency")

        fix = fix_for(finding, episode)

        assert (fix is not None) == offered
        if fix:
            assert fix.apply(asks).depends_on == (Dependency(task_id="a"),)


def test_fix_of_a_removed_row_changes_nothing() -> None:
    full = scored("t", intents=(HiddenIntent(uid="a", content="a b"), HiddenIntent(uid="b", content="a b")))
    episode = episode_of(full)
    finding = next(each for each in find_problems(episode) if each.rule == "duplicate-intent")
    fix = fix_for(finding, episode)
    assert fix is not None

    assert changes_of(fix, task_form(full.model_copy(update={"intents": full.intents[:1]}), TOKENS)) == []


def test_exact_check_is_written_into_the_inputs_of_its_item() -> None:
    criterion = ChecklistItem(uid="c", criterion="The file plan.md exists.")
    episode = episode_of(scored("t", checklist=(criterion,), files_read=("plan.md",)))
    finding = next(each for each in find_problems(episode) if each.rule == "criterion-should-be-rule")
    fix = fix_for(finding, episode)
    assert fix is not None

    changes = {change["put"]: change["value"] for change in changes_of(fix, task_form(episode.tasks[0], TOKENS))}

    assert changes["checklist.c.grader"] == "rule"
    assert (changes["checklist.c.rule_kind"], changes["checklist.c.rule_path"]) == ("file_exists", "plan.md")
