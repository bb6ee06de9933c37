"""The short exchange by which a model shows whether it can take part in pilots, line by line."""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evaluation.llm import (
    Completion,
    ContextCutError,
    ContextTooLongError,
    EndpointError,
    ModelClient,
    UnusableJsonError,
)
from evaluation.llm.dialects import carries_thoughts
from evaluation.protocol.answers import extract_document
from evaluation.protocol.participants import InfrastructureError, Tokens

Outcome = Literal["holds", "note", "fails", "skipped"]
"""``note``: a pilot can do without."""

PROMPT_TOKENS = 26_000
"""About the longest first prompt of a session. The text below has one common word a token, in any tokenizer."""
SEATS = {"agent": "agent", "user_model": "user", "judge": "judge"}


@dataclass(frozen=True)
class Check:
    label: str
    needed: tuple[str, ...] = ()
    """Seats of a pilot that cannot do without."""


EVERY_SEAT = tuple(SEATS)
CHECKS: Mapping[str, Check] = {
    "answers": Check("Answers", EVERY_SEAT),
    "usage": Check("Counts its tokens", EVERY_SEAT),
    "tools": Check("Calls a tool", ("agent",)),
    "parallel": Check("Calls two tools at once"),
    "loop": Check("Goes on after tool calls, keeping its thoughts", ("agent",)),
    "json": Check("Gives decisions as JSON", ("user_model", "judge")),
    "schema": Check("Keeps to a JSON schema"),
    "pictures": Check("Sees pictures"),
    "streaming": Check("Streams its answer"),
    "context": Check("Reads a prompt of 26,000 tokens", EVERY_SEAT),
    "cache": Check("Takes repeated prompts from its cache"),
    "thinking": Check("Thinks as its effort says"),
}


@dataclass(frozen=True)
class Line:
    name: str
    """A key of ``CHECKS``."""
    outcome: Outcome
    word: str
    advice: str = ""
    """What to set."""
    detail: str = ""
    """What the service wrote: for administrators, where it is in an internal network."""
    milliseconds: int = 0
    tokens: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class _Failed(Exception):
    def __init__(self, word: str, advice: str = "", *, outcome: Outcome = "fails", detail: str = "") -> None:
        super().__init__(word)
        self.word, self.advice, self.outcome, self.detail = word, advice, outcome, detail


LONGER = "Choose a model, or start the server, with a context of 65,536 tokens or more."
WORDS = {
    "MissingKeyError": ("no key", "Enter the key, or set its variable and start the studio again."),
    "KeyRejectedError": ("key refused", "Check the key with the service, and that it belongs to this address."),
    "EndpointUnreachableError": ("cannot be reached", "Check the address, and that the service runs."),
    "EndpointAddressError": (
        "address not allowed",
        "An administrator can allow it with STUDIO_MODEL_NETWORKS.",
    ),
    "EndpointTimeoutError": ("too slow", "Set a longer timeout."),
    "TruncatedAnswerError": ("cut off", "The connection breaks: check proxies on the way."),
    "RateLimitError": ("too many requests", "Lower the concurrent requests, or raise the limit at the service."),
    "QuotaExceededError": ("no credit", "Add credit to the account at the service."),
    "ServerError": ("the service fails", "Try again later."),
    "UnreadableAnswerError": ("unreadable answer", "Check the address: what answers does not speak the OpenAI API."),
    "RequestRejectedError": ("request refused", "Correct the model's name, its API or its parameters."),
    "ContentFilteredError": ("filtered", "The service's filter stopped it. Ask the service, or choose another model."),
    "ContextTooLongError": ("too long", LONGER),
    "ContextCutError": ("cut silently", LONGER),
}
"""A failure's word and what to set, by exception class."""

NOT_USABLE = "Correct its settings below: address, effort, API or parameters."

