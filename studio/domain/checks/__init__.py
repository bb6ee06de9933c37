"""The authoring checks: pure functions from an episode to findings."""

from studio.domain.checks.engine import STOPPED, find_problems
from studio.domain.checks.rule import RULES, CheckContext, Flaw, Known, Rule, rule

__all__ = ["RULES", "STOPPED", "CheckContext", "Flaw", "Known", "Rule", "find_problems", "rule"]
