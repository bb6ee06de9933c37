"""Tools for agents; ``toolbox_for`` assembles them."""

from evaluation.tools.tool import Tool, ToolError
from evaluation.tools.toolbox import Toolbox, toolbox_for
from evaluation.tools.workspace import Workspace, WorkspaceLimits

__all__ = ["Tool", "ToolError", "Toolbox", "Workspace", "WorkspaceLimits", "toolbox_for"]
