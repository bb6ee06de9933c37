"""Celery tasks, and what each worker does besides: carry sessions, and sweep.

The sweep frees sessions whose worker died. Concurrent sweeps are harmless, because a session is leased only once.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import celery
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import close_old_connections, connection

from evaluation.assistance import opinion_work, opinions, worker
from evaluation.assistance.opinions import RUN_OPINIONS
from evaluation.assistance.requests import RUN_PROPOSAL, resend_unclaimed
from evaluation.endpoints.testing import RUN_TEST, play_test
from evaluation.pilots import judging_work
from evaluation.pilots.carrier import Carrier
from evaluation.pilots.lifecycle import COMPUTE_RESULTS, compute_ahead, sweep
from evaluation.pilots.queue import WAKE
from evaluation.pilots.rejudging import RUN_JUDGING
from evaluation.trials.analyses import analyse_missing, analyse_scripts
from evaluation.workspaces.folders import sweep_folders
from studio.findings.deferred import RUN_CHECKS, check_deferred, resend_deferred

logger = logging.getLogger(__name__)
_stop = threading.Event()
_carrier: Carrier | None = None
"""What carries this worker's sessions."""

F = TypeVar("F", bound=Callable[..., Any])
shared_task: Callable[..., Callable[[F], F]] = celery.shared_task  # celery has no types


@shared_task(name=WAKE)
def wake() -> None:
    """Sessions are due: look now instead of within a second."""
    if _carrier is not None:
        _carrier.wake()


@shared_task(name=RUN_JUDGING)
def run_judging(judging_id: int) -> None:
    judging_work.work_on(judging_id)


@shared_task(name="evaluation.tasks.analyse_scripts")
def run_script_analysis(scripts: list[str]) -> None:
    analyse_scripts(scripts)


@shared_task(name=RUN_PROPOSAL)
def run_proposal(proposal_id: int) -> None:
    worker.work_on(proposal_id)


@shared_task(name=RUN_OPINIONS)
def run_opinions(task_id: int) -> None:
    opinion_work.work_on(task_id)


@shared_task(name=RUN_TEST)
def run_endpoint_test(test_id: int) -> None:
    play_test(test_id)


@shared_task(name=RUN_CHECKS)
def run_deferred_checks() -> None:
    check_deferred()


@shared_task(name=COMPUTE_RESULTS)
def compute_results(benchmark_id: int) -> None:
    compute_ahead(benchmark_id)


def start_sweeping(**_: Any) -> None:
    global _carrier
    _stop.clear()
    _carrier = Carrier(settings.WORKER_SESSIONS)
    _carrier.start()
    gc.freeze()  # what was imported stays; the collector need not look through it again and again
    threading.Thread(target=_sweep_periodically, name="session-sweeper", daemon=True).start()


def stop_sweeping(**_: Any) -> None:
    _stop.set()
    if _carrier is not None:
        _carrier.stop()


worker_ready.connect(start_sweeping)
worker_shutting_down.connect(stop_sweeping)


def _sweep_periodically() -> None:
    if removed := sweep_folders():
        logger.info("Removed %d folders of sessions whose worker was killed.", removed)
    while True:
        try:
            close_old_connections()
            sweep()
            resend_unclaimed()
            opinions.resend_unclaimed()
            judging_work.resend_unclaimed()
            analyse_missing()
            resend_deferred()
        except Exception:  # the database may be back next time
            logger.exception("The sweep for unclaimed sessions failed.")
            connection.close()
        connection.close()
        if _stop.wait(min(settings.SESSION_LEASE_SECONDS / 2, 15)):
            connection.close()
            return
