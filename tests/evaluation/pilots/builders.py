"""Pilots of a stub model, for tests."""

from __future__ import annotations

from evaluation.models import Pilot, Session
from evaluation.pilots.session_work import work_on
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of
from tests.evaluation.stub_model import StubModel


def start(stub: StubModel, *tasks: object, **options: object) -> Pilot:
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    return pilot_of(
        benchmark_of(*tasks), agent=model, user_model=model, judge=model, **{"accept_warnings": True, **options}
    )


def work_through(pilot: Pilot) -> Pilot:
    """Every session in order, then what waits for the end of its run."""
    for _ in range(2):
        for pk in Session.objects.filter(run__pilot=pilot).order_by("run", "position").values_list("pk", flat=True):
            work_on(pk)
    pilot.refresh_from_db()
    return pilot


def statuses(session: Session) -> list[tuple[int, str, int]]:
    return list(session.intents.values_list("index", "status", "turn"))
