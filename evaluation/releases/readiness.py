"""What blocks a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import Field

from evaluation.assistance.provenance import scripted_texts
from evaluation.audits.gate import ScoringJudge, UncomparedJudge, WorseJudge
from evaluation.audits.paired import PairedShare
from evaluation.feasibility import kinds
from evaluation.probes.standing import standings
from evaluation.releases.candidate import CandidateTask, ReleaseCandidate
from evaluation.releases.elsewhere import unaccepted_approvals
from evaluation.releases.signing import why_unsigned
from studio.domain.base import JsonDict
from studio.domain.options import Options
from studio.domain.persona import script_path
from studio.findings.queries import open_findings
from studio.imports.export import file_paths
from studio.models import Benchmark, Event, GraderScript, TaskState, User
from studio.models.tasks import APPROVED
from studio.models.transactions import atomic_with_retry


class ReleaseLimits(Options):
    audited_decisions: int = Field(default=10, ge=0, le=1_000_000, title="Decisions that people have resolved")
    """At least so many: given what judges were shown, and again in truth."""
    disagreement: float = Field(default=0.1, ge=0, le=1, title="Decisions that people disagree with")
    """At most this share, from 0 to 1. The paper reports 0.027 for checklists and 0.015 for intents (Table 6)."""
    not_shown: float = Field(default=0.05, ge=0, le=1, title="Questions for which judges were shown too little")
    """At most this share of those that people decided."""
    probe_told: float = Field(default=kinds.TOLD.usual, ge=0, le=1, title=kinds.TOLD.label)
    """A share of the checklist’s weight, from 0 to 1, like the next three."""
    probe_built_on: float = Field(default=kinds.BUILT_ON.usual, ge=0, le=1, title=kinds.BUILT_ON.label)
    probe_alone: float = Field(default=kinds.ALONE.usual, ge=0, le=1, title=kinds.ALONE.label)
    probe_idle: float = Field(default=kinds.IDLE.usual, ge=0, le=1, title=kinds.IDLE.label)


def limits_of(benchmark: Benchmark) -> ReleaseLimits:
    return ReleaseLimits.read(benchmark.release_limits)


@atomic_with_retry
def set_limits(benchmark: Benchmark, limits: ReleaseLimits, *, by: User) -> None:
    """Only those that are not as usual are stored."""
    row = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    before, after = limits_of(row).model_dump(), limits.model_dump()
    changed = [
        f"{ReleaseLimits.model_fields[name].title}: {before[name]:g} → {after[name]:g}"
        for name in after
        if before[name] != after[name]
    ]
    if changed:
        row.release_limits = limits.model_dump(exclude_defaults=True)
        row.save(update_fields=["release_limits"])
        Event.objects.create(
            benchmark=row, actor=by, verb="limits_changed", summary=f"{'; '.join(changed)}.", data={"limits": after}
        )


APPROVED_ELSEWHERE = "task-approved-elsewhere"
NOT_APPROVED, NOT_PILOTED = "task-not-approved", "task-not-piloted"
NOT_VALIDATED = "task-not-validated"
UNREADABLE = "pack-unreadable"
TOLD = "held-out-told"
OUTDATED = "task-approval-outdated"
LICENCE_UNKNOWN, NO_CONTRIBUTORS = "licence-unknown", "contributors-unknown"
FILE_UNKNOWN, FILE_GONE = "file-licence-unknown", "file-from-elsewhere-gone"
UNSIGNED = "cannot-be-signed"
CREDITS = (LICENCE_UNKNOWN, NO_CONTRIBUTORS, FILE_UNKNOWN, FILE_GONE)
"""Of what the benchmark's settings say."""
FIELD_NAMES = {
    "intents": "intent",
    "checklist": "item",
    "depends_on": "earlier task",
    "assets": "file",
    "expected_artifacts": "output file",
}


