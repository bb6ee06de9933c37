"""Taking a suggestion or dismissing it. What is taken goes through the editor's own save, and is remembered."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db import transaction
from django.utils import timezone

from evaluation.assistance.answers import longest, plain
from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.kinds import AT_ONCE, REPLACING, ROW_FIELDS
from evaluation.assistance.proposals import Chosen, Proposal, new_uid, number_of, put_in, text_at
from evaluation.models import Suggestion, SuggestionDecision
from evaluation.protocol.assistance import NAMES
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.drafts.validate import DraftError
from studio.models import Revision, Task, User
from studio.review import comments
from studio.tasks.save import save_rebased

State = Suggestion.State
DECIDED = "This was already decided, perhaps in another window. Nothing was changed."


class ProposalOutdatedError(AssistanceError):
    """Somebody changed the words since: both are shown, and a person chooses."""

    def __init__(self, row: int, current: str, proposed: str) -> None:
        super().__init__("This text has changed since the proposal was requested. Choose which version to keep.")
        self.row = row
        self.current = current
        self.proposed = proposed


@transaction.atomic
def take(
    pk: int,
    *,
    by: User,
    rows: Collection[int] | None = None,
    texts: Mapping[int, str] | None = None,
    over_changes: bool = False,
) -> Suggestion:
    """Put rows of a suggestion into the task, all that are open if ``rows`` is None, with ``texts`` in place of what
    was proposed. Raises AssistanceError, and ProposalOutdatedError unless ``over_changes``."""
    suggestion = _locked(pk)
    proposals = [Proposal.model_validate(one) for one in suggestion.rows or ()]
    wanted = _wanted(suggestion, proposals, rows)
    written = {row: plain(text) for row, text in (texts or {}).items()}
    chosen = [
        Chosen(row, proposals[row], written.get(row, proposals[row].text), new_uid(suggestion.pk, row))
        for row in wanted
    ]
    if suggestion.kind == "leaks":
        _remark(suggestion, chosen, by)
        _remember(suggestion, chosen, (), by, None)
        return _settled(suggestion, proposals, by, None)
    dropped = [one for one in chosen if not one.text] if suggestion.kind == "split" else []
    chosen = [one for one in chosen if one not in dropped]
    task = Task.objects.select_for_update(of=("self",)).get(pk=suggestion.task_id)
    current = load_task(task)
    _require_words(chosen, current)
    if suggestion.kind in REPLACING:
        _require_unchanged(chosen, TaskSpec.model_validate(suggestion.revision.spec), current, over_changes)
    spec = put_in(current, chosen)
    try:
        revision = save_rebased(
            task.pk, spec, by=by, base_version=task.version, note=_note(suggestion, chosen, current)
        )
    except DraftError as refusal:
        raise AssistanceError(f"This cannot be saved: {refusal}") from None
    _remember(suggestion, chosen, dropped, by, revision)
    return _settled(suggestion, proposals, by, revision)


@transaction.atomic
def dismiss(pk: int, *, by: User, rows: Collection[int] | None = None) -> Suggestion:
    """Not wanted: rows of it, or all that are open. One that is still asked for, or has failed, is put away."""
    suggestion = _locked(pk, State.READY, State.ASKED, State.FAILED)
    proposals = [Proposal.model_validate(one) for one in suggestion.rows or ()]
    if suggestion.state != State.READY or not proposals:
        return _end(suggestion, by, State.DISMISSED)
    dropped = [Chosen(row, proposals[row], "", "") for row in _wanted(suggestion, proposals, rows)]
    _remember(suggestion, (), dropped, by, None)
    return _settled(suggestion, proposals, by, None)


def _locked(pk: int, *states: State) -> Suggestion:
    suggestion = (
        Suggestion.objects.select_for_update(of=("self",))
        .select_related("revision", "task__episode__persona__benchmark")
        .get(pk=pk)
    )
    if suggestion.state not in (states or (State.READY,)):
        raise AssistanceError(DECIDED)
    return suggestion


def _wanted(suggestion: Suggestion, proposals: list[Proposal], rows: Collection[int] | None) -> list[int]:
    decided = set(suggestion.decisions.values_list("row", flat=True))
    every = range(len(proposals))
    wanted = every if rows is None or suggestion.kind in AT_ONCE else [row for row in every if row in rows]
    left = [row for row in wanted if row not in decided]
    if not left:
        raise AssistanceError(DECIDED)
    return left


def _require_words(chosen: Collection[Chosen], current: TaskSpec) -> None:
    if not chosen or any(not one.text for one in chosen):
        raise AssistanceError("It is empty. Write something, or dismiss it.")
    for one in chosen:
        most = longest(one.proposal.field, text_at(current, one.proposal.field, one.proposal.uid) or "")
        if len(one.text) > most:
            raise AssistanceError(f"This has {len(one.text):,} characters; the limit is {most:,}. Shorten it.")


def _require_unchanged(
    chosen: Collection[Chosen], asked_about: TaskSpec, current: TaskSpec, over_changes: bool
) -> None:
    for one in chosen:
        field, uid = one.proposal.field, one.proposal.uid
        now = text_at(current, field, uid)
        if now is None:
            raise AssistanceError("The row it refers to no longer exists. Dismiss the proposal.")
        if now != text_at(asked_about, field, uid) and not over_changes:
            raise ProposalOutdatedError(one.row, now, one.text)


def _remark(suggestion: Suggestion, chosen: Collection[Chosen], by: User) -> None:
    """What the request gives away stands beside the intent as this person's remark."""
    for one in chosen:
        degree = "gives this away" if one.proposal.degree == "wholly" else "partly gives this away"
        why = f" {one.proposal.why}" if one.proposal.why else ""
        text = f"The request {degree}: “{one.proposal.quote}”.{why} ({_who(suggestion)} pointed to it.)"
        comments.add_comment(suggestion.task_id, by=by, text=text, field="intents", item_uid=one.proposal.uid)


