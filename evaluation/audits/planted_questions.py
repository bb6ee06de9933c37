"""Planted wrong verdicts: questions about something that the record does not hold, beside a verdict that says it does.

Nobody who judges sees a verdict, so what is planted is the question: an item of another task, of another persona if
there is one, that shares few words with the record. Whoever says yes to it did not look.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from annotations.campaigns import FrozenDecision
from annotations.models import Packet
from annotations.packets import DECISION, NO, YES, Question, Sealed, make_redactor
from studio.domain.options import OptionsError
from studio.models import Benchmark, Task

WORDS = re.compile(r"\w{4,}")
MAX_SHARED = 0.5
"""The share of an item's words that may occur in the record."""
TRIED = 40
"""Items that are compared with a record."""


@dataclass(frozen=True)
class Owner:
    """Of a packet."""

    task: int
    persona: int


@dataclass(frozen=True)
class _Item:
    owner: Owner
    criterion: str


class Planter:
    def __init__(self, benchmark: Benchmark, owners: Mapping[str, Owner], names: Collection[str], seed: int) -> None:
        """``owners``: by source of the packet."""
        rows = Task.objects.filter(persona__benchmark=benchmark).order_by("pk")
        self._items = [
            _Item(Owner(task, persona), item["criterion"])
            for task, persona, checklist in rows.values_list("pk", "persona", "spec__checklist")
            for item in checklist
            if item["grader"] == "rubric" and item["criterion"]
        ]
        self._owners = owners
        self._redact = make_redactor(names)
        self._rng = random.Random(f"planted {seed}")
        self._used: set[str] = set()

    def plant(self, frozen: Sequence[FrozenDecision], count: int) -> list[FrozenDecision]:
        """Into sessions, or beside single decisions; where no item is far enough from the record, nothing. Raises
        OptionsError if nothing at all could be planted."""
        order = sorted(range(len(frozen)), key=lambda _: self._rng.random())
        order.sort(key=lambda index: frozen[index].content.kind not in ("checklist", "session"))
        found: dict[int, FrozenDecision] = {}
        for index in order:
            if len(found) == count:
                break
            if criterion := self._foreign_item(frozen[index]):
                criterion = self._redact(criterion)
                if frozen[index].content.kind == "session":
                    found[index] = _with_question(frozen[index], criterion, self._rng)
                else:
                    found[index] = _decision_beside(frozen[index], criterion, len(found) + 1)
        if count and not found:
            raise OptionsError(
                "planted", "Nothing can be planted: the benchmark has no checklist item that is far from these records."
            )
        if frozen and frozen[0].content.kind == "session":
            return [found.get(index, row) for index, row in enumerate(frozen)]
        return [*frozen, *found.values()]

    def _foreign_item(self, row: FrozenDecision) -> str:
        own = self._owners[row.source]
        elsewhere = [item for item in self._items if item.owner.persona != own.persona]
        pool = elsewhere or [item for item in self._items if item.owner.task != own.task]
        fresh = [item for item in pool if item.criterion not in self._used] or pool
        tried = self._rng.sample(fresh, min(TRIED, len(fresh)))
        record = _words(" ".join(part.text for part in row.content.parts))
        best = min(tried, key=lambda item: _shared(item.criterion, record), default=None)
        if best is None or _shared(best.criterion, record) > MAX_SHARED:
            return ""
        self._used.add(best.criterion)
        return best.criterion


def _with_question(row: FrozenDecision, criterion: str, rng: random.Random) -> FrozenDecision:
    """Anywhere among the session's items, so that its place does not tell it."""
    content = row.content
    items = [question for question in content.questions if question.kind == "checklist"]
    key = f"item-{max((int(item.key.rpartition('-')[2]) for item in items), default=0) + 1}"
    items.insert(rng.randint(0, len(items)), Question(key=key, kind="checklist", subject=criterion))
    statuses = [question for question in content.questions if question.kind != "checklist"]
    return replace(
        row,
        content=content.model_copy(update={"questions": (*statuses, *items)}),
        sealed=row.sealed.model_copy(update={"answers": {**row.sealed.answers, key: YES}}),
        known={key: NO},
    )


def _decision_beside(row: FrozenDecision, criterion: str, number: int) -> FrozenDecision:
    asked = row.content.questions[0].model_copy(update={"subject": criterion})
    return replace(
        row,
        source=f"planted:{number}",
        origin=row.source,
        content=row.content.model_copy(update={"subject": criterion, "questions": (asked,)}),
        second=row.second and row.second.model_copy(update={"subject": criterion, "questions": (asked,)}),
        sealed=Sealed(answers={DECISION: YES}, judge=row.sealed.judge),
        cluster=f"planted:{number}",
        control=Packet.Control.PLANTED,
        known={DECISION: NO},
        labels={},
    )


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORDS.findall(text)}


def _shared(criterion: str, record: set[str]) -> float:
    words = _words(criterion)
    return len(words & record) / len(words) if words else 1.0
