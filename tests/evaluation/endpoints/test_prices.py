from __future__ import annotations

import json
import zipfile
from datetime import date
from decimal import Decimal
from pathlib import Path

from evaluation.endpoints.prices import SOURCE, list_price, take_prices

ON = date(2026, 11, 24)
PLAIN = {
    "litellm_provider": "openai",
    "mode": "chat",
    "input_cost_per_token": 2.5e-06,
    "cache_read_input_token_cost": 2.5e-07,
    "output_cost_per_token": 1.5e-05,
}


def taken(tmp_path: Path, **entries: dict[str, object]) -> dict[str, object]:
    """Prices of OpenAI's models."""
    wheel = tmp_path / "litellm-1.0-cp310-abi3-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(SOURCE, json.dumps(entries))
    table = take_prices(wheel, ON)
    assert (table["source"], table["date"]) == ("litellm-1.0", "2026-11-24")
    return table["models"]["openai"]


def test_prices_are_taken_per_million_tokens_with_the_context(tmp_path: Path):
    models = taken(tmp_path, **{"gpt-x": PLAIN | {"max_input_tokens": 1000}})

    assert models == {"gpt-x": {"input": "2.5", "cached": "0.25", "output": "15", "context": 1000}}


def test_price_of_zero_is_no_price(tmp_path: Path):
    """litellm writes 0 for what nobody told it."""
    models = taken(
        tmp_path,
        free=PLAIN | {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
        unwritten=PLAIN | {"cache_creation_input_token_cost": 0.0},
    )

    assert list(models) == ["unwritten"] and "written" not in models["unwritten"]


def test_where_longer_prompts_cost_more_is_kept(tmp_path: Path):
    tiers = [
        {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "range": [0, 32000.0]},
        {"input_cost_per_token": 3e-06, "output_cost_per_token": 6e-06, "range": [32000.0, 128000.0]},
    ]
    models = taken(
        tmp_path,
        tiered={"litellm_provider": "openai", "mode": "chat", "tiered_pricing": tiers},
        above=PLAIN | {"input_cost_per_token_above_272k_tokens": 5e-06},
    )

    assert models["tiered"] == {"input": "1", "output": "2", "dearer_above": 32000}
    assert models["above"]["dearer_above"] == 272000


def test_withdrawn_and_other_models_are_left_out(tmp_path: Path):
    models = taken(
        tmp_path,
        gone=PLAIN | {"deprecation_date": "2026-11-23"},
        embedding=PLAIN | {"mode": "embedding"},
        elsewhere=PLAIN | {"litellm_provider": "another"},
    )

    assert models == {}


def test_stored_price_has_its_date_and_a_model_that_is_not_listed_has_none():
    price = list_price("https://api.openai.com/v1", "gpt-5.4")

    assert price is not None
    assert (price.input, price.cached, price.written, price.output) == (
        Decimal("2.5"), Decimal("0.25"), None, Decimal(15),
    )  # fmt: skip
    assert price.on.year >= 2026
    assert list_price("https://api.openai.com/v1", "no-such-model") is None
    assert list_price("https://models.example/v1", "gpt-5.4") is None
