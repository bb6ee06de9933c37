"""Tools of the servers that a persona binds, for agents."""

from evaluation.tools.mcp.servers import BoundServer, ServerTools
from evaluation.tools.toolbox import MoreTools

__all__ = ["BoundServer", "MoreTools", "ServerTools"]
