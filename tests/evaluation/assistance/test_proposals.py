from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.assistance.proposals import Chosen, Proposal, new_uid, put_in
from studio.domain.task import ExactCheck, Recovery
from tests.evaluation.assistance.builders import I1, I2, U1, U2, a_spec


def chosen(*proposals: Proposal) -> list[Chosen]:
    return [Chosen(row, one, one.text, new_uid(7, row)) for row, one in enumerate(proposals)]


def test_a_split_criterion_keeps_its_place_and_what_holds_for_it():
    parts = [Proposal(field="checklist", uid=I1, text=text) for text in ("One.", "Two.", "Three.")]

    after = put_in(a_spec(), chosen(*parts))

    assert [(item.criterion, item.follows_from, item.weight) for item in after.checklist] == [
        ("One.", (U1,), 2.0),
        ("Two.", (U1,), 2.0),
        ("Three.", (U1,), 2.0),
        ("The plan has 40 loaves.", (), 1.0),
    ]
    assert after.checklist[0].uid == I1 and len({item.uid for item in after.checklist}) == 4


def test_a_split_intent_is_scored_by_what_scored_the_whole():
    after = put_in(a_spec(), chosen(*(Proposal(field="intents", uid=U1, text=text) for text in ("One.", "Two."))))

    assert [intent.content for intent in after.intents] == ["One.", "Two.", "Nobody works more than 8 hours."]
    assert after.checklist[0].follows_from == (U1, after.intents[1].uid)


def test_new_rows_come_last_with_what_they_rest_on():
    place = Recovery(kind="file", ref="notes.md")
    after = put_in(
        a_spec(),
        chosen(
            Proposal(field="intents", text="Cold on Sundays.", recovery=place, scope="persistent"),
            Proposal(field="checklist", text="No oven.", follows_from=(U2, "gone"), evidence=("plan.md",)),
        ),
    )

    assert (after.intents[2].content, after.intents[2].recoverable_from) == ("Cold on Sundays.", (place,))
    assert (after.checklist[2].follows_from, after.checklist[2].evidence) == ((U2,), ("plan.md",))


def test_a_rule_replaces_the_judge_and_keeps_the_words():
    rule = ExactCheck(kind="file_exists", path="plan.md")
    item = put_in(a_spec(), chosen(Proposal(field="checklist", uid=I2, text="There.", rule=rule))).checklist[1]

    assert (item.grader, item.rule, item.criterion) == ("rule", rule, "There.")


@given(
    st.lists(
        st.builds(
            Proposal,
            field=st.sampled_from(["intents", "checklist", "title", "initial_request", "metadata", "nothing"]),
            uid=st.sampled_from(["", I1, I2, U1, U2, "gone"]),
            text=st.text(max_size=20),
        ),
        max_size=8,
    )
)
def test_taking_the_same_twice_is_taking_it_once_and_no_row_is_lost(proposals):
    spec = a_spec()
    once = put_in(spec, chosen(*proposals))

    assert put_in(once, chosen(*proposals)) == once
    assert {one.uid for one in spec.intents} <= {one.uid for one in once.intents}
    assert {one.uid for one in spec.checklist} <= {one.uid for one in once.checklist}
    uids = [one.uid for one in (*once.intents, *once.checklist)]
    assert len(uids) == len(set(uids))
    assert once.metadata == spec.metadata
