"""Grader scripts read, never run: what a script looks at, and calls it might be tried on. Running is evaluation's."""

from studio.spec.graders.amounts import Amount
from studio.spec.graders.demands import Demand, ToolTest
from studio.spec.graders.histories import History, generate_histories
from studio.spec.graders.reading import ScriptReading, read_script
from studio.spec.graders.report import ANALYSIS, GraderReport

__all__ = [
    "ANALYSIS",
    "Amount",
    "Demand",
    "GraderReport",
    "History",
    "ScriptReading",
    "ToolTest",
    "generate_histories",
    "read_script",
]
