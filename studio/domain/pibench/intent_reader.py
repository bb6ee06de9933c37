"""Reads the hidden intents of ``task.yaml``."""

from __future__ import annotations

from studio.domain.pibench import fields
from studio.domain.pibench.nodes import Node
from studio.domain.problems import Report
from studio.domain.task import HiddenIntent
from studio.domain.uids import default_uid


def read_intents(root: Node, intent: Node, report: Report, persona: str, task_id: str) -> tuple[HiddenIntent, ...]:
    fields.warn_unknown(intent, ("initial_input", "hidden_intent", "detailed_intent"), report, where="intent")
    if any(key.value == "detailed_intent" for key in intent.key_nodes()):
        next(key for key in intent.key_nodes() if key.value == "detailed_intent").error(
            report, "“detailed_intent” is not allowed in v2.", "Split it into the entries of “hidden_intent”."
        )
    outer = root.get("intent")
    if outer is not None and outer.kind != "mapping" and not outer.is_null:
        return ()  # already reported
    node = intent.get("hidden_intent")
    if node is None or node.is_null or (node.kind == "sequence" and not node.items):
        (node or outer or root).error(
            report, "The task has no hidden intent.", "Add at least one entry “- content: …” under “hidden_intent”."
        )
        return ()
    intents = []
    for position, item in enumerate(fields.sequence_at(intent, "hidden_intent", report), 1):
        name = f"hidden_intent[{position}]"
        if item.kind != "mapping":
            item.error(report, f"{name} is not a mapping.", "Write it as “- content: …”.")
            continue
        fields.warn_unknown(item, ("content", "status"), report, where=name)
        content = fields.text_at(item, "content", report, name=f"{name}.content")
        if not content.strip():
            (item.get("content") or item).error(
                report, f"{name} has no content.", "Say what the user needs, or remove the entry."
            )
        intents.append(
            HiddenIntent(
                uid=default_uid(persona, task_id, "intent", position),
                content=content,
                initial_status="provided" if _status(item, name, report) == "provided" else "not_provided",
                source=item.value,
            )
        )
    return tuple(intents)


def _status(item: Node, name: str, report: Report) -> str:
    status = item.get("status")
    if status is None:
        return "not_provided"
    value = str(status.value).strip()
    if value not in ("not_provided", "provided"):
        status.error(
            report, f"{name}.status is “{value}”.", "Write “not_provided” or “provided”, or leave the line out."
        )
    return value
