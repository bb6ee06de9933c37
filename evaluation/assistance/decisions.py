"""Accepting and dismissing proposals. Accepted rows are saved through the editor, with a record of their origin."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.utils import timezone

from evaluation.assistance.answers.base import clean_text, max_length
from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.kinds import DECIDED_AS_ONE, REPLACING, ROW_FIELDS
from evaluation.assistance.proposals import (
    AcceptedChange,
    IntentChoice,
    ProposedChange,
    apply_changes,
    build_on_sources,
    row_number,
    text_of,
    uid_of_new_row,
)
from evaluation.assistance.sources import earlier_tasks, name_of_source, sources_for
from evaluation.models import Proposal, ProposalDecision
from evaluation.protocol.assistance import NAMES
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.drafts.validate import DraftError
from studio.findings import waivers
from studio.models import Finding, Revision, Task, User
from studio.models.transactions import atomic_with_retry
from studio.review import comments
from studio.tasks.save import save_rebased

State = Proposal.State
ALREADY_DECIDED = "This was already decided, perhaps in another window. Nothing was changed."


class ProposalOutdatedError(AssistanceError):
    """The text has changed since the request; the author must choose between ``current`` and ``proposed``."""

    def __init__(self, row: int, current: str, proposed: str) -> None:
        super().__init__("This text has changed since the proposal was requested. Choose which version to keep.")
        self.row = row
        self.current = current
        self.proposed = proposed


@atomic_with_retry
def accept_proposal(
    pk: int,
    *,
    by: User,
    rows: Collection[int] | None = None,
    texts: Mapping[int, str] | None = None,
    choices: Mapping[int, IntentChoice] | None = None,
    over_changes: bool = False,
) -> Proposal:
    """Save rows as a new version of the task: all undecided rows if ``rows`` is None, with ``texts`` replacing the
    proposed text and ``choices`` the scope and source of an intent, by row. Raises AssistanceError, and
    ProposalOutdatedError unless ``over_changes``."""
    proposal = _locked(pk)
    changes = _changes_of(proposal)
    if proposal.kind == "intents" and choices:
        changes = _with_choices(proposal, changes, choices)
    edited = {row: clean_text(text) for row, text in (texts or {}).items() if proposal.kind != "rule"}
    accepted = [
        AcceptedChange(row, changes[row], edited.get(row, changes[row].text), uid_of_new_row(proposal.pk, row))
        for row in _undecided(proposal, changes, rows)
    ]
    if proposal.kind == "leaks":
        _add_comments(proposal, accepted, by)
        _record_decisions(proposal, accepted, (), by, None)
        return _close_if_decided(proposal, changes, by, None)
    dropped = [each for each in accepted if not each.text] if proposal.kind == "split" else []
    accepted = [each for each in accepted if each not in dropped]
    task = Task.objects.select_for_update(no_key=True, of=("self",)).get(pk=proposal.task_id)
    current = load_task(task)
    _validate_text(accepted, current)
    if proposal.kind in REPLACING:
        _validate_unchanged(accepted, TaskSpec.model_validate(proposal.revision.spec), current, over_changes)
    if proposal.kind == "rule" and accepted[0].change.rule is None:
        _keep_judge(proposal, accepted[0].change, current, by)
        _record_decisions(proposal, accepted, (), by, None)
        return _close_if_decided(proposal, changes, by, None)
    spec = build_on_sources(apply_changes(current, accepted), accepted, _setup_tasks(task, accepted))
    try:
        revision = save_rebased(
            task.pk, spec, by=by, base_version=task.version, note=_version_note(proposal, accepted, current)
        )
    except DraftError as error:
        raise AssistanceError(f"This cannot be saved: {error}") from None
    if revision.number != task.version and proposal.requested_by_id != by.pk:
        revision.origin_authors.add(proposal.requested_by_id)  # what they had a model write is not approved by them
    _record_decisions(proposal, accepted, dropped, by, revision)
    return _close_if_decided(proposal, changes, by, revision)


@atomic_with_retry
def dismiss_proposal(pk: int, *, by: User, rows: Collection[int] | None = None) -> Proposal:
    """Dismiss rows, or all undecided ones; also cancels a pending request and clears a failed one."""
    proposal = _locked(pk, State.READY, State.REQUESTED, State.FAILED)
    changes = _changes_of(proposal)
    if proposal.state != State.READY or not changes:
        return _close(proposal, by, State.DISMISSED)
    dropped = [AcceptedChange(row, changes[row], "", "") for row in _undecided(proposal, changes, rows)]
    _record_decisions(proposal, (), dropped, by, None)
    return _close_if_decided(proposal, changes, by, None)


def _locked(pk: int, *states: State) -> Proposal:
    proposal = (
        Proposal.objects.select_for_update(no_key=True, of=("self",))
        .select_related("revision", "task__persona__benchmark")
        .get(pk=pk)
    )
    if proposal.state not in (states or (State.READY,)):
        raise AssistanceError(ALREADY_DECIDED)
    return proposal


def _changes_of(proposal: Proposal) -> list[ProposedChange]:
    return [ProposedChange.model_validate(row) for row in proposal.rows or ()]


def _with_choices(
    proposal: Proposal, changes: list[ProposedChange], choices: Mapping[int, IntentChoice]
) -> list[ProposedChange]:
    sources = sources_for(proposal.task, load_task(proposal.task))
    chosen = list(changes)
    for row, choice in choices.items():
        if row >= len(chosen):
            continue
        change = chosen[row]
        update: dict[str, object] = {"scope": choice.scope} if choice.scope else {}
        if choice.source and (change.recovery is None or choice.source != name_of_source(change.recovery)):
            if choice.source not in sources:
                raise AssistanceError("There is no such source. Choose one from the list.")
            update["recovery"] = sources[choice.source]
        chosen[row] = ProposedChange.model_validate({**change.model_dump(), **update})
    return chosen


def _setup_tasks(task: Task, accepted: Collection[AcceptedChange]) -> set[str]:
    """Those of the accepted sources that are scored through other tasks."""
    sources = (each.change.recovery for each in accepted)
    ids = {source.ref for source in sources if source and source.kind == "session"}
    return {spec.task_id for spec in earlier_tasks(task, ids) if spec.is_setup}


def _undecided(proposal: Proposal, changes: list[ProposedChange], rows: Collection[int] | None) -> list[int]:
    decided = set(proposal.decisions.values_list("row", flat=True))
    every = range(len(changes))
    chosen = every if rows is None or proposal.kind in DECIDED_AS_ONE else [row for row in every if row in rows]
    undecided = [row for row in chosen if row not in decided]
    if not undecided:
        raise AssistanceError(ALREADY_DECIDED)
    return undecided


def _validate_text(accepted: Collection[AcceptedChange], current: TaskSpec) -> None:
    if not accepted or any(not each.text for each in accepted):
        raise AssistanceError("It is empty. Write something, or dismiss it.")
    for each in accepted:
        limit = max_length(each.change.field, text_of(current, each.change.field, each.change.uid) or "")
        if len(each.text) > limit:
            raise AssistanceError(f"This has {len(each.text):,} characters; the limit is {limit:,}. Shorten it.")


def _validate_unchanged(
    accepted: Collection[AcceptedChange], requested_for: TaskSpec, current: TaskSpec, over_changes: bool
) -> None:
    for each in accepted:
        field, uid = each.change.field, each.change.uid
        text = text_of(current, field, uid)
        if text is None:
            raise AssistanceError("The row it refers to no longer exists. Dismiss the proposal.")
        if text != text_of(requested_for, field, uid) and not over_changes:
            raise ProposalOutdatedError(each.row, text, each.text)


def _add_comments(proposal: Proposal, accepted: Collection[AcceptedChange], by: User) -> None:
    for each in accepted:
        change = each.change
        degree = "gives this away" if change.degree == "wholly" else "partly gives this away"
        why = f" {change.why}" if change.why else ""
        quoted = f": “{change.quote}”" if change.quote else ""
        text = f"The request {degree}{quoted}.{why} ({_model_name(proposal)} pointed to it.)"
        comments.add_comment(proposal.task_id, by=by, text=text, field="intents", item_uid=change.uid)


def _keep_judge(proposal: Proposal, change: ProposedChange, current: TaskSpec, by: User) -> None:
    """No rule decides the criterion: what the checks say of it is dismissed, with the model's reason."""
    found = Finding.objects.filter(
        task=proposal.task_id, rule="criterion-should-be-rule", item=row_number(current, "checklist", change.uid)
    )
    for finding in found:
        reason = f"{_model_name(proposal)}: no exact rule decides this. {change.why}"
        waivers.add_waiver(proposal.task_id, finding.fingerprint, by=by, reason=reason)


