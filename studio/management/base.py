"""Base class of the commands with reports: JSON output and exit statuses."""

from __future__ import annotations

import json
import sys
from typing import Any, ClassVar, NoReturn

from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError

from studio.local import services
from studio.models import Benchmark, Membership, Persona, Role, User

EXIT_PROBLEMS = 1
EXIT_USAGE = 2


class ReportCommand(BaseCommand):
    """Prints text, or with ``--json`` one JSON document, errors included, on standard output."""

    requires_system_checks = []
    empty: ClassVar[dict[str, Any]] = {}
    """The command's document if it did nothing."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser_error = parser.error

        def error_with_document(message: str) -> NoReturn:
            # Invalid options are not parsed, so only the command line tells whether JSON is expected.
            if "--json" in sys.argv:
                self.print_json({**self.empty, "errors": [error(message, f"See manage.py {subcommand} --help.")]})
            parser_error(message)
            raise AssertionError("the parser exits")

        parser.error = error_with_document  # type: ignore[method-assign]  # Django has no hook for it
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        for name, value in options.items():
            if isinstance(value, str) and _is_undecoded(value):
                self.usage_error(
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
            message = f"The database is not available: {' '.join(str(problem).split())}"
            self._cannot_run(
                message,
                "Check that it is running and that DATABASE_URL points to it.",
                as_json=bool(options.get("json")),
            )

    def _cannot_run(self, message: str, fix: str, *, as_json: bool) -> NoReturn:
        if as_json:
            self.print_json({**self.empty, "errors": [error(message, fix)]})
        self.stderr.write(self.style.ERROR(f"{message} {fix}".strip()))
        sys.exit(EXIT_PROBLEMS)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG", help="the benchmark's short name")
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")

    def print_json(self, document: dict[str, Any]) -> None:
        text = json.dumps(document, ensure_ascii=False, indent=1)
        try:
            text.encode(getattr(self.stdout, "encoding", None) or "utf-8")
        except UnicodeEncodeError:  # the terminal lacks some characters: escape them
            text = json.dumps(document, indent=1)
        self.stdout.write(text)

    def usage_error(self, message: str, fix: str, *, as_json: bool, document: dict[str, Any]) -> NoReturn:
        """Exit with status 2. ``document`` is the command's empty document; the error is added."""
        if as_json:
            self.print_json({**document, "errors": [error(message, fix)]})
        self.stderr.write(self.style.ERROR(f"{message} {fix}"))
        sys.exit(EXIT_USAGE)

    def find_benchmark(self, slug: str, *, as_json: bool, document: dict[str, Any]) -> Benchmark:
        benchmark = Benchmark.objects.filter(slug=slug).first()
        if benchmark is None:
            available = ", ".join(Benchmark.objects.values_list("slug", flat=True)) or "none yet"
            self.usage_error(
                f"There is no benchmark “{slug}”.", f"Available: {available}.", as_json=as_json, document=document
            )
        return benchmark

    def find_persona(self, benchmark: Benchmark, user_id: str, *, as_json: bool, document: dict[str, Any]) -> Persona:
        row = benchmark.personas.filter(user_id=user_id).first()
        if row is None:
            known = ", ".join(benchmark.personas.values_list("user_id", flat=True)) or "none yet"
            message = f"{benchmark} has no persona “{user_id}”."
            self.usage_error(message, f"Available: {known}.", as_json=as_json, document=document)
        return row

    def find_personas(self, benchmark: Benchmark, options: dict[str, Any]) -> list[Persona]:
        """The one that ``--persona`` names, or all in order."""
        if options["persona"]:
            given = {"as_json": options["json"], "document": self.empty}
            return [self.find_persona(benchmark, options["persona"], **given)]
        return list(benchmark.personas.order_by("position", "user_id"))


def _is_undecoded(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def error(message: str, fix: str) -> dict[str, Any]:
    """An error of the call, in the format of import errors."""
    return {"file": "", "line": None, "column": None, "message": message, "fix": fix}


def default_user() -> User | None:
    """The default user of commands: the first superuser, else the first owner of a benchmark."""
    superuser = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if superuser is not None:
        return superuser
    owners = Membership.objects.filter(role=Role.OWNER, user__is_active=True).select_related("user").order_by("pk")
    return membership.user if (membership := owners.first()) else None
