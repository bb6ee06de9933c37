"""The questions of audits, one by one: what the judge, models, each auditor and in the end people answered.

Nothing else reads sealed answers, and nothing that serves a person who judges imports this (see the import contracts).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotations.consensus import decide_questions
from annotations.models import Adjudication, Answer, Judgment, Packet
from annotations.packets import CREDITED, VOID
from annotations.visibility import given_answers, newest_judgments

By = Answer.By


@dataclass(frozen=True)
class AuditedQuestion:
    campaign: int
    packet: int
    source: str
    """Of the packet."""
    key: str
    truth: bool
    """As of its packet."""
    is_second: bool
    """Whether it is asked after what judges were shown."""
    kind: str
    subject: str
    judge: str
    answers: tuple[str, ...]
    """Of the auditors."""
    resolved: bool | None
    """Of its packet: whether every question has an answer in the end; None if not enough people judged."""
    enough: bool
    """Whether as many people answered as were asked to."""
    looked: bool
    """Whether it is about what judges were shown, and somebody answered who had seen its whole session by then."""
    majority: str | None
    """Of the auditors, once enough answered."""
    final: str | None
    """What was adjudicated, else the majority."""
    adjudicated: bool
    cause: str
    """Named by the adjudicator; a ``Cause``, or empty."""
    weight: float
    """How many questions of the population it represents."""
    cluster: str
    labels: Mapping[str, str]
    """Of its packet."""

    @property
    def decided(self) -> str | None:
        """The final answer, if it can be compared with the judge's."""
        return None if self.final in VOID else self.final


def audited_questions(campaign_ids: Collection[int]) -> Iterator[AuditedQuestion]:
    """Without control items."""
    if not campaign_ids:
        return
    given = given_answers(campaign_ids)
    judged = judge_answers(campaign_ids)
    adjudicated = _adjudicated(campaign_ids)
    looked = set(_answered_after_looking(campaign_ids))
    packets = Packet.objects.filter(campaign__in=campaign_ids, control="").order_by("campaign", "position")
    columns = (
        "campaign", "pk", "source", "truth", "first", "content__questions", "sampling_weight", "cluster",
        "campaign__overlap", "known", "labels",
    )  # fmt: skip
    for campaign, pk, source, truth, first, questions, weight, cluster, overlap, known, labels in packets.values_list(
        *columns
    ):
        answers = list(given.get(pk, {}).values())
        enough = len(answers) >= overlap
        decided = adjudicated.get(pk, {})
        majorities: Mapping[str, str | None] = decide_questions(answers, {}) if enough else {}
        final = {**majorities, **{key: value for key, (value, _) in decided.items()}}
        for question in questions:
            key = question["key"]
            if key in known:
                continue
            yield AuditedQuestion(
                campaign=campaign,
                packet=pk,
                source=source,
                key=key,
                truth=truth,
                is_second=first is not None,
                kind=question["kind"],
                subject=question["subject"],
                judge=judged[pk][key],
                answers=tuple(row[key] for row in answers if key in row),
                resolved=None not in final.values() if final else None,
                enough=enough,
                looked=pk in looked,
                majority=majorities.get(key),
                final=final.get(key),
                adjudicated=key in decided,
                cause=decided[key][1] if key in decided else "",
                weight=weight,
                cluster=cluster or f"packet:{pk}",
                labels=labels,
            )


def asked_once(questions: Iterable[AuditedQuestion]) -> list[AuditedQuestion]:
    """One answer a question: of those that several audits asked, the newest answer that people came to."""
    found: dict[tuple[str, str, bool], AuditedQuestion] = {}
    for row in questions:
        place = (row.source, row.key, row.truth)
        if place not in found or found[place].final is None or row.final is not None:
            found[place] = row
    return list(found.values())


def judge_answers(campaign_ids: Collection[int]) -> dict[int, dict[str, str]]:
    """By packet, by key of the question."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    rows = Answer.sealed.filter(packet__campaign__in=campaign_ids, by=By.JUDGE).order_by("pk")
    for packet, question, value in rows.values_list("packet_id", "question", "value"):
        found[packet][question] = value
    return found


def model_answers(
    campaign_ids: Collection[int], *, second: bool = False
) -> dict[tuple[int, str], dict[str, dict[str, str]]]:
    """By audit and name of the model, by source of the packet, by key of the question, of those that it was asked;
    ``second``: after what judges were shown. Empty where its samples have no majority."""
    found: dict[tuple[int, str], dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    rows = Answer.sealed.filter(packet__campaign__in=campaign_ids, by=By.MODEL).order_by("number", "pk")
    rows = rows.filter(packet__first__isnull=not second)
    columns = ("packet__campaign_id", "model", "packet__source", "question", "value")
    for campaign, model, source, question, value in rows.values_list(*columns):
        found[campaign, model][source][question] = value
    return found


def _answered_after_looking(campaign_ids: Collection[int]) -> Iterator[int]:
    """Keys of packets."""
    seen = Judgment.objects.filter(
        packet__truth=True,
        packet__cluster=OuterRef("packet__cluster"),
        auditor=OuterRef("auditor"),
        created_at__lt=OuterRef("created_at"),
    )
    given = Judgment.objects.filter(pk__in=newest_judgments(campaign_ids), state=Judgment.State.GIVEN)
    rows = given.filter(Exists(seen), packet__truth=False).exclude(packet__cluster="")
    yield from rows.order_by().values_list("packet_id", flat=True)


def _adjudicated(campaign_ids: Collection[int]) -> dict[int, dict[str, tuple[str, str]]]:
    """By packet, by key of the question: what the newest adjudication decided, and the cause."""
    newest = (
        Adjudication.objects.filter(packet__campaign__in=campaign_ids)
        .order_by("packet_id", "-created_at", "-pk")
        .distinct("packet_id")
    )
    found: dict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
    rows = Answer.objects.filter(adjudication__in=newest)
    for packet, question, value, cause in rows.values_list("packet_id", "question", "value", "cause"):
        found[packet][question] = value, cause
    return found


def credited(answer: str) -> bool:
    return answer in CREDITED