def _version_note(proposal: Proposal, accepted: Collection[AcceptedChange], current: TaskSpec) -> str:
    number = row_number(current, proposal.field, str(proposal.item)) if proposal.item else None
    about = f" of {'item' if proposal.field == 'checklist' else 'intent'} {number}" if number else ""
    edited = ", edited before accepting" if any(each.text != each.change.text for each in accepted) else ""
    return f"{NAMES[proposal.kind]}{about}, proposed by {_model_name(proposal)}{edited}"[:300]


def _model_name(proposal: Proposal) -> str:
    name = proposal.endpoint.name
    return f"{name} (scripted)" if proposal.scripted and "scripted" not in name else name


def _record_decisions(
    proposal: Proposal,
    accepted: Collection[AcceptedChange],
    dropped: Collection[AcceptedChange],
    by: User,
    revision: Revision | None,
) -> None:
    first_rows = {each.change.uid: each.row for each in reversed(list(accepted)) if each.change.uid}
    ProposalDecision.objects.bulk_create(
        [
            ProposalDecision(
                proposal=proposal,
                row=each.row,
                accepted=True,
                edited=each.text != each.change.text,
                field=each.change.field,
                uid=_uid_in_task(each, first_rows),
                text=each.text,
                by=by,
                revision=revision,
            )
            for each in accepted
        ]
        + [
            ProposalDecision(proposal=proposal, row=each.row, accepted=False, field=each.change.field, by=by)
            for each in dropped
        ]
    )


def _uid_in_task(accepted: AcceptedChange, first_rows: Mapping[str, int]) -> str | None:
    """The first part of a split keeps the row's uid; further parts and new rows have their own."""
    change = accepted.change
    if change.field not in ROW_FIELDS:
        return None
    return change.uid if first_rows.get(change.uid) == accepted.row else accepted.new_uid


def _close_if_decided(
    proposal: Proposal, changes: list[ProposedChange], by: User, revision: Revision | None
) -> Proposal:
    if revision is not None:
        proposal.result = revision
        proposal.save(update_fields=["result"])
    decided = list(proposal.decisions.values_list("accepted", flat=True))
    if len(decided) < len(changes):
        return proposal
    return _close(proposal, by, State.ACCEPTED if any(decided) else State.DISMISSED)


def _close(proposal: Proposal, by: User, state: State) -> Proposal:
    proposal.state, proposal.decided_by, proposal.decided_at = state, by, timezone.now()
    proposal.save(update_fields=["state", "decided_by", "decided_at"])
    return proposal
