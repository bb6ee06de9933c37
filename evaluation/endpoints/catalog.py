"""The models that a service lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils import timezone

from evaluation.endpoints.prices import ListPrice, list_price
from evaluation.endpoints.services import service_at
from evaluation.llm import Endpoint

OTHER_KINDS = re.compile(
    r"embed|tts|whisper|dall-e|image|moderation|audio|realtime|transcri|rerank|sora|veo|imagen|speech|video|ocr", re.I
)
"""In the names of models that do not converse."""
CONTEXT_KEYS = ("context_length", "context_window", "max_model_len", "max_context_length", "n_ctx")


@dataclass(frozen=True)
class ListedModel:
    name: str
    context: int | None
    """Tokens, as the service or the table of prices tells."""
    price: ListPrice | None

    @property
    def label(self) -> str:
        if self.price is None:
            return self.name
        return f"{self.name} · ${self.price.input.normalize():f} in, ${self.price.output.normalize():f} out"


def listed_models(endpoint: Endpoint) -> list[ListedModel]:
    """Those that converse, by name. Raises EndpointError."""
    found = {str(entry["id"]): entry for entry in _list_models(endpoint) if isinstance(entry.get("id"), str)}
    return [_listed(endpoint, name, found[name]) for name in sorted(found) if not OTHER_KINDS.search(name)]


def find_listed(endpoint: Endpoint) -> ListedModel | None:
    """The endpoint's own model. Raises EndpointError."""
    for entry in _list_models(endpoint):
        if entry.get("id") in (endpoint.model, f"models/{endpoint.model}"):
            return _listed(endpoint, endpoint.model, entry)
    return None


def _list_models(endpoint: Endpoint) -> list[Mapping[str, Any]]:
    from evaluation.llm.sending import list_models  # the openai client; see ModelClient._ask

    return list_models(endpoint)


def _listed(endpoint: Endpoint, name: str, entry: Mapping[str, Any]) -> ListedModel:
    name = name.removeprefix("models/")  # as Gemini lists them; it is asked without
    service = service_at(endpoint.base_url)
    price = list_price(endpoint.base_url, name)
    if price is None and service is not None and service.lists_prices:
        price = _told_price(entry.get("pricing"))
    context = _context(entry) or (price.context if price else None)
    return ListedModel(name, context, price)


def _context(entry: Mapping[str, Any]) -> int | None:
    inside = entry.get("meta") if isinstance(entry.get("meta"), Mapping) else {}
    told = [place.get(key) for place in (entry, inside or {}) for key in CONTEXT_KEYS]
    return next((each for each in told if isinstance(each, int) and each > 0), None)


def _told_price(pricing: Any) -> ListPrice | None:
    if not isinstance(pricing, Mapping):
        return None
    read = {
        name: _per_million(pricing.get(key))
        for name, key in (
            ("input", "prompt"),
            ("output", "completion"),
            ("cached", "input_cache_read"),
            ("written", "input_cache_write"),
        )
    }
    if read["input"] is None or read["output"] is None:
        return None
    return ListPrice(read["input"], read["output"], read["cached"], read["written"], None, None, timezone.localdate())


def _per_million(price: Any) -> Decimal | None:
    """From dollars a token. A router tells -1 where it depends."""
    try:
        amount = Decimal(str(price)) * 1_000_000
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < 10**6 else None
