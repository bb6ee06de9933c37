"""All figures, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from evaluation.protocol.modes import PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results, ResultsError
from evaluation.results.figures.ablation import ablation, ablation_groups
from evaluation.results.figures.figure import Figure
from evaluation.results.figures.items import intents_by_agent, items
from evaluation.results.figures.rules import credit_rules, separation
from evaluation.results.figures.scores import (
    in_every_run,
    proc_and_comp,
    proc_and_comp_by_category,
    proc_and_comp_by_task,
    turns_and_proc,
)
from evaluation.results.figures.sessions import (
    asking,
    failures,
    statuses,
    statuses_by_category,
    statuses_by_persona,
    statuses_by_turn,
)


@dataclass(frozen=True)
class FigureKind:
    heading: str
    """In the list of figures."""
    paper: str
    """What it is in the paper; empty if there is none."""
    build: Callable[[Results, ScoringMode], Figure]
    mode: PilotMode = PilotMode.EPISODE
    """Of the pilots it is of."""


FIGURES: Mapping[str, FigureKind] = {
    "statuses": FigureKind("Terminal statuses", "Table 7", statuses),
    "statuses_by_persona": FigureKind("Statuses by persona", "Table 7", statuses_by_persona),
    "statuses_by_category": FigureKind("Statuses by category", "Table 7", statuses_by_category),
    "statuses_by_turn": FigureKind("Statuses by turn", "Table 7", statuses_by_turn),
    "turns_and_proc": FigureKind("Turns against Proc", "Figure 4", turns_and_proc),
    "proc_and_comp": FigureKind("Proc against Comp", "Figure 3 d", proc_and_comp),
    "proc_and_comp_by_category": FigureKind("Proc and Comp by category", "Figure 3 a–c", proc_and_comp_by_category),
    "ablation": FigureKind("Without earlier sessions", "Figure 5", ablation, PilotMode.ABLATION),
    "ablation_groups": FigureKind("… group by group", "Figure 5", ablation_groups, PilotMode.ABLATION),
    "proc_and_comp_by_task": FigureKind("Proc and Comp by task", "", proc_and_comp_by_task),
    "asking": FigureKind("Precision of asking", "", asking),
    "in_every_run": FigureKind("Achieved in every run", "", in_every_run),
    "intents_by_agent": FigureKind("Intents by agent", "", intents_by_agent),
    "items": FigureKind("Items one by one", "", items),
    "failures": FigureKind("Failure patterns", "Appendix F.4", failures),
    "credit_rules": FigureKind("Other credit rules", "", credit_rules),
    "separation": FigureKind("Telling agents apart", "", separation),
}


SCORINGS = tuple(mode.value for mode in ScoringMode)


def build_figure(results: Results, name: str, scoring: str) -> Figure:
    """Raises ResultsError if the pilots are not scored so."""
    mode = ScoringMode(scoring)
    if mode not in results.modes:
        raise ResultsError("These pilots ran under the paper protocol, which has one scoring: choose strict.")
    figure = results.once(("figure", name, mode.value), lambda: FIGURES[name].build(results, mode))
    return replace(figure, scripted=tuple(sorted(results.scripted_agents)))
