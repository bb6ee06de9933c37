"""Tools for agents; ``toolbox_for`` assembles them."""

from evaluation.tools.apps import AppDataError, World
from evaluation.tools.tool import Tool, ToolError
from evaluation.tools.toolbox import Toolbox, toolbox_for
from evaluation.tools.workspace import Workspace, WorkspaceLimits

__all__ = ["AppDataError", "Tool", "ToolError", "Toolbox", "Workspace", "WorkspaceLimits", "World", "toolbox_for"]
