"""The questions of audits, one by one: what the judge, each auditor and in the end people answered.

A packet of one decision asks one question, a session as many as it has intents and checklist items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from annotations.consensus import decide_questions
from annotations.models import Consensus, Packet
from annotations.packets import CREDITED
from annotations.visibility import given_answers

YES, NO = "yes", "no"


@dataclass(frozen=True)
class AuditedQuestion:
    campaign: int
    packet: int
    source: str
    """Of the packet."""
    key: str
    """Empty in a packet of one decision."""
    kind: str
    judge: str
    answers: tuple[str, ...]
    """Of the auditors."""
    resolved: bool | None
    """Of its packet: whether every question has an answer in the end; None if not enough people judged."""
    enough: bool
    """Whether as many people answered as were asked to."""
    majority: str | None
    """Of the auditors, once enough answered."""
    final: str | None
    """What was adjudicated, else the majority."""
    weight: float
    """How many questions of the population it represents."""
    cluster: str
    labels: Mapping[str, str]
    """Of its packet."""


def audited_questions(campaign_ids: Collection[int]) -> Iterator[AuditedQuestion]:
    """Without control items."""
    if not campaign_ids:
        return
    given = given_answers(campaign_ids)
    consensus = {row.packet_id: row for row in Consensus.objects.filter(packet__campaign__in=campaign_ids)}
    packets = Packet.objects.filter(campaign__in=campaign_ids, control="").order_by("campaign", "position")
    columns = (
        "campaign", "pk", "source", "kind", "content", "sealed", "sampling_weight", "cluster", "campaign__overlap",
        "known", "labels",
    )  # fmt: skip
    for campaign, pk, source, kind, content, sealed, weight, cluster, overlap, known, labels in packets.values_list(
        *columns
    ):
        answers = list(given.get(pk, {}).values())
        enough = len(answers) >= overlap
        majorities: Mapping[str, str | None] = decide_questions(answers, {}) if enough else {}
        row = consensus.get(pk)
        final = (row.answers or {"": as_answer(row.decision)}) if row else {}
        for key, question_kind, judge in asked(kind, content, sealed):
            if key in known:
                continue
            yield AuditedQuestion(
                campaign=campaign,
                packet=pk,
                source=source,
                key=key,
                kind=question_kind,
                judge=judge,
                answers=tuple(row[key] for row in answers if key in row),
                resolved=None if row is None else row.decision is not None,
                enough=enough,
                majority=majorities.get(key),
                final=final.get(key),
                weight=weight,
                cluster=cluster or f"packet:{pk}",
                labels=labels,
            )


def asked(kind: str, content: dict[str, object], sealed: dict[str, object]) -> Iterator[tuple[str, str, str]]:
    """Key, kind and the judge's answer of each question."""
    if kind != "session":
        yield "", kind, as_answer(bool(sealed["decision"])) or NO
        return
    answers = sealed["answers"]
    questions = content["questions"]
    assert isinstance(answers, dict)
    assert isinstance(questions, list)
    for question in questions:
        yield question["key"], question["kind"], answers[question["key"]]


def as_answer(decision: bool | None) -> str | None:
    return None if decision is None else YES if decision else NO


def credited(answer: str) -> bool:
    return answer in CREDITED
