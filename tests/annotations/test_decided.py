"""Questions that several audits asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotations.decided import AuditedQuestion, asked_once

ASKED = AuditedQuestion(
    campaign=1, packet=1, source="session:1", key="item-1", truth=False, is_second=False, kind="checklist",
    subject="The fee is named.", judge="yes", answers=("no",), resolved=True, enough=True, looked=False, majority="no",
    final="no", adjudicated=False, cause="", weight=1.0, cluster="session:1", labels={},
)  # fmt: skip


@pytest.mark.parametrize(
    ("finals", "kept"),
    [
        (("no", "yes"), 2),
        (("no", None), 1),
        ((None, "yes"), 2),
        ((None, None), 2),
        (("no", None, "yes", None), 3),
    ],
)
def test_of_several_audits_the_newest_that_people_came_to_an_answer_in_counts(
    finals: tuple[str | None, ...], kept: int
) -> None:
    rows = [replace(ASKED, campaign=number, final=final) for number, final in enumerate(finals, start=1)]

    assert [row.campaign for row in asked_once(rows)] == [kept]


@pytest.mark.parametrize("other", [{"source": "session:2"}, {"key": "item-2"}, {"truth": True}])
def test_another_session_question_or_sense_of_it_is_not_the_same(other: dict[str, object]) -> None:
    rows = [ASKED, replace(ASKED, **other)]

    assert asked_once(rows) == rows


@pytest.mark.parametrize(("final", "decided"), [("no", "no"), ("not_shown", None), ("broken", None), (None, None)])
def test_what_says_nothing_of_the_judge_is_not_compared_with_it(final: str | None, decided: str | None) -> None:
    assert replace(ASKED, final=final).decided == decided
