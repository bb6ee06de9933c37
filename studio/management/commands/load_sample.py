"""`manage.py load_sample`: the sample benchmark and demo accounts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from studio.imports.sample import ACCOUNTS, NAME, SLUG, SampleError, load_sample
from studio.models import Benchmark, User


class Command(BaseCommand):
    help = "Create the sample benchmark and demo accounts if missing; existing changes are kept."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--tasks-only", action="store_true", help="without reviews, a pilot, an audit and releases to look at"
        )

    def handle(self, *args: Any, tasks_only: bool, **options: Any) -> None:
        try:
            existed = Benchmark.objects.filter(slug=SLUG).exists()
            created = load_sample()
        except SampleError as problem:
            raise CommandError(str(problem)) from None
        if not existed and not tasks_only:
            with _commits_unawaited():
                call_command("play_sample")
        self.stdout.write(f"{NAME}: {'made' if created else 'already there'}. Accounts to sign in with:")
        users = {user.username: user for user in User.objects.filter(username__in=[a.username for a in ACCOUNTS])}
        for account in ACCOUNTS:
            is_demo_password = users[account.username].check_password(account.password)
            password = account.password if is_demo_password else "(its own password)"
            self.stdout.write(f"  {account.username:9} {password:19} {account.role.label}")


@contextmanager
def _commits_unawaited() -> Iterator[None]:
    """The database does not wait for the disk, some thousand times: a loss of power loses at most the newest of what is
    made, and nobody's work."""

    def hurry(connection: BaseDatabaseWrapper, **_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit TO off")

    connection_created.connect(hurry)
    connection.close()
    try:
        yield
    finally:
        connection_created.disconnect(hurry)
        connection.close()
