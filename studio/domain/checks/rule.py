"""What a rule is: a named function that looks at a task inside its episode and yields flaws."""

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
    """One defect, as a rule reports it; the engine adds rule, persona and task."""

    field: str
    message: str
    mend: str
    item: int | None = None
    """1-based."""
    words: str = ""
    """Verbatim from the field."""
    other: str = ""
    """Another task that is concerned, by its id. In message and mend, “its id” is read as its title and number."""
    proposal: ExactCheck | None = None
    """The exact check that could take a judged item's place."""
    severity: Severity | None = None
    """Where it differs from the rule's own."""


@dataclass(frozen=True)
class CheckContext:
    """What a rule may look at besides the task."""

    episode: EpisodeSpec
    texts: Mapping[str, str]
    """Contents of text files, by sha256; files that are not here could not be read as text or were not asked for."""
    plan: Plan
    """What an episode shall hold; ``gaps_of(shape_of(episode), plan)`` says where it departs from it."""
    reports: Mapping[str, GraderReport]
    """What running each grader script showed, by the script's sha256; absent: it has not been run yet."""
    tools: Mapping[str, str]
    """What every agent reads of a tool before it begins, by the tool's name; absent: nothing is known of it."""

    def earlier(self, task: TaskSpec) -> tuple[TaskSpec, ...]:
        """The tasks that run before ``task``; none if it is not placed."""
        tasks = self.episode.tasks
        return next(
            (tasks[:place] for place, other in enumerate(tasks) if other.task_id == task.task_id),
            (),
        )


Check = Callable[[TaskSpec, CheckContext], Iterable[Flaw]]


@dataclass(frozen=True)
class Rule:
    """A check with its stable name and how much its findings weigh."""

    name: str
    severity: Severity
    check: Check
    judges_language: bool = False
    """It weighs what people wrote, and can be wrong: an owner may set an error of it aside."""

    @property
    def about(self) -> str:
        """What it looks for, from its docstring."""
        return (self.check.__doc__ or "").strip()


RULES: dict[str, Rule] = {}


def rule(name: str, severity: Severity, *, judges_language: bool = False) -> Callable[[Check], Check]:
    """Register a check under a name that waivers and reports may rely on."""

    def register(check: Check) -> Check:
        if name in RULES:
            raise ValueError(f"two rules are called {name!r}")
        RULES[name] = Rule(name, severity, check, judges_language)
        return check

    return register


def authored_texts(task: TaskSpec) -> Iterator[tuple[str, int | None, str]]:
    """Every text an author wrote: field, 1-based item, text."""
    for field in ("title", "description", "initial_request", "reference_workflow"):
        yield field, None, getattr(task, field)
    for position, intent in enumerate(task.intents, 1):
        yield "intents", position, intent.content
    for position, item in enumerate(task.checklist, 1):
        yield "checklist", position, item.criterion
    for position, artifact in enumerate(task.expected_artifacts, 1):
        yield "expected_artifacts", position, artifact.note
