"""Tools an agent can be given: their schemas, and what they do. ``toolbox_for`` is where they come from."""

from evaluation.tools.tool import Tool, ToolError
from evaluation.tools.toolbox import Toolbox, toolbox_for
from evaluation.tools.workspace import Workspace, WorkspaceLimits

__all__ = ["Tool", "ToolError", "Toolbox", "Workspace", "WorkspaceLimits", "toolbox_for"]