SYSTEM = "You are an assistant. Use the tools when you need them, and answer briefly."
TOOL = {
    "type": "function",
    "function": {
        "name": "temperature",
        "description": "The temperature in a city now, in degrees Celsius.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
TEMPERATURES = {"oslo": 7, "rome": 24, "lima": 19}
VERDICT = {
    "type": "object",
    "properties": {"decision": {"type": "string", "enum": ["YES", "NO"]}, "reason": {"type": "string"}},
    "required": ["decision", "reason"],
    "additionalProperties": False,
}
YELLOW = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKUlEQVR42u3NMQ0AAAgDsPn3iBamgoOkSf9mJ6ciEAgEAoFAIBAI"
    "vgQFrNNwatPva60AAAAASUVORK5CYII="
)
"""A yellow square as PNG."""
SENTENCE = "the river runs past the old mill and the mill grinds the corn for the town in the valley and "
PASSWORD = "cobalt heron"
LONG_PROMPT = f"The password of the mill is “{PASSWORD}”. Keep it in mind.\n\n" + SENTENCE * (PROMPT_TOKENS // 20)


class Tryout:
    """One play over a client. ``lines`` asks the model as it goes."""

    def __init__(self, client: ModelClient, *, effort: str = "", context: int | None = None, advice: str = "") -> None:
        """``context``: tokens, as the service tells. ``advice``: how the service's own server is started rightly."""
        self._client = client
        self._effort = effort
        self._context = context
        self._advice = advice
        self._tokens: list[Tokens] = []
        self._thought = 0
        self._readable = False
        self._conversation: list[dict[str, Any]] = []
        self._called: Completion | None = None
        self._read: list[dict[str, Any]] = []
        self.answered_by: Mapping[str, str] = {}

    @property
    def tokens(self) -> Tokens:
        """Used so far."""
        return sum(self._tokens, start=Tokens(None, None))

    def lines(self) -> Iterator[Line]:
        """In the order of ``CHECKS``. Where a model does not answer at all, nothing else is asked."""
        checks: Mapping[str, Callable[[], str]] = {
            "answers": self._answers,
            "usage": self._usage,
            "tools": self._calls_tool,
            "parallel": self._calls_two,
            "loop": self._goes_on,
            "json": self._decides,
            "schema": self._keeps_schema,
            "pictures": self._sees,
            "streaming": self._streams,
            "context": self._reads_long,
            "cache": self._uses_cache,
            "thinking": self._thinks,
        }
        answered = True
        for name, check in checks.items():
            line = self._play(name, check) if answered else Line(name, "skipped", "not tried")
            answered = answered and not (name == "answers" and line.outcome == "fails")
            yield line

    def _play(self, name: str, check: Callable[[], str]) -> Line:
        started, before = time.monotonic(), len(self._tokens)
        needed = CHECKS[name].needed
        outcome: Outcome
        try:
            outcome, word, advice, detail = "holds", check(), "", ""
        except _Failed as failed:
            outcome, word, advice, detail = failed.outcome, failed.word, failed.advice, failed.detail
        except UnusableJsonError as error:
            outcome, word, detail = "fails", "not usable", str(error)
            advice = "Choose another model for users and judges."
        except EndpointError as error:
            outcome = "fails" if needed else "note"
            word, usual = WORDS[type(error).__name__]
            advice = error.advice or usual
            detail = str(error)
        except (InfrastructureError, ValueError) as error:
            outcome, word, advice, detail = "fails", "not usable", NOT_USABLE, str(error)
        used = sum(self._tokens[before:], start=Tokens())
        milliseconds = round((time.monotonic() - started) * 1000)
        return Line(name, outcome, word, advice, detail[:1000], milliseconds, used.total or None)

    def _advise(self, what: str) -> str:
        return f"{what} {self._advice}".strip()

    def _ask(self, messages: list[dict[str, Any]], **options: Any) -> Completion:
        return self._counted(self._client.complete(messages, **options))

    def _counted(self, completion: Completion) -> Completion:
        self._tokens.append(completion.tokens)
        self._thought += completion.tokens.reasoning or 0
        self._readable = self._readable or bool(completion.thoughts)
        return completion

    def _answers(self) -> str:
        completion = self._ask([_user("Answer with the one word: ready.")])
        if not completion.text.strip():
            if completion.ending == "cut":
                raise _Failed("empty: its limit was used up by thoughts", "Raise or remove max_tokens.")
            raise _Failed("empty answer", "Choose another model, or correct its parameters.")
        self.answered_by = {name: text for name, text in asdict(completion.answered_by).items() if text}
        return f"“{' '.join(completion.text.split())[:40]}”"

    def _usage(self) -> str:
        tokens = self._tokens[0]
        if tokens.prompt is None or tokens.completion is None:
            raise _Failed(
                "not told",
                "Without it, costs stay unknown and budgets cannot stop a pilot. If answers are streamed, set "
                '{"stream_options": {"include_usage": true}} in the parameters; otherwise choose another service.',
            )
        return f"{tokens.prompt} in, {tokens.completion} out"

    def _calls_tool(self) -> str:
        self._conversation = [
            {"role": "system", "content": SYSTEM},
            _user("How warm is it in Oslo and in Rome now? Look up both at once, then tell me the sum of the two."),
        ]
        completion = self._called = self._ask(self._conversation, tools=[TOOL])
        if not completion.tool_calls:
            raise _Failed("no call: it answered in words", self._advise("Choose a model that calls tools."))
        for call in completion.tool_calls:
            if call.name != "temperature" or _city(call.arguments) is None:
                advice = self._advise("Choose another model.")
                raise _Failed("invalid call", advice, detail=f"{call.name}({call.arguments})")
        return "yes"

    def _calls_two(self) -> str:
        if self._called is None or not self._called.tool_calls:
            raise _Failed("not tried", outcome="skipped")
        if len(self._called.tool_calls) < 2:
            raise _Failed("one at a time", "Pilots take longer with it; nothing has to be set.", outcome="note")
        return "yes"

    def _goes_on(self) -> str:
        if self._called is None or not self._called.tool_calls:
            raise _Failed("not tried", outcome="skipped")
        self._work_through(self._called, "31")
        self._conversation.append(_user("And in Lima? Look it up."))
        self._work_through(self._ask(self._conversation, tools=[TOOL]), "19")
        if not (self._thought or self._readable):
            return "yes"
        if not self._readable and not any(carries_thoughts(message) for message in self._conversation):
            advice = "Choose the API “Responses” where the service has it, or effort none."
            raise _Failed("yes, but its thoughts are lost from call to call", advice, outcome="note")
        return "yes, its thoughts were returned to it"

    def _work_through(self, completion: Completion, expected: str) -> None:
        """Answer its calls until it answers with ``expected``."""
        for _ in range(4):
            self._conversation.append(dict(completion.message))
            if not completion.tool_calls:
                break
            for call in completion.tool_calls:
                degrees = TEMPERATURES.get((_city(call.arguments) or "").split(",")[0].strip().casefold())
                text = "no such city" if degrees is None else f"{degrees} °C"
                self._conversation.append({"role": "tool", "tool_call_id": call.id, "content": text})
            completion = self._ask(self._conversation, tools=[TOOL])
        if expected not in completion.text:
            raise _Failed(
                "lost the thread",
                self._advise("Choose another model, or set how its service takes thoughts back (dialect)."),
                detail=completion.text[:300],
            )

    def _decides(self) -> str:
        question = "Is the sum of two and two four? Decide YES or NO, with a short reason, as JSON: "
        _, completion = self._client.ask_json(
            [_user(f'{question}{{"decision": "YES", "reason": "…"}}')],
            "verdict",
            VERDICT,
            lambda answer: _decision(extract_document(answer)),
            max_tries=2,
            temperature=0,
        )
        self._counted(completion)
        return "yes"

    def _keeps_schema(self) -> str:
        schema = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": VERDICT}}
        try:
            completion = self._ask([_user("Write one sentence about rain, in plain words.")], response_format=schema)
            if self._client.endpoint.learned.facts.get("json"):
                raise _Failed("refused", "JSON is asked for in words. Nothing has to be set.", outcome="note")
            _decision(json.loads(completion.text))
        except (ValueError, RecursionError):
            raise _Failed(
                "taken, not enforced", "Answers are checked and asked for again. Nothing has to be set.",
                outcome="note",
            ) from None  # fmt: skip
        return "enforced"

    def _sees(self) -> str:
        url = f"data:image/png;base64,{b64encode(YELLOW).decode()}"
        picture = {"type": "image_url", "image_url": {"url": url}}
        question = {"type": "text", "text": "Which colour has this picture? Answer with one word."}
        without = "Agents with this model get no pictures: choose another for tasks that need them."
        try:
            completion = self._ask([{"role": "user", "content": [question, picture]}])
        except EndpointError as error:
            raise _Failed("refused", without, outcome="note", detail=str(error)) from None
        if "yellow" not in completion.text.casefold():
            raise _Failed("ignored", without, outcome="note", detail=completion.text[:300])
        return "yes"

    def _streams(self) -> str:
        """As the answers so far came, without asking again."""
        endpoint = self._client.endpoint
        if endpoint.learned.knows_refused("stream"):
            raise _Failed("refused", "Answers come whole. If it thinks for long, set a longer timeout.", outcome="note")
        return "yes" if endpoint.params.get("stream", True) else "not asked to"

    def _reads_long(self) -> str:
        longer = self._advise(LONGER)
        if self._context is not None and self._context < PROMPT_TOKENS * 1.2:
            raise _Failed(f"it reads {self._context:,} tokens", longer)
        self._read = [_user(LONG_PROMPT + "\n\nWhat is the password of the mill? Answer with it alone.")]
        try:
            completion = self._ask(self._read)
        except ContextCutError as cut:
            raise _Failed(f"only {cut.read:,} tokens arrived: the rest was cut silently", longer) from None
        except ContextTooLongError as error:
            raise _Failed("too long for it", longer, detail=str(error)) from None
        prompt = completion.tokens.prompt
        if prompt is not None and prompt < PROMPT_TOKENS * 0.8:
            raise _Failed(f"only {prompt:,} tokens arrived: the rest was cut silently", longer)
        if PASSWORD.split()[1] not in completion.text.casefold():
            raise _Failed("its beginning was lost", longer, detail=completion.text[:300])
        self._read.append(dict(completion.message))
        told = f", and tells that it reads {self._context:,}" if self._context else ""
        return f"yes{told}" if prompt is None else f"yes, {prompt:,} tokens{told}"

    def _uses_cache(self) -> str:
        if len(self._read) < 2:
            raise _Failed("not tried", outcome="skipped")
        self._read.append(_user("And what does the mill grind? Answer with one word."))
        tokens = self._ask(self._read).tokens
        if tokens.cached is None:
            raise _Failed(
                "not told", self._advise("Costs are counted as if nothing came from a cache."), outcome="note"
            )
        if not tokens.cached:
            raise _Failed("nothing came from it", "Costs are those of new prompts.", outcome="note")
        return f"yes, {tokens.cached:,} of {tokens.prompt or 0:,} tokens"

    def _thinks(self) -> str:
        how = f"{self._thought:,} tokens" if self._thought else "its thoughts can be read"
        if self._thought or self._readable:
            if self._effort == "none":
                raise _Failed(f"it thinks ({how}), though its effort is none", "Choose another effort.", outcome="note")
            return f"yes, {how}"
        if self._effort in ("", "none", "minimal"):
            return "it does not think"
        raise _Failed(
            f"no sign of thoughts, though its effort is {self._effort}",
            "The service may hide or ignore it: choose another API, or effort none.",
            outcome="note",
        )


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _city(arguments: str) -> str | None:
    """None if these are no arguments of the tool."""
    try:
        city = json.loads(arguments)["city"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return city if isinstance(city, str) else None


def _decision(found: object) -> str:
    """Raises ValueError."""
    if not isinstance(found, dict) or found.get("decision") not in ("YES", "NO"):
        raise ValueError("Give an object with “decision”, YES or NO, and “reason”.")
    return str(found["decision"])
