from studio.domain.diff import Difference, FieldChange, compare, compare_orders, word_pieces
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec


def intent(uid, content, **fields):
    return HiddenIntent(uid=uid, content=content, **fields)


def task(*intents, **fields):
    return TaskSpec(task_id="t", intents=intents, **fields)


def test_texts_are_compared_word_by_word():
    assert word_pieces("Bread for Saturday.", "Bread for two Sundays.") == (
        ("same", "Bread for "),
        ("gone", "Saturday"),
        ("new", "two Sundays"),
        ("same", "."),
    )


def test_equal_versions_do_not_differ():
    assert compare(task(intent("a", "x")), task(intent("a", "x"))) == []


def test_rows_are_matched_by_uid():
    old = task(intent("a", "one"), intent("b", "two"), intent("c", "three"), intent("d", "four"))
    new = task(intent("b", "two"), intent("c", "THREE"), intent("a", "one"), intent("e", "five"))

    [change] = compare(old, new)

    assert change == FieldChange(
        "intents",
        "Hidden intents",
        [
            Difference("4", (("gone", "four"),), "removed"),
            Difference("2", (("gone", "three"), ("new", "THREE"))),
            Difference("1 → 3", (("same", "one"),), "moved"),
            Difference("4", (("new", "five"),), "added"),
        ],
    )


def test_attributes_of_a_row_are_shown_unless_default():
    old = TaskSpec(task_id="t", checklist=(ChecklistItem(uid="a", criterion="Rye first."),))
    new = TaskSpec(task_id="t", checklist=(ChecklistItem(uid="a", criterion="Rye first.", weight=2),))

    [change] = compare(old, new)

    assert change.differences == [Difference("1", (("same", "Rye first."), ("new", "\nweight: 2.0")))]


def test_moved_tasks_change_the_episodes_order():
    [change] = compare_orders(["a", "b", "c"], ["b", "c", "a"])

    assert change.differences[0].pieces == (("gone", "a\n"), ("same", "b\nc\n"), ("new", "a\n"))
    assert compare_orders(["a"], ["a"]) == []
