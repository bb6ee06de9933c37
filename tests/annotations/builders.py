"""Builders of benchmarks, people and audits for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from django.db import transaction

from annotations import campaigns, judgments
from annotations.campaigns import CampaignPlan, FrozenDecision
from annotations.decided import audited_questions, judge_answers
from annotations.judgments import HandedIn
from annotations.leases import renew_lease, take_seat
from annotations.models import AuditCampaign, Judgment, Packet
from annotations.packets import DECISION, NO, YES, EvidencePart, Material, Question, Sealed, build_content
from evaluation.audits import opening as audits
from evaluation.audits.opening import AuditOptions
from evaluation.models import Pilot
from studio.models import Benchmark, Membership, User

numbers = count(1)


def make_benchmark() -> Benchmark:
    number = next(numbers)
    return Benchmark.objects.create(slug=f"audited-{number}", name=f"Audited {number}")


def make_person(benchmark: Benchmark | None = None, *roles: str, name: str = "") -> User:
    user = User.objects.create_user(name or f"person-{next(numbers)}", password="a long password")
    Membership.objects.bulk_create(Membership(benchmark=benchmark, user=user, role=role) for role in roles)
    return user


def make_decision(
    number: int, *, judge: bool = True, kind: str = "checklist", text: str = "Send the papers by five tomorrow."
) -> FrozenDecision:
    return FrozenDecision(
        source=f"verdict:{number}",
        stratum=f"{kind}/{judge}/ana",
        weight=2.5,
        content=build_content(
            kind,  # type: ignore[arg-type]  # tests pass plain strings
            f"The message asks for paper number {number}.",
            Material(
                [
                    EvidencePart(role="user", label="turn 1", text="Please ask for what is missing."),
                    EvidencePart(role="assistant", label="turn 1", text=text),
                ],
                left_out=["Turn 1: 1 file written, none shown (missing: letter.md)."],
            ),
        ),
        sealed=Sealed(
            answers={DECISION: YES if judge else NO},
            quotes={DECISION: "sealed quote"},
            reasons={DECISION: "sealed reason"},
            judge="sealed-judge-model",
        ),
    )


def make_session(
    number: int, judge: Mapping[str, str], *, stratum: str = "pilot 1", shares: Mapping[str, float] | None = None
) -> FrozenDecision:
    """A session with the questions that ``judge`` answered: intents and items, by key."""
    questions = [
        Question(key=key, kind="status" if key.startswith("intent") else "checklist", subject=f"Subject of {key}.")
        for key in judge
    ]
    parts = [
        EvidencePart(role="user", label="turn 1", text="Please ask for what is missing."),
        EvidencePart(role="assistant", label="turn 1", text="Send the papers by five tomorrow."),
    ]
    sealed = Sealed(
        answers=dict(judge),
        reasons=dict.fromkeys(judge, "sealed reason"),
        shares=dict(shares or {}),
        judge="sealed-judge-model",
    )
    return FrozenDecision(
        source=f"session:{number}",
        stratum=stratum,
        weight=1.0,
        content=build_content("session", f"Task {number}", Material(parts), questions=questions),
        sealed=sealed,
        cluster=f"session:{number}",
    )


def make_campaign(
    benchmark: Benchmark | None = None,
    *,
    size: int = 3,
    decisions: Sequence[FrozenDecision] | None = None,
    overlap: int = 1,
    auditors: int = 1,
    **changes: object,
) -> tuple[AuditCampaign, list[User]]:
    """An open audit and its auditors."""
    benchmark = benchmark or make_benchmark()
    people = [make_person(benchmark, "auditor") for _ in range(auditors)]
    options = {
        "name": "spring audit",
        "source": "pilot:1",
        "seed": 7,
        "overlap": overlap,
        "scripted": False,
        "by": None,
    } | changes
    if decisions is None:
        decisions = [make_decision(number, judge=number % 2 == 1) for number in range(1, size + 1)]
    return open_campaign(benchmark, decisions, **options), people


def open_campaign(
    benchmark: Benchmark, decisions: Sequence[FrozenDecision], *, by: User | None = None, **plan: object
) -> AuditCampaign:
    return campaigns.open_campaign(CampaignPlan(benchmark, decisions, **plan), by=by)  # type: ignore[arg-type]


def open_audit(*pilots: Pilot, by: User | None = None, **options: object) -> AuditCampaign:
    return audits.open_audit(pilots[0].benchmark, audit_options(*pilots, **options), by=by)


def audit_options(*pilots: Pilot, overlap: int = 1, auditors: Sequence[User] = (), **options: object) -> AuditOptions:
    rounds = {"rounds": options.pop("round")} if isinstance(options.get("round"), Mapping) else {}
    named = {"pilots": [row.pk for row in pilots], "people": overlap, "auditors": [row.username for row in auditors]}
    return AuditOptions.read(named | rounds | options)


def record_judgment(
    packet: Packet,
    *,
    auditor: User,
    number: int = 1,
    answer: str = "answered",
    answers: Mapping[str, str] | None = None,
    **more: object,
) -> Judgment:
    """As if the packet had been the person's next one. ``answer``: to a single decision, or ``skipped``."""
    if not (renew_lease(packet.pk, auditor) or packet.seats.filter(auditor=auditor).exists()):
        with transaction.atomic():
            take_seat(packet.pk, auditor)
    if answers is None and answer != "skipped":
        answers = {DECISION: answer}
    given = HandedIn(None if answer == "skipped" else answers, **more)  # type: ignore[arg-type]  # of mixed types
    return judgments.record_judgment(packet, given, auditor=auditor, number=number)


def judged(packet: Packet) -> dict[str, str]:
    """What the judge answered, by key of the question."""
    return judge_answers([packet.campaign_id])[packet.pk]


def decided(packet: Packet) -> dict[str, str | None]:
    """What people answered in the end, by key of the question."""
    return {row.key: row.final for row in audited_questions([packet.campaign_id]) if row.packet == packet.pk}
