"""Recorded requests to models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from django.db import connection, models
from django.db.models import Q
from zstandard import DICT_TYPE_RAWCONTENT, ZstdCompressionDict, ZstdCompressor, ZstdDecompressor

from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.sessions import PARTS, Session
from studio.models.packing import DigestField

WINDOW = 65_536
"""Bytes that serve as a dictionary."""
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Exchange:
    body: str
    """The request without its messages, as JSON; in their place null, because the order of keys counts."""
    messages: Sequence[str]
    """As JSON."""
    response: Json | None

    @property
    def request(self) -> Json:
        request: dict[str, Any] = json.loads(self.body)
        if "messages" in request:
            request["messages"] = [json.loads(message) for message in self.messages]
        return request


_NOTHING = Exchange("", (), None)


@dataclass(frozen=True)
class Chain:
    """What a call builds on: the calls of its owner before it."""

    context: bytes = b""
    last: Mapping[str, Exchange] = field(default_factory=dict)
    """By kind."""

    def pack(self, kind: str, request: Json, response: Json | None) -> tuple[bytes, Chain]:
        """The content to store, and the chain with it."""
        before = self.last.get(kind, _NOTHING)
        body = _text({name: None if name == "messages" else value for name, value in request.items()})
        messages = [_text(message) for message in request.get("messages", ())]
        same = count_same(messages, before.messages)
        new = ",".join(messages[same:])
        plain = f"[{same},{'null' if body == before.body else body},[{new}],{_text(response)}]".encode()
        content = ZstdCompressor(dict_data=self._dictionary()).compress(plain)
        return content, self._with(kind, Exchange(body, messages, response), plain)

    def unpack(self, kind: str, content: bytes) -> tuple[Exchange, Chain]:
        """Of content that was packed by an equal chain."""
        before = self.last.get(kind, _NOTHING)
        plain = ZstdDecompressor(dict_data=self._dictionary()).decompress(content)
        same, body, new, response = json.loads(plain)
        messages = [*before.messages[:same], *map(_text, new)]
        exchange = Exchange(before.body if body is None else _text(body), messages, response)
        return exchange, self._with(kind, exchange, plain)

    def _with(self, kind: str, exchange: Exchange, plain: bytes) -> Chain:
        return Chain((self.context + plain)[-WINDOW:], {**self.last, kind: exchange})

    def _dictionary(self) -> ZstdCompressionDict | None:
        return ZstdCompressionDict(self.context, dict_type=DICT_TYPE_RAWCONTENT) if self.context else None

    def shorten(self, kind: str, messages: Sequence[Json]) -> dict[str, Any]:
        """A conversation as JSON that refers to the last request of its kind."""
        same = count_same([_text(message) for message in messages], self.last.get(kind, _NOTHING).messages)
        return {"same": same, "more": list(messages[same:])}

    def restore(self, kind: str, short: Json) -> list[Any]:
        """By the chain that shortened it."""
        messages = self.last.get(kind, _NOTHING).messages[: short["same"]]
        return [*map(json.loads, messages), *short["more"]]


def count_same(messages: Sequence[str], before: Sequence[str]) -> int:
    """The leading ones that are equal."""
    pairs = enumerate(zip(messages, before, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(messages), len(before)))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


PART_BY_PURPOSE = {
    "agent": "agent",
    "satisfaction": "user",
    "follow_up": "user",
    "voice": "user",
    "checklist_compat": "judge",
    "checklist_strict": "judge",
}
"""Whose tokens a session's calls use."""
PURPOSES = tuple(PART_BY_PURPOSE)
OWNERS = ("session", "proposal", "opinion_request")
COUNTED = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_written_tokens", "reasoning_tokens")
_COLUMNS = (
    *(f"{name}_id" for name in (*OWNERS, "judging", "endpoint", "base")),
    *("purpose", "turn", "request_hash", "content", "answered", "error", "ending", "answered_by", "invalid_calls"),
    *(*COUNTED, "cost", "milliseconds", "attempts"),
)
Assumed = tuple[int, Decimal]
"""Tokens and US dollars."""
NONE: Assumed = (0, Decimal(0))


class AfterCall(NamedTuple):
    """A session as a call left it: who leases it, and what it has used, what is assumed included."""

    claimed_by: str
    state: str
    tokens: int
    calls: int
    cost: Decimal


_TOKENS = " + ".join(f"{name}_tokens" for name in (*PARTS, "assumed"))
_STORE = f"""
WITH new AS (
    INSERT INTO evaluation_modelcall ({", ".join(_COLUMNS)}, created_at)
    VALUES ({", ".join(["%s"] * len(_COLUMNS))}, now()) ON CONFLICT DO NOTHING RETURNING id
), counted AS (
    UPDATE evaluation_session SET calls = calls + 1, cost = cost + %s, {{part}}_tokens = {{part}}_tokens + %s,
        assumed_tokens = assumed_tokens + %s, assumed_cost = assumed_cost + %s, reserved = 0,
        unpriced = unpriced + %s
    FROM new WHERE evaluation_session.id = %s
    RETURNING claimed_by, state, {_TOKENS}, calls, cost + assumed_cost
)
SELECT new.id, counted.* FROM new LEFT JOIN counted ON true
"""  # noqa: S608  # names are the model's


