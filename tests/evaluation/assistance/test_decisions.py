"""Taking and dismissing: the editor's own save, several rows, changed words, two people."""

from __future__ import annotations

import json

import pytest

from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.decisions import ProposalOutdatedError, dismiss, take
from evaluation.assistance.provenance import origins, scripted_words
from evaluation.models import SuggestionDecision
from evaluation.releases.readiness import release_blockers
from studio.models import Comment, TaskState
from studio.tasks.save import save_rebased, save_task
from tests.evaluation.assistance.builders import BUNDLE, I1, U1, split_into
from tests.evaluation.factories import person

PARTS = ("The plan names the baker.", "The plan gives the start of each shift.")
INTENTS = json.dumps(
    {
        "intents": [
            {"content": f"Need {n} is met by noon.", "scope": "session_local", "from": "question", "ref": "",
             "quote": "", "why": ""}
            for n in ("one", "two", "three")
        ]
    }
)  # fmt: skip


def criteria(desk) -> list[str]:
    return [item.criterion for item in desk.spec.checklist]


def contents(desk) -> list[str]:
    return [intent.content for intent in desk.spec.intents]


def test_a_split_is_taken_as_a_new_version_with_its_origin(desk):
    desk.says(split_into(*PARTS))
    row = desk.ask()

    done = take(row.pk, by=desk.author, texts={1: "The plan gives each shift's start."})

    assert criteria(desk) == [PARTS[0], "The plan gives each shift's start.", "The plan has 40 loaves."]
    assert (done.state, done.decided_by, done.result.number) == ("taken", desk.author, 2)
    assert done.result.note == "A split of item 1, proposed by clever, edited before accepting"
    known = origins(desk.task)
    new = desk.spec.checklist[1].uid
    assert [(known["checklist", uid].changed, known["checklist", uid].by) for uid in (I1, new)] == [
        (False, str(desk.author)),
        (True, str(desk.author)),
    ]


def test_a_part_left_empty_is_left_out(desk):
    desk.says(split_into(*PARTS, "The plan is nice."))
    row = desk.ask()

    take(row.pk, by=desk.author, texts={2: "  "})

    assert criteria(desk)[:2] == list(PARTS) and len(criteria(desk)) == 3
    assert list(SuggestionDecision.objects.values_list("row", "taken")) == [(0, True), (1, True), (2, False)]


def test_a_split_with_nothing_left_is_refused(desk):
    desk.says(split_into(*PARTS))
    row = desk.ask()

    with pytest.raises(AssistanceError, match="is empty"):
        take(row.pk, by=desk.author, texts={0: "", 1: " "})
    assert criteria(desk)[0] == BUNDLE


def test_rows_are_taken_one_by_one_in_any_order_and_the_rest_dismissed(desk):
    desk.says(INTENTS)
    row = desk.ask("intents")

    assert take(row.pk, by=desk.author, rows=[1]).state == "ready"
    take(row.pk, by=desk.author, rows=[0], texts={0: "Another need."})
    done = dismiss(row.pk, by=desk.author)

    assert contents(desk)[2:] == ["Need two is met by noon.", "Another need."]
    assert (done.state, done.result.number) == ("taken", 3)
    with pytest.raises(AssistanceError, match="already decided"):
        take(row.pk, by=desk.author, rows=[2])


def test_all_are_taken_in_one_version(desk):
    desk.says(INTENTS)
    row = desk.ask("intents")

    take(row.pk, by=desk.author)

    assert len(contents(desk)) == 5 and desk.fresh.version == 2


def test_what_others_saved_since_stays(desk):
    desk.says(split_into(*PARTS))
    row = desk.ask()
    other = person(desk.benchmark, "author")
    spec = desk.spec
    save_task(desk.task.pk, spec.model_copy(update={"title": "Another title"}), by=other)

    take(row.pk, by=desk.author)

    assert desk.spec.title == "Another title" and criteria(desk)[:2] == list(PARTS)


