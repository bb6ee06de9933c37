"""Gold items: what earlier audits decided beyond doubt, asked again to see how people do on it."""

from __future__ import annotations

import random
from collections.abc import Collection

from annotations.campaigns import FrozenDecision
from annotations.models import Consensus, Packet
from annotations.packets import UNSURE, PacketContent, SealedDecision, SealedSession
from annotations.visibility import given_answers
from studio.models import Benchmark

MIN_PEOPLE = 2
"""Who must have given the same answer, unless it was adjudicated."""


def draw_gold(
    benchmark: Benchmark, unit: str, count: int, seed: int, *, without: Collection[str], auditors: Collection[int]
) -> tuple[list[FrozenDecision], set[str]]:
    """At most ``count`` gold items, and the sources of the audits they come from. Those that the fewest of the
    ``auditors`` judged before are taken first; ``without``: packets of these sources are not.
    """
    settled = Consensus.objects.filter(
        packet__campaign__benchmark=benchmark, packet__campaign__unit=unit, packet__control="", decision__isnull=False
    )
    rows = list(settled.order_by("pk").values_list("packet", "packet__campaign", "packet__source", "adjudicated"))
    given = given_answers({campaign for _, campaign, _, _ in rows})
    newest = {source: packet for packet, _, source, _ in rows if source not in without}
    adjudicated = {packet for packet, _, _, was in rows if was}
    rng = random.Random(seed)
    order = {packet: rng.random() for packet in newest.values()}
    judged_by = {packet: len(given.get(packet, {}).keys() & set(auditors)) for packet in order}
    wanted = sorted(order, key=lambda packet: (judged_by[packet], order[packet]))
    items: list[FrozenDecision] = []
    sources: set[str] = set()
    for pk in wanted:
        if len(items) == count:
            break
        packet = Packet.objects.select_related("campaign", "consensus").get(pk=pk)
        answers = list(given.get(pk, {}).values())
        known = _adjudicated(packet) if pk in adjudicated else {}
        known |= {key: found for key in packet_keys(packet) if (found := _unanimous([a.get(key) for a in answers]))}
        if known:
            items.append(_again(packet, known))
            sources.update(packet.campaign.source.split())
    return items, sources


def packet_keys(packet: Packet) -> list[str]:
    if packet.kind != "session":
        return [""]
    return [row["key"] for row in packet.content["questions"] if row["key"] not in packet.known]


def _adjudicated(packet: Packet) -> dict[str, str]:
    if packet.kind == "session":
        newest = packet.adjudications.order_by("-created_at", "-pk").first()
        return dict(newest.answers) if newest else {}
    return {"": "yes" if packet.consensus.decision else "no"}


def _unanimous(answers: list[str | None]) -> str:
    given = [answer for answer in answers if answer is not None]
    return given[0] if len(given) >= MIN_PEOPLE and len(set(given)) == 1 and given[0] != UNSURE else ""


def _again(packet: Packet, known: dict[str, str]) -> FrozenDecision:
    """The packet as it was, without questions that were planted in it."""
    content = PacketContent.model_validate(packet.content)
    asked = tuple(row for row in content.questions if row.key not in packet.known)
    sealed = packet.sealed
    return FrozenDecision(
        source=f"gold:{packet.pk}",
        stratum=packet.stratum,
        weight=1.0,
        content=content.model_copy(update={"questions": asked}),
        sealed=SealedSession.model_validate(sealed)
        if packet.kind == "session"
        else SealedDecision.model_validate(sealed),
        involved=frozenset(packet.involved),
        cluster=f"gold:{packet.pk}",
        control=Packet.Control.GOLD,
        known=known,
    )
