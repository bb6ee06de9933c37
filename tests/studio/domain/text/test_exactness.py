"""Which criteria can be decided without a judge."""

from __future__ import annotations

import pytest

from studio.domain.text.exactness import exactness


@pytest.mark.parametrize(
    ("criterion", "kind"),
    [
        ("No verse is longer than 12 lines.", "count"),
        ("The table has nine rows.", "count"),
        ("Four valleys are compared.", "count"),
        ("ledger.csv is unchanged.", "unchanged"),
        ("The oath appears exactly as in oath.txt.", "unchanged"),
        ("Two files exist, early.md and late.md.", "exists"),
        ("The list is valid JSON.", "format"),
        ("The word “cheap” is not used.", "lacks"),
        ("The name “Odile” is given.", "contains"),
        ("The notice cites clause 7.3.", "contains"),
        ("The legal basis is Article 12 of the Housing Act.", "contains"),
        ("The project “Harvest” exists in Todoist.", "tool"),
        ("All tasks have priority 2.", "tool"),
    ],
)
def test_mechanical_criterion_needs_no_judge(criterion: str, kind: str) -> None:
    exact = exactness(criterion)

    assert exact is not None
    assert (exact.kind, exact.sure) == (kind, True)


@pytest.mark.parametrize(
    "criterion",
    [
        "No one is left in doubt for more than a moment.",
        "The note says that the tap stays shut because it dripped for 12 hours.",
        "The reminder names the errand and is cleared up in friendly words.",
        "The letter acknowledges her eight years in the choir.",
        "Step 4 is easier than before.",
    ],
)
def test_criterion_that_needs_understanding_needs_a_judge(criterion: str) -> None:
    exact = exactness(criterion)

    assert exact is None or not exact.sure
