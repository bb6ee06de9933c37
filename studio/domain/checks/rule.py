"""Rules: named functions that inspect a task within its episode and yield flaws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, TypeVar, cast

from studio.domain.checks.opinions import Opinion
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding, Severity
from studio.domain.fixes import Fix
from studio.domain.graders import GraderReport, ScriptReading, read_script
from studio.domain.plan import PAPER_PLAN, Plan
from studio.domain.task import ExactCheck, TaskSpec

T = TypeVar("T")
LONGEST = 40_000
"""Characters of a text that rules see; the same limit applies to files shown to judges."""


@dataclass(frozen=True)
class Flaw:
    """A defect reported by a rule; the engine adds rule, persona and task."""

    message: str
    fix: str = ""
    """Empty: the one of ``in_field`` or ``in_rows``."""
    field: str = ""
    """Likewise."""
    item: int | None = None
    """1-based."""
    passage: str = ""
    """Verbatim from the field."""
    other: str = ""
    """Id of another task involved. The quoted id in ``message`` and ``fix`` is replaced by its title and number."""
    proposal: ExactCheck | None = None
    """An exact check that could replace a judged item."""
    severity: Severity | None = None
    """None: the rule's."""
    data: str = ""
    """What the one-click fix puts there: a path or a spelling."""
    about: str = ""
    """What it is about where the quotations and numbers of the message do not tell it from others of the rule in the
    same place, or would change with other rows: an app, a missing field, the uid of another row."""


@dataclass(frozen=True)
class Known:
    """What is known besides an episode and its texts."""

    plan: Plan = PAPER_PLAN
    """The benchmark's plan; see ``find_gaps``."""
    reports: Mapping[str, GraderReport] = field(default_factory=dict)
    """Results of running grader scripts, by the script's sha256; absent: not run yet."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Descriptions shown to agents, by tool name; absent: unknown."""
    opinions: Mapping[str, Opinion] = field(default_factory=dict)
    """Second opinions of a model (``Opinion``) by their question's key; absent: none was asked for. They replace the
    verdict of rules that ask such questions."""


