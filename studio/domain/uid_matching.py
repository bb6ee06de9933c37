"""Which intent of a new version is which of the old one, so that its id and all that hangs on it stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from studio.domain.uids import default_uid

Item = TypeVar("Item", HiddenIntent, ChecklistItem)


def preserve_uids(new: TaskSpec, old: TaskSpec, *, persona: str) -> TaskSpec:
    """``new`` with the ids that ``old`` has for the same intents and items.

    The same text is the same item, wherever it stands now; what is left is matched by position.
    """
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
    """Places in the new list → places in the old one."""
    free = set(range(len(old)))
    found: dict[int, int] = {}
    for place, text in enumerate(texts):  # unmoved first, so that doubles stay where they are
        if place in free and old_texts[place] == text:
            found[place] = place
            free.discard(place)
    for place, text in enumerate(texts):
        if place not in found and (same := next((o for o in sorted(free) if old_texts[o] == text), None)) is not None:
            found[place] = same
            free.discard(same)
    for place in range(len(texts)):
        if place not in found and place in free:
            found[place] = place
            free.discard(place)
    return found


def _uids(new: Sequence[Item], matched: Mapping[int, int], old: Sequence[Item], task: str, kind: str) -> dict[str, str]:
    """The id each new item shall have, by the id it came with."""
    taken = {item.uid for item in old}
    uids: dict[str, str] = {}
    for place, item in enumerate(new):
        if place in matched:
            uids[item.uid] = old[matched[place]].uid
            continue
        uid, number = item.uid, 0
        while uid in taken:
            number += 1
            uid = default_uid(task, str(number), kind, place + 1)
        taken.add(uid)
        uids[item.uid] = uid
    return uids
