"""Base class of the commands with reports: JSON output and exit statuses."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, NoReturn, TypeVar, get_args, get_origin

from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError
from django.db.models import Model, QuerySet

from studio.domain.options import Options, OptionsError
from studio.local import services
from studio.models import Benchmark, Membership, Persona, Role, User

EXIT_PROBLEMS = 1
EXIT_USAGE = 2
Row = TypeVar("Row", bound=Model)
Chosen = TypeVar("Chosen", bound=Options)


class ReportCommand(BaseCommand):
    """Prints text, or with ``--json`` one JSON document, errors included, on standard output."""

    requires_system_checks = []
    empty: dict[str, Any] = {}
    """The command's document if it did nothing."""
    as_json = False

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
        self.as_json = bool(options.get("json"))
        for name, value in options.items():
            if isinstance(value, str) and _is_undecoded(value):
                self.stop(
                    f"What is given for {name} is not text.",
                    "Give it in the terminal's encoding, or set PYTHONUTF8=1.",
                )
        if services.missing:
            self.stop(services.missing, status=EXIT_PROBLEMS)
        try:
            return super().execute(*args, **options)
        except OptionsError as problem:
            option = f"--{problem.field.replace('_', '-')}: " if problem.field else ""
            self.stop(f"{option}{problem}", "Nothing was done.")
        except OperationalError as problem:
            message = f"The database is not available: {' '.join(str(problem).split())}"
            fix = "Check that it is running and that DATABASE_URL points to it."
            self.stop(message, fix, status=EXIT_PROBLEMS)

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

    def stop(self, message: str, fix: str = "", *, status: int = EXIT_USAGE) -> NoReturn:
        """Exit, with ``--json`` with the command's empty document and the error in it."""
        if self.as_json:
            self.print_json({**self.empty, "errors": [error(message, fix)]})
        self.stderr.write(self.style.ERROR(f"{message} {fix}".strip()))
        sys.exit(status)

    def find(self, what: str, rows: QuerySet[Row], key: str, value: object) -> Row:
        """The row of which ``key`` is ``value``; without one the command stops and lists those there are."""
        row = rows.filter(**{key: value}).first()
        if row is None:
            known = ", ".join(str(each) for each in rows.values_list(key, flat=True)) or "none yet"
            self.stop(f"There is no {what} “{value}”.", f"Available: {known}.")
        return row

    def find_benchmark(self, options: dict[str, Any]) -> Benchmark:
        return self.find("benchmark", Benchmark.objects.all(), "slug", options["benchmark"])

    def find_personas(self, options: dict[str, Any]) -> list[Persona]:
        """The one that ``--persona`` names, or all of the benchmark in order."""
        rows = Persona.objects.filter(benchmark=self.find_benchmark(options)).order_by("position", "user_id")
        if options["persona"]:
            return [self.find("persona", rows, "user_id", options["persona"])]
        return list(rows)

    def find_user(self, username: str) -> User | None:
        """Without a name the default user, if there is one."""
        user = User.objects.filter(username=username).first() if username else default_user()
        if username and user is None:
            self.stop(f"There is no user “{username}”.", "Give a studio account.")
        return user


def add_options(parser: CommandParser, of: type[Options], *without: str) -> None:
    """An argument for each of the options, but for those ``without``."""
    for name, info in of.model_fields.items():
        if name not in without:
            text = info.description or ""
            words: dict[str, Any] = {"help": (text[:1].lower() + text[1:]).removesuffix(".").replace("%", "%%")}
            words |= {"required": True} if info.is_required() else {"default": argparse.SUPPRESS}
            parser.add_argument(f"--{name.replace('_', '-')}", **words, **_reading(info.annotation))


def _reading(annotation: Any) -> dict[str, Any]:
    """How argparse reads values of this type."""
    inside = [each for each in get_args(annotation) if each is not NoneType]
    if get_origin(annotation) in (list, tuple):
        return {"nargs": "+"} | _reading(inside[0])
    kind = inside[0] if inside else annotation
    if kind is bool:
        return {"action": "store_true"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"choices": [each.value for each in kind]}
    if kind in (int, float):
        return {"type": kind, "metavar": "N"}
    return {"metavar": "YYYY-MM-DD" if kind is dt.date else "TEXT"}


def read_options(of: type[Chosen], options: Mapping[str, Any], **others: Any) -> Chosen:
    """From the arguments, and ``others`` that were read otherwise. Raises OptionsError."""
    return of.read({name: options[name] for name in of.model_fields if name in options} | others)


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
