"""Rules: named functions that inspect a task within its episode and yield flaws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Severity
from studio.domain.graders.report import GraderReport
from studio.domain.plan import Plan
from studio.domain.task import ExactCheck, TaskSpec


@dataclass(frozen=True)
class Flaw:
    """A defect reported by a rule; the engine adds rule, persona and task."""

    field: str
    message: str
    fix: str
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


@dataclass(frozen=True)
class CheckContext:
    """What a rule may read besides the task."""

    episode: EpisodeSpec
    texts: Mapping[str, str]
    """Contents of text files by sha256; absent: not text, or not loaded."""
    plan: Plan
    """The benchmark's plan; see ``find_gaps``."""
    reports: Mapping[str, GraderReport]
    """Results of running grader scripts, by the script's sha256; absent: not run yet."""
    tools: Mapping[str, str]
    """Descriptions shown to agents, by tool name; absent: unknown."""

    def earlier(self, task: TaskSpec) -> tuple[TaskSpec, ...]:
        """The tasks that run before ``task``; none if it is unplaced."""
        tasks = self.episode.tasks
        return next(
            (tasks[:position] for position, other in enumerate(tasks) if other.task_id == task.task_id),
            (),
        )


Check = Callable[[TaskSpec, CheckContext], Iterable[Flaw]]


@dataclass(frozen=True)
class Rule:
    """A registered check."""

    name: str
    severity: Severity
    check: Check
    judges_language: bool = False
    """It interprets natural language and can be wrong, so owners may dismiss its errors."""

    @property
    def about(self) -> str:
        return (self.check.__doc__ or "").strip()


RULES: dict[str, Rule] = {}


def rule(name: str, severity: Severity, *, judges_language: bool = False) -> Callable[[Check], Check]:
    """Register a check under a permanent name, which waivers and reports refer to."""

    def register(check: Check) -> Check:
        if name in RULES:
            raise ValueError(f"two rules are called {name!r}")
        RULES[name] = Rule(name, severity, check, judges_language)
        return check

    return register


def authored_texts(task: TaskSpec) -> Iterator[tuple[str, int | None, str]]:
    """Field, 1-based item and text of everything written by an author."""
    for field in ("title", "description", "initial_request", "reference_workflow"):
        yield field, None, getattr(task, field)
    for position, intent in enumerate(task.intents, 1):
        yield "intents", position, intent.content
    for position, item in enumerate(task.checklist, 1):
        yield "checklist", position, item.criterion
    for position, artifact in enumerate(task.expected_artifacts, 1):
        yield "expected_artifacts", position, artifact.note
