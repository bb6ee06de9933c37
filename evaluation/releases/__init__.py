"""Releases: what blocks one, and cutting it.

A release freezes every task that is not retired, packs all of them with what stood behind them, and reads
the pack back before anything is stored. What blocks it may be accepted by a person, with a reason; both
stand in the release ever after. Only what leaves no readable pack cannot be accepted.
"""

from evaluation.releases.blocking import Blocker, release_blockers
from evaluation.releases.cutting import ReleaseBlocked, ReleaseRefused, cut_release

__all__ = ["Blocker", "ReleaseBlocked", "ReleaseRefused", "cut_release", "release_blockers"]
