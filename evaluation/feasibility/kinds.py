"""The kinds of probes of a task: who sits in the agent's seat, and how much of the checklist they must earn, or may.

Pure. The paper's steps are in its appendix I; docs/pibench.md, *Feasibility*, says what is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class Limit:
    """A share of a checklist's weight."""

    name: str
    """In ``Benchmark.release_limits``."""
    usual: float
    at_least: bool
    """Whether a probe must earn at least so much; else it may earn at most so much."""
    label: str

    def holds(self, earned: float, limits: Mapping[str, float]) -> bool:
        """``limits``: those that are not as usual."""
        limit = float(limits.get(self.name, self.usual))
        return earned >= limit if self.at_least else earned <= limit


TOLD = Limit("probe_told", 1.0, True, "A model that is told the intents earns at least")
BUILT_ON = Limit("probe_built_on", 1.0, True, "A model that is told what the task builds on earns at least")
ALONE = Limit("probe_alone", 0.5, False, "A model that has the request alone earns at most")
REFERENCE = Limit("probe_reference", 1.0, True, "The reference solution earns at least")
IDLE = Limit("probe_idle", 0.0, False, "An answer that took no work earns at most")
LIMITS = {limit.name: limit for limit in (TOLD, BUILT_ON, ALONE, IDLE)}
"""That a benchmark may set (``evaluation.releases.readiness``). A reference solution earns every item."""


@dataclass(frozen=True)
class ProbeKind:
    name: str
    label: str
    limit: Limit
    who: str
    """As the subject of a sentence about what was earned."""
    mend: str
    """What to do if the limit does not hold."""
    asks: bool = False
    """Whether a model sits in the agent's seat; else what is done there is given."""


_TOO_EASY = "Make the items ask for what only the work shows."
KINDS = {
    kind.name: kind
    for kind in (
        ProbeKind(
            "told",
            "Told its own intents",
            TOLD,
            "A model that was told the request and all intents",
            "Say in an intent what the item wants, give the agent what it lacks, or make the item say it plainly.",
            asks=True,
        ),
        ProbeKind(
            "built-on",
            "Told what it builds on",
            BUILT_ON,
            "A model that was told the request and what earlier tasks said",
            "Let an earlier task say what the item wants, or leave the dependency out.",
            asks=True,
        ),
        ProbeKind(
            "alone",
            "The request alone",
            ALONE,
            "A model that had the request alone",
            "Let the items ask for what the intents hide.",
            asks=True,
        ),
        ProbeKind(
            "reference",
            "Reference solution",
            REFERENCE,
            "The reference solution",
            "Mend the solution, or the item that it does not meet.",
        ),
        ProbeKind("nothing", "Does nothing", IDLE, "An agent that does nothing", _TOO_EASY),
        ProbeKind("repeats", "Repeats the request", IDLE, "An agent that repeats the request", _TOO_EASY),
        ProbeKind("done", "Says “Done.”", IDLE, "An agent that only says “Done.”", _TOO_EASY),
        ProbeKind("pastes", "Pastes the input files", IDLE, "An agent that pastes the input files", _TOO_EASY),
        ProbeKind("asks", "Asks about everything", IDLE, "An agent that only asks questions", _TOO_EASY),
        ProbeKind("other", "Answers another task", IDLE, "An agent that answers another task", _TOO_EASY),
    )
}
IDLE_KINDS = tuple(name for name, kind in KINDS.items() if kind.limit is IDLE)


def kinds_for(task: TaskSpec, episode: EpisodeSpec) -> tuple[ProbeKind, ...]:
    """That a validated task has passed. None for a setup task."""
    if task.is_setup:
        return ()
    lacking = {"pastes"} if not task.assets else set()
    if not task.depends_on:
        lacking.add("built-on")
    if len(episode.tasks) + len(episode.unplaced) < 2:
        lacking.add("other")
    return tuple(kind for name, kind in KINDS.items() if name not in lacking)


@dataclass(frozen=True)
class ProbedItem:
    """What became of one item."""

    index: int
    """1-based, among all graded items."""
    text: str
    weight: float = 1.0
    met: bool | None = None
    """None: not decided."""
    why: str = ""
    uid: str = ""
    """Empty for a key of a grader script."""


@dataclass(frozen=True)
class Outcome:
    """Of one probe."""

    kind: ProbeKind
    items: Sequence[ProbedItem]
    limits: Mapping[str, float]

    @property
    def undecided(self) -> int:
        return sum(item.met is None for item in self.items)

    @property
    def earned(self) -> float:
        """The share of the whole weight that is met, from 0 to 1; what is not decided counts as not met."""
        total = sum(item.weight for item in self.items)
        return sum(item.weight for item in self.items if item.met) / total if total else 0.0

    @property
    def passed(self) -> bool | None:
        """None as long as what is not decided could change it."""
        if not self.items:
            return None
        at_most = replace(self, items=[replace(item, met=item.met is not False) for item in self.items]).earned
        holds = [self.kind.limit.holds(share, self.limits) for share in (self.earned, at_most)]
        return holds[0] if holds[0] == holds[1] else None

    @property
    def troubling(self) -> list[ProbedItem]:
        """Items that are not as they should be: not met where all should be, met where nothing was done."""
        return [item for item in self.items if item.met is (not self.kind.limit.at_least)]
