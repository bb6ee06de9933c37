"""A call stores what is new in it since an earlier one. Requests, answers and agents' states stay exact to the byte."""

# ruff: noqa: S608  # tables and columns are named below

import hashlib
import json
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from evaluation.llm.exchange import Exchange, encode, encode_messages

KINDS = (
    ("ModelCall", "evaluation_modelcall", "session_id", True),
    ("RehearsalCall", "evaluation_rehearsalcall", "rehearsal_id", False),
    ("ProposalCall", "evaluation_suggestioncall", "suggestion_id", True),
)
"""Model, table, column of the owner, and whether the table is frozen."""
CONSTRAINTS = {
    "ModelCall": ("session", "model_call_answered_once"),
    "RehearsalCall": ("rehearsal", "rehearsal_call_answered_once"),
    "ProposalCall": ("proposal", "suggestion_call_answered_once"),
}


def shorten(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for _, table, owner, frozen in KINDS:
            _frozen(cursor, table, "DISABLE", frozen)
            cursor.execute(f"SELECT DISTINCT {owner} FROM {table} ORDER BY 1")
            for (key,) in cursor.fetchall():
                agents = _shorten_owner(cursor, table, owner, key)
                if table == "evaluation_modelcall":
                    _shorten_states(cursor, key, agents)
                elif table == "evaluation_rehearsalcall" and agents:
                    _shorten_state(cursor, "evaluation_rehearsal", key, agents[-1][1])
            _frozen(cursor, table, "ENABLE", frozen)


def _frozen(cursor: Any, table: str, action: str, frozen: bool) -> None:
    tables = [table] if frozen else []
    if table == "evaluation_modelcall":
        tables.append("evaluation_turn")
    for name in tables:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE '%%_frozen'", [name])
        for (trigger,) in cursor.fetchall():
            cursor.execute(f'ALTER TABLE "{name}" {action} TRIGGER "{trigger}"')


def _shorten_owner(cursor: Any, table: str, owner: str, key: int) -> list[tuple[int, Exchange]]:
    """The agent's exchanges with their turns."""
    cursor.execute(
        f"SELECT call.id, purpose, turn, request, response, request_hash, endpoint.name, endpoint.base_url"
        f"  FROM {table} AS call JOIN evaluation_modelendpoint AS endpoint ON endpoint.id = endpoint_id"
        f" WHERE {owner} = %s ORDER BY call.id",
        [key],
    )
    base, context = None, b""
    latest: dict[tuple[str, int | None], Exchange] = {}
    agents = []
    hashes = set()
    for pk, purpose, turn, request, response, request_hash, name, base_url in cursor.fetchall():
        if (now := _hash_without_name(request_hash, name, base_url, request)) not in hashes:
            request_hash = now
        if response is not None:
            hashes.add(request_hash)
        kind = purpose.split("_")[0]
        likeness = latest.get((kind, turn)) or latest.get((kind, None))
        content, context = encode(request, response, context, likeness)
        cursor.execute(
            f"UPDATE {table} SET content = %s, base_id = %s, answered = %s, request_hash = %s WHERE id = %s",
            [content, base, response is not None, request_hash, pk],
        )
        base, exchange = pk, Exchange(pk, request, response)
        latest[kind, turn] = latest[kind, None] = exchange
        if kind == "agent":
            agents.append((turn, exchange))
    return agents


def _hash_without_name(before: str, name: str, base_url: str, request: dict[str, Any]) -> str:
    """As calls are found since endpoints' names no longer count; the same if it cannot be told."""
    for sequence in range(20):
        if _hash([name, base_url, sequence, request]) == before:
            return _hash([base_url, sequence, request])
    return before


def _hash(identity: list[Any]) -> str:
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _shorten_states(cursor: Any, session: int, agents: list[tuple[int, Exchange]]) -> None:
    cursor.execute("SELECT id, number FROM evaluation_turn WHERE session_id = %s", [session])
    for pk, number in cursor.fetchall():
        known = [exchange for turn, exchange in agents if turn <= number]
        if known:
            _shorten_state(cursor, "evaluation_turn", pk, known[-1])


def _shorten_state(cursor: Any, table: str, pk: int, likeness: Exchange) -> None:
    cursor.execute(f"SELECT agent_state FROM {table} WHERE id = %s", [pk])
    (state,) = cursor.fetchone()
    if isinstance(state, dict) and isinstance(state.get("messages"), list):
        state["messages"] = encode_messages(state["messages"], likeness)
        text = json.dumps(state, ensure_ascii=False)
        cursor.execute(f"UPDATE {table} SET agent_state = %s::json WHERE id = %s", [text, pk])


def base_of(model: str) -> Any:
    return models.ForeignKey(
        to=f"evaluation.{model.lower()}",
        on_delete=django.db.models.deletion.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )


def added(model: str) -> list[Any]:
    return [
        migrations.AddField(model, "base", base_of(model)),
        migrations.AddField(model, "content", models.BinaryField(default=b""), preserve_default=False),
        migrations.AddField(model, "answered", models.BooleanField(default=False), preserve_default=False),
    ]


def replaced(model: str) -> list[Any]:
    owner, name = CONSTRAINTS[model]
    return [
        migrations.RemoveConstraint(model, name),
        migrations.RemoveField(model, "request"),
        migrations.RemoveField(model, "response"),
        migrations.AddConstraint(
            model, models.UniqueConstraint(fields=[owner, "request_hash"], condition=Q(answered=True), name=name)
        ),
    ]


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0018_models_of_benchmarks")]

    operations = [
        *[operation for model, *_ in KINDS for operation in added(model)],
        migrations.RunPython(shorten),
        migrations.RemoveIndex("ModelCall", "model_call_by_turn"),
        migrations.RemoveIndex("ModelCall", "model_call_by_request"),
        *[operation for model, *_ in KINDS for operation in replaced(model)],
        migrations.AddIndex(
            "ModelCall",
            models.Index(fields=["request_hash"], name="model_call_by_request", condition=Q(answered=True)),
        ),
        migrations.AlterField(
            "Verdict",
            "judging",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="verdicts",
                to="evaluation.judging",
            ),
        ),
    ]
