"""Releases made by a worker: requested on a page, which shows how far they are."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connection, transaction
from django.http import Http404

from evaluation.leases import renewing, wake_workers
from evaluation.models import ReleaseRequest
from evaluation.models.leased import LeasedRows, LeaseLostError, free
from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release, require_new_version
from evaluation.releases.evidence import read_left_out
from evaluation.releases.packing import Progress
from evaluation.releases.readiness import TOLD, UNREADABLE
from studio.access import require
from studio.domain.base import JsonDict
from studio.domain.options import OptionsError
from studio.models import Benchmark, User
from studio.models.transactions import atomic_with_retry, is_away

logger = logging.getLogger(__name__)
BLOCKED = "The release is blocked. Fix the blockers, or accept them as exceptions with a reason."
FOUND_IN_CUT = (TOLD, UNREADABLE)
"""Blockers that the page cannot show before."""
MAX_ATTEMPTS = 3
"""Workers that may die on one."""
SHOWN_EVERY = 1.0
"""Seconds."""
_BROKEN_OFF = {"field": "", "message": "The studio stopped several times while it made this release. Try again."}


def request_release(benchmark: Benchmark, options: ReleaseOptions, *, by: User) -> ReleaseRequest:
    """Raises OptionsError for what can be told at once; the rest is told by `newest_request`."""
    require_new_version(benchmark, options.version)
    read_left_out(options.leave_out)
    asked = options.model_dump(mode="json")
    try:
        with transaction.atomic():
            request = ReleaseRequest.objects.create(benchmark=benchmark, options=asked, requested_by=by)
            wake_workers()
    except IntegrityError:
        raise OptionsError(
            "version", "Another release of this benchmark is being made. Wait until it is there."
        ) from None
    return request


def newest_request(benchmark: Benchmark, of: User) -> ReleaseRequest | None:
    """The one that is being made; or the last, if it was this person's and was refused, and there has been no release
    since."""
    newest = ReleaseRequest.objects.filter(benchmark=benchmark).first()
    if newest is None or newest.is_going_on:
        return newest
    over = newest.refused is None or benchmark.releases.filter(created_at__gt=newest.finished_at).exists()
    return None if over or newest.requested_by_id != of.pk else newest


def due_releases() -> LeasedRows[ReleaseRequest]:
    return ReleaseRequest.objects.filter(free(), state=ReleaseRequest.State.ASKED)


def make_release(pk: int) -> None:
    """Make what was requested. A second call for the same does nothing."""
    token = due_releases().claim(pk, step="", done=0, of=0)
    rows = ReleaseRequest.objects.select_related("benchmark", "requested_by")
    request = rows.filter(claimed_by=token).first() if token else None
    if request is None:
        return
    with renewing(request):
        try:
            refused = _BROKEN_OFF if request.attempts > MAX_ATTEMPTS else _make(request)
            if refused:
                request.write(refused=refused, **request.finished())
        except LeaseLostError:
            logger.info("Release request %d was taken over.", pk)


def _make(request: ReleaseRequest) -> JsonDict | None:
    """Why there is none. Raises LeaseLostError; then there is none of this call."""
    try:
        with _shown(request) as progress:
            _cut(request, progress)
    except OptionsError as error:
        return {"field": error.field, "message": error.message}
    except ReleaseBlockedError as blocked:
        rows = [blocker for blocker in blocked.blockers if blocker.code in FOUND_IN_CUT]
        found = [{"message": blocker.message, "acceptable": blocker.acceptable} for blocker in rows]
        return {"field": "", "message": BLOCKED, "found": found}
    except (PermissionDenied, Http404):
        return {"field": "", "message": "You may no longer release this benchmark."}
    except LeaseLostError:
        raise
    except Exception as error:
        if is_away(error):
            raise  # another worker goes on once the database is back
        logger.exception("Release request %d failed with an internal error.", request.pk)
        return {"field": "", "message": f"Internal error: {type(error).__name__}. Try again."}
    return None


@atomic_with_retry
def _cut(request: ReleaseRequest, progress: Progress) -> None:
    """The release and that it was made, or neither."""
    require(request.requested_by or AnonymousUser(), request.benchmark, "release")
    options = ReleaseOptions.model_validate(request.options)
    release = cut_release(request.benchmark, options, by=request.requested_by, progress=progress)
    request.write(made=release, **request.finished())


@contextmanager
def _shown(request: ReleaseRequest) -> Iterator[Progress]:
    """Stored every second by a thread of its own, since nobody sees what a transaction writes before its end."""
    progress, over = Progress(), threading.Event()

    def store() -> None:
        try:
            while not over.wait(SHOWN_EVERY):
                request.held().update(**asdict(progress))
        finally:
            connection.close()

    thread = threading.Thread(target=store, name="progress of a release", daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()
