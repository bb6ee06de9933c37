"""The evidence for a release: pilots by real models, and audits of their judges.

Scripted models never count, neither as agent nor as judge.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q, QuerySet

from annotations.intervals import Rate
from evaluation.audits.campaigns import summarize_audits
from evaluation.audits.gate import UncomparedJudge, WorseJudge, uncompared_judges, worse_judges
from evaluation.judging.judgings import rules_of, scoring_choice
from evaluation.models import Judging, Pilot, Session
from evaluation.models.agents import BASELINES
from evaluation.models.judgings import scoring_round
from evaluation.protocol.versions import ProtocolName
from evaluation.results.pilot_report import frozen_servers, judging_json
from evaluation.results.scores import refresh_scores
from studio.domain.base import JsonDict
from studio.domain.options import OptionsError
from studio.models import Benchmark, Task, TaskState


@dataclass(frozen=True)
class Evidence:
    """Excludes everything by scripted models, and pilots of the other protocol."""

    protocol: ProtocolName
    piloted: frozenset[str]
    """``Task.content`` of what finished sessions by a real agent, user and judge ran."""
    ran_otherwise: frozenset[int]
    """Keys of revisions that they ran with other content: what they take from the persona or build on was another."""
    blocked: Mapping[str, tuple[int, str]]
    """What of it was blocked in a pilot that is named here: the pilot's number, and why."""
    pilots: tuple[JsonDict, ...]
    """Finished pilots: ``{"number", "agent", "user_model", "judge", "judging", "runs", "scores"}``."""
    left_out: tuple[JsonDict, ...]
    """Others that the manager does not cite: ``{"number", "agent", "reason", "by"}``."""
    audit: Rate
    """The share of resolved decisions of real judges that are wrong, given what judges were shown."""
    truth: Rate
    """The share that is wrong in truth, as people found who knew everything."""
    not_shown: Rate
    """The share of decided questions for which judges were not shown enough."""
    uncompared: tuple[UncomparedJudge, ...] = ()
    """Judges that score the pilots without having been compared with people."""
    worse: tuple[WorseJudge, ...] = ()
    """Judges that score the pilots and do worse than the one in use."""

    def to_json(self) -> JsonDict:
        return {
            "protocol": str(self.protocol),
            "pilots": list(self.pilots),
            **({"left_out": list(self.left_out)} if self.left_out else {}),
            "audits": {
                "decisions": self.audit.n,
                "disagreed": self.audit.count,
                "not_enough_shown": self.not_shown.count,
                "in_truth": {"decisions": self.truth.n, "disagreed": self.truth.count},
            },
        }


def release_protocol(benchmark: Benchmark) -> ProtocolName:
    """Of the newest finished pilot by real models: evidence of one protocol never stands for the other."""
    pilots = Pilot.objects.filter(benchmark=benchmark, scripted=False, imported="", state=Pilot.State.FINISHED)
    newest = pilots.order_by("-number").values_list("protocol", flat=True).first()
    return ProtocolName(newest or ProtocolName.PAPER)


def real_sessions(benchmark: Benchmark) -> QuerySet[Session]:
    """Finished sessions of the release's protocol by a real agent, user and judge that ran here, each after those its
    task depends on."""
    return (
        Session.objects.filter(
            Q(state=Session.State.FINISHED) | Q(state=Session.State.FAILED),
            run__pilot__benchmark=benchmark,
            run__pilot__scripted=False,
            run__pilot__imported="",
            run__pilot__protocol=release_protocol(benchmark),
        )
        .scored()
        .exclude(run__pilot__configured_agent__kind__in=BASELINES)
        .exclude(run__pilot__in=judged_by_script(benchmark))
        .order_by()
    )


