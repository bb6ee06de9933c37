"""Simulated apps (mail, shop, to-do list, …): one folder each.

A persona binds tools by name, ``<app>__<api>``. ``bound`` gives those that are built; the others are not
offered to the agent.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.tools.tool import Tool


def bound(names: Iterable[str]) -> list[Tool]:
    """The tools behind the names a persona binds, in their order; none is built yet."""
    return []
