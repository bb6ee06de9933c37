"""The agent of a pilot: chosen by kind, parameters and model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.agents.kinds import all_kinds, is_informed, parameter_problem
from evaluation.models import Agent, ModelEndpoint
from evaluation.models.agents import REACT
from evaluation.pilots.plans import PersonaPlan
from studio.domain.options import OptionsError
from studio.models import Benchmark


def kind_choices() -> list[tuple[str, str]]:
    """Each kind with a sentence on it."""
    return [(name, kind.sentence) for name, kind in all_kinds().items()]


@dataclass(frozen=True)
class KindParameter:
    name: str
    sentence: str
    choices: tuple[str, ...] = ()
    """The first is what it is without."""
    is_number: bool = False


def kind_parameters() -> dict[str, list[KindParameter]]:
    """Of each kind that has any."""
    return {
        kind: [
            KindParameter(name, sentence, known.choices.get(name, ()), name in known.numbers)
            for name, sentence in known.parameters.items()
        ]
        for kind, known in all_kinds().items()
        if known.parameters
    }


def agent_of(endpoint: ModelEndpoint, kind: str = REACT, params: Mapping[str, str] | None = None) -> Agent:
    """The row, made if there is none yet. Raises OptionsError."""
    params = {name: value for name, value in (params or {}).items() if value != ""}
    known = all_kinds().get(kind)
    if known is None:
        raise OptionsError("kind", f"There is no agent “{kind}”; there are {', '.join(all_kinds())}.")
    for name, value in params.items():
        if not isinstance(value, str):
            raise OptionsError("params", f"The parameter “{name}” must be text.")
        if problem := parameter_problem(known, name, value):
            raise OptionsError("params", problem)
    name = endpoint.name if kind == REACT and not params else f"{endpoint.name} · {kind}"
    defaults: dict[str, Any] = {"name": lambda: _free_name(name)}
    row, _ = Agent.objects.get_or_create(kind=kind, params=params, endpoint=endpoint, defaults=defaults)
    if not row.name.startswith(endpoint.name):  # the model was renamed; pilots keep the name they ran with
        row.name = _free_name(name)
        row.save(update_fields=["name"])
    return row


def find_agent(benchmark: Benchmark, name: str) -> Agent | None:
    """One that is more than its model alone."""
    rows = Agent.objects.filter(endpoint__in=ModelEndpoint.objects.usable_in(benchmark)).select_related("endpoint")
    found = rows.filter(name=name).first()
    return found if found and (found.kind, found.params) != (REACT, {}) else None


def validate_agent(agent: Agent, plans: list[PersonaPlan]) -> None:
    """Raises OptionsError if it cannot work on one of the tasks."""
    if not is_informed(agent.kind):
        return
    for plan in plans:
        for name in plan.plan.sessions:
            if not str(plan.revision(name).spec.get("reference_workflow") or "").strip():
                raise OptionsError(
                    "kind",
                    f"“{name}” has no reference workflow, which the {agent.kind} needs. Write one in the task, or "
                    "choose tasks that have one.",
                )


def _free_name(name: str) -> str:
    taken = set(Agent.objects.filter(name__startswith=name).values_list("name", flat=True))
    candidates = (name if number == 1 else f"{name} {number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)
