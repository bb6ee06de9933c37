"""Budgets on the command line: ``cost=5 tokens=200000``."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.management.base import CommandParser

from studio.domain.options import OptionsError

OPTIONS = {"budget": "pilot", "session_budget": "session"}


def add_budget_arguments(parser: CommandParser) -> None:
    for option, scope in OPTIONS.items():
        parser.add_argument(
            f"--{option.replace('_', '-')}",
            nargs="+",
            default=[],
            metavar="KIND=NUMBER",
            help=f"what {'the whole pilot' if scope == 'pilot' else 'each session'} may use, user and judge included: "
            "tokens=…, calls=…, cost=… (US dollars)",
        )


def read_budgets(options: dict[str, object]) -> dict[str, dict[str, float]]:
    """Raises OptionsError."""
    return {scope: limits for option, scope in OPTIONS.items() if (limits := read_numbers(option, options[option]))}


def read_numbers(option: str, words: object) -> dict[str, float]:
    """Of ``KIND=NUMBER``. Raises OptionsError."""
    limits: dict[str, float] = {}
    for word in words if isinstance(words, Iterable) else ():
        kind, _, number = str(word).partition("=")
        try:
            limits[kind] = float(number)
        except ValueError:
            raise OptionsError(option, f"“{word}” is not of the form cost=5.") from None
    return limits
