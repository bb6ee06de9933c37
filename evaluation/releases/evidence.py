"""What stands behind a release: pilots by real models, and people's audits of their judges.

Scripted models never count here, neither as agent nor as judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q

from annotations.intervals import Rate
from evaluation.audits.campaigns import summarize_audits
from evaluation.grading.script_versions import hashes_at_revision
from evaluation.models import Pilot, Session
from studio.domain.base import JsonDict
from studio.models import Benchmark


class Tried(NamedTuple):
    """A task as it was run: by its revision, and by the script that graded it."""

    sha256: str
    script: str
    """sha256 of the script; empty: there was none."""


@dataclass(frozen=True)
class Evidence:
    """Facts about the tasks to be released, none of them about a scripted model."""

    piloted: frozenset[Tried]
    """What some finished session ran, by a real agent, user and judge."""
    pilots: tuple[JsonDict, ...]
    """Finished pilots: ``{"number", "agent", "user_model", "judge", "runs", "scores"}``."""
    audit: Rate
    """Of the decisions of real judges that people have settled, those where people hold the opposite."""

    def to_json(self) -> JsonDict:
        return {
            "pilots": list(self.pilots),
            "audits": {"decisions": self.audit.n, "disagreed": self.audit.count},
        }


def gather_evidence(benchmark: Benchmark, wanted: Set[Tried], paths: Mapping[str, str]) -> Evidence:
    """What there is for tasks as they are now. ``paths`` are those by which their revisions name a script. A pilot is
    evidence of a task if it ran it as it is and graded it by the script that it has now."""
    sha256s = {one.sha256 for one in wanted}
    sessions = [
        (pilot, sha256, revision)
        for pilot, sha256, revision in Session.objects.filter(
            Q(state=Session.State.FINISHED) | Q(state=Session.State.FAILED),
            run__pilot__benchmark=benchmark,
            run__pilot__scripted=False,
        )
        .order_by()
        .values_list("run__pilot", "revision__sha256", "run__persona_revision")
        .distinct()
        if sha256 in sha256s
    ]
    then = hashes_at_revision({(revision, paths[sha256]) for _, sha256, revision in sessions if sha256 in paths})
    ran = [
        (pilot, Tried(sha256, then[revision, paths[sha256]] if sha256 in paths else ""))
        for pilot, sha256, revision in sessions
    ]
    pilots = (
        Pilot.objects.filter(pk__in={pilot for pilot, tried in ran if tried in wanted}, state=Pilot.State.FINISHED)
        .select_related("agent", "user_model", "judge")
        .order_by("number")
    )
    return Evidence(
        piloted=frozenset(tried for _, tried in ran),
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
        audit=summarize_audits(benchmark).total.rate,
    )
