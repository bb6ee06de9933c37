"""The services that a model can be connected at with one choice, and what is known of each (``services.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ConfigDict, TypeAdapter

from evaluation.llm.dialects import EFFORTS


@dataclass(frozen=True)
class Service:
    """``efforts`` are those that some model of it takes; one model may take fewer."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    slug: str
    name: str
    base_url: str
    also_at: tuple[str, ...] = ()
    """Other hosts of it."""
    key_env: str = ""
    """Empty: it needs no key."""
    key_from: str = ""
    """Where people get a key."""
    api: str = "chat"
    dialect: str = ""
    """Empty: that of its host."""
    efforts: tuple[str, ...] = EFFORTS
    """Empty: it ignores them."""
    params: Mapping[str, Any] = field(default_factory=dict)
    example: str = ""
    """A model of it."""
    prices: str = ""
    """Its name in the table of prices."""
    max_tools: int | None = None
    """More are refused. None: unknown."""
    note: str = ""
    lists_prices: bool = False
    """Whether its list of models has prices, in US dollars a token."""

    @property
    def is_local(self) -> bool:
        return urlsplit(self.base_url).hostname in ("127.0.0.1", None)


SERVICES = TypeAdapter(tuple[Service, ...]).validate_python(
    tomllib.loads(Path(__file__).with_name("services.toml").read_text("utf-8"))["services"]
)
BY_SLUG = {service.slug: service for service in SERVICES}
BY_HOST = {
    host: service.slug
    for service in SERVICES
    if service.base_url
    for host in (urlsplit(service.base_url).netloc, *service.also_at)
}
"""With the port, where one is named: servers of one's own are told apart by it."""

PAPER_SEAT: dict[str, Any] = {
    "service": "openai",
    "model": "gpt-5.4",
    "effort": "none",
    "params": {"temperature": 0},
}
"""The user and the judge of the paper's experiments (arXiv 2605.14678, section 4.1)."""


def service_at(base_url: str) -> Service | None:
    """Which service an address belongs to; None if to none that is known."""
    place = urlsplit(base_url).netloc.casefold()
    slug = "azure" if place.endswith(".openai.azure.com") else BY_HOST.get(place)
    return BY_SLUG[slug] if slug else None