class Blocker(NamedTuple):
    code: str
    """Stable name, e.g. ``task-not-approved``."""
    message: str
    persona: str = ""
    task: str = ""
    task_pk: int | None = None
    acceptable: bool = True
    """Whether a person may accept it as an exception."""
    place: str = ""
    """Tells it from others of its code in the same task or benchmark: a path, a finding, a judge."""
    state: str = ""
    """What it is about, such as a task's content: of another state it is another blocker."""
    figure: float = 0
    """How bad it is, where that is a number."""

    def to_json(self) -> JsonDict:
        return {"code": self.code, "message": self.message, "persona": self.persona, "task": self.task}


def find_blockers(
    candidate: ReleaseCandidate,
    unreadable: Sequence[JsonDict] = (),
    *,
    may_be_empty: bool = False,
    sealed: bool = False,
) -> list[Blocker]:
    """What blocks a release, smallest groups first. Relies on the findings of the last save; cutting runs the checks
    again, and reads the pack back: ``unreadable`` is why it could not be. ``sealed``: without what audits and pilots
    found."""
    if not candidate.tasks and not may_be_empty:
        return [Blocker("no-tasks", "There are no tasks to release.", acceptable=False)]
    blockers = [
        *_unapproved(candidate),
        *_outdated(candidate),
        *_approved_elsewhere(candidate),
        *_errors(candidate),
        *_ungraded(candidate),
        *_uncredited(candidate.benchmark),
        *_unvalidated(candidate.benchmark),
        *_unsigned(candidate.benchmark),
        *_unreadable(unreadable),
        *_unpiloted(candidate),
        *_lacking_tools(candidate),
        *_scripted(candidate),
    ]
    if not sealed:
        blockers += [*_blocked(candidate), *_unaudited(candidate)]
        blockers += [*map(not_compared, candidate.evidence.uncompared), *map(is_worse, candidate.evidence.worse)]
    sizes = Counter(blocker.code for blocker in blockers)
    return sorted(blockers, key=lambda blocker: (sizes[blocker.code], blocker.code))


