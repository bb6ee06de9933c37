"""Models as the command line names them: ``SERVICE:NAME``, with ``@URL`` behind it where it has its own address."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from evaluation.endpoints.services import SERVICES
from evaluation.llm import Endpoint, EndpointLimits, Prices
from evaluation.llm.endpoint import SCRIPTED
from evaluation.llm.policy import ANYWHERE
from evaluation.runner.errors import PibenchError
from evaluation.scripted.answers import MODELS

_NAMED = re.compile(r"(?P<service>[a-z0-9-]+):(?P<model>.+?)(?:@(?P<url>https?://\S+))?")
SERVICE_NAMES = ("scripted", *(service.slug for service in SERVICES))


@dataclass(frozen=True)
class Connection:
    """What holds for all models that do not say otherwise."""

    base_url: str = ""
    key_env: str = ""
    """Variable of the environment that holds the key of ``base_url``."""
    prices: Mapping[str, str] = field(default_factory=dict)
    """Dollars a million tokens, ``INPUT/OUTPUT``, by the model as it is named."""
    max_concurrency: int = 32


def endpoint_of(named: str, connection: Connection, effort: str = "") -> Endpoint:
    """Raises PibenchError."""
    found = _NAMED.fullmatch(named)
    if found is None or found["service"] not in SERVICE_NAMES:
        raise PibenchError(
            f"“{named}” names no model.",
            f"Write SERVICE:NAME, such as openai:gpt-5.4; the services are {', '.join(SERVICE_NAMES)}. For any other "
            "address that speaks OpenAI's API write openai:NAME with --base-url, or openai:NAME@URL.",
        )
    limits = EndpointLimits(max_concurrency=connection.max_concurrency)
    prices = _prices(connection.prices.get(named, ""))
    if found["service"] == "scripted":
        name = f"scripted-{found['model'].removeprefix('scripted-')}"
        if name not in MODELS:
            raise PibenchError(f"There is no scripted model “{named}”.", f"There are {', '.join(MODELS)}.")
        return Endpoint(name, SCRIPTED, name, limits=limits, scripted=True, policy=ANYWHERE)
    service = next(each for each in SERVICES if each.slug == found["service"])
    url = found["url"] or connection.base_url
    common: dict[str, Any] = {"effort": effort, "prices": prices, "limits": limits, "policy": ANYWHERE}
    try:
        if not url:
            return Endpoint(
                named,
                service.base_url,
                found["model"],
                key_env=service.key_env,
                params=dict(service.params),
                api=service.api,
                dialect=service.dialect,
                **common,
            )
        key_env = connection.key_env or (service.key_env if os.environ.get(service.key_env) else "")
        return Endpoint(named, url.rstrip("/"), found["model"], key_env=key_env, api="chat", **common)
    except ValueError as error:
        raise PibenchError(str(error)) from None


def _prices(text: str) -> Prices:
    if not text:
        return Prices()
    try:
        paid, _, answered = text.partition("/")
        return Prices(Decimal(paid), Decimal(answered))
    except InvalidOperation:
        raise PibenchError(
            f"“{text}” is no price.", "Write INPUT/OUTPUT in dollars a million tokens: 2.5/10."
        ) from None
