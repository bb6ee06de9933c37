"""An endpoint as data: address, model, prices, limits, and where its key is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_UP, Decimal
from typing import Any

from evaluation.llm.dialects import Dialect, dialect_of, effort_params, origin_of
from evaluation.llm.errors import EndpointAddressError, MissingKeyError
from evaluation.llm.learned import Learned
from evaluation.llm.parameters import problem_of_parameters
from evaluation.llm.policy import Policy, url_problem
from evaluation.llm.stored_keys import StoredKeyError, unseal
from evaluation.protocol.participants import Tokens
from evaluation.scripted import server

KEY_VARIABLE = r"^[A-Z][A-Z0-9_]*API_KEY$"
"""Pattern for a variable that holds an endpoint's key; also in a constraint of the database."""


SCRIPTED = "scripted:"
"""Base URL of the scripted model, wherever it happens to listen."""


@dataclass(frozen=True)
class Prices:
    """In ``currency`` per million tokens; None: unknown."""

    input: Decimal | None = None
    output: Decimal | None = None
    cached: Decimal | None = None
    """Of input read from a cache; None: as other input."""
    cache_written: Decimal | None = None
    """Likewise, of input written to one."""
    currency: str = "USD"

    def of(self, tokens: Tokens) -> Decimal | None:
        """None if a price that is needed, or what was used, is unknown."""
        if self.input is None or self.output is None or tokens.prompt is None or tokens.completion is None:
            return None
        if tokens.untold:
            return None
        cached, written = tokens.cached or 0, tokens.cache_written or 0
        plain = max(0, tokens.prompt - cached - written)
        cost = (
            self.input * plain
            + (self.input if self.cached is None else self.cached) * cached
            + (self.input if self.cache_written is None else self.cache_written) * written
            + self.output * tokens.completion
        )
        return (Decimal(cost) / 1_000_000).quantize(Decimal("0.000001"))

    def worst(self, prompt: int, completion: int) -> Decimal | None:
        """What as many tokens cost at most; None if a price is unknown."""
        if self.input is None or self.output is None:
            return None
        cost = max(self.input, self.cache_written or Decimal(0)) * prompt + self.output * completion
        return (Decimal(cost) / 1_000_000).quantize(Decimal("0.000001"), ROUND_UP)

    @property
    def halved(self) -> Prices:
        """Those of a batch."""
        half = (price and price / 2 for price in (self.input, self.output, self.cached, self.cache_written))
        read, written, cached, cache_written = half
        return replace(self, input=read, output=written, cached=cached, cache_written=cache_written)


@dataclass(frozen=True)
class EndpointLimits:
    timeout_seconds: float = 600
    """Until an answer begins; for one that is not streamed, until it is whole."""
    max_concurrency: int = 32
    """Concurrent requests."""
    next_seconds: float = 60
    """Between two pieces of a streamed answer that has begun."""
    whole_seconds: float = 3600
    """For a streamed answer."""


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible address. Raises ValueError."""

    name: str
    base_url: str
    model: str
    key_env: str = ""
    sealed_key: str = field(default="", repr=False)
    benchmark: int | None = None
    """Of which owners connected it, within the limits that administrators set them."""
    params: Mapping[str, Any] = field(default_factory=dict)
    api: str = "chat"
    """``chat`` or ``responses``."""
    dialect: str = ""
    effort: str = ""
    prices: Prices = Prices()
    limits: EndpointLimits = EndpointLimits()
    scripted: bool = False
    policy: Policy = field(default_factory=Policy)
    learned: Learned = field(default_factory=Learned, compare=False)
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = field(default=None, repr=False)
    """Another way to the model than its address: gives a chat completion for the request of one. Raises
    InfrastructureError, and is not asked again then."""

    def __post_init__(self) -> None:
        if self.key_env and not re.fullmatch(KEY_VARIABLE, self.key_env):
            raise ValueError(f"The key's variable must be in capitals and end in API_KEY, not {self.key_env!r}.")
        if self.base_url != SCRIPTED and self.answer is None and (problem := url_problem(self.base_url)):
            raise ValueError(f"The address of {self.name} {problem}")
        if problem := problem_of_parameters(self.params):
            raise ValueError(f"The parameters of {self.name} {problem}")
        effort_params(self.speaks, self.effort)

    @property
    def place(self) -> str:
        """Whose limits its calls share."""
        return f"{self.base_url} {self.model}"

    @property
    def origin(self) -> str:
        """Marks messages as its own."""
        return origin_of(self.base_url, self.model)

    @property
    def speaks(self) -> Dialect:
        return dialect_of(self.dialect, self.base_url)

    def address(self) -> str:
        """Raises EndpointAddressError if owners may no longer use it."""
        if self.base_url == SCRIPTED:
            return self.policy.scripted_url or server.shared_address()
        if self.benchmark is not None and (problem := self.policy.owner_problem(self.base_url)):
            raise EndpointAddressError(f"{self.name} cannot be used. {problem}")
        return self.base_url

    def key(self) -> str:
        """The key; empty if the endpoint needs none. Raises MissingKeyError."""
        if self.sealed_key:
            try:
                return unseal(self.sealed_key, key_place(self.benchmark, self.base_url))
            except StoredKeyError as error:
                raise MissingKeyError(f"{self.name}: {error}") from None
        if not self.key_env:
            return ""
        if self.benchmark is not None and (problem := self.policy.owner_key_problem(self.key_env, self.base_url)):
            raise MissingKeyError(f"{self.name} cannot be used. {problem}")
        if key := os.environ.get(self.key_env, "").strip():
            return key
        raise MissingKeyError(
            f"{self.name} needs its key in the environment variable {self.key_env}, which is not set."
        )


def key_place(benchmark: int | None, base_url: str) -> str:
    return f"{'studio' if benchmark is None else benchmark} {base_url}"
