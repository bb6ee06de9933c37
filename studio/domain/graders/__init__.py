"""Static analysis of grader scripts; they are run by the evaluation package."""

from studio.domain.graders.amounts import Amount
from studio.domain.graders.demands import Demand, ToolTest
from studio.domain.graders.histories import History, generate_histories
from studio.domain.graders.reader import ANALYSIS, GraderReport, ScriptReading, read_script

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
