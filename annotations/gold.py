"""Gold items, asked to see how people do on them: what somebody who plans audits typed the answers of, and what closed
audits decided beyond doubt."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping

from annotations.campaigns import FrozenDecision
from annotations.consensus import adjudicated_answers
from annotations.models import AuditCampaign, Consensus, GoldItem, Packet
from annotations.packets import UNSURE, VOID, PacketContent, Question, Sealed
from annotations.visibility import given_answers
from studio.domain.options import OptionsError
from studio.models import Benchmark, User

MIN_PEOPLE = 2
"""Who must have given the same answer, unless it was adjudicated."""


def add_gold_item(benchmark: Benchmark, item: FrozenDecision, origin: str, *, by: User) -> GoldItem:
    """Without answers as yet. ``origin``: what it was drawn from."""
    return GoldItem.objects.create(
        benchmark=benchmark,
        content=item.content.model_dump(mode="json"),
        source=item.source,
        origin=origin,
        involved=sorted(item.involved),
        by=by,
    )


def questions_of(item: GoldItem) -> tuple[Question, ...]:
    return PacketContent.model_validate(item.content).questions


def type_answers(item: GoldItem, answers: Mapping[str, str], *, by: User) -> None:
    """For later audits; those that are open keep what they asked. Raises OptionsError."""
    known = {}
    for question in questions_of(item):
        answer = answers.get(question.key, "")
        if answer and answer not in question.decisive:
            raise OptionsError(f"answers.{question.key}", "Choose one of these answers, or none.")
        if answer:
            known[question.key] = answer
    if not known:
        raise OptionsError("", "Give the known answer to at least one question, or remove the item.")
    item.known, item.by = known, by
    item.save(update_fields=["known", "by"])


def draw_gold(
    benchmark: Benchmark,
    unit: str,
    count: int,
    seed: int,
    *,
    without: Collection[str],
    auditors: Collection[int],
    people: int = 1,
) -> tuple[list[FrozenDecision], set[str]]:
    """At most ``count`` gold items, and the sources of what they come from: first those with typed answers, then what
    earlier audits decided. Those that the fewest of the ``auditors`` judged before are taken first; ``without``: those
    of these sources are not. ``people``: how many judge each; nobody is asked what they typed.
    """
    items, sources = _draw_typed(benchmark, unit, count, seed, without, set(auditors), people)
    taken = {row.origin for row in items}
    more, others = _draw_decided(
        benchmark, unit, count - len(items), seed, without={*without, *taken}, auditors=auditors
    )
    return [*items, *more], sources | others


def _draw_typed(
    benchmark: Benchmark,
    unit: str,
    count: int,
    seed: int,
    without: Collection[str],
    auditors: set[int],
    people: int,
) -> tuple[list[FrozenDecision], set[str]]:
    rows = GoldItem.objects.filter(benchmark=benchmark).exclude(known={}).exclude(source__in=without).order_by("pk")
    fitting = [row for row in rows if row.unit == unit and len(auditors - {row.by_id}) >= people]
    chosen = random.Random(f"typed {seed}").sample(fitting, min(count, len(fitting)))
    return [_typed(row) for row in chosen], {row.origin for row in chosen}


def _typed(row: GoldItem) -> FrozenDecision:
    return FrozenDecision(
        source=f"typed:{row.pk}",
        stratum="",
        weight=1.0,
        content=PacketContent.model_validate(row.content),
        sealed=Sealed(),
        involved=frozenset(row.involved),
        excluded=frozenset({row.by_id}),
        cluster=f"typed:{row.pk}",
        control=Packet.Control.GOLD,
        known=row.known,
        truth=row.content.get("truth", False),
        origin=row.source,
    )


def _draw_decided(
    benchmark: Benchmark, unit: str, count: int, seed: int, *, without: Collection[str], auditors: Collection[int]
) -> tuple[list[FrozenDecision], set[str]]:
    decided = Consensus.objects.filter(
        packet__campaign__benchmark=benchmark,
        packet__campaign__unit=unit,
        packet__campaign__state=AuditCampaign.State.CLOSED,
        packet__control="",
        packet__first=None,
        resolved=True,
    )
    rows = list(decided.order_by("pk").values_list("packet", "packet__campaign", "packet__source"))
    given = given_answers({campaign for _, campaign, _ in rows})
    newest = {source: packet for packet, _, source in rows if source not in without}
    rng = random.Random(seed)
    order = {packet: rng.random() for packet in newest.values()}
    judged_by = {packet: len(given.get(packet, {}).keys() & set(auditors)) for packet in order}
    wanted = sorted(order, key=lambda packet: (judged_by[packet], order[packet]))
    items: list[FrozenDecision] = []
    sources: set[str] = set()
    for pk in wanted:
        if len(items) == count:
            break
        packet = Packet.objects.select_related("campaign").get(pk=pk)
        answers = list(given.get(pk, {}).values())
        keys = [row["key"] for row in packet.content["questions"] if row["key"] not in packet.known]
        known = adjudicated_answers(packet)
        known |= {key: found for key in keys if (found := _unanimous([a.get(key) for a in answers]))}
        known = {key: answer for key, answer in known.items() if answer not in VOID}
        if known:
            items.append(_again(packet, known))
            sources.update(packet.campaign.source.split())
    return items, sources


def _unanimous(answers: list[str | None]) -> str:
    given = [answer for answer in answers if answer is not None]
    return given[0] if len(given) >= MIN_PEOPLE and len(set(given)) == 1 and given[0] != UNSURE else ""


def _again(packet: Packet, known: dict[str, str]) -> FrozenDecision:
    """The packet as it was, without questions that were planted in it."""
    content = PacketContent.model_validate(packet.content)
    asked = tuple(row for row in content.questions if row.key not in packet.known)
    return FrozenDecision(
        source=f"gold:{packet.pk}",
        stratum=packet.stratum,
        weight=1.0,
        content=content.model_copy(update={"questions": asked}),
        sealed=Sealed(),
        involved=frozenset(packet.involved),
        cluster=f"gold:{packet.pk}",
        control=Packet.Control.GOLD,
        known=known,
        truth=packet.truth,
        origin=packet.origin or packet.source,
    )
