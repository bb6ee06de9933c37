from __future__ import annotations

from studio.domain.diff import changed_fields, describe_changes
from studio.domain.plan import dependency_groups
from studio.domain.task import ChecklistItem, Dependency, HiddenIntent, TaskSpec
from studio.domain.uids import preserve_uids


def task(*contents: str, prefix: str = "new") -> TaskSpec:
    return TaskSpec(
        task_id="t",
        intents=tuple(HiddenIntent(uid=f"{prefix}{n}", content=content) for n, content in enumerate(contents, 1)),
        checklist=(ChecklistItem(uid=f"{prefix}-item", criterion="c", follows_from=(f"{prefix}1",)),),
    )


def uids(new: TaskSpec, old: TaskSpec) -> list[str]:
    return [intent.uid for intent in preserve_uids(new, old, persona="p").intents]


def test_unchanged_text_keeps_its_uid_when_moved() -> None:
    assert uids(task("b", "c", "a"), task("a", "b", "c", prefix="old")) == ["old2", "old3", "old1"]


def test_changed_text_keeps_the_uid_of_its_position() -> None:
    assert uids(task("a", "B!"), task("a", "b", prefix="old")) == ["old1", "old2"]


def test_new_intent_gets_its_own_uid() -> None:
    assert uids(task("new one", "a"), task("a", prefix="old"))[1] == "old1"
    same_names = uids(task("x", "a", prefix="old"), task("a", prefix="old"))
    assert same_names[1] == "old1" and same_names[0] != "old1"


def test_duplicates_keep_their_positions() -> None:
    assert uids(task("a", "a"), task("a", "a", prefix="old")) == ["old1", "old2"]


def test_links_to_intents_are_updated() -> None:
    matched = preserve_uids(task("b", "a"), task("a", "b", prefix="old"), persona="p")

    assert matched.checklist[0].uid == "old-item"
    assert matched.checklist[0].follows_from == ("old2",)


def test_changes_are_described_by_field() -> None:
    old = TaskSpec(task_id="t", title="a", source={"x": 1})
    new = TaskSpec(task_id="t", title="b", initial_request="c", source={"x": 2})

    assert changed_fields(old, new) == ["title", "initial_request"]
    assert describe_changes(changed_fields(old, new)) == "Changed the title and the initial request."


def test_order_of_unknown_keys_counts_as_change() -> None:
    old, new = (TaskSpec(task_id="t", source=source) for source in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))

    assert changed_fields(old, new) == ["source"]


def test_chain_and_fan_form_one_group_each() -> None:
    def after(task_id: str, *needed: str) -> TaskSpec:
        return TaskSpec(task_id=task_id, depends_on=tuple(Dependency(task_id=name) for name in needed))

    tasks = (after("a"), after("b"), after("c", "a"), after("d", "c"), after("e"), after("f", "b", "e"), after("g"))

    assert dependency_groups(tasks) == [("a", "c", "d"), ("b", "e", "f")]
