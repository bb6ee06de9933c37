"""What a pilot of whole personas costs: as the studio tells it, and by the service's own log.

    BILL_PERSONAS=FOLDER python -m pytest tests/zoo/test_bill.py -s

plays every task of the personas in a folder of the format instead of two of the sample's, and prints the tables.
"""

from __future__ import annotations

import os
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from evaluation.models import ModelCall, Pilot, Session
from evaluation.pilots.start import PilotOptions, start_pilot
from evaluation.protocol.participants import Tokens
from evaluation.store.usage import as_ran, use_by_part
from studio.imports.importer import import_path
from studio.imports.taxonomy import ensure_taxonomy
from studio.models import Benchmark
from tests.evaluation.pilots.builders import work_through
from tests.zoo.server import Zoo, playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES
from tests.zoo.sessions import KEY_VARIABLE, SEATS, answered, connect

OTHERS = "BILL_PERSONAS"
KINDS = ("prompt", "cached", "cache_written", "completion", "reasoning")
AT_LEAST_CACHED = {
    "openai-responses": {"agent": 0.8, "user": 0.45},
    "deepseek": {"agent": 0.8, "user": 0.6},
}
"""Of the input of a seat; whole pilots reach more, since their sessions are longer. OpenAI caches from 1,024 tokens on,
which many of the user's questions do not share."""

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(3600)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["openai-responses", "deepseek"])
def test_a_pilot_of_personas_costs_what_the_services_own_log_says_to_the_cent(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    folder = Path(os.environ.get(OTHERS) or settings.BASE_DIR / "fixtures" / "sample" / "data")
    with playing(SERVICES[name]()) as zoo:
        pilot = play(zoo, folder, first=0 if os.environ.get(OTHERS) else 2)

    assert set(Session.objects.filter(run__pilot=pilot).values_list("state", flat=True)) == {"finished"}
    told = {part: (use.tokens, use.cost) for part, use in use_by_part(as_ran(calls_of(pilot))).items()}
    logged = {seat: billed(zoo, seat) for seat in SEATS}
    print_table(name, pilot, told, logged)
    for seat in SEATS:
        assert counts(told[seat][0], zoo) == counts(logged[seat][0], zoo)
        assert cents(told[seat][1]) == cents(logged[seat][1])
    for seat, share in AT_LEAST_CACHED[name].items():
        used = told[seat][0]
        assert (used.cached or 0) >= share * (used.prompt or 0), seat


def play(zoo: Zoo, folder: Path, first: int) -> Pilot:
    """``first``: how many tasks of each persona; 0: all."""
    benchmark = Benchmark.objects.create(slug="bill", name="Bill", taxonomy=ensure_taxonomy())
    assert import_path(benchmark, folder, by=None).errors == []
    tasks = [
        row.task_id
        for persona in benchmark.personas.all()
        for row in persona.tasks.order_by("position")[: first or None]
    ]
    seats: Any = {option: connect(zoo, seat).name for seat, option in SEATS.items()}
    options = PilotOptions(tasks=tasks, accept_warnings=True, **seats)
    return work_through(start_pilot(benchmark, options, by=None))


def calls_of(pilot: Pilot) -> Any:
    return ModelCall.objects.filter(session__run__pilot=pilot)


def billed(zoo: Zoo, seat: str) -> tuple[Tokens, Decimal]:
    entries = [entry for entry in answered(zoo.service) if entry.seat == seat]
    counted = [entry.counted for entry in entries if entry.counted]
    tokens = Tokens(
        sum(each.prompt for each in counted),
        sum(each.completion for each in counted),
        sum(each.cached for each in counted),
        sum(each.written for each in counted),
        sum(each.reasoning for each in counted),
    )
    return tokens, sum((entry.cost for entry in entries), Decimal(0))


def counts(tokens: Tokens, zoo: Zoo) -> dict[str, int | None]:
    """What the service tells."""
    untold = {"cache_written": "written", "cached": "cached", "reasoning": "reasoning"}
    kinds = [kind for kind in KINDS if untold.get(kind, kind) in (*zoo.service.tells, "prompt", "completion")]
    return {kind: getattr(tokens, kind) for kind in kinds}


def cents(cost: Decimal) -> Decimal:
    return cost.quantize(Decimal("0.01"), ROUND_HALF_EVEN)


def print_table(name: str, pilot: Pilot, told: Any, logged: Any) -> None:
    sessions = Session.objects.filter(run__pilot=pilot).count()
    print(f"\n{name}: {sessions} sessions, {calls_of(pilot).filter(answered=True).count()} calls")
    print(f"{'':7}" + "".join(f"{kind:>15}" for kind in (*KINDS, "cached share", "studio $", "log $")))
    for seat in SEATS:
        tokens, cost = told[seat]
        share = f"{100 * (tokens.cached or 0) / (tokens.prompt or 1):.1f} %"
        row = [*(getattr(tokens, kind) for kind in KINDS), share, f"{cost:.4f}", f"{logged[seat][1]:.4f}"]
        print(f"{seat:7}" + "".join(f"{each if each is not None else 'untold':>15}" for each in row))
