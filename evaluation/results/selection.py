"""Pilots chosen by what they have in common, and named choices that members of a benchmark share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.db.models import Max
from django.urls import reverse

from evaluation.models import Pilot, ResultsView
from evaluation.protocol.modes import PilotMode
from evaluation.results.benchmark_results import (
    ResultsError,
    choose_pilots,
    compute_results,
    mode_of,
    rankable,
    require_rankable,
)
from evaluation.results.document import figure_document, results_document
from evaluation.results.figures.catalogue import FIGURES, build_figure
from studio.models import Benchmark, User
from studio.models.transactions import atomic_with_retry

TAG_LENGTH = 40
MOST_TAGS = 10


@dataclass(frozen=True)
class PilotRule:
    """What is empty does not matter; a pilot has to match all of the rest."""

    tag: str = ""
    model: str = ""
    since: date | None = None
    until: date | None = None
    """Day of its start, itself included; so is ``since``."""

    @classmethod
    def from_json(cls, values: Mapping[str, str]) -> PilotRule:
        """Raises ResultsError for a day that is none."""
        days: dict[str, date | None] = {}
        for name in ("since", "until"):
            text = values.get(name) or ""
            try:
                days[name] = date.fromisoformat(text) if text else None
            except ValueError as error:
                raise ResultsError(f"“{text}” is not a day. Write it as 2026-05-31.") from error
        return cls(values.get("tag") or "", values.get("model") or "", days["since"], days["until"])

    def __bool__(self) -> bool:
        return self != PilotRule()

    def to_json(self) -> dict[str, str]:
        values = {
            "tag": self.tag,
            "model": self.model,
            "since": self.since.isoformat() if self.since else "",
            "until": self.until.isoformat() if self.until else "",
        }
        return {name: text for name, text in values.items() if text}

    def matches(self, pilot: Pilot) -> bool:
        day = pilot.created_at.date()
        return (
            (not self.tag or self.tag in pilot.tags)
            and (not self.model or self.model in (pilot.endpoint("agent").model, pilot.agent_name))
            and (self.since is None or day >= self.since)
            and (self.until is None or day <= self.until)
        )


def select_pilots(
    benchmark: Benchmark, pilots: Sequence[Pilot], numbers: Sequence[int], rule: PilotRule, figure: str = ""
) -> list[Pilot]:
    """Those with the numbers, else those that match the rule, else the usual ones; without numbers, of these those that
    may be ranked with the newest. Raises ResultsError."""
    if rule and not numbers:
        matching = sorted((pilot for pilot in pilots if rule.matches(pilot)), key=lambda pilot: pilot.number)
        return rankable(matching, mode_of_figure(figure))
    return choose_pilots(benchmark, pilots, numbers, mode_of_figure(figure))


def mode_of_figure(name: str) -> PilotMode:
    """Of the pilots that it, or without a name the leaderboard, is of."""
    return FIGURES[name or next(iter(FIGURES))].mode


def chosen_pilots(
    benchmark: Benchmark, pilots: Sequence[Pilot], numbers: Sequence[int], options: Mapping[str, Any], figure: str = ""
) -> list[Pilot]:
    """As ``options`` name them: ``view``, or ``tag``, ``model``, ``since`` and ``until``. Raises ResultsError, also if
    they may not be ranked together."""
    if options.get("view"):
        view = find_view(benchmark, int(options["view"]))
        return pilots_of_view(view, pilots)
    chosen = select_pilots(benchmark, pilots, numbers, PilotRule.from_json(options), figure)
    require_rankable(chosen, mode_of_figure(figure))
    return chosen


def pilots_of_view(view: ResultsView, pilots: Sequence[Pilot]) -> list[Pilot]:
    """Of ``pilots``, which may lack some that the reader may not see."""
    known = [number for number in view.pilots if number in {pilot.number for pilot in pilots}]
    chosen = select_pilots(view.benchmark, pilots, known, PilotRule.from_json(view.rule), view.figure)
    return rankable(chosen, mode_of_figure(view.figure))


def find_view(benchmark: Benchmark, number: int) -> ResultsView:
    """Raises ResultsError."""
    views = ResultsView.objects.filter(benchmark=benchmark)
    row = views.filter(number=number).first()
    if row is None:
        known = ", ".join(f"{row.number} ({row.name})" for row in views) or "none yet"
        raise ResultsError(f"There is no saved view {number}. Saved views: {known}.")
    return row


@atomic_with_retry
def save_view(
    benchmark: Benchmark,
    name: str,
    *,
    by: User | None,
    pilots: Sequence[int],
    rule: PilotRule,
    scoring: str,
    figure: str,
) -> ResultsView:
    """Raises ResultsError for a name that is taken or empty."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    name = " ".join(name.split())[:100]
    if not name:
        raise ResultsError("Give the view a name.")
    views = ResultsView.objects.filter(benchmark=benchmark)
    if views.filter(name=name).exists():
        raise ResultsError(f"There is a view “{name}” already. Choose another name, or remove that one first.")
    last = views.aggregate(last=Max("number"))["last"] or 0
    return ResultsView.objects.create(
        benchmark=benchmark,
        number=last + 1,
        name=name,
        pilots=[] if rule else sorted(pilots),
        rule=rule.to_json(),
        scoring=scoring,
        figure=figure,
        created_by=by,
    )


def address_of_view(view: ResultsView) -> str:
    """Of the page that shows it."""
    page = "results_charts" if view.figure else "results"
    query = [("view", view.number), ("scoring", view.scoring), *view.rule.items()]
    query += [("pilot", number) for number in view.pilots]
    query += [("figure", view.figure)] if view.figure else []
    return f"{reverse(f'evaluation:{page}', args=[view.benchmark.slug])}?{urlencode(query)}"


def set_tags(pilot: Pilot, text: str) -> list[str]:
    """Comma-separated. Raises ResultsError."""
    tags = list(dict.fromkeys(" ".join(tag.split()) for tag in text.replace("\0", "").split(",") if tag.strip()))
    if long := next((tag for tag in tags if len(tag) > TAG_LENGTH), None):
        raise ResultsError(f"“{long[:TAG_LENGTH]}…” is longer than {TAG_LENGTH} characters.")
    if len(tags) > MOST_TAGS:
        raise ResultsError(f"A pilot can have up to {MOST_TAGS} tags.")
    Pilot.objects.filter(pk=pilot.pk).update(tags=tags)
    return tags


RELATED = ("agent", "user_model", "judge", "created_by", "submission__release", "submission__verified_by")


def frozen_views(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Those that releases take with them, with their numbers as they are now."""
    pilots = list(Pilot.objects.filter(benchmark=benchmark).select_related(*RELATED))
    views = ResultsView.objects.filter(benchmark=benchmark, in_releases=True).select_related("benchmark")
    return [_frozen(view, pilots) for view in views]


def _frozen(view: ResultsView, pilots: Sequence[Pilot]) -> dict[str, Any]:
    results = compute_results(view.benchmark, pilots_of_view(view, pilots))
    head = {"name": view.name, "scoring": mode_of(results, view.scoring)}
    if view.figure:
        mode = mode_of(results, view.scoring)
        return head | figure_document(results, build_figure(results, view.figure, mode.value), mode)
    document = results_document(results)
    board = [row for row in document.pop("leaderboard") if row["scoring"] == mode_of(results, view.scoring)]
    kept = ("schema", "studio", "benchmark", "pilots", "intervals", "statuses")
    return head | {name: document[name] for name in kept} | {"leaderboard": board}
