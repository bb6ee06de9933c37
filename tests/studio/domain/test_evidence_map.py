"""The evidence map: where each intent can be recovered, what scores it, and what is missing."""

from __future__ import annotations

from studio.domain.base import FileRef
from studio.domain.evidence_map import build_evidence_map, script_keys
from studio.domain.task import ChecklistItem, HiddenIntent, Recovery, TaskSpec

RYE = HiddenIntent(uid="1", content="Rye first.", recoverable_from=(Recovery(kind="session", ref="sunday"),))
SALT = HiddenIntent(uid="2", content="No salt.")


def a_task(**fields) -> TaskSpec:
    return TaskSpec(task_id="bread", **({"intents": (RYE, SALT)} | fields))


def test_intent_is_matched_with_its_sources_and_items():
    task = a_task(
        checklist=(
            ChecklistItem(uid="k1", criterion="The rye is first.", follows_from=("1",)),
            ChecklistItem(uid="k2", criterion="The plan is one page."),
            ChecklistItem(uid="k3", criterion="Rye has a time.", follows_from=("1",)),
        )
    )

    evidence = build_evidence_map(task, earlier=["sunday"])

    assert (evidence.rows[0].kinds, evidence.rows[0].items) == (frozenset({"session"}), (1, 3))
    assert (evidence.unrecoverable, evidence.unscored, evidence.unlinked_items) == ((2,), (2,), (2,))


def test_missing_source_recovers_nothing():
    file = Recovery(kind="file", ref="notes.md")
    tool = Recovery(kind="tool", ref="gmail_search.body")
    task = a_task(intents=(RYE, SALT.model_copy(update={"recoverable_from": (file, tool)})))

    assert build_evidence_map(task, earlier=[], tools=["gmail_search"]).unrecoverable == (1,)
    assert build_evidence_map(task, earlier=["sunday"], tools=[]).rows[1].missing == (
        tool,
    )  # the earlier task may have written the file
    assert build_evidence_map(task, earlier=[], tools=[]).unrecoverable == (1, 2)
    with_file = task.model_copy(update={"assets": (FileRef(path="notes.md", sha256="0", size=1),)})
    assert build_evidence_map(with_file, earlier=["sunday"], tools=[]).unrecoverable == ()


def test_script_scores_the_intents_of_its_keys():
    task = a_task(
        grader_script="data/baker/scripts/bread.py",
        metadata={"grader_keys": {"no_salt": {"says": "Salt is out.", "follows_from": [2]}, "tidy": {"says": "Tidy."}}},
    )

    evidence = build_evidence_map(task)

    assert evidence.rows[1].keys == ("no_salt",)
    assert (evidence.unscored, evidence.unlinked_keys) == ((1,), ("tidy",))


def test_setup_task_has_no_unscored_intents():
    evidence = build_evidence_map(a_task())

    assert evidence.is_setup
    assert evidence.unscored == ()


def test_malformed_script_descriptions_are_ignored():
    for odd in (["a"], {"a": 3, "b": {"follows_from": "1"}, "c": {"follows_from": [True, "2", 9]}}, "x", None):
        task = a_task(grader_script="x.py", metadata={"grader_keys": odd})
        assert all(key.follows_from in ((), (9,)) for key in script_keys(task))
        build_evidence_map(task)
