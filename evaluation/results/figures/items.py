"""Intents and criteria one by one: how hard, how telling, by agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from evaluation.grading.items import GradedItem
from evaluation.metrics.items import ENOUGH, ItemDecision, ItemFigures, ItemKey, analyse_items
from evaluation.metrics.scores import mean
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.results.benchmark_results import Results
from evaluation.results.figures.figure import Chart, Column, Figure
from evaluation.results.loading import DecidedSession
from studio.models import Revision

DRAWN = 60
ITEM = [Column("task", "Task"), Column("item", "Intent or criterion")]


def items(results: Results, mode: ScoringMode) -> Figure:
    names = ItemNames(results, mode)
    figures = sorted(_analysed(results, mode), key=_most_suspicious)
    rows = [
        {
            **names.row(figure.item),
            "kind": figure.item.kind,
            "difficulty": figure.share,
            "discrimination": figure.discrimination,
            "n": figure.n,
            "suspicion": figure.suspicion,
        }
        for figure in figures
    ]
    suspects = sum(bool(figure.suspicion) for figure in figures)
    discriminating = any(figure.discrimination is not None for figure in figures)
    return Figure(
        "items",
        "Items one by one",
        f"Met: the share of sessions that covered the intent or met the criterion. Discrimination: its correlation "
        f"with the rest of the session’s items of its kind; below 0, strong sessions miss it more often than weak "
        f"ones. {suspects} of {len(figures)} are likely defects: never or always met, or against the total, more "
        f"clearly than chance among so many explains; with fewer than {ENOUGH} sessions nothing is called so."
        + ("" if discriminating else " These sessions are too few or too alike to tell discrimination."),
        [
            *ITEM,
            Column("kind", "Kind"),
            Column("difficulty", "Met", "percent"),
            Column("discrimination", "Discrimination", "number"),
            Column("n", "Sessions", "count"),
            Column("suspicion", "Likely defect"),
        ],
        rows,
        Chart("scatter", label="label", x=("difficulty",), y="discrimination") if discriminating else None,
        facts={"items": len(figures), "suspects": suspects},
    )


def intents_by_agent(results: Results, mode: ScoringMode) -> Figure:
    names = ItemNames(results, mode)
    agents = sorted({row.agent for row in results.rows})
    figures = [figure for figure in _analysed(results, mode) if figure.item.kind == "intent"]
    figures.sort(key=lambda figure: mean(figure.by_agent.values()) or 0.0)
    rows: list[dict[str, Any]] = []
    for figure in figures:
        row = names.row(figure.item) | {agent: figure.by_agent.get(agent) for agent in agents}
        where = {"persona": figure.item.persona, "task": figure.item.task}
        row["links"] |= {agent: {"agent": agent, **where} for agent in agents if agent in figure.by_agent}
        rows.append(row)
    return Figure(
        "intents_by_agent",
        "Intents by agent",
        f"The share of sessions in which the agent covered the intent, in percent; the hardest first. The chart has "
        f"the first {DRAWN}."
        if len(rows) > DRAWN
        else "The share of sessions in which the agent covered the intent, in percent; the hardest first.",
        [*ITEM, *[Column(agent, agent, "percent") for agent in agents]],
        rows,
        Chart("heat", label="label", x=agents, drawn=DRAWN),
    )


class ItemNames:
    """What items are called, and where they are edited."""

    def __init__(self, results: Results, mode: ScoringMode) -> None:
        self._benchmark = results.benchmark
        newest: dict[tuple[str, str], int] = {}
        self._texts: dict[ItemKey, str] = {}
        for _, session in sorted(results.decisions.items()):
            place = (session.row.persona, session.row.result.task_id)
            for item, _ in session.criteria(mode):
                self._texts.setdefault(_criterion(session, item), f"Criterion {item.index}: {item.criterion}")
            if newest.get(place) != session.revision:
                newest[place] = session.revision
                for index, intent in enumerate(session.task.intents, start=1):
                    self._texts[ItemKey(*place, "intent", intent.uid)] = f"Intent {index}: {intent.content}"
        tasks = dict(Revision.objects.filter(pk__in=newest.values()).values_list("pk", "task"))
        self._editors = {place: tasks[revision] for place, revision in newest.items()}

    def row(self, item: ItemKey) -> dict[str, Any]:
        editor = reverse(
            "studio:task", args=[self._benchmark.slug, item.persona, self._editors[item.persona, item.task]]
        )
        return {
            "persona": item.persona,
            "task": item.task,
            "uid": item.uid,
            "item": (text := self._texts.get(item, item.uid)),
            "label": f"{item.task} · {text}",
            "sessions": {"persona": item.persona, "task": item.task},
            "links": {"item": f"{editor}#{'intents' if item.kind == 'intent' else 'checklist'}"},
        }


def _analysed(results: Results, mode: ScoringMode) -> list[ItemFigures]:
    return results.once(("items", mode.value), lambda: analyse_items(_decisions(results, mode)))


def _decisions(results: Results, mode: ScoringMode) -> Iterable[ItemDecision]:
    """Whether each intent was covered and each criterion met, without those that were provided or are ungraded."""
    for key, session in results.decisions.items():
        for index, intent in enumerate(session.task.intents, start=1):
            if intent.initial_status != "provided":
                item = ItemKey(session.row.persona, session.row.result.task_id, "intent", intent.uid)
                yield ItemDecision(key, session.row.agent, item, session.judged.status(index).status in COVERED)
    for key, session in results.decisions.items():
        for criterion, met in session.criteria(mode):
            if met is not None:
                yield ItemDecision(key, session.row.agent, _criterion(session, criterion), met)


def _criterion(session: DecidedSession, item: GradedItem) -> ItemKey:
    """Keys of grader scripts have no uid, but a name."""
    return ItemKey(session.row.persona, session.row.result.task_id, "criterion", item.uid or item.criterion)


def _most_suspicious(figure: ItemFigures) -> tuple[bool, float]:
    return not figure.suspicion, figure.discrimination if figure.discrimination is not None else 1.0
