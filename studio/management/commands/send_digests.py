"""`manage.py send_digests`: email unread notifications; run it from cron, hourly or daily."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from studio.management.base import EXIT_PROBLEMS
from studio.notifications.inbox import send_digests


class Command(BaseCommand):
    help = (
        "Email unread notifications, each once, to everyone with an email address. Printed unless STUDIO_SMTP_HOST "
        "is set. Exit status 0: done; 1: some emails could not be sent and remain due."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        redirect = contextlib.redirect_stdout(sys.stderr) if options["json"] else contextlib.nullcontext()
        try:
            with redirect:  # printed emails must not end up in the JSON document
                sent = send_digests()
        except OSError as problem:
            self.stderr.write(self.style.ERROR(f"Some emails could not be sent and remain due: {problem}."))
            sys.exit(EXIT_PROBLEMS)
        if options["json"]:
            self.stdout.write(
                json.dumps({"sent": [{"user": digest.user.username, "to": digest.to} for digest in sent]})
            )
        else:
            self.stdout.write(f"{len(sent)} email{'' if len(sent) == 1 else 's'} sent.")
