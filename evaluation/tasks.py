"""Celery's tasks: work on one row each, and what beat has done regularly."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import celery
from celery.signals import worker_ready, worker_shutting_down

from evaluation.assistance import opinion_work, worker
from evaluation.assistance.opinions import due_requests
from evaluation.assistance.requests import due_proposals
from evaluation.call_records import load_client
from evaluation.endpoints.testing import due_tests, play_test
from evaluation.judging.judgings import COMPUTE_RESULTS
from evaluation.leases import DISPATCH, expire_dead, give_up
from evaluation.models import EndpointTest, Judging, JudgingBatch, OpinionRequest, Proposal, ReleaseRequest, Session
from evaluation.pilots import batching, judging_work, lifecycle, queue, session_work
from evaluation.pilots.queue import Work
from evaluation.probes.rules import PROBE_RULES, probe_rules, sweep_rules
from evaluation.probes.validation import sweep_validations, work_on_probe
from evaluation.releases.requests import due_releases, make_release
from evaluation.results.pages import compute_ahead
from evaluation.trials.analyses import ANALYSE_SCRIPTS, analyse_missing, analyse_scripts
from evaluation.workspaces.folders import sweep_folders
from studio.findings.deferred import RUN_CHECKS, check_deferred, resend_deferred

logger = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])
shared_task: Callable[..., Callable[[F], F]] = celery.shared_task  # celery has no types


WORKS = (
    Work("evaluation.tasks.run_proposal", worker.work_on, Proposal, due_proposals, "requested_by", awaited=True),
    Work(
        "evaluation.tasks.run_opinions",
        opinion_work.work_on,
        OpinionRequest,
        due_requests,
        "task__persona__benchmark",
        awaited=True,
    ),
    Work("evaluation.tasks.run_endpoint_test", play_test, EndpointTest, due_tests, "endpoint", awaited=True),
    Work("evaluation.tasks.run_release", make_release, ReleaseRequest, due_releases, "benchmark", awaited=True),
    Work(
        "evaluation.tasks.run_session",
        session_work.work_on,
        Session,
        queue.due_in_rehearsals,
        "rehearsal__person",
        awaited=True,
    ),
    Work("evaluation.tasks.run_session", session_work.work_on, Session, queue.due_in_pilots, "run__pilot", "position"),
    Work("evaluation.tasks.run_probe", work_on_probe, Session, queue.due_in_probes, "probe__validation", "position"),
    Work("evaluation.tasks.run_judging", judging_work.work_on, Judging, judging_work.claimable, "round"),
    Work("evaluation.tasks.run_batch", batching.work_on_batch, JudgingBatch, batching.due_batches, "round"),
)
for work in WORKS:
    shared_task(name=work.task)(work.work_on)
shared_task(name=ANALYSE_SCRIPTS)(analyse_scripts)
shared_task(name=RUN_CHECKS)(check_deferred)
shared_task(name=COMPUTE_RESULTS)(compute_ahead)


@shared_task(name=DISPATCH)
def dispatch() -> None:
    queue.dispatch(WORKS)


@shared_task(name=PROBE_RULES)
def run_rules(task_id: int) -> None:
    probe_rules([task_id])


@shared_task(name="evaluation.tasks.sweep")
def sweep() -> None:
    """What workers that died and messages that were lost left behind. Twice at once does no harm."""
    for step in (lifecycle.sweep, sweep_validations, sweep_rules, batching.collect, analyse_missing, resend_deferred):
        try:
            step()
        except Exception:  # the others do not depend on it
            logger.exception("%s failed in the sweep.", step.__name__)


def take_over(**_: Any) -> None:
    """From workers of this machine that were killed."""
    expire_dead()
    if removed := sweep_folders():
        logger.info("Removed %d folders of sessions whose worker was killed.", removed)
    load_client()


def hand_over(**_: Any) -> None:
    """To the other workers. Threads of this one end before their next call."""
    give_up()


worker_ready.connect(take_over)
worker_shutting_down.connect(hand_over)
