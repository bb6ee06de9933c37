"""Starting a pilot: which tasks run, at which revisions, with which limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from pydantic import Field

from evaluation.audits.blindness import closed_pilots
from evaluation.endpoints.connection import find_model
from evaluation.engine.budgets import validate_budgets
from evaluation.engine.plan import LIMITS, session_limits
from evaluation.judging.judgings import create_pilot
from evaluation.leases import wake_workers
from evaluation.models import ModelEndpoint, Pilot, Run, Session
from evaluation.models.agents import REACT, freeze_agent
from evaluation.models.endpoints import IDENTITY, freeze_endpoint
from evaluation.models.pilots import ROLES
from evaluation.pilots.agents import agent_of, find_agent, validate_agent
from evaluation.pilots.budgets import benchmark_limits
from evaluation.pilots.plans import PersonaPlan, plan_pilot, said_in_requests
from evaluation.pilots.warnings import params_in_reach, warnings_before
from evaluation.protocol.modes import TEXTS, PilotMode
from evaluation.protocol.versions import PROTOCOLS, ProtocolName, Terms
from evaluation.protocol.voice import STYLES, USUAL_STYLE, UserStyle, freeze_user, usual_style
from evaluation.runner.document import MAX_RUNS
from studio.domain.options import Options, OptionsError
from studio.models import Benchmark, Task, TaskState, User
from studio.models.tasks import APPROVED
from studio.models.transactions import atomic_with_retry

BATCH = 1_000
"""Rows inserted by one statement."""


class PilotOptions(Options):
    agent: str
    """A model, or an agent that a pilot ran with before."""
    user_model: str = ""
    """Plays the user and marks intents as met. Default: scripted-user for a scripted agent, else STUDIO_USER_MODEL."""
    judge: str = ""
    """Judges the checklist. Default: scripted-judge for a scripted agent, else STUDIO_JUDGE."""
    kind: str = Field(default=REACT, title="Kind of agent")
    """What the agent does with its model."""
    params: dict[str, str] = Field(default_factory=dict)
    """Parameters of the kind."""
    protocol: ProtocolName = Field(
        default=ProtocolName.PAPER,
        description=" ".join(f"{name.capitalize()}: {text}" for name, text in PROTOCOLS.items())
        + " Pilots of different protocols are never ranked together.",
    )
    user_style: UserStyle | None = Field(
        default=None,
        title="The user speaks",
        description=" ".join((f"{USUAL_STYLE}.", *(f"{style.capitalize()}: {text}" for style, text in STYLES.items()))),
    )
    mode: PilotMode = Field(
        default=PilotMode.EPISODE,
        description=" ".join(f"{mode.capitalize()}: {text.sentence} {text.cost}" for mode, text in TEXTS.items()),
    )
    base: int | None = Field(default=None, ge=1, le=2**31 - 1, title="Take over from")
    """With the mode “changed”: the number of the pilot whose other sessions are taken over. Participants must be the
    same; runs, limits and protocol are those of that pilot."""
    persona: str = Field(default="", title="Episode")
    """Of this persona alone, by its user id."""
    tasks: list[str] = Field(default_factory=list)
    """Only these, by their ids. Dependencies of selected tasks run first."""
    runs: int = Field(default=1, ge=1, le=MAX_RUNS)
    """Runs per episode; the paper uses 3 and reports mean and deviation."""
    limits: dict[str, float] = Field(
        default_factory=dict, description=f"Of a session: {', '.join(LIMITS)}; 0 means no limit."
    )
    budgets: dict[str, dict[str, float]] = Field(default_factory=dict)
    """`{"pilot": {"tokens": …, "calls": …, "cost": …}, "session": {…}}`; 0 means no limit."""
    accept_warnings: bool = Field(default=False, title="Start anyway")
    """Start although a model failed its test, or there are more tools than it takes."""


@dataclass(frozen=True)
class Participants:
    """The rows that options name."""

    endpoints: Mapping[str, ModelEndpoint]
    kind: str
    params: Mapping[str, str]
    base: Pilot | None
    """Of which sessions are taken over."""


def find_participants(benchmark: Benchmark, options: PilotOptions, by: User | None) -> Participants:
    """Raises OptionsError."""
    agent, known = ModelEndpoint.objects.usable_in(benchmark).filter(name=options.agent).first(), None
    if agent is None and "kind" not in options.model_fields_set and (known := find_agent(benchmark, options.agent)):
        agent = known.endpoint
    agent = agent or find_model(benchmark, options.agent, "agent")
    user, judge = ("user", "judge") if agent.scripted else (settings.DEFAULT_USER_MODEL, settings.DEFAULT_JUDGE)
    prefix = "scripted-" if agent.scripted else ""
    endpoints: dict[str, ModelEndpoint] = {
        "agent": agent,
        "user_model": find_model(benchmark, options.user_model or f"{prefix}{user}", "user_model"),
        "judge": find_model(benchmark, options.judge or f"{prefix}{judge}", "judge"),
    }
    base = None
    if options.base is not None:
        base = benchmark.pilots.filter(number=options.base).exclude(pk__in=closed_pilots(by)).first()
        if base is None:
            raise OptionsError("base", f"There is no pilot {options.base} here.")
    kind, params = (known.kind, known.params) if known else (options.kind, options.params)
    return Participants(endpoints, kind, params, base)


@atomic_with_retry
def start_pilot(benchmark: Benchmark, options: PilotOptions, *, by: User | None) -> Pilot:
    """Create a pilot over the newest revisions and wake the workers. Raises OptionsError.

    Dependencies of the chosen tasks run too, earlier and in the same workspace. Where sessions of another pilot are
    taken over, runs, limits and protocol are those of that pilot.
    """
    all_limits = session_limits(options.limits)
    all_budgets = validate_budgets(options.budgets)
    chosen = find_participants(benchmark, options, by)
    endpoints, base, runs = chosen.endpoints, chosen.base, options.runs
    terms = base.terms if base else Terms.current(options.protocol)
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    plans = plan_pilot(benchmark, options.mode, options.persona, options.tasks, base)
    configured = agent_of(endpoints["agent"], chosen.kind, params_in_reach(chosen.kind, chosen.params, plans))
    validate_agent(configured, plans)
    all_that_hold = (all_limits, *all_budgets.values(), benchmark_limits(benchmark.pk))
    if not options.accept_warnings and (found := warnings_before(endpoints, plans, configured.params, all_that_hold)):
        raise OptionsError("accept_warnings", " ".join((*found, "Accept this to start anyway.")))
    config = {role: freeze_endpoint(endpoint) for role, endpoint in endpoints.items()}
    config["agent_kind"] = freeze_agent(configured)
    config["user"] = _frozen_user(
        options.user_style or (base.user_style if base else ""), endpoints["user_model"], terms.protocol
    )
    config["said_in_requests"] = said_in_requests(plans)
    if base is not None:
        _validate_same(base, config)
        runs, all_limits = base.runs_wanted, base.limits
    pilot = create_pilot(
        benchmark,
        by,
        **endpoints,
        configured_agent=configured,
        mode=options.mode,
        protocol=terms.protocol,
        agent_loop=terms.agent_loop,
        base=base,
        runs_wanted=runs,
        limits=all_limits,
        budgets=all_budgets,
        config=config,
        scripted=any(endpoint.scripted for endpoint in endpoints.values()),
        drafts=any(plan.tasks[name][0].state not in APPROVED for plan in plans for name in plan.positions),
    )
    _create_sessions(pilot, plans)
    pilot.record("piloted", f"Started pilot {pilot.number}.", by)
    wake_workers()
    return pilot


def options_of(pilot: Pilot) -> PilotOptions:
    """With which another pilot of the same settings starts, on the tasks as they are then."""
    kind, frozen = pilot.agent_kind, pilot.config.get("user") or {}
    played = Session.objects.of(pilot).values("revision__task")
    placed = Task.objects.filter(persona__benchmark=pilot.benchmark_id, position__isnull=False)
    chosen = placed.filter(pk__in=played).order_by("persona__position", "position")
    is_all = not placed.exclude(state=TaskState.RETIRED).exclude(pk__in=played).exists()
    return PilotOptions(
        agent=pilot.agent.name,
        user_model=pilot.user_model.name,
        judge=pilot.judge.name,
        kind=kind.kind,
        params=dict(kind.params),
        protocol=ProtocolName(pilot.protocol),
        user_style=UserStyle(frozen["style"]) if "style" in frozen else None,
        mode=PilotMode(pilot.mode),
        base=pilot.base.number if pilot.base else None,
        tasks=[] if is_all else list(chosen.values_list("task_id", flat=True)),
        runs=pilot.runs_wanted,
        limits=dict(pilot.limits),
        budgets=dict(pilot.budgets),
    )


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
    if style == UserStyle.IN_VOICE and model.scripted:
        raise OptionsError("user_style", "A scripted model says everything verbatim. Choose another user model.")
    return freeze_user(style, protocol)


def _validate_same(base: Pilot, config: Mapping[str, Mapping[str, object]]) -> None:
    """Sessions that ran differently cannot stand side by side as one pilot."""
    agent = base.agent_kind
    if (agent.kind, agent.params) != (config["agent_kind"]["kind"], config["agent_kind"]["params"]):
        raise OptionsError("kind", f"Pilot {base.number} ran with “{base.agent_name}”; take the same.")
    if (base.config.get("user") or freeze_user(UserStyle.VERBATIM, base.terms.protocol)) != config["user"]:
        raise OptionsError("user_style", f"The user of pilot {base.number} spoke otherwise; take the same style.")
    for role in ROLES:
        frozen, before = config[role], base.config.get(role) or {}
        if any(before.get(key) != frozen[key] for key in IDENTITY):
            raise OptionsError(role, f"Pilot {base.number} ran with “{before.get('name')}”; take the same, unchanged.")
