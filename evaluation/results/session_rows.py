"""Sessions of pilots as the rows that metrics take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.judging.judgings import scoring_choices
from evaluation.metrics.scores import TaskResult
from evaluation.metrics.sessions import SessionRow
from evaluation.models import Pilot, Session, SessionIntent, VerdictCorrection
from evaluation.models.sessions import ALL_TOKENS
from evaluation.protocol.modes import Arm, PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import may_be_ranked
from evaluation.results.pilot_report import load_pilot, outcome_of
from evaluation.results.scores import refresh_scores
from studio.domain.task import TaskSpec
from studio.domain.tool_names import tool_domain
from studio.models import Revision

LONGEST_TAG = 60
LABELS = {
    "category": "Category",
    "task_type": "Task type",
    "trigger": "Trigger",
    "difficulty": "Difficulty",
    "scope": "Scope of intents",
    "tools": "Apps used",
    "tag": "Tag",
}
"""What results can be broken down by, with its heading."""


@dataclass(frozen=True)
class TaskFacts:
    """What a frozen task contributes to the results of its sessions."""

    task_id: str
    title: str
    intents: int
    setup: bool
    depends_on: tuple[str, ...]
    labels: Mapping[str, str]
    hidden: tuple[IntentFacts, ...] = ()
    criteria: tuple[tuple[str, float], ...] = ()
    """Uid and weight; the keys of a grader script come after them, and weigh 1."""


@dataclass(frozen=True)
class IntentFacts:
    uid: str
    content: str
    scope: str
    provided: bool
    """From the start."""


def session_rows(pilots: Sequence[Pilot]) -> list[SessionRow]:
    """As the round that scores each pilot decided; its ``refresh_scores`` comes before. The number of queries does not
    depend on that of sessions."""
    return _rows(pilots, _sessions(Session.objects.filter(run__pilot__in=pilots).scored()) + _taken_sessions(pilots))


def rows_without_history(pilots: Sequence[Pilot]) -> list[SessionRow]:
    """Sessions of ablated tasks without their earlier sessions, which are part of no score."""
    sessions = _sessions(Session.objects.filter(run__pilot__in=pilots, run__arm=Arm.WITHOUT))
    return _rows(pilots, sessions) if sessions else []


def with_origins(pilots: Sequence[Pilot]) -> list[Pilot]:
    """Also those from which sessions were taken over."""
    return list(Pilot.objects.filter(pk__in={pilot.pk for pilot in pilots} | _origins(pilots)))


def _rows(pilots: Sequence[Pilot], sessions: Sequence[Any]) -> list[SessionRow]:
    names = agent_names(pilots)
    tasks = facts_of_tasks({row[4] for row in sessions})
    statuses = _statuses(with_origins(pilots))
    rows = []
    for key, pilot, run, persona, revision, state, ended, covered, *figures in sessions:
        compat, strict, turns, tokens, cost, unpriced, blocked = figures
        task = tasks[revision]
        rows.append(
            SessionRow(
                key=key,
                agent=names[pilot],
                persona=persona,
                run=(pilot, run),
                result=TaskResult(
                    task.task_id,
                    outcome_of(state, has_ended=ended is not None),
                    task.intents,
                    covered or 0,
                    {ScoringMode.COMPAT: compat, ScoringMode.STRICT: strict},
                    task.setup,
                    task.depends_on,
                    bool(blocked),
                ),
                labels=task.labels,
                statuses=statuses.get(key, {}),
                turns=turns,
                tokens=tokens,
                cost=float(cost),
                unpriced=unpriced,
            )
        )
    return rows


def _sessions(rows: QuerySet[Session]) -> list[Any]:
    return list(
        rows.order_by("run__pilot", "run__persona_revision__persona__position", "run__number", "position").values_list(
            "pk", "run__pilot", "run__number", "run__persona_revision__persona__user_id", "revision", "state",
            "ended_at", "covered", "comp_compat", "comp_strict", "turn_count", ALL_TOKENS, "cost", "unpriced",
            "blocked",
        )
    )  # fmt: skip


def _taken_sessions(pilots: Sequence[Pilot]) -> list[Any]:
    """As sessions of the pilots that took them over."""
    taken = dict[int, list[int]]()
    for session, pilot in _taken(pilots).values_list("session", "pilot"):
        taken.setdefault(session, []).append(pilot)
    if not taken:
        return []
    refresh_scores(Pilot.objects.filter(pk__in=_origins(pilots)))  # what each session came to is read from its row
    rows = _sessions(Session.objects.filter(pk__in=taken))
    return [(key, pilot, *row) for key, _, *row in rows for pilot in taken[key]]


def _taken(pilots: Sequence[Pilot]) -> QuerySet[Any]:
    return Pilot.taken_sessions.through.objects.filter(pilot__in=pilots)


def _origins(pilots: Sequence[Pilot]) -> set[int]:
    return set(_taken(pilots).values_list("session__run__pilot", flat=True))


def agent_names(pilots: Collection[Pilot]) -> dict[int, str]:
    """By pilot: its agent's name; where one name stood for several models, the model as well; the mode, unless it ran
    whole episodes; and where pilots ran under different terms, these: results of different ones are never one line."""
    frozen = {pilot.pk: (pilot.agent_name, pilot.endpoint("agent").model) for pilot in pilots}
    models: dict[str, set[str]] = defaultdict(set)
    for name, model in frozen.values():
        models[name].add(model)
    modes = {pilot.pk: "" if pilot.mode == PilotMode.EPISODE else f" · {pilot.mode}" for pilot in pilots}
    terms = {} if may_be_ranked(pilot.terms for pilot in pilots) else {row.pk: _terms(row, pilots) for row in pilots}
    return {
        pk: (name if len(models[name]) == 1 else f"{name} ({model})") + modes[pk] + terms.get(pk, "")
        for pk, (name, model) in frozen.items()
    }


def _terms(pilot: Pilot, among: Collection[Pilot]) -> str:
    loops = {other.agent_loop for other in among if other.protocol == pilot.protocol}
    return f" · {pilot.protocol}" + (f", loop {pilot.agent_loop}" if len(loops) > 1 else "")


def facts_of_tasks(revisions: Iterable[int]) -> dict[int, TaskFacts]:
    specs = Revision.objects.filter(pk__in=set(revisions)).values_list("pk", "spec")
    return {pk: facts_of_task(TaskSpec.model_validate(spec)) for pk, spec in specs}


def facts_of_task(task: TaskSpec) -> TaskFacts:
    scopes = {intent.scope for intent in task.intents}
    difficulty = task.metadata.get("difficulty", "")
    return TaskFacts(
        task.task_id,
        task.title,
        len(task.intents),
        task.is_setup,
        tuple(dependency.task_id for dependency in task.depends_on),
        {
            "category": task.category,
            "task_type": task.task_type,
            "trigger": task.trigger.kind,
            "difficulty": difficulty if isinstance(difficulty, str) else "",
            "scope": "mixed" if len(scopes) > 1 else next(iter(scopes), ""),
            "tools": "\n".join(sorted(_apps(task))),
            "tag": "\n".join(sorted(_tags(task))),
        },
        tuple(
            IntentFacts(intent.uid, intent.content, intent.scope, intent.initial_status == "provided")
            for intent in task.intents
        ),
        tuple((item.uid, item.weight) for item in task.scored_items),
    )


def _apps(task: TaskSpec) -> set[str]:
    """That the task names tools of: as needed, or as evidence for judges."""
    names = (*task.tools, *(entry.tool for entry in task.tool_evidence))
    return {tool_domain(name) for name in names if "__" in name}


def _tags(task: TaskSpec) -> set[str]:
    """Short texts in its metadata, also in lists: ``tags`` as they are, others behind their key."""
    tags = set()
    for key, value in task.metadata.items():
        if key != "difficulty":
            texts = value if isinstance(value, list) else [value]
            tags |= {
                text if key == "tags" else f"{key}: {text}"
                for text in texts
                if isinstance(text, str) and 0 < len(text) <= LONGEST_TAG and "\n" not in text
            }
    return tags


def _statuses(pilots: Sequence[Pilot]) -> dict[int, dict[str, int]]:
    """By session. As the conversations recorded them, unless another round scores or people corrected a verdict."""
    anew = judged_anew(pilots)
    statuses = _recorded_statuses([pilot for pilot in pilots if pilot.pk not in anew])
    for pilot in pilots:
        if pilot.pk in anew:
            for session, judged in load_pilot(pilot).judged.items():
                statuses[session] = dict(Counter(status.status for status in judged.statuses.values()))
    return statuses


def judged_anew(pilots: Sequence[Pilot]) -> set[int]:
    """Pilots whose intents may have ended otherwise than the conversations recorded."""
    corrected = VerdictCorrection.objects.filter(verdict__judging__round__pilot__in=pilots).order_by()
    anew = set(corrected.values_list("verdict__judging__round__pilot", flat=True))
    return anew | {pk for pk, choice in scoring_choices(pilots).items() if choice.round.number > 1}


def _recorded_statuses(pilots: Sequence[Pilot]) -> dict[int, dict[str, int]]:
    counted: Any = (
        SessionIntent.objects.filter(session__run__pilot__in=pilots)
        .order_by()
        .values_list("session", "status")
        .annotate(number=Count("pk"))
    )
    statuses: dict[int, dict[str, int]] = defaultdict(dict)
    for session, status, number in counted:
        statuses[session][status] = number
    return statuses
