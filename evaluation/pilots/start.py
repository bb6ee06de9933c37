"""Starting a pilot: which tasks run, at which revisions, with which limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import Max

from evaluation.judging.judgings import open_first_round
from evaluation.leases import wake_workers
from evaluation.models import ModelEndpoint, Pilot, Run, Session
from evaluation.models.agents import REACT, freeze_agent
from evaluation.models.endpoints import freeze_endpoint
from evaluation.models.pilots import ROLES
from evaluation.pilots.agents import agent_of, validate_agent
from evaluation.pilots.budgets import BudgetError, benchmark_limits, validate_budgets
from evaluation.pilots.plans import APPROVED, PersonaPlan, PilotError, plan_pilot, said_in_requests
from evaluation.pilots.warnings import warnings_before, with_tools_in_reach
from evaluation.protocol.modes import PilotMode
from evaluation.protocol.session import MAX_TURNS
from evaluation.protocol.versions import PROTOCOLS, ProtocolName, Terms
from evaluation.protocol.voice import UserStyle, freeze_user, usual_style
from studio.models import Benchmark, Event, User
from studio.models.transactions import atomic_with_retry

MAX_RUNS = 20
BATCH = 1_000
"""Rows inserted by one statement."""
IDENTITY = ("base_url", "model", "api", "dialect", "effort", "params")
"""Of a model: with another value of one of them, results stand apart."""
LIMITS: dict[str, float] = {"turns": MAX_TURNS, "turn_seconds": 2400, "tool_calls": 200, "tokens": 2_000_000, "cost": 0}
"""Per session; 0 means no limit. ``tool_calls`` is per turn, ``cost`` is in US dollars."""


@atomic_with_retry
def start_pilot(
    benchmark: Benchmark,
    *,
    by: User | None,
    agent: ModelEndpoint,
    user_model: ModelEndpoint,
    judge: ModelEndpoint,
    persona: str = "",
    tasks: Sequence[str] = (),
    kind: str = REACT,
    params: Mapping[str, str] | None = None,
    protocol: ProtocolName | str = ProtocolName.PAPER,
    user_style: str = "",
    mode: PilotMode | str = PilotMode.EPISODE,
    base: Pilot | None = None,
    runs: int = 1,
    limits: Mapping[str, float] | None = None,
    budgets: Mapping[str, Mapping[str, float]] | None = None,
    accept_warnings: bool = False,
) -> Pilot:
    """Create a pilot over the newest revisions and wake the workers. Raises PilotError.

    ``kind`` and ``params`` say what the agent does with its model. ``user_style``: that of the protocol by default.

    Dependencies of the chosen tasks run too, earlier and in the same workspace. Where sessions of ``base`` are taken
    over, runs, limits and protocol are those of ``base``.
    """
    if not 1 <= runs <= MAX_RUNS:
        raise PilotError("runs", f"Choose between 1 and {MAX_RUNS} runs.")
    if protocol not in PROTOCOLS:
        raise PilotError("protocol", f"There is no protocol “{protocol}”; there are {', '.join(PROTOCOLS)}.")
    terms = base.terms if base else Terms.current(protocol)
    all_limits = _validate_limits(limits or {})
    try:
        all_budgets = validate_budgets(budgets or {})
    except BudgetError as error:
        raise PilotError(error.field, str(error)) from error
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    plans = plan_pilot(benchmark, mode, persona, tasks, base)
    endpoints = {"agent": agent, "user_model": user_model, "judge": judge}
    for part, endpoint in endpoints.items():
        if endpoint.benchmark_id not in (None, benchmark.pk):
            raise PilotError(part, f"“{endpoint}” belongs to another benchmark.")
    configured = agent_of(agent, kind, with_tools_in_reach(kind, params or {}, plans))
    validate_agent(configured, plans)
    all_that_hold = (all_limits, *all_budgets.values(), benchmark_limits(benchmark.pk))
    if not accept_warnings and (found := warnings_before(endpoints, plans, configured.params, all_that_hold)):
        raise PilotError("accept_warnings", " ".join((*found, "Accept this to start anyway.")))
    config = {role: freeze_endpoint(endpoint) for role, endpoint in endpoints.items()}
    config["agent_kind"] = freeze_agent(configured)
    config["user"] = _frozen_user(user_style or (base.user_style if base else ""), user_model, terms.protocol)
    config["said_in_requests"] = said_in_requests(plans)
    if base is not None:
        _validate_same(base, config)
        runs, all_limits = base.runs_wanted, base.limits
    number = (benchmark.pilots.aggregate(last=Max("number"))["last"] or 0) + 1
    pilot = Pilot.objects.create(
        benchmark=benchmark,
        number=number,
        **endpoints,
        configured_agent=configured,
        mode=mode,
        protocol=terms.protocol,
        agent_loop=terms.agent_loop,
        base=base,
        runs_wanted=runs,
        limits=all_limits,
        budgets=all_budgets,
        config=config,
        scripted=any(endpoint.scripted for endpoint in endpoints.values()),
        drafts=any(plan.tasks[name][0].state not in APPROVED for plan in plans for name in plan.positions),
        created_by=by,
    )
    open_first_round(pilot, by)
    _create_sessions(pilot, plans)
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="piloted",
        summary=f"Started pilot {number}.",  # the agent is closed to auditors of the pilot
        data={"pilot": pilot.pk},
    )
    wake_workers()
    return pilot


def _create_sessions(pilot: Pilot, plans: Sequence[PersonaPlan]) -> None:
    planned = [
        (plan, chain, Run(pilot=pilot, persona_revision=plan.persona, number=k, chain=at, arm=chain.arm))
        for plan in plans
        for k in range(1, pilot.runs_wanted + 1)
        for at, chain in enumerate(plan.plan.chains, start=1)
    ]
    for plan, chain, run in planned:
        run.start = plan.start_of(chain, run.number)
    Run.objects.bulk_create((run for _, _, run in planned), batch_size=BATCH)
    sessions = [
        Session(
            run=run,
            revision=plan.revision(name),
            position=plan.positions[name],
            content=plan.contents[name],
            intent_count=len(plan.revision(name).spec.get("intents", ())),
        )
        for plan, chain, run in planned
        for name in chain.tasks
    ]
    Session.objects.bulk_create(sessions, batch_size=BATCH)
    taken = [session for plan in plans if plan.base is not None for session in plan.base.taken(plan.plan.taken)]
    if taken:
        pilot.taken_sessions.add(*taken)


def _frozen_user(style: str, model: ModelEndpoint, protocol: ProtocolName) -> dict[str, object]:
    style = style or usual_style(protocol, scripted=model.scripted)
    if style not in list(UserStyle):
        raise PilotError("user_style", f"There is no style “{style}”; there are {', '.join(UserStyle)}.")
    if style == UserStyle.IN_VOICE and model.scripted:
        raise PilotError("user_style", "A scripted model says everything verbatim. Choose another user model.")
    return freeze_user(style, protocol)


def _validate_same(base: Pilot, config: Mapping[str, Mapping[str, object]]) -> None:
    """Sessions that ran differently cannot stand side by side as one pilot."""
    agent = base.agent_kind
    if (agent.kind, agent.params) != (config["agent_kind"]["kind"], config["agent_kind"]["params"]):
        raise PilotError("kind", f"Pilot {base.number} ran with “{base.agent_name}”; take the same.")
    if (base.config.get("user") or freeze_user(UserStyle.VERBATIM, base.terms.protocol)) != config["user"]:
        raise PilotError("user_style", f"The user of pilot {base.number} spoke otherwise; take the same style.")
    for role in ROLES:
        frozen, before = config[role], base.config.get(role) or {}
        if any(before.get(key) != frozen[key] for key in IDENTITY):
            raise PilotError(role, f"Pilot {base.number} ran with “{before.get('name')}”; take the same, unchanged.")


def _validate_limits(given: Mapping[str, float]) -> dict[str, float]:
    for name, value in given.items():
        if name not in LIMITS:
            raise PilotError("limits", f"There is no limit “{name}”; there are {', '.join(LIMITS)}.")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise PilotError("limits", f"The limit “{name}” is not a number from 0 up.")
    limits = LIMITS | dict(given)
    if not 1 <= limits["turns"] <= MAX_TURNS:
        raise PilotError("limits", f"A session can have between 1 and {MAX_TURNS} turns.")
    return limits
