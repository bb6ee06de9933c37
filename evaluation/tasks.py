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


@shared_task(name=DISPATCH)
def dispatch() -> None:
    queue.dispatch(
        (
            Work("evaluation.tasks.run_proposal", Proposal, due_proposals, "requested_by", awaited=True),
            Work(
                "evaluation.tasks.run_opinions",
                OpinionRequest,
                due_requests,
                "task__persona__benchmark",
                awaited=True,
            ),
            Work("evaluation.tasks.run_endpoint_test", EndpointTest, due_tests, "endpoint", awaited=True),
            Work("evaluation.tasks.run_release", ReleaseRequest, due_releases, "benchmark", awaited=True),
            Work("evaluation.tasks.run_session", Session, queue.due_in_rehearsals, "rehearsal__person", awaited=True),
            Work("evaluation.tasks.run_session", Session, queue.due_in_pilots, "run__pilot", "position"),
            Work("evaluation.tasks.run_probe", Session, queue.due_in_probes, "probe__validation", "position"),
            Work("evaluation.tasks.run_judging", Judging, judging_work.claimable, "round"),
            Work("evaluation.tasks.run_batch", JudgingBatch, batching.due_batches, "round"),
        )
    )


@shared_task(name="evaluation.tasks.run_session")
def run_session(session_id: int) -> None:
    session_work.work_on(session_id)


@shared_task(name="evaluation.tasks.run_probe")
def run_probe(session_id: int) -> None:
    work_on_probe(session_id)


@shared_task(name=PROBE_RULES)
def run_rules(task_id: int) -> None:
    probe_rules([task_id])


@shared_task(name="evaluation.tasks.run_judging")
def run_judging(judging_id: int) -> None:
    judging_work.work_on(judging_id)


@shared_task(name="evaluation.tasks.run_batch")
def run_batch(batch_id: int) -> None:
    batching.work_on_batch(batch_id)


@shared_task(name="evaluation.tasks.run_proposal")
def run_proposal(proposal_id: int) -> None:
    worker.work_on(proposal_id)


@shared_task(name="evaluation.tasks.run_opinions")
def run_opinions(task_id: int) -> None:
    opinion_work.work_on(task_id)


@shared_task(name="evaluation.tasks.run_endpoint_test")
def run_endpoint_test(test_id: int) -> None:
    play_test(test_id)


@shared_task(name="evaluation.tasks.run_release")
def run_release(request_id: int) -> None:
    make_release(request_id)


@shared_task(name=ANALYSE_SCRIPTS)
def run_script_analysis(scripts: list[str]) -> None:
    analyse_scripts(scripts)


@shared_task(name=RUN_CHECKS)
def run_deferred_checks() -> None:
    check_deferred()


@shared_task(name=COMPUTE_RESULTS)
def compute_results(benchmark_id: int) -> None:
    compute_ahead(benchmark_id)


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