def test_words_changed_since_are_shown_with_the_suggestion_and_a_person_chooses(desk):
    desk.says(split_into(*PARTS))
    row = desk.ask()
    spec = desk.spec
    mine = tuple(item.model_copy(update={"criterion": "Mine."}) if item.uid == I1 else item for item in spec.checklist)
    save_rebased(desk.task.pk, spec.model_copy(update={"checklist": mine}), by=desk.author, base_version=1)

    with pytest.raises(ProposalOutdatedError) as moved:
        take(row.pk, by=desk.author)

    assert (moved.value.current, moved.value.proposed) == ("Mine.", PARTS[0])
    assert criteria(desk)[0] == "Mine."
    take(row.pk, by=desk.author, over_changes=True)
    assert criteria(desk)[:2] == list(PARTS)


def test_a_row_that_is_gone_is_not_brought_back(desk):
    desk.says(split_into(*PARTS))
    row = desk.ask()
    save_task(desk.task.pk, desk.spec.model_copy(update={"checklist": desk.spec.checklist[1:]}), by=desk.author)

    with pytest.raises(AssistanceError, match="not there any more"):
        take(row.pk, by=desk.author)
    assert dismiss(row.pk, by=desk.author).state == "dismissed"


def test_an_approved_task_becomes_a_draft_by_it(desk):
    desk.says(split_into(*PARTS))
    row = desk.ask()
    task = desk.fresh
    task.state = TaskState.APPROVED
    task.save()

    take(row.pk, by=desk.author)

    assert desk.fresh.state == TaskState.DRAFT


def test_what_the_request_gives_away_is_kept_as_a_remark(desk):
    leak = {"intent": 1, "degree": "wholly", "quote": "The rye goes in first.", "why": "It says the order."}
    desk.says(json.dumps({"given_away": [leak]}))
    row = desk.ask("leaks")

    done = take(row.pk, by=desk.author)

    remark = Comment.objects.get()
    assert (remark.field, str(remark.item_uid), remark.author) == ("intents", U1, desk.author)
    assert "“The rye goes in first.”" in remark.text and "clever" in remark.text
    assert done.state == "taken" and done.result is None and desk.fresh.version == 1


def test_a_rule_is_taken_with_the_criterions_own_words(desk):
    desk.says(json.dumps({"exact": True, "kind": "file_contains", "path": "plan.md", "text": "40", "why": ""}))
    row = desk.ask("rule")

    take(row.pk, by=desk.author, texts={0: "something else"})

    item = desk.spec.checklist[0]
    assert (item.grader, item.rule.path, item.rule.text) == ("rule", "plan.md", "40")


def test_words_of_a_scripted_model_stand_in_the_way_of_a_release_until_a_person_wrote_them(scripted_desk):
    desk = scripted_desk()
    row = desk.ask()
    take(row.pk, by=desk.author)

    assert [(one.place) for one in scripted_words(desk.benchmark, [desk.task.pk])] == ["item 1", "item 2"]
    told = [one for one in release_blockers(desk.benchmark) if one.code == "scripted-words"]
    assert [one.acceptable for one in told] == [True]
    assert "item 1, item 2" in told[0].message
    own = [item.model_copy(update={"criterion": f"Own words {n}."}) for n, item in enumerate(desk.spec.checklist)]
    save_task(desk.task.pk, desk.spec.model_copy(update={"checklist": tuple(own)}), by=desk.author)
    assert "scripted-words" not in {one.code for one in release_blockers(desk.benchmark)}


@pytest.mark.parametrize("kind", ["reword", "intents", "split", "rule", "checklist", "translate", "leaks"])
def test_the_scripted_helper_answers_every_kind_usably(scripted_desk, kind):
    row = scripted_desk().ask(kind)

    assert (row.state, row.problem, row.scripted) == ("ready", "", True)
    assert row.calls.count() == 1
    if kind not in ("rule", "checklist"):
        assert row.rows
        take(row.pk, by=row.asked_by)
