import json
from collections import Counter
from pathlib import Path
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.agreement import (
    Coefficient,
    Confusion,
    cohen_kappa,
    count_confusion,
    disagreement,
    estimate,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
)
from annotations.intervals import t_quantile

FLEISS_1971 = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7
"""
KRIPPENDORFF_2011 = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""

units = st.lists(st.lists(st.sampled_from(["yes", "no", "unsure"]), max_size=5), max_size=12)


def by_packet(table: str) -> list[list[str]]:
    rows = [line.split() for line in table.split("\n") if line]
    return [[answer for answer in column if answer != "."] for column in zip(*rows, strict=True)]


REFERENCE = json.loads(Path(__file__).with_name("reference_agreement.json").read_text())
"""Random tables of people's answers, with gaps and skew, and what three libraries say of them; ``.`` is a gap. None of
them is a dependency: the versions that computed the numbers stand in the file."""
FUNCTIONS = {"krippendorff": krippendorff_alpha, "gwet": gwet_ac1, "fleiss": fleiss_kappa}


def test_figures_are_those_of_krippendorff_irrcac_and_scikit_learn():
    compared = Counter()
    for table in REFERENCE["tables"]:
        packets = by_packet("\n".join(" ".join(row) for row in table["rows"]))
        for name, value in table.items():
            if name == "rows":
                continue
            own = cohen_kappa(*table["rows"]) if name == "cohen" else FUNCTIONS[name](packets)
            assert own == pytest.approx(value, abs=1e-9), (name, table["rows"])
            compared[name] += 1

    assert compared == {"krippendorff": 28, "gwet": 28, "fleiss": 18, "cohen": 10}


def test_cohens_kappa_of_fifty_grant_proposals():
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15

    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_fleiss_kappa_of_fourteen_raters_and_ten_subjects():
    rows = [[int(count) for count in line.split()] for line in FLEISS_1971.split("\n") if line]
    answers = [[label for label, count in enumerate(row) for _ in range(count)] for row in rows]

    assert fleiss_kappa(answers) == pytest.approx(0.210, abs=5e-4)


def test_krippendorffs_alpha_of_four_observers_with_gaps():
    assert krippendorff_alpha(by_packet(KRIPPENDORFF_2011)) == pytest.approx(0.743, abs=5e-4)


def test_krippendorffs_alpha_of_two_observers_of_ten_articles():
    assert krippendorff_alpha(by_packet("0 1 0 0 0 0 0 0 1 0\n1 1 1 0 0 1 0 0 0 0")) == pytest.approx(0.095, abs=5e-4)


def test_gwets_ac1_holds_where_kappa_collapses():
    """125 subjects of Gwet (2002): 118 both yes, 5 and 2 apart, none both no. Chance agreement is 2 · 0.972 · 0.028."""
    first = ["yes"] * 123 + ["no"] * 2
    second = ["yes"] * 118 + ["no"] * 5 + ["yes"] * 2

    assert gwet_ac1(list(zip(first, second, strict=True))) == pytest.approx((0.944 - 0.054432) / (1 - 0.054432))
    assert cohen_kappa(first, second) == pytest.approx(-0.0234, abs=5e-5)


def test_gwets_ac1_of_four_raters_with_gaps():
    """The table of Krippendorff (2011), for which Gwet's irrCAC gives 0.77544."""
    assert gwet_ac1(by_packet(KRIPPENDORFF_2011)) == pytest.approx(0.77544, abs=5e-6)


def test_gwets_ac1_of_three_answers_worked_by_hand():
    """Observed (1 + 1/3) / 2 = 2/3; shares of yes (1 + 2/3 + 0) / 3 = 5/9, so chance is 2 · 5/9 · 4/9 = 40/81."""
    assert gwet_ac1([["yes"] * 3, ["yes", "yes", "no"], ["no"]]) == pytest.approx((2 / 3 - 40 / 81) / (41 / 81))


def test_gwets_ac1_is_the_same_to_the_last_digit_in_whatever_order_answers_are_counted():
    units = [[0, 2, 0], [1, 2], [1], [2], [1], [0, 1], [2, 0, 0]]

    assert gwet_ac1(units) == gwet_ac1([[2 - answer for answer in unit] for unit in units])


def test_gwets_ac1_needs_two_answers_to_choose_from():
    always = [["yes", "yes"]] * 5

    assert (gwet_ac1(always), gwet_ac1([["yes"], ["no"]]), gwet_ac1([])) == (None, None, None)
    assert gwet_ac1(always, ["yes", "no"]) == 1


def test_confusion_tells_which_way_the_judge_errs():
    pairs = [(True, True)] * 4 + [(True, False)] * 3 + [(False, True)] * 2 + [(False, False)]

    table = count_confusion(pairs)

    assert table == Confusion(both_yes=4, too_lenient=3, too_strict=2, both_no=1)
    assert (table.n, table.people_yes, table.people_no) == (10, 6, 4)


def test_disagreement_counts_pairs_of_answers_to_the_same_packet():
    assert disagreement([["yes", "no"], ["yes", "yes", "no"], ["no"]]) == 3 / 4


