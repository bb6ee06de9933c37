"""Before a judge or a version of its prompts may score a release, it is compared with people on the regression set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from annotations.models import AuditCampaign, Packet
from annotations.sources import SESSION
from evaluation.grading.judgings import scoring_choices
from evaluation.models import Judging, JudgingRound, Pilot
from studio.models import Benchmark

ENOUGH = 10
"""Sessions on which a judge must have been compared, or all that the set has."""

Identity = tuple[str, tuple[tuple[str, str], ...]]
"""The judge's model, and the content of each of its prompts."""


@dataclass(frozen=True)
class UncomparedJudge:
    judge: str
    prompt: str
    """``checklist prompt 3``."""
    pilots: tuple[int, ...]
    """Numbers of those it scores."""
    compared: int
    """Sessions of the set that it judged."""
    needed: int


def uncompared_judges(benchmark: Benchmark, pilots: Collection[Pilot]) -> list[UncomparedJudge]:
    """Those that score the pilots. Without a set, as before the first audit of whole sessions, there are none."""
    sessions = _audited_sessions(benchmark) if pilots else set()
    if not sessions:
        return []
    compared = _sessions_by_identity(sessions)
    needed = min(ENOUGH, len(sessions))
    scoring: dict[Identity, list[tuple[int, JudgingRound]]] = defaultdict(list)
    numbers = {pilot.pk: pilot.number for pilot in pilots}
    for key, choice in scoring_choices(pilots).items():
        scoring[identity_of(choice.round)].append((numbers[key], choice.round))
    return [
        UncomparedJudge(
            judge=str(rows[0][1].judge.get("model", "")),
            prompt=_prompt(rows[0][1]),
            pilots=tuple(sorted(number for number, _ in rows)),
            compared=len(compared.get(identity, ())),
            needed=needed,
        )
        for identity, rows in sorted(scoring.items())
        if len(compared.get(identity, ())) < needed
    ]


def identity_of(judging_round: JudgingRound) -> Identity:
    prompts = judging_round.prompts.items()
    return (
        str(judging_round.judge.get("model", "")),
        tuple(sorted((name, str(prompt["sha256"])) for name, prompt in prompts)),
    )


def _audited_sessions(benchmark: Benchmark) -> set[int]:
    """Keys of the sessions that people decided in audits of real judges."""
    decided = Packet.objects.filter(
        campaign__benchmark=benchmark,
        campaign__unit=AuditCampaign.Unit.SESSION,
        campaign__scripted=False,
        control="",
        consensus__isnull=False,
    )
    sources = decided.values_list("source", flat=True)
    return {int(source.removeprefix(SESSION)) for source in sources if source.startswith(SESSION)}


def _sessions_by_identity(sessions: Iterable[int]) -> dict[Identity, set[int]]:
    judged = Judging.objects.filter(session__in=sessions, state=Judging.State.FINISHED, scoring__gt="").order_by()
    pairs = set(judged.values_list("round", "session"))
    rounds = JudgingRound.objects.in_bulk({key for key, _ in pairs if key})
    found: dict[Identity, set[int]] = defaultdict(set)
    for key, session in pairs:
        if key in rounds:
            found[identity_of(rounds[key])].add(session)
    return found


def _prompt(judging_round: JudgingRound) -> str:
    checklist = judging_round.prompts.get("checklist")
    return f"checklist prompt {checklist['version']}" if checklist else "its prompts"
