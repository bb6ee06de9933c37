"""Input written to break the checks, or to evade them."""

from __future__ import annotations

import time

import pytest

from studio.domain.base import FileRef
from studio.domain.checks import RULES, CheckContext, Known, Rule, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, HiddenIntent, TaskSpec, Trigger

SENTENCE = "Please write the letter to Ms Ode about the price of 40 pounds on 3 May. "
REPEATED = (
    "a",
    "A",
    "1",
    "\n",
    "“",
    "{",
    "\\",
    "€",
    "a ",
    "a/",
    "a@",
    "1-",
    "INV-",
    "Mr A ",
    "x.md ",
    '{"a":',
    "12:00 ",
)
TEXT_LENGTH = 16_000
TOO_LONG = 2.0
"""CPU seconds: a rule that rescans the text for each character takes more; others take a tenth."""
EXCLUDED = {"undeclared-dependency"}
"""Measured separately."""


def task_and_context(text: str) -> tuple[TaskSpec, CheckContext]:
    """A task with the text in every field."""
    file = FileRef(path="notes.md", sha256="f" * 64, size=1)
    other = TaskSpec(task_id="o", title="b", initial_request=text, intents=(HiddenIntent(uid="i", content=text),))
    task = TaskSpec(
        task_id="t",
        title=text,
        description=text,
        initial_request=text,
        reference_workflow=text,
        intents=(HiddenIntent(uid="i", content=text), HiddenIntent(uid="j", content=f"x{text}")),
        checklist=(ChecklistItem(uid="c", criterion=text), ChecklistItem(uid="d", criterion=f"y{text}")),
        assets=(file,),
        depends_on=(Dependency(task_id="o"),),
    )
    persona = PersonaSpec(user_id="p", tools=("read_file",))
    episode = EpisodeSpec(episode_id="e", persona=persona, tasks=(other, task))
    return task, CheckContext(episode, {file.sha256: text}, Known(tools={"read_file": text}))


def cpu_seconds(rule: Rule, bit: str) -> float:
    """Uses a new text each time, because results are cached by text."""
    task, context = task_and_context(f"{rule.name} {bit * (TEXT_LENGTH // len(bit))}")
    started = time.process_time()
    list(rule.check(task, context))
    return time.process_time() - started


@pytest.mark.slow
@pytest.mark.parametrize("bit", REPEATED)
def test_no_rule_takes_quadratic_time(bit: str) -> None:
    seconds = {name: cpu_seconds(rule, bit) for name, rule in RULES.items() if name not in EXCLUDED}

    assert {name: value for name, value in seconds.items() if value > TOO_LONG} == {}


def check_task(task: TaskSpec, texts: dict[str, str] | None = None) -> list[Finding]:
    return find_problems(
        EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(task,)), texts=texts or {}
    )


@pytest.mark.parametrize("field", ["initial_request", "intents", "checklist", "title"])
def test_ten_megabytes_in_one_field_are_reported_within_two_seconds(field: str) -> None:
    text = SENTENCE * 140_000
    rows = {
        "intents": (HiddenIntent(uid="i", content=text),),
        "checklist": (ChecklistItem(uid="c", criterion=text),),
    }
    task = TaskSpec(task_id="t", title="Letter", initial_request=SENTENCE).model_copy(
        update={field: rows.get(field, text)}
    )

    started = time.process_time()
    findings = check_task(task)

    assert time.process_time() - started < 2
    assert [each.field for each in findings if each.rule == "text-too-long"] == [field]


@pytest.mark.slow
def test_checks_of_files_take_time_in_proportion_to_their_number() -> None:
    def seconds(number: int) -> float:
        files = tuple(FileRef(path=f"f{n}.md", sha256=f"{n:064x}", size=1) for n in range(number))
        texts = {file.sha256: f"File {n} of {number}. {SENTENCE * 20}" for n, file in enumerate(files)}
        task = TaskSpec(
            task_id="t",
            title="Letter",
            initial_request=SENTENCE,
            assets=files,
            intents=tuple(HiddenIntent(uid=f"i{n}", content=f"{n} of them are kept.") for n in range(10)),
        )
        started = time.process_time()
        check_task(task, texts)
        return time.process_time() - started

    seconds(1)
    assert seconds(120) < 3 * 4 * seconds(30)


def test_deeply_nested_payload_is_checked() -> None:
    payload: dict[str, object] = {"said": "<insert the deepest word>"}
    for _ in range(900):
        payload = {"inner": payload}
    task = TaskSpec(task_id="t", title="Deep", initial_request="", trigger=Trigger(kind="webhook", payload=payload))

    assert "to-fill-in" in {each.rule for each in check_task(task)}


@pytest.mark.parametrize(
    "hidden",
    [
        "No pri\u200bces stand on the pos\u200bter",
        "No pri\u00adces on the poster",
        "No pri\u2060ces",
        "No pr\u0456ces at all",
    ],
)
def test_invisible_characters_do_not_hide_a_leak(hidden: str) -> None:
    task = TaskSpec(
        task_id="t",
        title="Poster",
        initial_request=f"Make the poster. {hidden}.",
        intents=(HiddenIntent(uid="i", content="No prices stand on the poster."),),
    )

    findings = {each.rule: each for each in check_task(task)}

    assert findings["broken-text"].passage in task.initial_request
    assert findings["broken-text"].severity == ("error" if "\u0456" not in hidden else "warning")


@pytest.mark.parametrize(
    "text", ["\0", "\ud800", "\u202e" * 500, "\u200f\u200e", "𝕬" * 999, "\x1b[31m", "a\u0301" * 500]
)
def test_odd_characters_raise_nothing(text: str) -> None:
    task, context = task_and_context(text)

    for rule in RULES.values():
        for flaw in rule.check(task, context):
            assert isinstance(flaw.passage, str)


def test_empty_task_breaks_no_rule():
    empty = TaskSpec(task_id="fresh", title="Fresh")
    task = TaskSpec(
        task_id="t", title="Garden lanterns", initial_request="Please set the prices of rolls for next week."
    )
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(empty, task))

    assert not [finding for finding in find_problems(episode) if finding.rule == "title-elsewhere"]
