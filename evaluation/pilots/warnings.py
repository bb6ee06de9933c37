"""What speaks against a pilot before it starts: models that failed a test, too many tools, dollars nobody can count,
tasks that cannot be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evaluation.agents import reachable_names
from evaluation.agents.react import BY_SEARCH, with_tools_in_reach
from evaluation.endpoints.services import service_at
from evaluation.endpoints.testing import failures_for
from evaluation.endpoints.tryout import CHECKS, SEATS, Line
from evaluation.models import ModelEndpoint
from evaluation.models.agents import REACT
from evaluation.pilots.plans import PersonaPlan
from evaluation.protocol.modes import RunPlan, Start
from evaluation.workspaces.prospects import Prospect, prospects
from evaluation.workspaces.told_earlier import sentence_of
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.phrases import count_of, quoted_titles
from studio.domain.task import TaskSpec
from studio.models import Blob

SHOWN = 3
"""Reasons that are given, and tasks that are named for each."""


def params_in_reach(kind: str, params: Mapping[str, str], plans: Sequence[PersonaPlan]) -> Mapping[str, str]:
    """The parameters of the agent: the built-in one looks for tools where there are too many to show."""
    return with_tools_in_reach(params, max(_most_tools(plans).values(), default=0)) if kind == REACT else params


def warnings_before(
    endpoints: Mapping[str, ModelEndpoint],
    plans: Sequence[PersonaPlan],
    params: Mapping[str, str],
    limits: Iterable[Mapping[str, float]] = (),
) -> list[str]:
    """As sentences. ``endpoints`` by seat; ``params`` are those of the agent's kind; ``limits`` are all that hold for
    the pilot."""
    failed: dict[tuple[str, Line], list[str]] = {}
    for seat, endpoint in endpoints.items():
        for line in failures_for(endpoint, seat):
            failed.setdefault((endpoint.label, line), []).append(SEATS[seat])
    found = [
        f"{label} failed its test as {' and '.join(seats)}: “{CHECKS[line.name].label}”, {line.word}. {line.advice}"
        for (label, line), seats in failed.items()
    ]
    if any(limit.get("cost") for limit in limits):
        unpriced = {
            each.label
            for each in endpoints.values()
            if not each.scripted and None in (each.input_price, each.output_price)
        }
        found += [
            f"{label} has no price: a limit in dollars stops it only if its service tells what each call cost. Enter "
            "its prices, or set a limit of tokens."
            for label in sorted(unpriced)
        ]
    service = service_at(endpoints["agent"].base_url)
    if service and service.max_tools and params.get("tools") != BY_SEARCH:
        found += [
            f"{persona} has {number} tools in one task; {service.name} takes at most {service.max_tools}. Bind fewer, "
            "or let the agent find its tools by search."
            for persona, number in _most_tools(plans).items()
            if number > service.max_tools
        ]
    found += [sentence for plan in plans if (sentence := _impossible(plan))]
    return [sentence.strip() for sentence in found]


def _impossible(plan: PersonaPlan) -> str:
    """The tasks of a persona that cannot be done, with reasons, the most frequent first."""
    persona = PersonaSpec.model_validate(plan.persona.spec)
    tasks = tuple(TaskSpec.model_validate(revision.spec) for _, revision in plan.tasks.values())
    episode = EpisodeSpec(episode_id=persona.user_id, persona=persona, tasks=tasks)
    planned = prospects(episode, Blob.objects.read, set(plan.plan.sessions))
    lacking = [(each.task, found) for each in planned if (found := [*_obstacles(each, plan.plan)])]
    if not lacking:
        return ""
    tasks_by_obstacle: dict[str, list[str]] = {}
    for task, found in lacking:
        for obstacle in found:
            tasks_by_obstacle.setdefault(obstacle, []).append(task.title.strip() or task.task_id)
    ranked = sorted(tasks_by_obstacle.items(), key=lambda row: -len(row[1]))
    shown = [f"{quoted_titles(names, SHOWN)}: {obstacle}" for obstacle, names in ranked[:SHOWN]]
    more = f" And {count_of(len(ranked) - SHOWN, 'other reason')}." if len(ranked) > SHOWN else ""
    count = f"{len(lacking)} of {count_of(len(planned), 'task')} of {plan.persona.persona} cannot be done"
    return f"{count}. {' '.join(shown)}{more} The persona’s page “Can this be done?” shows the calls."


def _obstacles(prospect: Prospect, plan: RunPlan) -> Iterator[str]:
    yield from (obstacle.sentence for obstacle in prospect.obstacles)
    name = prospect.task.task_id
    for chain in (chain for chain in plan.chains if name in chain.tasks):
        before = {*chain.tasks[: chain.tasks.index(name)], *(plan.taken if chain.start != Start.INITIAL else ())}
        if untold := [told for told in prospect.told_earlier if not told.is_held(before)]:
            yield sentence_of(untold)
            return


def _most_tools(plans: Sequence[PersonaPlan]) -> dict[str, int]:
    """By persona."""
    most: dict[str, int] = {}
    for plan in plans:
        persona = PersonaSpec.model_validate(plan.persona.spec)
        tasks = [plan.revision(name).spec.get("tools") or () for name in plan.plan.sessions]
        most[str(plan.persona.persona)] = max(
            (len(reachable_names(persona.tools, tools)) for tools in tasks), default=0
        )
    return most
