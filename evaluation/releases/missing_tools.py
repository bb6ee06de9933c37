"""Tasks that need a tool which no agent gets here: their pilots prove nothing."""

from __future__ import annotations

from collections.abc import Mapping

from studio.domain.tool_catalog import tool_cards
from studio.models import Benchmark, TaskState, TaskSummary
from studio.reports.statistics import named_tools


def missing_tools(benchmark: Benchmark) -> Mapping[int, tuple[str, ...]]:
    """The tools that are named by a task and stand for nothing, by task key."""
    names = named_tools(benchmark)
    known = {card.name for card in tool_cards(names)[1] if card.known} if names else set()
    unknown = [name for name in names if name not in known]
    if not unknown:
        return {}
    rows = (
        TaskSummary.objects.filter(persona__benchmark=benchmark)
        .exclude(state=TaskState.RETIRED)
        .filter(tools__overlap=unknown)
        .order_by()
        .values_list("pk", "tools")
    )
    return {pk: tuple(name for name in names if name not in known) for pk, names in rows}