def gather_evidence(benchmark: Benchmark, wanted: Set[str]) -> Evidence:
    """Evidence for the ``wanted`` ``Task.content``."""
    fields = ("run__pilot", "content", "revision", "blocked")
    ran = list(real_sessions(benchmark).values_list(*fields).distinct()) if wanted else []
    piloted = [(pilot, content) for pilot, content, *_ in ran]
    pilots = citable_pilots({pilot for pilot, content in piloted if content in wanted})
    scored = refresh_scores(pilots) if piloted else []
    cited = {pilot.pk: pilot.number for pilot in scored}
    protocol = release_protocol(benchmark)
    shown, in_truth = (summarize_audits(benchmark, protocol, truth=truth) for truth in (False, True))
    return Evidence(
        protocol=protocol,
        piloted=frozenset(content for _, content in piloted),
        ran_otherwise=frozenset(revision for _, content, revision, _ in ran if content not in wanted),
        blocked={content: (cited[pilot], why) for pilot, content, _, why in ran if why and pilot in cited},
        pilots=tuple(_pilot(pilot) for pilot in scored),
        left_out=(),
        audit=shown.total.rate,
        truth=in_truth.total.rate,
        not_shown=shown.not_shown,
        uncompared=tuple(uncompared_judges(benchmark, scored)),
        worse=tuple(worse_judges(benchmark, scored)),
    )


def citable_pilots(keys: Collection[int] | QuerySet[Any]) -> QuerySet[Pilot]:
    """Those that are finished."""
    rows = Pilot.objects.filter(pk__in=keys, state=Pilot.State.FINISHED)
    return rows.select_related("agent", "user_model", "judge").order_by("number")


def pilots_of_next_release(benchmark: Benchmark) -> QuerySet[Pilot]:
    """That it cites unless they are left out."""
    tasks = Task.objects.filter(persona__benchmark=benchmark).exclude(state=TaskState.RETIRED).values("content")
    return citable_pilots(real_sessions(benchmark).filter(content__in=tasks).values("run__pilot"))


def read_left_out(lines: str) -> dict[int, str]:
    """Why, by the number of the pilot. Raises OptionsError."""
    left_out: dict[int, str] = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        number, _, reason = line.partition(" ")
        if not number.isdecimal() or len(number) > 9:
            raise OptionsError("leave_out", f"Write a pilot’s number and why, such as “12 The key was wrong”: {line}")
        if not reason.strip():
            raise OptionsError("leave_out", f"Say why pilot {number} is left out.")
        left_out[int(number)] = reason.strip()
    return left_out


def without_pilots(evidence: Evidence, lines: str, by: str) -> Evidence:
    """Without citing the pilots that ``lines`` name, one each: its number, and why. What they show of tasks stays.
    Raises OptionsError."""
    cited = {row["number"]: row for row in evidence.pilots}
    left_out: dict[int, JsonDict] = {}
    for number, reason in read_left_out(lines).items():
        if number not in cited:
            raise OptionsError("leave_out", f"Pilot {number} is none of those that the release would cite.")
        left_out[number] = {"number": number, "agent": cited[number]["agent"], "reason": reason, "by": by}
    kept = tuple(row for row in evidence.pilots if row["number"] not in left_out)
    return replace(evidence, pilots=kept, left_out=tuple(left_out.values()))


def judged_by_script(benchmark: Benchmark) -> set[int]:
    """Keys of the pilots that a scripted judge scores."""
    scores = Judging.objects.filter(round__pilot__benchmark=benchmark, round=scoring_round("round__pilot"))
    return set(scores.filter(scripted=True, round__number__gt=1).values_list("round__pilot", flat=True))


def _pilot(pilot: Pilot) -> JsonDict:
    choice = scoring_choice(pilot)
    return {
        "number": pilot.number,
        "agent": pilot.endpoint("agent").model,
        "kind": pilot.agent_kind.kind,
        "user_model": pilot.endpoint("user_model").model,
        "judge": choice.round.judge["model"],
        "judging": judging_json(choice.round, rules_of(choice)),
        "mode": pilot.mode,
        "protocol": pilot.protocol,
        "agent_loop": pilot.agent_loop,
        "runs": pilot.runs_wanted,
        **({"tool_servers": servers} if (servers := frozen_servers(pilot)) else {}),
        "scores": pilot.scores,
    }
