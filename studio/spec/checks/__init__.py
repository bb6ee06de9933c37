"""The authoring checks: pure functions from an episode to findings."""

from studio.spec.checks.engine import find_problems
from studio.spec.checks.rule import RULES, Flaw, Rule, Scene, rule

__all__ = ["RULES", "Flaw", "Rule", "Scene", "find_problems", "rule"]