def _note(suggestion: Suggestion, chosen: Collection[Chosen], current: TaskSpec) -> str:
    number = number_of(current, suggestion.field, str(suggestion.item)) if suggestion.item else None
    about = f" of {'item' if suggestion.field == 'checklist' else 'intent'} {number}" if number else ""
    changed = ", edited before accepting" if any(one.text != one.proposal.text for one in chosen) else ""
    return f"{NAMES[suggestion.kind]}{about}, proposed by {_who(suggestion)}{changed}"[:300]


def _who(suggestion: Suggestion) -> str:
    name = suggestion.endpoint.name
    return f"{name} (scripted)" if suggestion.scripted and "scripted" not in name else name


def _remember(
    suggestion: Suggestion, chosen: Collection[Chosen], dropped: Collection[Chosen], by: User, revision: Revision | None
) -> None:
    first = {one.proposal.uid: one.row for one in reversed(list(chosen)) if one.proposal.uid}
    SuggestionDecision.objects.bulk_create(
        [
            SuggestionDecision(
                suggestion=suggestion,
                row=one.row,
                taken=True,
                changed=one.text != one.proposal.text,
                field=one.proposal.field,
                uid=_own_uid(one, first),
                text=one.text,
                by=by,
                revision=revision,
            )
            for one in chosen
        ]
        + [
            SuggestionDecision(suggestion=suggestion, row=one.row, taken=False, field=one.proposal.field, by=by)
            for one in dropped
        ]
    )


def _own_uid(one: Chosen, first: Mapping[str, int]) -> str | None:
    if one.proposal.field not in ROW_FIELDS:
        return None
    return one.proposal.uid if first.get(one.proposal.uid) == one.row else one.new_uid


def _settled(suggestion: Suggestion, proposals: list[Proposal], by: User, revision: Revision | None) -> Suggestion:
    """Once every row is decided, so is the suggestion."""
    if revision is not None:
        suggestion.result = revision
        suggestion.save(update_fields=["result"])
    decided = list(suggestion.decisions.values_list("taken", flat=True))
    if len(decided) < len(proposals):
        return suggestion
    return _end(suggestion, by, State.TAKEN if any(decided) else State.DISMISSED)


def _end(suggestion: Suggestion, by: User, state: State) -> Suggestion:
    suggestion.state, suggestion.decided_by, suggestion.decided_at = state, by, timezone.now()
    suggestion.save(update_fields=["state", "decided_by", "decided_at"])
    return suggestion