class ModelCalls(models.Manager["ModelCall"]):
    def store(self, call: ModelCall, part: str = "", assumed: Assumed = NONE) -> tuple[int, AfterCall | None] | None:
        """The key of the new row, and the session as it is now; None if its answer was stored before.

        With ``part`` (``agent``, ``user`` or ``judge``) what it used is counted for its session, and the tokens and
        cost that are assumed where the service told nothing. One statement, since every call waits for it: 0.25 ms of
        the process where ``save`` and ``update`` in a transaction take 1.1.
        """
        values = [getattr(call, name) for name in _COLUMNS]
        values[_COLUMNS.index("request_hash")] = bytes.fromhex(call.request_hash)
        values[_COLUMNS.index("answered_by")] = json.dumps(call.answered_by)
        counted = [call.cost or 0, call.tokens, *assumed, int(call.cost is None), call.session_id if part else None]
        with connection.cursor() as cursor:
            cursor.execute(_STORE.format(part=part or "agent"), values + counted)
            found = cursor.fetchone()
        return found and (found[0], AfterCall(*found[1:]) if part else None)


class ModelCall(models.Model):
    """One answered or failed request to a model, made for one of OWNERS. Immutable.

    An answered request is not paid for again (``evaluation.call_records``).
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, null=True, related_name="model_calls")
    proposal = models.ForeignKey(
        "evaluation.Proposal", on_delete=models.CASCADE, null=True, related_name="calls", db_index=False
    )
    opinion_request = models.ForeignKey(
        "evaluation.OpinionRequest", on_delete=models.CASCADE, null=True, related_name="calls", db_index=False
    )
    judging = models.ForeignKey("evaluation.Judging", on_delete=models.CASCADE, null=True, related_name="calls")
    """Which asked it; null if the agent did, or AI help."""
    purpose = models.CharField(max_length=20)
    turn = models.PositiveSmallIntegerField()
    endpoint = models.ForeignKey(
        ModelEndpoint, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    """The pilot, judging or other owner that chose it keeps it from being deleted: nobody looks through all calls."""
    request_hash = DigestField()
    base = models.ForeignKey(
        "self", on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False, db_index=False
    )
    """An earlier call for the same owner, on which ``content`` builds. They are deleted together, with their owner."""
    content = models.BinaryField()
    """Request and response (``evaluation.models.calls``)."""
    answered = models.BooleanField()
    error = models.TextField(blank=True)
    ending = models.CharField(max_length=10, blank=True)
    """How the answer ended (``evaluation.llm.completion.Ending``), or of a failure ``too_long`` for the model,
    ``timed_out`` or ``broken_off``; empty of others."""
    answered_by = models.JSONField(default=dict)
    """What the service says of itself: ``{"model", "fingerprint", "provider", "quantisation"}``, as far as told."""
    invalid_calls = models.PositiveSmallIntegerField(default=0)
    """Tool calls that name no tool, or whose arguments are no JSON object."""
    prompt_tokens = models.PositiveIntegerField(null=True)
    """This and the next four are what the service told; null if it did not."""
    completion_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    """Of the prompt, served from a cache."""
    cache_written_tokens = models.PositiveIntegerField(null=True)
    reasoning_tokens = models.PositiveIntegerField(null=True)
    """Of the completion."""
    cost = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    """Null if it is not known."""
    milliseconds = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ModelCalls()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request_hash", *OWNERS],
                condition=Q(answered=True),
                name="model_call_answered_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(session__isnull=True)
                | Q(purpose="agent", judging__isnull=True)
                | (Q(purpose__in=PURPOSES[1:]) & Q(judging__isnull=False)),
                name="model_call_has_its_judging",
            ),
        ]
        indexes = [
            models.Index(fields=[owner], condition=Q(**{f"{owner}__isnull": False}), name=f"model_call_of_{owner}")
            for owner in OWNERS[1:]
        ]

    @property
    def tokens(self) -> int:
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)

    @property
    def request(self) -> Json:
        return self.exchange.request

    @property
    def response(self) -> Json | None:
        """As the endpoint sent it; None if the request failed."""
        return self.exchange.response

    @cached_property
    def exchange(self) -> Exchange:
        owner = next(name for name in OWNERS if getattr(self, f"{name}_id") is not None)
        rows = ModelCall.objects.filter(**{owner: getattr(self, f"{owner}_id")}, pk__lte=self.pk)
        *_, (_, exchange, _) = read_chain(rows)
        return exchange


def kind_of(purpose: str, turn: int) -> str:
    """Of requests that are likely to share their leading messages: both scoring modes ask alike, and an agent goes on
    from the turn before."""
    kind = purpose.split("_")[0]
    return kind if kind == "agent" else f"{kind} {turn}"


def read_chain(rows: models.QuerySet[ModelCall]) -> Iterator[tuple[ModelCall, Exchange, Chain]]:
    """Calls of one owner up to some, in order, each with what can build on it."""
    chains: dict[int | None, Chain] = {None: Chain()}
    for call in rows.order_by("pk"):
        exchange, chains[call.pk] = chains[call.base_id].unpack(kind_of(call.purpose, call.turn), bytes(call.content))
        yield call, exchange, chains[call.pk]
