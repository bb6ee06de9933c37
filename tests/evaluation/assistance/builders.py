"""A task to request proposals for, and parts of answers."""

from __future__ import annotations

import json
from typing import Any

from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from studio.domain.tool_catalog import ToolCard

U1, U2, I1, I2 = (f"00000000-0000-4000-8000-00000000000{number}" for number in range(1, 5))
BUNDLE = "The plan names the baker and it gives the start of each shift."
NOTES = "Rye must never go in after the rolls. The oven is cold on Sundays. Flour sacks must stand on pallets."


def a_spec(**fields: Any) -> TaskSpec:
    values: dict[str, Any] = {
        "title": "Bread for Saturday",
        "initial_request": "Please make Saturday's baking plan. The rye goes in first. There are 40 loaves.",
        "intents": (
            HiddenIntent(uid=U1, content="The rye goes in before the rolls."),
            HiddenIntent(uid=U2, content="Nobody works more than 8 hours."),
        ),
        "checklist": (
            ChecklistItem(uid=I1, criterion=BUNDLE, follows_from=(U1,), weight=2.0, evidence=("plan.md",)),
            ChecklistItem(uid=I2, criterion="The plan has 40 loaves."),
        ),
        "files_read": ("plan.md",),
        "reference_workflow": "Read the orders, then plan the ovens.",
    }
    return TaskSpec(task_id="bread", **(values | fields))


def a_material(**fields: Any) -> Material:
    return Material(
        task=a_spec(**fields),
        persona=PersonaSpec(user_id="baker", occupation="Baker", routines="Opens at five.", tools=("write_file",)),
        files={"notes.md": NOTES},
        earlier={"flour": a_spec(title="Flour for the week").model_copy(update={"task_id": "flour"})},
        tools=(ToolCard("write_file"),),
    )


def a_request(kind: str, **more: Any) -> ProposalRequest:
    fields = {"reword": "initial_request", "leaks": "initial_request", "intents": "intents", "translate": "task"}
    defaults: dict[str, Any] = {"field": fields.get(kind, "checklist")}
    if kind in ("split", "rule"):
        defaults["uid"] = I1
    if kind == "checklist":
        defaults |= {
            "reference": "the reference of plan.md",
            "reference_text": "# Plan\nRye at 4:00, rolls at 5:00.\nEvery shift lists its apprentice and driver.\n",
        }
    if kind == "translate":
        defaults["language"] = "German"
    return ProposalRequest(kind, **(defaults | more))  # type: ignore[arg-type]  # tests pass plain strings


def split_into(*parts: str) -> str:
    return json.dumps({"parts": list(parts), "why": "Two things."})
