"""Responses of the scripted server: plain, streamed, and faulty. Writers return whether the connection stays open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from evaluation.scripted.answers import ScriptedAnswer

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 413: "Content Too Large"}

Headers = Mapping[str, str]
Response = tuple[int, Mapping[str, Any], dict[str, str]]
"""Status, JSON document, extra headers."""


def error_response(status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Response:
    return status, {"error": {"message": message, "type": "scripted", "code": code or None}}, headers or {}


def send_response(writer: asyncio.StreamWriter, response: Response) -> bool:
    status, document, headers = response
    content = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    extra = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n{extra}\r\n".encode()
        + content
    )
    return True


def stream_response(writer: asyncio.StreamWriter, completion: Mapping[str, Any]) -> bool:
    kept = ("id", "created", "model", "system_fingerprint")
    base = {key: completion[key] for key in kept} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    text = choice["message"]["content"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[start : start + 40]} for start in range(0, len(text), 40)]
    deltas += [
        {"tool_calls": [{"index": index} | call]} for index, call in enumerate(choice["message"].get("tool_calls", ()))
    ]
    chunks: list[dict[str, Any]] = [
        base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append(base | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append(base | {"choices": [], "usage": completion["usage"]})
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    writer.write(STREAM_HEAD + events.encode())
    return False


async def send_fault(
    answer: ScriptedAnswer, request: Mapping[str, Any], headers: Headers, writer: asyncio.StreamWriter
) -> bool | None:
    """Respond with the answer's fault. None if it does not apply to this request."""
    fault = answer.do
    response_format = request.get("response_format")
    kind = response_format.get("type") if isinstance(response_format, Mapping) else None
    statuses: dict[str, Response] = {
        "429": error_response(
            429, "Too many requests.", "rate_limit_exceeded", {"Retry-After": f"{answer.retry_after:g}"}
        ),
        "500": error_response(500, "Something broke."),
        "503": error_response(503, "Overloaded."),
        "401": error_response(401, f"This key is wrong: {headers.get('authorization', '')}", "invalid_api_key"),
        "quota": error_response(429, "The quota is spent.", "insufficient_quota"),
        "context": error_response(400, "This model's maximum context length is exceeded.", "context_length_exceeded"),
    }
    if fault in statuses:
        return send_response(writer, statuses[fault])
    if fault in ("no-schema", "no-schema-500", "no-json"):
        if kind == "json_schema" or (kind and fault == "no-json"):
            status = 500 if fault == "no-schema-500" else 400
            return send_response(writer, error_response(status, f"response_format {kind} is not supported."))
        return None
    if fault == "error-200":
        return send_response(writer, (200, {"error": {"message": "The provider behind failed.", "code": 502}}, {}))
    if fault == "no-choices":
        return send_response(writer, (200, {"object": "chat.completion", "choices": []}, {}))
    if fault == "stall":
        await asyncio.sleep(answer.seconds)
    elif fault == "cut" and request.get("stream") is True:
        chunk = {"choices": [{"index": 0, "delta": {"content": "I have be"}, "finish_reason": None}]}
        writer.write(STREAM_HEAD + f"data: {json.dumps(chunk)}\n\n".encode())
        await writer.drain()
    elif fault == "cut":
        writer.write(
            b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"choices": [{"mes'
        )
        await writer.drain()
    elif fault == "trickle":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)
    elif fault in ("malformed", "html"):
        text = b'{"choices": [{"message":' if fault == "malformed" else b"<!doctype html><title>Bad gateway</title>"
        content_type = b"application/json" if fault == "malformed" else b"text/html"
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (content_type, len(text), text)
        )
        return True
    return False
