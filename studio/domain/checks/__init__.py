"""The authoring checks: pure functions from an episode to findings."""

from studio.domain.checks.engine import find_problems
from studio.domain.checks.rule import RULES, Flaw, Rule, Scene, rule

__all__ = ["RULES", "Flaw", "Rule", "Scene", "find_problems", "rule"]
