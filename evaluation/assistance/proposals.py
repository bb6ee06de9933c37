"""Changes that a model proposes, and applying accepted ones to a task."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.assistance.kinds import ROW_FIELDS
from studio.domain.base import Spec
from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, Recovery, Scope, TaskSpec

Degree = Literal["", "wholly", "partly"]


class ProposedChange(Spec):
    """One row of a Proposal."""

    field: str
    """Field of the TaskSpec it changes, or is about."""
    uid: str = ""
    """uid of the row it changes; empty for a new row, or a field without rows."""
    text: str
    why: str = ""
    quote: str = ""
    """Verbatim evidence from the material; verified."""
    supported: bool = True
    """False if the model gave no quote, or one that does not occur where it claims."""
    scope: Scope = "session_local"
    recovery: Recovery | None = None
    follows_from: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    rule: ExactCheck | None = None
    degree: Degree = ""
    """How far the request gives an intent away."""
    notes: tuple[str, ...] = ()
    """Warnings of the studio, such as lost numbers."""


@dataclass(frozen=True)
class AcceptedChange:
    """A proposed change with the text that the author accepts."""

    row: int
    """0-based position in the proposal."""
    change: ProposedChange
    text: str
    new_uid: str
    """uid of the row it creates, if it creates one."""


@dataclass(frozen=True)
class IntentChoice:
    """What an author chose for a proposed intent."""

    scope: Literal["", "session_local", "persistent"] = ""
    """Empty: as proposed."""
    source: str = ""
    """A name of ``sources_for``; empty: as proposed."""


def uid_of_new_row(proposal: int, row: int) -> str:
    """Deterministic, so that accepting a row twice adds it once."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"suggestion {proposal} row {row}"))


def text_of(spec: TaskSpec, field: str, uid: str) -> str | None:
    """The current text of a field or row; None if there is no such row or text field."""
    if field == "intents":
        return next((intent.content for intent in spec.intents if intent.uid == uid), None)
    if field == "checklist":
        return next((item.criterion for item in spec.checklist if item.uid == uid), None)
    value = getattr(spec, field, None)
    return value if isinstance(value, str) else None


def row_number(spec: TaskSpec, field: str, uid: str) -> int | None:
    rows: Sequence[HiddenIntent | ChecklistItem] = getattr(spec, field) if field in ROW_FIELDS else ()
    return next((number for number, row in enumerate(rows, 1) if row.uid == uid), None)


def apply_changes(spec: TaskSpec, accepted: Sequence[AcceptedChange]) -> TaskSpec:
    """The task with the changes applied. Idempotent; changes to rows that no longer exist are skipped.

    Several changes to one row split it: the first keeps the row's position and uid, the others follow it.
    """
    for field, uid in dict.fromkeys((each.change.field, each.change.uid) for each in accepted):
        changes = [each for each in accepted if (each.change.field, each.change.uid) == (field, uid)]
        if field == "intents":
            spec = _change_intent(spec, uid, changes) if uid else _add_intents(spec, changes)
        elif field == "checklist":
            spec = _change_item(spec, uid, changes) if uid else _add_items(spec, changes)
        elif text_of(spec, field, "") is not None:
            spec = spec.model_copy(update={field: changes[-1].text})
    return spec


def build_on_sources(spec: TaskSpec, accepted: Sequence[AcceptedChange], setup: Collection[str]) -> TaskSpec:
    """The task building on the earlier tasks in which accepted intents can be found out, with what they carry over.
    ``setup`` are ids of those that are scored through others; a task with scores of its own cannot be built on."""
    named = {need.task_id for need in spec.depends_on}
    carried: dict[str, list[str]] = {}
    for each in accepted:
        source = each.change.recovery
        if source and source.kind == "session" and source.ref in setup and source.ref not in named:
            carried.setdefault(source.ref, []).append(each.text)
    added = (Dependency(task_id=task_id, carries_over=" ".join(texts)) for task_id, texts in carried.items())
    return spec.model_copy(update={"depends_on": (*spec.depends_on, *added)})


def _change_intent(spec: TaskSpec, uid: str, changes: Sequence[AcceptedChange]) -> TaskSpec:
    """New parts keep the recovery sources of the whole, and items that follow from it follow from every part."""
    existing = {intent.uid for intent in spec.intents}
    intents: list[HiddenIntent] = []
    for old in spec.intents:
        if old.uid != uid:
            intents.append(old)
            continue
        intents.append(old.model_copy(update={"content": changes[0].text}))
        intents += [
            old.model_copy(update={"uid": each.new_uid, "content": each.text, "source": {}})
            for each in changes[1:]
            if each.new_uid not in existing
        ]
    new_uids = tuple(each.new_uid for each in changes[1:])
    checklist = tuple(
        item.model_copy(update={"follows_from": tuple(dict.fromkeys((*item.follows_from, *new_uids)))})
        if uid in item.follows_from
        else item
        for item in spec.checklist
    )
    return spec.model_copy(update={"intents": tuple(intents), "checklist": checklist})


def _change_item(spec: TaskSpec, uid: str, changes: Sequence[AcceptedChange]) -> TaskSpec:
    """New parts keep the intents and evidence of the whole; a rule stays with the first part."""
    existing = {item.uid for item in spec.checklist}
    part_fields: dict[str, object] = {"grader": "rubric", "rule": None, "source": {}}
    items: list[ChecklistItem] = []
    for old in spec.checklist:
        if old.uid != uid:
            items.append(old)
            continue
        rule = changes[0].change.rule
        change = {"criterion": changes[0].text} | ({"grader": "rule", "rule": rule} if rule else {})
        items.append(old.model_copy(update=change))
        items += [
            old.model_copy(update=part_fields | {"uid": each.new_uid, "criterion": each.text})
            for each in changes[1:]
            if each.new_uid not in existing
        ]
    return spec.model_copy(update={"checklist": tuple(items)})


def _add_intents(spec: TaskSpec, changes: Sequence[AcceptedChange]) -> TaskSpec:
    existing = {intent.uid for intent in spec.intents}
    added = [
        HiddenIntent(
            uid=each.new_uid,
            content=each.text,
            scope=each.change.scope,
            recoverable_from=(each.change.recovery,) if each.change.recovery else (),
        )
        for each in changes
        if each.new_uid not in existing
    ]
    return spec.model_copy(update={"intents": (*spec.intents, *added)})


def _add_items(spec: TaskSpec, changes: Sequence[AcceptedChange]) -> TaskSpec:
    existing = {item.uid for item in spec.checklist}
    intents = {intent.uid for intent in spec.intents}
    added = [
        ChecklistItem(
            uid=each.new_uid,
            criterion=each.text,
            evidence=each.change.evidence,
            grader="rule" if each.change.rule else "rubric",
            rule=each.change.rule,
            follows_from=tuple(uid for uid in each.change.follows_from if uid in intents),
        )
        for each in changes
        if each.new_uid not in existing
    ]
    return spec.model_copy(update={"checklist": (*spec.checklist, *added)})
