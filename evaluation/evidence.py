"""What stands behind a release: pilots by real models, and people's audits of their judges.

Scripted models never count here, neither as agent nor as judge.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from django.db.models import Q

from annotations.intervals import Rate
from evaluation.audits import audit_summary
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
    audit: Rate
    """Of the decisions of real judges that people have settled, those where people hold the opposite."""

    def to_json(self) -> JsonDict:
        return {
            "pilots": list(self.pilots),
            "audits": {"decisions": self.audit.n, "disagreed": self.audit.count},
        }


def gather_evidence(benchmark: Benchmark, sha256s: Set[str]) -> Evidence:
    """What there is for the revisions with these ``sha256s``."""
    ran = [
        (pilot, sha256)
        for pilot, sha256 in Session.objects.filter(
            Q(state=Session.State.FINISHED) | Q(state=Session.State.FAILED),
            run__pilot__benchmark=benchmark,
            run__pilot__scripted=False,
        )
        .order_by()
        .values_list("run__pilot", "revision__sha256")
        .distinct()
        if sha256 in sha256s
    ]
    pilots = (
        Pilot.objects.filter(pk__in={pilot for pilot, _ in ran}, state=Pilot.State.FINISHED)
        .select_related("agent", "user_model", "judge")
        .order_by("number")
    )
    return Evidence(
        piloted=frozenset(sha256 for _, sha256 in ran),
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
        audit=audit_summary(benchmark).total.rate,
    )
