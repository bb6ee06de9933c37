"""Signing in with a password: guessing is slowed down, and hashing never takes the whole machine.

An authentication backend, so that every door has it: the sign-in page and the administration. django-axes would lock an
account for a fixed time and count after the password was checked, so that attempts made at once all pass; and one limit
holds there for names and addresses alike.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import math
import secrets
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db.models import F
from django.db.models.functions import Greatest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from studio.models import SignInRecord, User
from studio.models.transactions import atomic_with_retry
from studio.web.middleware import Middleware

logger = logging.getLogger(__name__)

KNOWN_FOR = timedelta(days=30)
"""Somebody who signed in from an address is not delayed there by what others try under that name or from there."""
LONGEST_SECONDS = 15 * 60
HASHES_AT_ONCE = 1
"""In each process. A hash fills a core: more at once take longer each, and starve every other request."""
LONGEST_WAIT_SECONDS = 10.0
_hashing = threading.BoundedSemaphore(HASHES_AT_ONCE)


class SignInDelayedError(Exception):
    """Too soon, or too many at once; ``seconds`` until the next attempt is looked at."""

    def __init__(self, seconds: float, *, busy: bool = False) -> None:
        self.seconds = max(1, math.ceil(seconds))
        self.minutes = math.ceil(seconds / 60)
        self.busy = busy
        super().__init__(
            f"The next attempt to sign in is possible in {self.seconds} second{'' if self.seconds == 1 else 's'}."
        )


@dataclass(frozen=True)
class Allowance:
    """So many failures are free; each further one doubles the delay, from one second on."""

    free: int
    forgotten_after: timedelta

    def delay(self, failures: int) -> timedelta:
        if failures < self.free:
            return timedelta()
        return timedelta(seconds=min(2.0 ** min(failures - self.free, 30), LONGEST_SECONDS))


NAME_AT_ADDRESS = Allowance(5, timedelta(days=1))
NAME = Allowance(20, timedelta(days=1))
ADDRESS = Allowance(100, timedelta(hours=1))  # a whole class may share one


@contextmanager
def one_hash_at_a_time() -> Iterator[None]:
    """Raises SignInDelayedError if too many people wait for theirs."""
    if not _hashing.acquire(timeout=LONGEST_WAIT_SECONDS):
        raise SignInDelayedError(LONGEST_WAIT_SECONDS / 2, busy=True)
    try:
        yield
    finally:
        _hashing.release()


class ThrottledBackend(ModelBackend):
    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Any:
        """By username, or by an email address that one account alone has. Raises SignInDelayedError, without a look at
        the password. Without a request there is no door to guard."""
        if request is None or username is None or password is None:
            return super().authenticate(request, username, password, **kwargs)
        username = _username_of(username)
        attempt = Attempt(username, client_address(request))
        attempt.count()
        with one_hash_at_a_time():
            user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            attempt.succeed()
        return user


def _username_of(name: str) -> str:
    if "@" not in name or "\0" in name or User.objects.filter(username=name).exists():
        return name
    owners = list(User.objects.filter(email__iexact=name.strip()).values_list("username", flat=True)[:2])
    return owners[0] if len(owners) == 1 else name


class Attempt:
    """One attempt: counted as a failure before the password is looked at, so that many at once count, too."""

    def __init__(self, name: str, address: str) -> None:
        name = unicodedata.normalize("NFKC", name).casefold()
        self.address = address
        self.pair = _key("pair", name, address)
        self.allowances = {
            self.pair: NAME_AT_ADDRESS,
            _key("name", name): NAME,
            _key("address", address): ADDRESS,
        }

    @atomic_with_retry
    def count(self) -> None:
        """Raises SignInDelayedError; then nothing is counted, and the delay does not grow."""
        keys = sorted(self.allowances)
        new = [SignInRecord(key=key, tried_at=timezone.now()) for key in keys]
        SignInRecord.objects.bulk_create(new, ignore_conflicts=True)
        rows = {
            row.key: row
            for row in SignInRecord.objects.select_for_update(no_key=True).filter(key__in=keys).order_by("key")
        }
        now = timezone.now()  # after the locks, for which others from the same address may have been waited
        seconds = self._delay(rows, now)
        if seconds > 0:
            logger.warning("A sign-in from %s is delayed by %d seconds.", self.address, math.ceil(seconds))
            raise SignInDelayedError(seconds)
        for key, row in rows.items():
            allowance = self.allowances[key]
            row.failures = 1 if now - row.tried_at > allowance.forgotten_after else row.failures + 1
            delay = allowance.delay(row.failures)
            row.delayed_until = now + delay if delay else None
            row.tried_at = now
        SignInRecord.objects.bulk_update(rows.values(), ["failures", "delayed_until", "tried_at"])
        if not secrets.randbelow(100):
            SignInRecord.objects.filter(tried_at__lt=now - KNOWN_FOR).delete()

    def _delay(self, rows: dict[str, SignInRecord], now: datetime) -> float:
        known = rows[self.pair].succeeded_at
        counted = [rows[self.pair]] if known and now - known < KNOWN_FOR else rows.values()
        return max((row.delayed_until - now).total_seconds() if row.delayed_until else 0.0 for row in counted)

    def succeed(self) -> None:
        for key, allowance in self.allowances.items():
            row = SignInRecord.objects.filter(key=key)
            if allowance is ADDRESS:  # what else was tried from there still counts
                row.update(failures=Greatest(F("failures") - 1, 0))
            else:
                row.update(failures=0, delayed_until=None, succeeded_at=timezone.now())


def caller_address(request: HttpRequest) -> str:
    """Who asks: behind a proxy, whom that saw."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    if settings.BEHIND_PROXY and (forwarded := request.META.get("HTTP_X_FORWARDED_FOR")):
        address = forwarded.rpartition(",")[2].strip()  # before it stands what the client claims
    return address


def client_address(request: HttpRequest) -> str:
    """Who asks, for counting: a network of IPv6 counts as one."""
    address = caller_address(request)
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:100]
    if parsed.version == 6:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address


class SignInDelayMiddleware(Middleware):
    """Answers a delayed attempt with 429 (503 if too many people sign in at once), a sentence and Retry-After."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, SignInDelayedError):
            return None
        status = 503 if exception.busy else 429
        page = render(request, "studio/errors/429.html", {"delay": exception}, status=status)
        page.headers["Retry-After"] = str(exception.seconds)
        return page


class PasswordHasher(Argon2PasswordHasher):
    """Argon2id with the first parameters OWASP names: as strong as a million rounds of PBKDF2, in a tenth of the time.

    Django's own parameters take 100 MiB a hash.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
