"""Protocols: how each scores, and what may be ranked together."""

from __future__ import annotations

from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName, Terms, may_be_ranked


def test_release_scores_in_both_modes_and_paper_in_strict_alone():
    assert Terms.current("release").modes == (ScoringMode.COMPAT, ScoringMode.STRICT)
    assert Terms.current("paper").modes == (ScoringMode.STRICT,)


def test_only_equal_terms_may_be_ranked_together():
    paper = Terms(ProtocolName.PAPER, 1)

    assert may_be_ranked([paper, Terms(ProtocolName.PAPER, 1)])
    assert may_be_ranked([])
    assert not may_be_ranked([paper, Terms(ProtocolName.RELEASE, 1)])
    assert not may_be_ranked([paper, Terms(ProtocolName.PAPER, 2)])


def test_release_always_runs_the_first_loop():
    assert Terms.current("release").agent_loop == 1
