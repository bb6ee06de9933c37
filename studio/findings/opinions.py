"""Hooks for a model's second opinions. ``evaluation``, which ``studio`` cannot import, registers itself at startup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import OpinionQuestion

OpinionReader = Callable[[int, Iterable[OpinionQuestion]], Mapping[str, Opinion] | None]
OpinionRequester = Callable[[Collection[int]], None]

_read: OpinionReader | None = None
_request: OpinionRequester | None = None


def register_second_opinions(*, read: OpinionReader, request: OpinionRequester) -> None:
    """``read`` takes a benchmark's key and questions, and returns the opinions on record by the questions' keys, or
    None if no model is asked there. ``request`` lets a worker ask about tasks, by key, after the transaction commits.
    It must not raise."""
    global _read, _request
    _read, _request = read, request


def read_opinions(benchmark: int, questions: Iterable[OpinionQuestion]) -> Mapping[str, Opinion] | None:
    """None if no model is asked there; ``questions`` are not made then."""
    return _read(benchmark, questions) if _read else None


def request_opinions(tasks: Collection[int]) -> None:
    if _request and tasks:
        _request(tasks)
