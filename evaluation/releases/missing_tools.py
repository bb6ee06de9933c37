"""Tasks that need a tool which no agent gets here: their pilots prove nothing."""

from __future__ import annotations

from collections.abc import Mapping

from studio.domain.tool_catalog import tool_cards
from studio.models import Benchmark, TaskState, TaskSummary


def missing_tools(benchmark: Benchmark) -> Mapping[int, tuple[str, ...]]:
    """The tools that are named by a task and stand for nothing, by task key."""
    rows = (
        TaskSummary.objects.filter(persona__benchmark=benchmark)
        .exclude(state=TaskState.RETIRED)
        .exclude(tools=[])
        .order_by()
        .values_list("pk", "tools")
    )
    named = dict(rows)
    known = {
        card.name for card in tool_cards(sorted({name for names in named.values() for name in names}))[1] if card.known
    }
    lacking = {pk: tuple(name for name in names if name not in known) for pk, names in named.items()}
    return {pk: names for pk, names in lacking.items() if names}
