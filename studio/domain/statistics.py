"""What a benchmark holds, as the paper's appendix A counts it, and how its tools are told to people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

WORKSPACE = "workspace"
"""The domain of tools whose name says none: files, commands, the web."""
_PREFIX = "mcp_appworld_"


@dataclass(frozen=True)
class Figures:
    """The row of one persona in the paper's Table 2, and what else its tasks hold."""

    tasks: int = 0
    sessions: int = 0
    """Tasks that have a place in the episode."""
    local: int = 0
    """Hidden intents of one session."""
    persistent: int = 0
    rubric: int = 0
    rule: int = 0
    """Rule items, and the checks of the grader scripts."""
    dependencies: int = 0
    files: int = 0
    tools: int = 0
    """Bound to the persona."""
    skills: int = 0

    @property
    def intents(self) -> int:
        return self.local + self.persistent

    @property
    def items(self) -> int:
        return self.rubric + self.rule

    def per_task(self, name: str) -> str:
        """The mean over tasks with one decimal, a dash where there are none."""
        return f"{getattr(self, name) / self.tasks:.1f}" if self.tasks else "–"

    def __add__(self, other: Figures) -> Figures:
        return Figures(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


def sum_figures(figures: Iterable[Figures]) -> Figures:
    return sum(figures, Figures())


def tool_domain(tool: str) -> str:
    """The application a tool belongs to: ``gmail`` of ``gmail__show_draft``."""
    app, parted, _ = tool.removeprefix(_PREFIX).partition("__")
    return app if parted else WORKSPACE


def bare_tool_name(tool: str) -> str:
    """A tool's name as the persona binds it, however a task names it."""
    return tool.strip().removeprefix(_PREFIX)


def tool_label(tool: str) -> str:
    """What a tool does as its name says it: ``Show draft``."""
    words = tool.removeprefix(_PREFIX).rpartition("__")[2].replace("_", " ").strip()
    return words[:1].upper() + words[1:]
