"""What agents outside of the studio get of it: the simulated apps, over the Model Context Protocol."""

from evaluation.tools import AppDataError
from evaluation.tools.mcp.apps_server import PATH, app_tool_names, build_server, http_app, serve_stdio, without_prefix

__all__ = ["PATH", "AppDataError", "app_tool_names", "build_server", "http_app", "serve_stdio", "without_prefix"]
