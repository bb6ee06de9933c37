"""What a benchmark holds, as the paper's appendix A counts it, and how its tools and skills are told to people."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields

import yaml

WORKSPACE = "workspace"
"""The domain of tools whose name says none: files, commands, the web."""
_PREFIX = "mcp_appworld_"
_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.S)
LONGEST_FRONT = 20_000
LONGEST_WORDS = 300


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


def total(figures: Iterable[Figures]) -> Figures:
    return sum(figures, Figures())


def domain_of(tool: str) -> str:
    """The application a tool belongs to: ``gmail`` of ``gmail__show_draft``."""
    app, parted, _ = tool.removeprefix(_PREFIX).partition("__")
    return app if parted else WORKSPACE


def plain_tool(tool: str) -> str:
    """A tool's name as the persona binds it, however a task names it."""
    return tool.strip().removeprefix(_PREFIX)


def in_words(tool: str) -> str:
    """What a tool does as its name says it: ``Show draft``."""
    words = tool.removeprefix(_PREFIX).rpartition("__")[2].replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def skill_function(text: str) -> str:
    """What a skill says it is for: the description at the head of its SKILL.md, or its first paragraph."""
    front = _FRONT.match(text[:LONGEST_FRONT])
    if front:
        try:
            said = yaml.safe_load(front[1])
        except yaml.YAMLError:
            said = None
        if isinstance(said, dict) and isinstance(said.get("description"), str):
            return _line(said["description"])
        text = text[front.end() :]
    for part in re.split(r"\n\s*\n", text[:LONGEST_FRONT]):
        lines = [line for line in part.strip().splitlines() if not line.startswith("#")]
        if words := _line(" ".join(lines)):
            return words
    return ""


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_WORDS else line[:LONGEST_WORDS].rsplit(" ", 1)[0] + " …"
