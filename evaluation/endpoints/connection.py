"""What a connected model is called and costs, whether it can be used, and asking owners for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from evaluation.endpoints.prices import ListPrice, list_price, price_source
from evaluation.llm import EndpointError
from evaluation.llm.dialects import dialect_of, origin_of
from evaluation.llm.endpoint import SCRIPTED
from evaluation.model_access import endpoint_of, policy
from evaluation.models import ModelEndpoint
from studio.domain.options import OptionsError
from studio.models import Benchmark, Notification, Role, User
from studio.notifications.notify import notify


def key_is_set(row: ModelEndpoint) -> bool | None:
    """Whether this process has the endpoint's key; None if it needs none."""
    if not row.key_env and not row.sealed_key:
        return None
    try:
        return bool(endpoint_of(row).key())
    except (EndpointError, ValueError):
        return False


def problem_of(row: ModelEndpoint) -> str:
    try:
        endpoint = endpoint_of(row)
    except ValueError as error:
        return str(error)
    if endpoint.base_url == SCRIPTED:
        return ""
    if row.benchmark_id is not None:
        return policy().owner_problem(endpoint.base_url)
    return policy().internal_problem(endpoint.base_url)


def has_batches(row: ModelEndpoint) -> bool:
    """Whether its service answers batches, at half the price."""
    return dialect_of(row.dialect, row.base_url).batches


def request_model(benchmark: Benchmark, text: str, *, by: User) -> None:
    """Ask the owners to connect a model."""
    owners = benchmark.memberships.filter(role=Role.OWNER).values_list("user_id", flat=True)
    words = " ".join(text.split())
    notify(
        owners,
        Notification.Kind.MODEL_REQUESTED,
        f"asks for a model: “{words}”" if words else "asks for a model to try tasks with.",
        benchmark=benchmark,
        address=reverse("evaluation:benchmark_endpoints", args=[benchmark.slug]),
        by=by,
    )


def find_model(benchmark: Benchmark, name: str, field: str) -> ModelEndpoint:
    """``field``: of the options, for the OptionsError that is raised if there is no such model."""
    rows = ModelEndpoint.objects.usable_in(benchmark)
    row = rows.filter(name=name).first()
    if row is None:
        known = ", ".join(rows.values_list("name", flat=True)) or "none yet"
        wrong = f"There is no model “{name}”." if name else "Choose a model."
        raise OptionsError(field, f"{wrong} There are: {known}.")
    return row


def default_name(row: ModelEndpoint) -> str:
    """With its effort, which makes it another model in results."""
    return f"{row.model} · {row.effort}" if row.effort else row.model


def free_name(wanted: str) -> str:
    taken = set(ModelEndpoint.objects.filter(name__startswith=wanted).values_list("name", flat=True))
    candidates = (wanted if number == 1 else f"{wanted} {number}" for number in range(1, len(taken) + 2))
    return next(name for name in candidates if name not in taken)


def learned_facts(row: ModelEndpoint, as_run: ModelEndpoint | None = None) -> dict[str, Any]:
    """What the service was found to refuse (``evaluation.llm.learned``), of the model that the row is, or as it ran."""
    model = as_run or row
    facts = dict(row.learned)
    return facts if facts.pop("of", "") == origin_of(model.base_url, model.model) else {}


def learned_sentences(facts: Mapping[str, Any]) -> list[str]:
    """For people. Empty if it takes everything."""
    dropped = [name.replace("forced ", "a forced ") for name in facts.get("dropped", ())]
    found = [f"It refuses {', '.join(dropped)}: left out."] if dropped else []
    if "temperature" in dropped:
        found.append("It answers at its own temperature, also as a judge.")
    found += [f"It takes {new} in place of {old}." for old, new in (facts.get("renamed") or {}).items()]
    if mode := facts.get("json"):
        found.append(f"It refuses JSON schemas: asked for {'JSON in words' if mode == 'text' else 'any JSON object'}.")
    return found


def set_list_price(row: ModelEndpoint, price: ListPrice | None = None, source: str = "") -> None:
    """``price``, or what the table of prices has for the model; unknown if it has none."""
    price, source = (price, source) if price else (list_price(row.base_url, row.model), price_source())
    row.input_price = price.input if price else None
    row.output_price = price.output if price else None
    row.cached_price = price.cached if price else None
    row.cache_write_price = price.written if price else None
    row.price_date = price.on if price else None
    row.price_source = source if price else ""