@dataclass(frozen=True)
class CheckContext:
    """What a rule may read besides the task."""

    episode: EpisodeSpec
    texts: Mapping[str, str]
    """Contents of text files by sha256; absent: not text, or not loaded."""
    known: Known
    _computed: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, compute: Callable[[CheckContext], T]) -> T:
        """What ``compute``, a function of a module, says of this episode; computed for the first task that asks."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        return cast("T", self._computed[compute])

    def earlier(self, task: TaskSpec) -> tuple[TaskSpec, ...]:
        """The tasks that run before ``task``; none if it is unplaced."""
        return self.episode.tasks[: self.once(_positions).get(task.task_id, 0)]

    def later(self, task: TaskSpec) -> tuple[TaskSpec, ...]:
        """The tasks that run after ``task``; none if it is unplaced."""
        return self.episode.tasks[self.once(_positions).get(task.task_id, len(self.episode.tasks)) + 1 :]

    def task(self, task_id: str) -> TaskSpec | None:
        return self.once(_tasks_by_id).get(task_id)


def _positions(context: CheckContext) -> dict[str, int]:
    """0-based, of the placed tasks by id."""
    return {task.task_id: position for position, task in reversed(list(enumerate(context.episode.tasks)))}


def _tasks_by_id(context: CheckContext) -> dict[str, TaskSpec]:
    return {task.task_id: task for task in reversed((*context.episode.tasks, *context.episode.unplaced))}


Check = Callable[[TaskSpec, CheckContext], Iterable[Flaw]]
FixBuilder = Callable[[Finding, TaskSpec, EpisodeSpec], Fix | None]
RowCheck = Callable[[Any, TaskSpec, CheckContext], Iterable[Flaw]]
TextCheck = Callable[[str, CheckContext], Iterable[Flaw]]
Texts = Callable[[TaskSpec], Iterable[tuple[str, int | None, str]]]
"""Field, 1-based item and text."""


@dataclass(frozen=True)
class Rule:
    """A registered check."""

    name: str
    severity: Severity
    check: Check
    judges_language: bool = False
    """It interprets natural language and can be wrong, so owners may dismiss its errors."""
    across_tasks: bool = False
    """It reads other tasks of the episode; other rules are given none."""
    one_click: FixBuilder | None = None
    """What it does is certainly right, where it does something."""

    @property
    def about(self) -> str:
        return (self.check.__doc__ or "").strip()


RULES: dict[str, Rule] = {}


def rule(
    name: str,
    severity: Severity,
    *,
    judges_language: bool = False,
    across_tasks: bool = False,
    one_click: FixBuilder | None = None,
) -> Callable[[Check], Check]:
    """Register a check under a permanent name, which waivers and reports refer to."""

    def register(check: Check) -> Check:
        if name in RULES:
            raise ValueError(f"two rules are called {name!r}")
        RULES[name] = Rule(name, severity, check, judges_language, across_tasks, one_click)
        return check

    return register


def in_field(field: str, fix: str = "") -> Callable[[Check], Check]:
    """Of a rule: where its flaws are and how they are fixed, if a flaw says nothing else."""

    def complete(check: Check) -> Check:
        @wraps(check)
        def run(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
            for flaw in check(task, context):
                yield replace(flaw, field=flaw.field or field, fix=flaw.fix or fix)

        return run

    return complete


def in_rows(field: str, fix: str = "") -> Callable[[RowCheck], Check]:
    """The same of a rule that looks at each row of the field by itself."""

    def complete(check: RowCheck) -> Check:
        @in_field(field, fix)
        @wraps(check)
        def run(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
            for position, row in enumerate(getattr(task, field), 1):
                for flaw in check(row, task, context):
                    yield replace(flaw, item=position)

        return run

    return complete


def in_texts(fix: str = "", *, others: Texts | None = None) -> Callable[[TextCheck], Check]:
    """The same of a rule that looks at each of ``authored_texts``, and of ``others``, by itself."""

    def complete(check: TextCheck) -> Check:
        @in_field("", fix)
        @wraps(check)
        def run(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
            for name, item, text in (*authored_texts(task), *(others(task) if others else ())):
                for flaw in check(text, context):
                    yield replace(flaw, field=name, item=item)

        return run

    return complete


def authored_texts(task: TaskSpec) -> Iterator[tuple[str, int | None, str]]:
    """Field, 1-based item and text of everything written by an author."""
    for name in ("title", "description", "initial_request", "reference_workflow"):
        yield name, None, getattr(task, name)
    for position, intent in enumerate(task.intents, 1):
        yield "intents", position, intent.content
    for position, item in enumerate(task.checklist, 1):
        yield "checklist", position, item.criterion
    for position, artifact in enumerate(task.expected_artifacts, 1):
        yield "expected_artifacts", position, artifact.note


@dataclass(frozen=True)
class ReadableScript:
    name: str
    source: str
    reading: ScriptReading
    report: GraderReport | None
    """None: not run yet."""


def script_of(task: TaskSpec, context: CheckContext) -> ReadableScript | None:
    """None if the task has no grader script, or it is missing or not text."""
    if not task.grader_script:
        return None
    file = context.episode.persona.script(task.grader_script)
    source = context.texts.get(file.sha256) if file else None
    if file is None or source is None:
        return None
    name = file.path.rpartition("/")[2]
    return ReadableScript(name, source, read_script(source), context.known.reports.get(file.sha256))


ScriptCheck = Callable[[ReadableScript, TaskSpec, CheckContext], Iterable[Flaw]]


def in_script(fix: str = "") -> Callable[[ScriptCheck], Check]:
    """Of a rule that looks at the task's grader script, if there is one to be read; else as ``in_field``."""

    def complete(check: ScriptCheck) -> Check:
        @in_field("grader_script", fix)
        @wraps(check)
        def run(task: TaskSpec, context: CheckContext) -> Iterable[Flaw]:
            script = script_of(task, context)
            return check(script, task, context) if script else ()

        return run

    return complete
