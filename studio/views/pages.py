"""What pages have in common: who opens them, the rows that their addresses name, and pages of long lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_http_methods

from studio import access
from studio.access import SignedInRequest
from studio.models import Benchmark, Persona, Task

P = ParamSpec("P")
Row = TypeVar("Row", Benchmark, Persona, Task)


class PageOf(Generic[Row]):
    """Makes a view of one that takes the row which its address names by ``names``. Who may not see it gets a 404."""

    def __init__(self, find: Callable[..., Row], *names: str) -> None:
        self.find: Callable[..., Row] = find
        self.names = names

    def __call__(
        self, needs: str = "view", *methods: str, post: str = ""
    ) -> Callable[[Callable[Concatenate[SignedInRequest, Row, P], HttpResponse]], Callable[..., HttpResponse]]:
        """``needs``: the action that somebody must be allowed, and ``post``: on a POST. ``methods``: without any, all
        are answered."""

        def decorate(view: Callable[Concatenate[SignedInRequest, Row, P], HttpResponse]) -> Callable[..., HttpResponse]:
            @wraps(view)
            def page(request: SignedInRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
                row = self.find(request.user, **{name: kwargs.pop(name) for name in self.names})
                action = post if post and request.method == "POST" else needs
                if action != "view":
                    access.require(request.user, benchmark_of(row), action)
                return view(request, row, *args, **kwargs)

            return require_http_methods(list(methods))(page) if methods else page

        return decorate


benchmark_page = PageOf(access.find_benchmark, "slug")
persona_page = PageOf(access.find_persona, "slug", "user_id")
task_page = PageOf(access.find_task, "slug", "user_id", "pk")


def benchmark_of(row: Benchmark | Persona | Task) -> Benchmark:
    if isinstance(row, Task):
        row = row.persona
    return row.benchmark if isinstance(row, Persona) else row


def place_of(row: Benchmark | Persona | Task) -> list[Any]:
    """What the addresses of the row's pages take."""
    if isinstance(row, Task):
        return [*place_of(row.persona), row.pk]
    return [row.benchmark.slug, row.user_id] if isinstance(row, Persona) else [row.slug]


def frame(request: SignedInRequest, row: Benchmark | Persona | Task) -> dict[str, Any]:
    """The rows that the page's address names, and what its reader may do there."""
    task = row if isinstance(row, Task) else None
    persona = task.persona if task else row if isinstance(row, Persona) else None
    benchmark = benchmark_of(row)
    rows = {"task": task, "persona": persona, "benchmark": benchmark}
    can = SimpleLazyObject(lambda: access.actions_in(request.user, benchmark))
    return {name: each for name, each in rows.items() if each} | {"can": can}


def show(
    request: SignedInRequest,
    row: Benchmark | Persona | Task,
    template: str,
    context: dict[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    return render(request, template, frame(request, row) | context, status=status)


def page_of(rows: Any, per_page: int, number: str | int | None) -> Page[Any]:
    """Of rows that can be counted and sliced: the nearest page there is, for any number."""
    return Paginator(rows, per_page).get_page(number)
