"""The authoring checks: pure functions from an episode to findings."""

from studio.spec.checks.engine import PLAN, find_problems
from studio.spec.checks.rule import RULES, Flaw, Rule, Scene, rule

__all__ = ["PLAN", "RULES", "Flaw", "Rule", "Scene", "find_problems", "rule"]
