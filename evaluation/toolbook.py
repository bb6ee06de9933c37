"""What the tools do that agents are given here, for the pages of authoring."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from evaluation.tools import Workspace
from evaluation.tools.files import workspace_tools
from studio.toolbook import register_tool_book


@cache
def tool_functions() -> dict[str, str]:
    return {tool.name: tool.description for tool in workspace_tools(Workspace(Path()))}


def register_tools() -> None:
    register_tool_book(tool_functions)
