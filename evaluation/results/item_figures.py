"""How the intents and criteria of one task fared, to stand beside their rows in its editor."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results
from evaluation.results.figures.catalogue import build_figure
from studio.domain.task import TaskSpec

MEANINGS = {
    "never met": "No session met it.",
    "always met": "Every session met it, so it tells nothing apart.",
    "against the total": "Strong sessions miss it more often than weak ones.",
}


@dataclass(frozen=True)
class ItemNote:
    uid: str
    kind: str
    """``intent`` or ``criterion``."""
    share: float
    """Of the sessions that met it."""
    discrimination: float | None
    n: int
    suspicion: str
    """Why it is a likely defect; empty if nothing speaks for it."""
    is_reworded: bool
    """Since it was piloted."""

    @property
    def met(self) -> int:
        return round(self.share * self.n)

    @property
    def meaning(self) -> str:
        return MEANINGS.get(self.suspicion, "")


def item_notes(results: Results, mode: ScoringMode, persona: str, task: TaskSpec) -> list[ItemNote]:
    """As the figure of all items has them."""
    texts = {row.uid: row.content for row in task.intents} | {row.uid: row.criterion for row in task.checklist}
    rows = build_figure(results, "items", mode.value).rows
    return [
        ItemNote(
            row["uid"],
            row["kind"],
            row["difficulty"],
            row["discrimination"],
            row["n"],
            row["suspicion"],
            is_reworded=row["item"].partition(": ")[2] != texts[row["uid"]],
        )
        for row in rows
        if (row["persona"], row["task"]) == (persona, task.task_id) and row["uid"] in texts
    ]
