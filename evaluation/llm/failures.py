"""What a failing answer means: services say it by status, code or words, in bodies of every shape."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.llm.errors import (
    ContentFilteredError,
    ContextTooLongError,
    EndpointError,
    KeyRejectedError,
    QuotaExceededError,
    RateLimitError,
    RequestRejectedError,
    ServerError,
    UnreadableAnswerError,
)
from evaluation.llm.retry import retry_after

MAX_QUOTED = 300
"""Characters of an endpoint's message in an error's text."""

_TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|prompt is too long|too many tokens|reduce the length"
    r"|model token limit|maximum (prompt|allowed|model) length|max(imum)? message tokens|input (is )?too (large|long)"
    r"|range of input length|input token count.{0,40}exceed|prompt exceeds|maximum number of tokens allowed",
    re.I,
)
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "1261", "1039"}
_FILTERED = re.compile(
    r"content exists risk|SAFETY_CHECK|content management policy|data.?inspection|inappropriate content"
    r"|content (filter|policy)|flagged (for|by|as)|usage polic(y|ies)",
    re.I,
)
_FILTERED_CODES = {
    *("content_filter", "content_policy_violation", "invalid_prompt", "cyber_policy", "data_inspection_failed"),
    *("1301", "1026", "1027"),  # GLM; MiniMax
}
_QUOTA = re.compile(r"insufficient.{0,20}(balance|credit|quota|funds)|exceeded your current quota|arrear", re.I)
_QUOTA_CODES = {
    *("insufficient_quota", "exceeded_current_quota_error", "billing_hard_limit_reached", "Arrearage"),
    *("1113", "1008"),  # GLM; MiniMax
}
_REQUEST_AT_FAULT = re.compile(
    r"response_format|json_schema|grammar|validation errors?\b|not support|unsupported|mmproj", re.I
)
"""With a status of the server's own failure: sent again, the request would fail again (llama.cpp, llama-cpp-python)."""
_UNUSABLE_CODES = {"tool_use_failed"}
"""A status of refusal for what the model wrote (Groq): asked again, it mostly writes it well."""
_STATUS_OF_CODE = {"1002": 429, "1302": 429, "1303": 429, "1305": 429, "1004": 401, "2013": 400}
"""MiniMax's and GLM's own codes, in the body of a 200."""
_NEEDS_RESPONSES = re.compile(r"tools with reasoning_effort are not supported|use (the )?/?v1/responses", re.I)
RESPONSES_ADVICE = "Set the model's API to Responses."


@dataclass(frozen=True)
class Problem:
    """What a body says of a failure."""

    message: str = ""
    code: str = ""
    param: str = ""

    @classmethod
    def of(cls, body: Any) -> Problem:
        """From an object, an array (Gemini), a text, or MiniMax's ``base_resp``."""
        if isinstance(body, list):
            return cls.of(body[0]) if body else cls()
        if isinstance(body, str):
            text = body.strip()
            return cls("" if text.startswith("<") else text)
        if not isinstance(body, Mapping):
            return cls()
        if isinstance(told := body.get("base_resp"), Mapping) and told.get("status_code"):
            return cls(_text(told.get("status_msg")), str(told["status_code"]))
        inner = body.get("error")
        if isinstance(inner, (str, list)):
            return cls.of(inner)
        found = inner if isinstance(inner, Mapping) else body
        message = next((found[name] for name in ("message", "detail", "msg", "error_msg") if found.get(name)), "")
        if isinstance(message, list):  # FastAPI's
            message = "; ".join(_words_of(entry) for entry in message)
        elif isinstance(message, Mapping):
            return cls.of(message)
        meta = found.get("metadata")
        behind = _text(meta.get("raw")) if isinstance(meta, Mapping) else ""  # OpenRouter quotes the provider
        code = found.get("code") or found.get("type") or ""
        return cls(" ".join(part for part in (_text(message), behind) if part), str(code), _text(found.get("param")))

    @property
    def status(self) -> int:
        """Of a failure in the body of a 200; 502 if it says none."""
        if self.code.isdigit() and 400 <= int(self.code) < 600:
            return int(self.code)
        return _STATUS_OF_CODE.get(self.code, 502)


@dataclass(frozen=True)
class Asked:
    """Who was asked, for the words of an error."""

    name: str
    model: str
    key: str
    key_env: str = ""


def read_failure(asked: Asked, status: int, headers: Mapping[str, str], content: bytes) -> EndpointError:
    """The error of an answer with this status."""
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = text
    return failure_of(asked, status, headers, Problem.of(body))


def failure_of(asked: Asked, status: int, headers: Mapping[str, str], problem: Problem) -> EndpointError:
    name, code, message = asked.name, problem.code, problem.message
    detail = quote(message, asked.key)
    if 300 <= status < 400:
        return RequestRejectedError(f"{name} sends requests on to another address. Connect that one instead.")
    if status == 402 or code in _QUOTA_CODES or (status < 500 and _QUOTA.search(message)):
        return QuotaExceededError(f"The account at {name} has no quota left", detail=detail)
    if status == 413 or code in _TOO_LONG_CODES or (status != 429 and _TOO_LONG.search(message)):
        return ContextTooLongError(f"The conversation is longer than {asked.model} can read", detail=detail)
    if code in _FILTERED_CODES or (status in (400, 403, 422) and _FILTERED.search(message)):
        return ContentFilteredError(f"The filter of {name} did not let the request through", detail=detail)
    if code in _UNUSABLE_CODES:
        return UnreadableAnswerError(f"{name} could not read what its model wrote", detail=detail)
    if status == 429:
        return RateLimitError(f"{name} limits the rate of requests", detail=detail, retry_after=retry_after(headers))
    if status in (401, 403):
        variable = f" in {asked.key_env}" if asked.key_env else ""
        return KeyRejectedError(f"{name} refused the key{variable} (status {status})", detail=detail)
    if status in (408, 409, 425, 498) or (status >= 500 and not _REQUEST_AT_FAULT.search(message)):
        wait = retry_after(headers)
        return ServerError(f"{name} failed with status {status}", detail=detail, retry_after=wait)
    advice = RESPONSES_ADVICE if _NEEDS_RESPONSES.search(message) else ""
    told = f"{detail} {advice}".rstrip()
    refused = RequestRejectedError(f"{name} refused the request with status {status}", detail=told)
    refused.advice = advice
    refused.complaint = f"{problem.param} {message}"
    return refused


def quote(message: str, key: str) -> str:
    """The endpoint's message as the end of a sentence, short and without anything that looks like a key."""
    text = " ".join(message.split())
    if not text:
        return "."
    if key:
        text = text.replace(key, "[key]")
    text = re.sub(r"\b((sk|pk|key)[-_]|Bearer )[\w*.-]{6,}", "[key]", text)
    return f": {text[:MAX_QUOTED]}"


def _words_of(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return _text(entry)
    place = entry.get("loc")
    where = ".".join(map(str, place)) if isinstance(place, (list, tuple)) else ""
    return f"{where}: {_text(entry.get('msg'))}" if where else _text(entry.get("msg"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
