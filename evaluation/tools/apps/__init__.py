"""Simulated apps (mail, shop, to-do list, …), one module each.

A persona binds tools by name, ``<app>__<api>`` or ``mcp_appworld_<app>__<api>``.
"""

from evaluation.tools.apps.framework.errors import AppDataError
from evaluation.tools.apps.offer import bound_tools, usable_names
from evaluation.tools.apps.world import World, describe, differences

__all__ = ["AppDataError", "World", "bound_tools", "describe", "differences", "usable_names"]
