"""What stands in the way of a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evaluation.assistance.provenance import scripted_texts
from evaluation.releases.candidate import Candidate, Row, candidate_of
from studio.domain.base import JsonDict
from studio.domain.persona import script_path
from studio.findings.queries import open_findings
from studio.imports.importer import find_reading_errors
from studio.models import Benchmark, GraderScript, TaskState

RELEASABLE = (TaskState.APPROVED, TaskState.RELEASED)
AUDITED_DECISIONS = 10
"""How many decisions people must have settled, unless the benchmark's ``release_limits`` say ``audited_decisions``."""
DISAGREEMENT = 0.1
"""The share of them in which people may hold the opposite of the judge, unless the limits say ``disagreement``.
The paper reports 2.7 % for checklists and 1.5 % for intents (Table 6)."""
WORDS = {
    "intents": "intent",
    "checklist": "item",
    "depends_on": "earlier task",
    "assets": "file",
    "expected_artifacts": "output file",
}


class Blocker(NamedTuple):
    """One thing that stands in the way of a release."""

    code: str
    """Stable name, e.g. ``task-not-approved``."""
    message: str
    persona: str = ""
    task: str = ""
    task_pk: int | None = None
    acceptable: bool = True
    """A person may take responsibility for it."""

    def to_json(self) -> JsonDict:
        return {"code": self.code, "message": self.message, "persona": self.persona, "task": self.task}


def release_blockers(benchmark: Benchmark) -> list[Blocker]:
    """What stands in the way now, shortest first: by kind, the kind with the fewest first.

    Says what the last save's checks found. Cutting checks again, and reads the pack back besides.
    """
    return blockers_of(candidate_of(benchmark))


def blockers_of(candidate: Candidate, files: Mapping[str, bytes] | None = None) -> list[Blocker]:
    if not candidate.rows:
        return [Blocker("no-tasks", "There are no tasks to release.", acceptable=False)]
    found = [
        *_unapproved(candidate),
        *_errors(candidate),
        *_ungraded(candidate),
        *_unreadable(files or {}),
        *_unpiloted(candidate),
        *_unaudited(candidate),
        *_scripted(candidate),
    ]
    sizes = Counter(blocker.code for blocker in found)
    return sorted(found, key=lambda blocker: (sizes[blocker.code], blocker.code))


def _unapproved(candidate: Candidate) -> Iterable[Blocker]:
    for row in candidate.rows:
        if row.state not in RELEASABLE:
            state = TaskState(row.state).label.lower()
            yield _of(row, "task-not-approved", f"{row} is not approved: {state}.")


def _errors(candidate: Candidate) -> Iterable[Blocker]:
    """Errors of the checks, but for those an owner set aside; the same findings the editor shows."""
    rows = {row.pk: row for row in candidate.rows}
    errors = (
        open_findings()
        .filter(task__episode__persona__benchmark=candidate.benchmark, severity="error")
        .exclude(task__state=TaskState.RETIRED)
    )
    for finding in errors.order_by("task", "field", "item", "rule"):
        field = WORDS.get(finding.field, finding.field.replace("_", " "))
        place = (f"{field} {finding.item}" if finding.item else field).capitalize()
        message = f"{place}: {finding.message}" if place else finding.message
        yield _of(rows[finding.task_id], f"check-{finding.rule}", message)


def _unreadable(files: Mapping[str, bytes]) -> Iterable[Blocker]:
    for error in find_reading_errors(files) if files else ():
        yield Blocker("pack-unreadable", f"{error['file']}: {error['message']} {error['mend']}", acceptable=False)


def _unpiloted(candidate: Candidate) -> Iterable[Blocker]:
    by_another_script = {tried.sha256 for tried in candidate.evidence.piloted}
    for row in candidate.rows:
        tried = candidate.tried(row)
        if tried in candidate.evidence.piloted:
            continue
        said = f"No pilot with a real model has run the current version of {row}."
        if tried.sha256 in by_another_script:
            said = f"{row} was graded by an older script when a real model ran it; no pilot has used the current one."
        yield _of(row, "task-not-piloted", said)


def _ungraded(candidate: Candidate) -> Iterable[Blocker]:
    """Tasks whose grader script cannot grade: part of their Comp would stay unknown for everyone."""
    scripts = {
        (script.persona_id, script.path): script
        for script in GraderScript.objects.filter(persona__benchmark=candidate.benchmark)
    }
    for row in candidate.rows:
        if not row.grader_path:
            continue
        persona = row.persona
        script = scripts.get((persona.pk, script_path(persona.user_id, row.grader_path)))
        if script is None:
            yield _of(row, "grader-missing", f"The grader script of {row}, {row.grader_path}, does not exist.")
        elif script.keys is None:
            why = script.problem or "it has not been run yet."
            yield _of(row, "grader-broken", f"The grader script of {row} grades nothing: {why}")


def _unaudited(candidate: Candidate) -> Iterable[Blocker]:
    wanted = int(candidate.benchmark.release_limits.get("audited_decisions", AUDITED_DECISIONS))
    most = float(candidate.benchmark.release_limits.get("disagreement", DISAGREEMENT))
    audit = candidate.evidence.audit
    if audit.n < wanted:
        yield Blocker(
            "too-few-audited",
            f"People have resolved {audit.n} decisions of real judges; a release needs {wanted}.",
        )
    if audit.value is not None and audit.value > most:
        yield Blocker(
            "judges-disagree",
            f"People disagree with {audit.percent} of the audited decisions; at most {most:.0%} is allowed.",
        )


def _scripted(candidate: Candidate) -> Iterable[Blocker]:
    """Words a scripted model proposed and a person took as they were: a play with fixed roles wrote them."""
    rows = {row.pk: row for row in candidate.rows}
    places: dict[int, list[str]] = {}
    for one in scripted_texts(candidate.benchmark, rows):
        places.setdefault(one.task_pk, []).append(one.location)
    for pk, found in places.items():
        yield _of(rows[pk], "scripted-words", f"{rows[pk]} contains text from a scripted model: {', '.join(found)}.")


def _of(row: Row, code: str, message: str) -> Blocker:
    return Blocker(code, message, row.persona.user_id, row.task_id, row.pk)
