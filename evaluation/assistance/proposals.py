"""What a model proposes, as values; and a task with some of it put in."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.assistance.kinds import ROW_FIELDS
from studio.domain.base import Spec
from studio.domain.task import ChecklistItem, ExactCheck, HiddenIntent, Recovery, Scope, TaskSpec


class Proposal(Spec):
    """One row of a suggestion."""

    field: str
    """Field of the TaskSpec it goes into, or is about."""
    uid: str = ""
    """Of the row it changes; empty: it is a new row, or the field has none."""
    text: str
    why: str = ""
    quote: str = ""
    """The words it rests on; they stand where it says."""
    supported: bool = True
    """False: the model gave no words, or some that do not occur there."""
    scope: Scope = "session_local"
    recovery: Recovery | None = None
    follows_from: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    rule: ExactCheck | None = None
    degree: Literal["", "wholly", "partly"] = ""
    """Of an intent the request gives away."""
    remarks: tuple[str, ...] = ()
    """What the studio noticed about it."""


@dataclass(frozen=True)
class Chosen:
    """A proposal as a person takes it."""

    row: int
    """Its place in the suggestion, from 0."""
    proposal: Proposal
    text: str
    new_uid: str
    """What its row is called, if it makes a new one."""


def new_uid(suggestion: int, row: int) -> str:
    """The same each time, so that what is taken twice is there once."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"suggestion {suggestion} row {row}"))


def text_at(spec: TaskSpec, field: str, uid: str) -> str | None:
    """What stands there; None: there is no such row, or no such field."""
    if field == "intents":
        return next((one.content for one in spec.intents if one.uid == uid), None)
    if field == "checklist":
        return next((one.criterion for one in spec.checklist if one.uid == uid), None)
    value = getattr(spec, field, None)
    return value if isinstance(value, str) else None


def number_of(spec: TaskSpec, field: str, uid: str) -> int | None:
    """1-based place of a row."""
    rows: Sequence[HiddenIntent | ChecklistItem] = getattr(spec, field) if field in ROW_FIELDS else ()
    return next((number for number, one in enumerate(rows, 1) if one.uid == uid), None)


def put_in(spec: TaskSpec, chosen: Sequence[Chosen]) -> TaskSpec:
    """The task with these taken. For a row that is not there any more nothing happens; what is taken twice is once
    there.

    Several for the same row split it: the first keeps its place and its id, the others follow it.
    """
    for place in dict.fromkeys((one.proposal.field, one.proposal.uid) for one in chosen):
        own = [one for one in chosen if (one.proposal.field, one.proposal.uid) == place]
        field, uid = place
        if field == "intents":
            spec = _change_intent(spec, uid, own) if uid else _add_intents(spec, own)
        elif field == "checklist":
            spec = _change_item(spec, uid, own) if uid else _add_items(spec, own)
        elif text_at(spec, field, "") is not None:
            spec = spec.model_copy(update={field: own[-1].text})
    return spec


def _change_intent(spec: TaskSpec, uid: str, own: Sequence[Chosen]) -> TaskSpec:
    """Other halves are found out where the first is, and scored by what scores the first."""
    there = {intent.uid for intent in spec.intents}
    intents: list[HiddenIntent] = []
    for old in spec.intents:
        if old.uid != uid:
            intents.append(old)
            continue
        intents.append(old.model_copy(update={"content": own[0].text}))
        intents += [
            old.model_copy(update={"uid": one.new_uid, "content": one.text, "source": {}})
            for one in own[1:]
            if one.new_uid not in there
        ]
    others = tuple(one.new_uid for one in own[1:])
    checklist = tuple(
        item.model_copy(update={"follows_from": tuple(dict.fromkeys((*item.follows_from, *others)))})
        if uid in item.follows_from
        else item
        for item in spec.checklist
    )
    return spec.model_copy(update={"intents": tuple(intents), "checklist": checklist})


def _change_item(spec: TaskSpec, uid: str, own: Sequence[Chosen]) -> TaskSpec:
    """Other halves follow from the same intents and are seen in the same places; a rule stays with the first."""
    there = {item.uid for item in spec.checklist}
    halves: dict[str, object] = {"grader": "rubric", "rule": None, "source": {}}
    items: list[ChecklistItem] = []
    for old in spec.checklist:
        if old.uid != uid:
            items.append(old)
            continue
        rule = own[0].proposal.rule
        change = {"criterion": own[0].text} | ({"grader": "rule", "rule": rule} if rule else {})
        items.append(old.model_copy(update=change))
        items += [
            old.model_copy(update=halves | {"uid": one.new_uid, "criterion": one.text})
            for one in own[1:]
            if one.new_uid not in there
        ]
    return spec.model_copy(update={"checklist": tuple(items)})


def _add_intents(spec: TaskSpec, own: Sequence[Chosen]) -> TaskSpec:
    there = {intent.uid for intent in spec.intents}
    made = [
        HiddenIntent(
            uid=one.new_uid,
            content=one.text,
            scope=one.proposal.scope,
            recoverable_from=(one.proposal.recovery,) if one.proposal.recovery else (),
        )
        for one in own
        if one.new_uid not in there
    ]
    return spec.model_copy(update={"intents": (*spec.intents, *made)})


def _add_items(spec: TaskSpec, own: Sequence[Chosen]) -> TaskSpec:
    there = {item.uid for item in spec.checklist}
    intents = {intent.uid for intent in spec.intents}
    made = [
        ChecklistItem(
            uid=one.new_uid,
            criterion=one.text,
            evidence=one.proposal.evidence,
            follows_from=tuple(uid for uid in one.proposal.follows_from if uid in intents),
        )
        for one in own
        if one.new_uid not in there
    ]
    return spec.model_copy(update={"checklist": (*spec.checklist, *made)})
