from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.assistance.proposals import AcceptedChange, ProposedChange, apply_changes, uid_of_new_row
from studio.domain.task import ExactCheck, Recovery
from tests.evaluation.assistance.builders import I1, I2, U1, U2, a_spec


def accepted(*changes: ProposedChange) -> list[AcceptedChange]:
    return [AcceptedChange(row, change, change.text, uid_of_new_row(7, row)) for row, change in enumerate(changes)]


def test_split_criterion_keeps_its_position_intents_and_weight():
    parts = [ProposedChange(field="checklist", uid=I1, text=text) for text in ("One.", "Two.", "Three.")]

    after = apply_changes(a_spec(), accepted(*parts))

    assert [(item.criterion, item.follows_from, item.weight) for item in after.checklist] == [
        ("One.", (U1,), 2.0),
        ("Two.", (U1,), 2.0),
        ("Three.", (U1,), 2.0),
        ("The plan has 40 loaves.", (), 1.0),
    ]
    assert after.checklist[0].uid == I1 and len({item.uid for item in after.checklist}) == 4


def test_items_of_a_split_intent_follow_from_every_part():
    after = apply_changes(
        a_spec(), accepted(*(ProposedChange(field="intents", uid=U1, text=text) for text in ("One.", "Two.")))
    )

    assert [intent.content for intent in after.intents] == ["One.", "Two.", "Nobody works more than 8 hours."]
    assert after.checklist[0].follows_from == (U1, after.intents[1].uid)


def test_new_rows_are_appended_with_their_evidence():
    recovery = Recovery(kind="file", ref="notes.md")
    after = apply_changes(
        a_spec(),
        accepted(
            ProposedChange(field="intents", text="Cold on Sundays.", recovery=recovery, scope="persistent"),
            ProposedChange(field="checklist", text="No oven.", follows_from=(U2, "gone"), evidence=("plan.md",)),
        ),
    )

    assert (after.intents[2].content, after.intents[2].recoverable_from) == ("Cold on Sundays.", (recovery,))
    assert (after.checklist[2].follows_from, after.checklist[2].evidence) == ((U2,), ("plan.md",))


def test_rule_replaces_the_judge_and_keeps_the_criterion():
    rule = ExactCheck(kind="file_exists", path="plan.md")
    item = apply_changes(
        a_spec(), accepted(ProposedChange(field="checklist", uid=I2, text="There.", rule=rule))
    ).checklist[1]

    assert (item.grader, item.rule, item.criterion) == ("rule", rule, "There.")


@given(
    st.lists(
        st.builds(
            ProposedChange,
            field=st.sampled_from(["intents", "checklist", "title", "initial_request", "metadata", "nothing"]),
            uid=st.sampled_from(["", I1, I2, U1, U2, "gone"]),
            text=st.text(max_size=20),
        ),
        max_size=8,
    )
)
def test_applying_changes_is_idempotent_and_loses_no_row(proposals):
    spec = a_spec()
    once = apply_changes(spec, accepted(*proposals))

    assert apply_changes(once, accepted(*proposals)) == once
    assert {row.uid for row in spec.intents} <= {row.uid for row in once.intents}
    assert {row.uid for row in spec.checklist} <= {row.uid for row in once.checklist}
    uids = [row.uid for row in (*once.intents, *once.checklist)]
    assert len(uids) == len(set(uids))
    assert once.metadata == spec.metadata
