"""Stable uids of intents and checklist items, and finding again those that a file does not name."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TypeVar

from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec

_NAMESPACE = uuid.UUID("8c7b7b0e-2b0e-5f0a-9d5e-6f1c2a3b4c5d")


def uid_of(text: str) -> str:
    """The text as a canonical UUID; other text is hashed into one."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, text))


def default_uid(persona: str, task: str, kind: str, position: int) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join((persona, task, kind, str(position)))))


Item = TypeVar("Item", HiddenIntent, ChecklistItem)


def preserve_uids(new: TaskSpec, old: TaskSpec, *, persona: str) -> TaskSpec:
    """``new`` with the uids of ``old``, matched by text and then by position."""
    intents = _match(
        [intent.content for intent in new.intents], old.intents, [intent.content for intent in old.intents]
    )
    items = _match(
        [item.criterion for item in new.checklist], old.checklist, [item.criterion for item in old.checklist]
    )
    intent_uids = _uids(new.intents, intents, old.intents, f"{persona}\x1f{new.task_id}", "intent")
    item_uids = _uids(new.checklist, items, old.checklist, f"{persona}\x1f{new.task_id}", "item")
    return new.model_copy(
        update={
            "intents": tuple(intent.model_copy(update={"uid": intent_uids[intent.uid]}) for intent in new.intents),
            "checklist": tuple(
                item.model_copy(
                    update={
                        "uid": item_uids[item.uid],
                        "follows_from": tuple(intent_uids[uid] for uid in item.follows_from),
                    }
                )
                for item in new.checklist
            ),
        }
    )


def _match(texts: Sequence[str], old: Sequence[Item], old_texts: Sequence[str]) -> dict[int, int]:
    free = set(range(len(old)))
    matches: dict[int, int] = {}
    for position, text in enumerate(texts):  # unmoved rows first, so that duplicates keep their positions
        if position in free and old_texts[position] == text:
            matches[position] = position
            free.discard(position)
    for position, text in enumerate(texts):
        same_text = (other for other in sorted(free) if old_texts[other] == text)
        if position not in matches and (match := next(same_text, None)) is not None:
            matches[position] = match
            free.discard(match)
    for position in range(len(texts)):
        if position not in matches and position in free:
            matches[position] = position
            free.discard(position)
    return matches


def _uids(new: Sequence[Item], matched: Mapping[int, int], old: Sequence[Item], task: str, kind: str) -> dict[str, str]:
    taken = {item.uid for item in old}
    uids: dict[str, str] = {}
    for position, item in enumerate(new):
        if position in matched:
            uids[item.uid] = old[matched[position]].uid
            continue
        uid, number = item.uid, 0
        while uid in taken:
            number += 1
            uid = default_uid(task, str(number), kind, position + 1)
        taken.add(uid)
        uids[item.uid] = uid
    return uids