def _unapproved(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    for task in candidate.tasks:
        if task.state not in APPROVED:
            yield not_approved(task)


def _outdated(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    for task in candidate.tasks:
        if task.outdated:
            message = f"“{task}” was approved before something that its score depends on changed."
            yield _blocker_of(task, OUTDATED, f"{message} Look at the change and approve it again.")


def _approved_elsewhere(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    tasks = {task.pk: task for task in candidate.tasks}
    for approval in unaccepted_approvals(candidate.benchmark) if tasks else ():
        task = tasks[approval.task]
        who = f", as {approval.confirmed_by} confirmed on {approval.date}" if approval.confirmed_by else ""
        message = f"“{task}” was approved elsewhere{who}; nobody has accepted that here."
        yield _blocker_of(task, APPROVED_ELSEWHERE, message)


def _errors(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    tasks = {task.pk: task for task in candidate.tasks}
    if not tasks:
        return
    errors = (
        open_findings()
        .filter(task__persona__benchmark=candidate.benchmark, severity="error")
        .exclude(task__state=TaskState.RETIRED)
    )
    for finding in errors.filter(task__in=tasks).order_by("task", "field", "item", "rule"):
        field = FIELD_NAMES.get(finding.field, finding.field.replace("_", " "))
        location = (f"{field} {finding.item}" if finding.item else field).capitalize()
        message = f"{location}: {finding.message}" if location else finding.message
        task = tasks[finding.task_id]
        yield _blocker_of(task, f"check-{finding.rule}", message)._replace(place=finding.fingerprint, state="")


def _uncredited(benchmark: Benchmark) -> Iterable[Blocker]:
    credits = benchmark.credits
    if not credits.licence:
        yield Blocker(LICENCE_UNKNOWN, f"Nobody has said under which licence {benchmark} is released.")
    if not credits.contributors:
        yield Blocker(NO_CONTRIBUTORS, f"Nobody is named as a contributor of {benchmark}.")
    paths = file_paths(benchmark) if credits.file_origins else frozenset()
    for origin in credits.file_origins:
        if not origin.is_known:
            lacking = " and ".join(name for name in ("source", "licence") if not getattr(origin, name))
            message = f"The {lacking} of {origin.path}, which comes from elsewhere, is unknown."
            yield Blocker(FILE_UNKNOWN, message, place=origin.path)
        if not any(map(origin.covers, paths)):
            message = f"{origin.path} is said to come from elsewhere, and there is no such file."
            yield Blocker(FILE_GONE, message, place=origin.path)


def _unsigned(benchmark: Benchmark) -> Iterable[Blocker]:
    if problem := why_unsigned(benchmark):
        yield Blocker(UNSIGNED, f"The release cannot be signed. {problem}")


def _unvalidated(benchmark: Benchmark) -> Iterable[Blocker]:
    for each in standings(benchmark) if benchmark.validated_releases else ():
        if not each.validated:
            message = f"“{each.row}” is not validated. {each.why}"
            about = (each.row.persona.user_id, each.task.task_id, each.row.pk)
            yield Blocker(NOT_VALIDATED, message, *about, state=each.row.content)


def _unreadable(errors: Iterable[JsonDict]) -> Iterable[Blocker]:
    for error in errors:
        yield Blocker(UNREADABLE, f"{error['file']}: {error['message']} {error['fix']}", acceptable=False)


def _unpiloted(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    evidence = candidate.evidence
    for task in candidate.tasks:
        if task.content not in evidence.piloted and task.pk not in candidate.missing_tools:
            yield not_piloted(task, otherwise=candidate.revisions[task.pk].pk in evidence.ran_otherwise)


def _blocked(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    for task in candidate.tasks:
        if found := candidate.evidence.blocked.get(task.content):
            pilot, why = found
            message = f"“{task}” seems to have a defect. In pilot {pilot} its session was blocked. {why}"
            yield _blocker_of(task, "task-blocked", message)


def _lacking_tools(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    for task in candidate.tasks:
        names = candidate.missing_tools.get(task.pk, ())
        if names:
            which = f"the tool {names[0]}" if len(names) == 1 else f"{len(names)} tools ({', '.join(names)})"
            message = f"“{task}” needs {which}, and no agent gets {'it' if len(names) == 1 else 'them'} here: "
            yield _blocker_of(task, "tool-missing", f"{message}pilots of this task are no evidence.")


def _ungraded(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    graded = [task for task in candidate.tasks if task.grader_path]
    rows = GraderScript.objects.filter(persona__in={task.persona.pk for task in graded})
    scripts = {(script.persona_id, script.path): script for script in rows}
    for task in graded:
        persona = task.persona
        script = scripts.get((persona.pk, script_path(persona.user_id, task.grader_path)))
        if script is None:
            yield _blocker_of(
                task, "grader-missing", f"The grader script of “{task}”, {task.grader_path}, does not exist."
            )
        elif script.keys is None:
            why = script.problem or "it has not been run yet."
            yield _blocker_of(task, "grader-broken", f"The grader script of “{task}” grades nothing: {why}")


def _unaudited(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    limits = limits_of(candidate.benchmark)
    min_decisions, limit = limits.audited_decisions, limits.disagreement
    audit, truth = candidate.evidence.audit, candidate.evidence.truth
    if audit.n < min_decisions:
        yield Blocker(
            "too-few-audited",
            f"Given what judges were shown, people have resolved {audit.n} decisions of real judges; a release needs "
            f"{min_decisions}. Audit single decisions.",
            figure=min_decisions - audit.n,
        )
    if truth.n < min_decisions:
        yield Blocker(
            "truth-not-measured",
            f"In truth, with the whole session before them, people have resolved {truth.n or 'no'} decisions of real "
            f"judges; a release needs {min_decisions}. Audit whole sessions, or ask some decisions again.",
            figure=min_decisions - truth.n,
        )
    if audit.value is not None and audit.value > limit:
        yield Blocker(
            "judges-disagree",
            f"People disagree with {audit.percent} of the audited decisions; at most {limit:.0%} is allowed.",
            figure=audit.value,
        )
    if truth.value is not None and truth.value > limit:
        yield Blocker(
            "judges-wrong-in-truth",
            f"Knowing the whole session, people disagree with {truth.percent} of the decisions; at most {limit:.0%} is "
            f"allowed. Where this is more than given what judges were shown, show judges more.",
            figure=truth.value,
        )
    limit, not_shown = limits.not_shown, candidate.evidence.not_shown
    if not_shown.value is not None and not_shown.value > limit:
        yield Blocker(
            "evidence-not-shown",
            f"For {not_shown.percent} of the audited questions, judges were not shown enough to decide; at most "
            f"{limit:.0%} is allowed. Each audit lists what to show.",
            figure=not_shown.value,
        )


def _scripted(candidate: ReleaseCandidate) -> Iterable[Blocker]:
    tasks = {task.pk: task for task in candidate.tasks}
    locations: dict[int, list[str]] = {}
    for text in scripted_texts(candidate.benchmark, tasks):
        locations.setdefault(text.task_pk, []).append(text.location)
    for pk, in_task in locations.items():
        yield _blocker_of(
            tasks[pk], "scripted-words", f"“{tasks[pk]}” contains text from a scripted model: {', '.join(in_task)}."
        )


def not_approved(task: CandidateTask) -> Blocker:
    return _blocker_of(task, NOT_APPROVED, f"“{task}” is not approved: {TaskState(task.state).label.lower()}.")


def not_piloted(task: CandidateTask, *, otherwise: bool = False) -> Blocker:
    message = f"No pilot with a real model has run the current version of “{task}”."
    if otherwise:
        message = (
            f"Since a real model ran “{task}”, something that its score depends on has changed: its persona, its "
            "grader script or a task that it builds on. No pilot has run it as it is now."
        )
    return _blocker_of(task, NOT_PILOTED, message)


def not_compared(row: UncomparedJudge) -> Blocker:
    done = f"only {row.compared}" if row.compared else "none"
    return Blocker(
        "judge-not-compared",
        f"{_scores(row.judge)}, but has not been compared with people: it has judged {done} of the sessions that they "
        f"audited, and {row.needed} are needed. Let it judge an audited pilot again.",
        place=row.judge.name,
        figure=row.needed - row.compared,
    )


def is_worse(row: WorseJudge) -> Blocker:
    wrong, false_pass = row.comparison.wrong, row.comparison.false_pass
    how = [
        *([f"it is wrong in {_mistakes(wrong)}"] if wrong.is_worse else ()),
        *([f"it gives credit that people do not in {_mistakes(false_pass)}"] if false_pass.is_worse else ()),
    ]
    return Blocker(
        "judge-worse",
        f"{_scores(row.judge)}, and is worse than {row.in_use}: on the same decisions of people, {' and '.join(how)}. "
        "Let the other judge score, or say why this one may.",
        place=row.judge.name,
        figure=max(share.now / share.n for share in (wrong, false_pass) if share.is_worse),
    )


def _mistakes(share: PairedShare) -> str:
    return f"{share.now} of {share.n}, the other in {share.before} (p = {max(share.p, 0.001):.3f})"


def _scores(judge: ScoringJudge) -> str:
    pilots = "pilot" if len(judge.pilots) == 1 else "pilots"
    return f"{judge.name} scores {pilots} {', '.join(map(str, judge.pilots))}"


def _blocker_of(task: CandidateTask, code: str, message: str) -> Blocker:
    return Blocker(code, message, task.persona.user_id, task.task_id, task.pk, state=task.content)
