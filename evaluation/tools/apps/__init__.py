"""Simulated apps (mail, shop, to-do list, …), one folder each.

A persona binds tools by name, ``<app>__<api>``. Unimplemented ones are not offered to the agent.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.tools.tool import Tool


def bound_tools(names: Iterable[str]) -> list[Tool]:
    """The implemented tools among ``names``, in order; none is implemented yet."""
    return []
