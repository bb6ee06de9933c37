"""Tasks that need a tool which no agent gets here: their pilots prove nothing."""

from __future__ import annotations

from collections.abc import Mapping, Set

from studio.domain.tool_catalog import tool_cards
from studio.drafts.load import load_episodes
from studio.models import Benchmark, Persona, Task, TaskState
from studio.personas.tool_servers import server_cards
from studio.reports.statistics import named_tools


def missing_tools(benchmark: Benchmark) -> Mapping[int, tuple[str, ...]]:
    """The tools that are named by a task and stand for nothing, by task key."""
    names = named_tools(benchmark)
    known = {card.name for card in tool_cards(names)[1] if card.known} if names else set()
    unknown = [name for name in names if name not in known]
    if not unknown:
        return {}
    rows = (
        Task.objects.filter(persona__benchmark=benchmark)
        .exclude(state=TaskState.RETIRED)
        .filter(tools_named__overlap=unknown)
        .order_by()
        .values_list("pk", "tools_named", "persona")
    )
    tasks = list(rows)
    served = _served({persona for _, _, persona in tasks})
    lacking = {
        pk: tuple(name for name in names if name not in known and name not in served.get(persona, ()))
        for pk, names, persona in tasks
    }
    return {pk: names for pk, names in lacking.items() if names}


def _served(personas: Set[int]) -> Mapping[int, Set[str]]:
    """The tools of servers that agents get, by persona."""
    episodes = load_episodes(Persona.objects.filter(pk__in=personas), with_tasks=False)
    return {
        pk: {card.name for card in server_cards(episode.persona) if not card.lacking}
        for pk, episode in episodes.items()
    }
