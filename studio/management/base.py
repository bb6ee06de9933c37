"""What the commands share that other programs build on: one JSON document, and what an exit status means."""

from __future__ import annotations

import json
import sys
from typing import Any, ClassVar, NoReturn

from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError

from studio.local import services
from studio.models import Benchmark, Membership, Role, User

FOUND_PROBLEMS = 1
CALLED_WRONGLY = 2


class ReportCommand(BaseCommand):
    """A command that reports: text for people, with ``--json`` one document on standard output, errors included."""

    requires_system_checks = []
    empty: ClassVar[dict[str, Any]] = {}
    """The command's document where it did nothing."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        refuse = parser.error

        def error_with_document(message: str) -> NoReturn:
            # Options are not parsed when they are wrong: whether programs read along stands in the words alone.
            if "--json" in sys.argv:
                self.give({**self.empty, "errors": [error(message, f"See manage.py {subcommand} --help.")]})
            refuse(message)
            raise AssertionError("the parser ends the process")

        parser.error = error_with_document  # type: ignore[method-assign]
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        for name, value in options.items():
            if isinstance(value, str) and _not_text(value):
                self.called_wrongly(
                    f"What is given for {name} is not text.",
                    "Give it in the terminal's encoding, or set PYTHONUTF8=1.",
                    as_json=bool(options.get("json")),
                    document=self.empty,
                )
        if services.missing:
            self._cannot_run(services.missing, "", as_json=bool(options.get("json")))
        try:
            return super().execute(*args, **options)
        except OperationalError as problem:
            said = f"The database is not available: {' '.join(str(problem).split())}"
            self._cannot_run(
                said, "Check that it is running and that DATABASE_URL points to it.", as_json=bool(options.get("json"))
            )

    def _cannot_run(self, message: str, mend: str, *, as_json: bool) -> NoReturn:
        if as_json:
            self.give({**self.empty, "errors": [error(message, mend)]})
        self.stderr.write(self.style.ERROR(f"{message} {mend}".strip()))
        sys.exit(FOUND_PROBLEMS)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG", help="the benchmark's short name")
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")

    def give(self, document: dict[str, Any]) -> None:
        text = json.dumps(document, ensure_ascii=False, indent=1)
        try:
            text.encode(getattr(self.stdout, "encoding", None) or "utf-8")
        except UnicodeEncodeError:  # a terminal of few letters: the same document, spelt out
            text = json.dumps(document, indent=1)
        self.stdout.write(text)

    def called_wrongly(self, message: str, mend: str, *, as_json: bool, document: dict[str, Any]) -> NoReturn:
        """End with status 2. ``document`` is the command's own, empty; it gets the error."""
        if as_json:
            self.give({**document, "errors": [error(message, mend)]})
        self.stderr.write(self.style.ERROR(f"{message} {mend}"))
        sys.exit(CALLED_WRONGLY)

    def find_benchmark(self, slug: str, *, as_json: bool, document: dict[str, Any]) -> Benchmark:
        found = Benchmark.objects.filter(slug=slug).first()
        if found is None:
            known = ", ".join(Benchmark.objects.values_list("slug", flat=True)) or "none yet"
            self.called_wrongly(
                f"There is no benchmark “{slug}”.", f"Available: {known}.", as_json=as_json, document=document
            )
        return found


def _not_text(value: str) -> bool:
    """Bytes of the command line that could not be decoded."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def error(message: str, mend: str) -> dict[str, Any]:
    """An error of the call itself, in the shape of an import's."""
    return {"file": "", "line": None, "column": None, "message": message, "mend": mend}


def default_person() -> User | None:
    """Who acts on the command line if nobody is named: the first superuser, or whoever first owned a benchmark."""
    superuser = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if superuser is not None:
        return superuser
    first = Membership.objects.filter(role=Role.OWNER, user__is_active=True).select_related("user").order_by("pk")
    return membership.user if (membership := first.first()) else None
