"""What stands behind a release: pilots by real models, and people's audits of their judges.

Scripted models never count here, neither as agent nor as judge.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from annotations.models import AuditCampaign, Consensus
from evaluation.models import Pilot, Session
from studio.models import Benchmark
from studio.spec.base import JsonDict


@dataclass(frozen=True)
class Evidence:
    """Facts about the tasks to be released, none of them about a scripted model."""

    piloted: frozenset[str]
    """sha256 of the revisions some finished session ran, by a real agent, user and judge."""
    pilots: tuple[JsonDict, ...]
    """Finished pilots: ``{"number", "agent", "user_model", "judge", "runs", "scores"}``."""
    audited: int
    """Decisions of those pilots' judges that people have settled."""
    disagreed: int
    """Of these, where people hold the opposite."""

    @property
    def disagreement(self) -> float | None:
        return self.disagreed / self.audited if self.audited else None

    def to_json(self) -> JsonDict:
        return {
            "pilots": list(self.pilots),
            "audits": {"decisions": self.audited, "disagreed": self.disagreed},
        }


def gather_evidence(benchmark: Benchmark, sha256s: Collection[str]) -> Evidence:
    """What there is for the revisions with these ``sha256s``."""
    sessions = Session.objects.filter(
        Q(state=Session.State.FINISHED) | Q(state=Session.State.FAILED),
        run__pilot__benchmark=benchmark,
        run__pilot__scripted=False,
        revision__sha256__in=sha256s,
    )
    pilots = (
        Pilot.objects.filter(
            Exists(sessions.filter(run__pilot=OuterRef("pk"))),
            benchmark=benchmark,
            scripted=False,
            state=Pilot.State.FINISHED,
        )
        .select_related("agent", "user_model", "judge")
        .order_by("number")
    )
    settled = Consensus.objects.filter(
        packet__campaign__in=AuditCampaign.objects.filter(benchmark=benchmark, scripted=False),
        decision__isnull=False,
    ).values_list("decision", "packet__sealed")
    decisions = [(decision, sealed.get("decision")) for decision, sealed in settled]
    return Evidence(
        piloted=frozenset(sessions.values_list("revision__sha256", flat=True)),
        pilots=tuple(
            {
                "number": pilot.number,
                "agent": pilot.agent.model,
                "user_model": pilot.user_model.model,
                "judge": pilot.judge.model,
                "runs": pilot.runs_wanted,
                "scores": pilot.scores,
            }
            for pilot in pilots
        ),
        audited=len(decisions),
        disagreed=sum(people != judge for people, judge in decisions),
    )