def test_agreement_is_undefined_without_pairs():
    assert (disagreement([["yes"]]), cohen_kappa([], []), fleiss_kappa([["yes"]])) == (None, None, None)
    assert (krippendorff_alpha([]), krippendorff_alpha([["yes"], ["no"]])) == (None, None)


def test_agreement_beyond_chance_is_undefined_without_variation():
    always = [["yes", "yes"]] * 5

    assert disagreement(always) == 0
    assert (cohen_kappa(["yes"] * 5, ["yes"] * 5), fleiss_kappa(always), krippendorff_alpha(always)) == (None,) * 3


def test_answers_to_different_packets_are_rejected():
    with pytest.raises(ValueError, match="same packets"):
        cohen_kappa(["yes"], [])
    with pytest.raises(ValueError, match="same number of answers"):
        fleiss_kappa([["yes", "no"], ["yes"]])


@given(units)
def test_order_of_packets_and_people_does_not_matter(answers):
    reversed_units = [list(reversed(unit)) for unit in reversed(answers)]

    assert krippendorff_alpha(reversed_units) == pytest.approx(krippendorff_alpha(answers))
    assert disagreement(reversed_units) == pytest.approx(disagreement(answers))
    assert gwet_ac1(reversed_units) == pytest.approx(gwet_ac1(answers))


@given(units, st.permutations(["yes", "no", "unsure"]))
def test_names_of_answers_do_not_matter(answers, names):
    renamed = [[names[("yes", "no", "unsure").index(answer)] for answer in unit] for unit in answers]

    assert gwet_ac1(renamed) == pytest.approx(gwet_ac1(answers))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_confusion_counts_each_pair_once(pairs):
    table, mirrored = count_confusion(pairs), count_confusion((people, judge) for judge, people in pairs)

    assert table.n == len(pairs)
    assert (table.too_lenient, table.too_strict) == (mirrored.too_strict, mirrored.too_lenient)
    assert table.too_lenient + table.too_strict == sum(judge != people for judge, people in pairs)


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.sampled_from(["yes", "no"])] * 2), min_size=1, max_size=20))
def test_agreement_is_at_most_one(pairs):
    first, second = zip(*pairs, strict=True)
    values = [cohen_kappa(first, second), fleiss_kappa(pairs), krippendorff_alpha(pairs), gwet_ac1(pairs)]

    assert all(value is None or value <= 1 + 1e-9 for value in values)
    if first == second:
        assert all(value is None or value == pytest.approx(1) for value in values)


def share_of_ones(rows):
    return sum(rows) / len(rows) if rows else None


def test_the_interval_of_a_share_over_sessions_is_students():
    values = [1, 0, 0, 1, 1, 0, 1, 1]
    rows = [(f"s{number}", value) for number, value in enumerate(values)]

    found = estimate(rows, share_of_ones)

    half = t_quantile(len(values) - 1) * stdev(values) / len(values) ** 0.5
    assert found.value == 5 / 8
    assert found.low == pytest.approx(5 / 8 - half)
    assert found.high == 1  # cut


def test_three_sessions_are_enough_for_an_interval_which_ends_at_minus_one():
    found = estimate([("a", -0.9), ("b", -0.5), ("c", -0.7)], share_of_ones)

    half = t_quantile(2) * 0.2 / 3**0.5
    assert (found.value, found.low) == (pytest.approx(-0.7), max(-1.0, -0.7 - half))
    assert found.high == pytest.approx(-0.7 + half)


def test_no_interval_is_told_where_one_session_alone_makes_the_figure():
    def of_two(rows):
        known = [row for row in rows if row is not None]
        return share_of_ones(known) if len(known) > 1 else None

    found = estimate([("a", 1), ("b", 0), ("c", None), ("d", None)], of_two)

    assert (found.value, found.low, found.high) == (0.5, None, None)


def test_answers_of_one_session_make_the_interval_wider_than_as_many_of_their_own():
    values = [1, 1, 0, 0, 1, 1, 0, 0, 1, 1]
    alike = estimate([(f"s{number // 2}", value) for number, value in enumerate(values)], share_of_ones)
    apart = estimate([(f"s{number}", value) for number, value in enumerate(values)], share_of_ones)

    assert alike.low < apart.low


def test_many_sessions_are_dealt_into_groups_and_cost_no_more():
    asked = []

    def measure(rows):
        asked.append(len(rows))
        return share_of_ones(rows)

    found = estimate([(f"s{number}", number % 2) for number in range(400)], measure)

    assert len(asked) == 21
    assert found.low is not None and found.low < 0.5 < found.high


@pytest.mark.parametrize("values", [[1, 0], [1, 1, 1, 1]], ids=["two sessions", "sessions that do not differ"])
def test_nothing_is_made_up_where_an_interval_cannot_be_known(values):
    found = estimate([(f"s{number}", value) for number, value in enumerate(values)], share_of_ones)

    assert (found.low, found.high, found.text) == (None, None, f"{found.value:.2f}")


def test_a_coefficient_reads_with_its_interval_and_true_minus_signs():
    assert Coefficient(0.4149, -0.02, 0.84).text == "0.41 (−0.02–0.84)"
    assert Coefficient(None).text == "–"
