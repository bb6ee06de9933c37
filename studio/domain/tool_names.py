"""Names of tools. Published benchmarks write those of simulated apps with and without a prefix."""

from __future__ import annotations

APP_PREFIX = "mcp_appworld_"
WORKSPACE = "workspace"
"""Domain of tools without an application: files, commands, the web."""


def bare_tool_name(tool: str) -> str:
    return tool.strip().removeprefix(APP_PREFIX)


def tool_domain(tool: str) -> str:
    """The application a tool belongs to: ``gmail`` of ``gmail__show_draft``."""
    app, separator, _ = bare_tool_name(tool).partition("__")
    return app if separator else WORKSPACE


def tool_label(tool: str) -> str:
    label = bare_tool_name(tool).rpartition("__")[2].replace("_", " ").strip()
    return label[:1].upper() + label[1:]
