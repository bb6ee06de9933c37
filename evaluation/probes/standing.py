"""Which tasks are validated, and why not: the newest probes of what they are now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.feasibility.kinds import IDLE, LIMITS, Outcome, ProbedItem, ProbeKind, kinds_for
from evaluation.models import Probe, ReferenceSolution
from evaluation.probes.validation import load_probed
from studio.domain.base import JsonDict
from studio.domain.task import TaskSpec
from studio.models import Benchmark, Persona, Task

NAMED = 3
"""Items, in a sentence."""
NO_SOLUTION = "It has no reference solution."


@dataclass(frozen=True)
class KindStanding:
    """Of one task."""

    kind: ProbeKind
    outcome: Outcome | None = None
    """None: not probed with the task's content."""
    probe: Probe | None = None
    lacking: str = ""
    """Why it cannot be probed."""

    @property
    def scripted(self) -> bool:
        return self.probe is not None and self.probe.scripted

    @property
    def passed(self) -> bool | None:
        """None: not known. Scripted models never count."""
        return self.outcome.passed if self.outcome and not self.scripted else None

    @property
    def state(self) -> str:
        if self.passed is not None:
            return "passed" if self.passed else "failed"
        if self.scripted:
            return "scripted"
        return "partly" if self.outcome else "missing"

    @property
    def sentence(self) -> str:
        if self.outcome is None:
            return self.lacking or "Not probed yet as the task is now."
        limit, outcome = self.kind.limit, self.outcome
        share = outcome.limits.get(limit.name, limit.usual)
        must = "must earn at least" if limit.at_least else "may earn at most"
        said = f"{self.kind.who} earns {outcome.earned:.0%} and {must} {share:.0%}."
        if self.state == "scripted":
            return f"{said} A scripted model took part, so this does not count."
        if self.state == "partly":
            return f"{said} {outcome.undecided} of {len(outcome.items)} items are for a judge, and not judged yet."
        return f"{said} {self.kind.mend}" if self.state == "failed" else said


@dataclass(frozen=True)
class TaskStanding:
    row: Task
    task: TaskSpec
    kinds: Sequence[KindStanding]
    """Empty: a setup task, which is exempt."""

    @property
    def exempt(self) -> bool:
        return not self.kinds

    @property
    def validated(self) -> bool:
        return all(each.passed for each in self.kinds)

    @property
    def models(self) -> set[str]:
        """That were asked: those that wrote candidates, and judges."""
        asked = [each.probe.validation for each in self.kinds if each.probe and each.probe.validation]
        return {row.endpoint(role).label for row in asked for role in ("agent", "judge")}

    @property
    def why(self) -> str:
        """Not validated; empty if it is, or need not be."""
        failed = [each.kind.label for each in self.kinds if each.passed is False]
        missing = [each for each in self.kinds if each.passed is None]
        if failed:
            return f"Not as it should be: {_listed(failed)}."
        if not missing:
            return ""
        lacking = next((each.lacking for each in missing if each.lacking), "")
        if len(missing) == len(self.kinds):
            return "Nothing has been probed yet." if not lacking else f"Nothing has been probed yet. {lacking}"
        if lacking and len(missing) == 1:
            return lacking
        return f"Not probed yet: {_listed([each.kind.label for each in missing])}."

    @property
    def met_without_work(self) -> list[tuple[ProbedItem, list[str]]]:
        """Items in order, each with who meets it without working: “an agent that …”."""
        items: dict[int, ProbedItem] = {}
        met: dict[int, list[str]] = defaultdict(list)
        for each in self.kinds:
            if each.outcome and not each.scripted and each.kind.limit is IDLE:
                for item in each.outcome.troubling:
                    items.setdefault(item.index, item)
                    met[item.index].append(each.kind.who[0].lower() + each.kind.who[1:])
        return [(items[index], met[index]) for index in sorted(items)]

    def to_json(self) -> JsonDict:
        return {
            "persona": self.row.persona.user_id,
            "task": self.task.task_id,
            "validated": self.validated and not self.exempt,
            "exempt": self.exempt,
            "why": self.why,
            "probes": [_probe_json(each) for each in self.kinds],
            "met_without_work": [
                {"index": item.index, "uid": item.uid, "item": item.text, "by": by}
                for item, by in self.met_without_work
            ],
        }


def _probe_json(each: KindStanding) -> JsonDict:
    return {
        "kind": each.kind.name,
        "state": each.state,
        "earned": each.outcome and each.outcome.earned,
        "limit": each.outcome and each.outcome.limits.get(each.kind.limit.name, each.kind.limit.usual),
        "message": each.sentence,
        "agent": each.probe.validation.endpoint("agent").label
        if each.probe and each.probe.validation and each.kind.asks
        else None,
        "items": [
            {"index": item.index, "uid": item.uid, "item": item.text, "met": item.met, "why": item.why}
            for item in (each.outcome.items if each.outcome else ())
        ],
    }


def standings(benchmark: Benchmark) -> Iterator[TaskStanding]:
    """Of all placed tasks that are not retired, by persona and position. One persona is in memory at a time."""
    for persona in benchmark.personas.order_by("position", "user_id").select_related("benchmark"):
        yield from standings_of(persona)


def standings_of(persona: Persona, only: str = "") -> list[TaskStanding]:
    """Likewise, of an episode, or of one task by its id."""
    place = load_probed(persona)
    chosen = [(row, task) for row, task in place.tasks if only in ("", task.task_id)]
    probes = _probes([row for row, _ in chosen])
    limits = probe_limits(persona.benchmark)

    def standing(kind: ProbeKind, row: Task, task: TaskSpec) -> KindStanding:
        return _standing(kind, place.solved.get(task.task_id), probes.get((row.pk, kind.name), ()), limits)

    return [
        TaskStanding(row, task, [standing(kind, row, task) for kind in kinds_for(task, place.episode)])
        for row, task in chosen
    ]


def probe_limits(benchmark: Benchmark) -> dict[str, float]:
    """Those that are not as usual."""
    return {name: float(share) for name, share in benchmark.release_limits.items() if name in LIMITS}


def _probes(rows: Iterable[Task]) -> Mapping[tuple[int, str], list[Probe]]:
    """That are over, of what each task is now, newest first."""
    contents = {row.pk: row.content for row in rows}
    found: dict[tuple[int, str], list[Probe]] = defaultdict(list)
    over = Probe.objects.filter(task__in=contents, content__in=contents.values()).filter(items__isnull=False)
    for probe in over.select_related("validation__agent", "validation__judge").order_by("-pk"):
        if contents[probe.task_id] == probe.content:
            found[probe.task_id, probe.kind].append(probe)
    return found


def _standing(
    kind: ProbeKind, solution: ReferenceSolution | None, probes: Sequence[Probe], limits: Mapping[str, float]
) -> KindStanding:
    if kind.name == "reference":
        if solution is None:
            return KindStanding(kind, lacking=NO_SOLUTION)
        probes = [probe for probe in probes if probe.solution_id == solution.pk]
    found = [KindStanding(kind, Outcome(kind, items_of(probe.items), limits), probe) for probe in probes]
    return max(found, key=_counts, default=KindStanding(kind))


def _counts(each: KindStanding) -> tuple[bool, bool, int]:
    """What is known before what is not, what no script said before what one did, then the newest."""
    assert each.probe is not None
    return each.passed is not None, not each.scripted, each.probe.pk


def items_of(document: Iterable[Mapping[str, Any]]) -> list[ProbedItem]:
    return [ProbedItem(**item) for item in document]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name[0].lower() + name[1:] for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
