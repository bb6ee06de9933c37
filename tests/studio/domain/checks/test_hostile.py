"""Text that was written to break the checks, or to slip past them."""

from __future__ import annotations

import time

import pytest

from studio.domain.base import FileRef
from studio.domain.checks import RULES, CheckContext, Rule, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.plan import PAPER_PLAN
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
LETTERS = 16_000
TOO_LONG = 2.0
"""Seconds of a core: a rule that looks at each letter again for each other letter takes more, others a tenth."""
OTHERS = {"undeclared-dependency"}
"""Whose reading of language is measured by itself."""


def task_and_context(text: str) -> tuple[TaskSpec, CheckContext]:
    """The text everywhere a person or a program can write one."""
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
    return task, CheckContext(episode, {file.sha256: text}, PAPER_PLAN, {}, {"read_file": text})


def seconds(rule: Rule, bit: str) -> float:
    """Of a core. Each text is a new one, of which nothing is remembered."""
    task, context = task_and_context(f"{rule.name} {bit * (LETTERS // len(bit))}")
    started = time.process_time()
    list(rule.check(task, context))
    return time.process_time() - started


@pytest.mark.parametrize("bit", REPEATED)
def test_no_rule_looks_at_the_whole_text_again_for_each_of_its_letters(bit: str) -> None:
    spent = {name: seconds(rule, bit) for name, rule in RULES.items() if name not in OTHERS}

    assert {name: each for name, each in spent.items() if each > TOO_LONG} == {}


def checked(task: TaskSpec, texts: dict[str, str] | None = None) -> list[Finding]:
    return find_problems(
        EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(task,)), texts=texts or {}
    )


@pytest.mark.parametrize("field", ["initial_request", "intents", "checklist", "title"])
def test_ten_megabytes_in_one_field_are_said_to_be_too_much_within_two_seconds(field: str) -> None:
    text = SENTENCE * 140_000
    rows = {
        "intents": (HiddenIntent(uid="i", content=text),),
        "checklist": (ChecklistItem(uid="c", criterion=text),),
    }
    task = TaskSpec(task_id="t", title="Letter", initial_request=SENTENCE).model_copy(
        update={field: rows.get(field, text)}
    )

    started = time.process_time()
    findings = checked(task)

    assert time.process_time() - started < 2
    assert [each.field for each in findings if each.rule == "text-too-long"] == [field]


def test_three_hundred_files_are_checked_within_two_seconds() -> None:
    files = tuple(FileRef(path=f"f{n}.md", sha256=f"{n:064x}", size=1) for n in range(300))
    texts = {file.sha256: f"File {n}. {SENTENCE * 20}" for n, file in enumerate(files)}
    task = TaskSpec(
        task_id="t",
        title="Letter",
        initial_request=SENTENCE,
        assets=files,
        intents=tuple(HiddenIntent(uid=f"i{n}", content=f"{n} of them are kept.") for n in range(10)),
    )

    started = time.process_time()
    checked(task, texts)

    assert time.process_time() - started < 2


def test_a_signal_nested_nine_hundred_deep_is_read() -> None:
    payload: dict[str, object] = {"said": "<insert the deepest word>"}
    for _ in range(900):
        payload = {"inner": payload}
    task = TaskSpec(task_id="t", title="Deep", initial_request="", trigger=Trigger(kind="webhook", payload=payload))

    assert "placeholder" in {each.rule for each in checked(task)}


@pytest.mark.parametrize(
    "hidden",
    [
        "No pri\u200bces stand on the pos\u200bter",
        "No pri\u00adces on the poster",
        "No pri\u2060ces",
        "No pr\u0456ces at all",
    ],
)
def test_a_leak_is_not_hidden_by_characters_nobody_sees(hidden: str) -> None:
    task = TaskSpec(
        task_id="t",
        title="Poster",
        initial_request=f"Make the poster. {hidden}.",
        intents=(HiddenIntent(uid="i", content="No prices stand on the poster."),),
    )

    found = {each.rule: each for each in checked(task)}

    assert found["broken-text"].words in task.initial_request
    assert found["broken-text"].severity == ("error" if "\u0456" not in hidden else "warning")


@pytest.mark.parametrize(
    "text", ["\0", "\ud800", "\u202e" * 500, "\u200f\u200e", "𝕬" * 999, "\x1b[31m", "a\u0301" * 500]
)
def test_odd_characters_everywhere_raise_nothing_and_words_stay_verbatim(text: str) -> None:
    task, context = task_and_context(text)

    for rule in RULES.values():
        for flaw in rule.check(task, context):
            assert isinstance(flaw.passage, str)


def test_a_task_of_which_nothing_is_written_yet_stops_no_rule():
    empty = TaskSpec(task_id="fresh", title="Fresh")
    task = TaskSpec(
        task_id="t", title="Garden lanterns", initial_request="Please set the prices of rolls for next week."
    )
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(empty, task))

    assert not [one for one in find_problems(episode) if one.rule == "title-elsewhere"]
