"""What was used and what it cost: unknown is not nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evaluation.llm import Budget, BudgetExceededError, ContextCutError, Endpoint, ModelClient, Prices
from evaluation.llm.completion import read_answer
from evaluation.protocol.participants import Tokens
from tests.evaluation.conftest import LOCAL
from tests.evaluation.endpoints.service import Body, Service, serving

PRICES = Prices(Decimal(2), Decimal(10), Decimal("0.2"), Decimal("2.5"))


def answer(usage: Any, **choice: Any) -> dict[str, Any]:
    message = choice.pop("message", {"content": "Done."})
    return {"choices": [{"message": message, "finish_reason": "stop", **choice}], "usage": usage}


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 20}, Tokens(100, 20)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60,
          "cache_write_tokens": 30}, "completion_tokens_details": {"reasoning_tokens": 12}},
         Tokens(100, 20, 60, 30, 12)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 150}, Tokens(100, 50, None, None, 30)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 150, "reasoning_tokens": 12},
         Tokens(100, 20, None, None, 12)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 60}, Tokens(100, 20, 60)),  # Kimi
        ({"prompt_tokens": 100, "completion_tokens": 20, "prompt_cache_hit_tokens": 60}, Tokens(100, 20, 60)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "cache_creation_input_tokens": 30}, Tokens(100, 20, None, 30)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cache_creation_input_tokens": 30}},
         Tokens(100, 20, None, 30)),  # Claude and Qwen behind routers
        ({"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": None}, Tokens(100, 20)),
        ({"prompt_tokens": 100}, Tokens(100, None, untold=1)),
        ({"prompt_tokens": -1, "completion_tokens": True}, Tokens(None, None, untold=1)),
        ({"prompt_tokens": 2**31 - 1, "completion_tokens": 2**31}, Tokens(2**31 - 1, None, untold=1)),
        (None, Tokens(None, None, untold=1)),
        ("many", Tokens(None, None, untold=1)),
    ],
)  # fmt: skip
def test_usage_is_read_in_all_its_shapes(usage: Any, tokens: Tokens):
    assert read_answer(answer(usage)).tokens == tokens


def test_sum_holds_what_was_told_and_how_often_nothing_was():
    used = sum([Tokens(100, 20, 60), Tokens(None, None, untold=1), Tokens(10, 2)], start=Tokens())

    assert used == Tokens(110, 22, 60, untold=1)
    assert used.total == 132


@pytest.mark.parametrize(
    ("prices", "tokens", "cost"),
    [
        (PRICES, Tokens(1_000_000, 100_000), Decimal("3")),
        (PRICES, Tokens(1_000_000, 0, 900_000), Decimal("0.38")),
        (PRICES, Tokens(1_000_000, 0, 500_000, 500_000), Decimal("1.35")),
        (Prices(Decimal(2), Decimal(10)), Tokens(1_000_000, 0, 900_000), Decimal("2")),
        (Prices(Decimal(2), Decimal(10), None, Decimal("2.5")), Tokens(1_000_000, 0, 0, 400_000), Decimal("2.2")),
        (
            Prices(Decimal(2), Decimal(10), Decimal(0), Decimal(0)),
            Tokens(1_000_000, 0, 400_000, 400_000),
            Decimal("0.4"),
        ),
        (PRICES, Tokens(100, 0, 200), Decimal("0.00004")),
        (Prices(Decimal(0), Decimal(0)), Tokens(5, 5), Decimal(0)),
        (Prices(Decimal(2)), Tokens(5, 0), None),
        (Prices(None, Decimal(2)), Tokens(0, 5), None),
        (Prices(), Tokens(5, 5), None),
        (PRICES, Tokens(None, 5), None),
        (PRICES, Tokens(5, 5, untold=1), None),
    ],
)
def test_each_kind_of_token_has_its_price(prices: Prices, tokens: Tokens, cost: Decimal | None):
    assert prices.of(tokens) == cost


@pytest.mark.parametrize(
    ("prices", "worst"),
    [
        (PRICES, Decimal("22.5")),  # all of the prompt written to the cache, which is dearest
        (Prices(Decimal(2), Decimal(10), Decimal("0.2"), Decimal("0.5")), Decimal(22)),
        (Prices(Decimal(2), Decimal(10)), Decimal(22)),
        (Prices(Decimal(2)), None),
        (Prices(None, Decimal(10)), None),
    ],
)
def test_a_call_costs_at_worst_what_its_dearest_tokens_do(prices: Prices, worst: Decimal | None):
    assert prices.worst(1_000_000, 2_000_000) == worst


def test_the_worst_cost_is_never_rounded_down():
    assert Prices(Decimal("0.1"), Decimal("0.1")).worst(1, 0) == Decimal("0.000001")


def test_a_batch_halves_every_price_that_is_known():
    assert PRICES.halved == Prices(Decimal(1), Decimal(5), Decimal("0.1"), Decimal("1.25"))
    assert Prices(Decimal(2), Decimal(10)).halved == Prices(Decimal(1), Decimal(5))


@pytest.mark.parametrize(
    ("told", "cost"),
    [
        (0.0123, Decimal("0.0123")),
        (0, Decimal(0)),
        (2, Decimal(2)),
        (-0.01, None),
        (1e6, None),
        (True, None),
        ("0.5", None),
    ],
)
def test_cost_that_a_service_tells_counts_before_ours(told: Any, cost: Decimal | None):
    assert read_answer(answer({"prompt_tokens": 9, "completion_tokens": 9, "cost": told})).cost == cost


@pytest.mark.parametrize(
    ("limits", "spent", "message"),
    [
        ({"max_calls": 2}, {"calls": 2}, "limit of 2 model calls"),
        ({"max_tokens": 10}, {"tokens": Tokens(6, 4)}, "limit of 10 tokens"),
        ({"max_cost": Decimal(1)}, {"cost": Decimal(1)}, "cost limit of 1"),
        ({"max_cost": Decimal(1)}, {"without_cost": 1}, "Enter its prices"),
    ],
)
def test_a_budget_ends_once_exactly_its_limit_is_spent(limits: dict[str, Any], spent: dict[str, Any], message: str):
    with pytest.raises(BudgetExceededError, match=message):
        Budget(**limits, **spent).check()
    Budget(**spent).check()
    Budget(max_calls=2, calls=1, max_tokens=10, tokens=Tokens(6, 3), max_cost=Decimal(1), cost=Decimal("0.9")).check()


@pytest.mark.parametrize(
    ("given", "ending", "text"),
    [
        (answer({}), "answered", "Done."),
        (answer({}, finish_reason="length"), "cut", "Done."),
        (answer({}, finish_reason="model_length"), "cut", "Done."),
        (answer({}, finish_reason="content_filter"), "filtered", "Done."),
        (answer({}, message={"content": None, "refusal": "I will not."}), "refused", "I will not."),
        (answer({}, message={"content": "I w", "refusal": "I w"}, finish_reason="length"), "cut", "I w"),
        (answer({}, message={"content": None, "refusal": "No."}, finish_reason="content_filter"), "filtered", "No."),
        (answer({}, message={"content": "", "reasoning_content": "Hm."}), "empty", ""),
        (answer({}, message={"content": "<think>Hm.</think>"}), "empty", ""),
        (answer({}, message={"content": "", "reasoning_content": "Hm."}, finish_reason="length"), "cut", ""),
        (
            {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]}]},
            "refused",
            "I will not.",
        ),
        (
            {
                "output": [
                    {
                        "type": "message",
                        "content": [{"type": "output_text", "text": "Done."}, {"type": "source", "text": "A page."}],
                    }
                ]
            },
            "answered",
            "Done.",
        ),
        ({"output": [], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "cut", ""),
        ({"output": [], "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "filtered", ""),
    ],
)
def test_an_answer_says_how_it_ended(given: dict[str, Any], ending: str, text: str):
    read = read_answer(given)

    assert (read.ending, read.text) == (ending, text)


def ask(service: Service, budget: Budget | None = None, content: Any = "?", **fields: Any) -> Any:
    endpoint = Endpoint("m", service.base_url, "large", policy=LOCAL, **fields)
    return ModelClient(endpoint, budget=budget).complete([{"role": "user", "content": content}])


def without_usage(body: Body, answer: Body) -> Body:
    return {name: value for name, value in answer.items() if name != "usage"}


def test_budget_counts_an_estimate_of_what_a_service_does_not_tell():
    budget = Budget(max_tokens=1)
    with serving(Service()) as service:
        service.bend = without_usage

        completion = ask(service, budget, content="What now? " * 400, prices=PRICES)

        assert (completion.tokens, completion.cost) == (Tokens(None, None, untold=1), None)
        assert 900 < budget.tokens.total < 1_200 and budget.cost > 0
        with pytest.raises(BudgetExceededError, match="limit of 1 tokens"):
            ask(service, budget)


def test_budget_of_money_stops_where_what_a_model_costs_is_unknown():
    budget = Budget(max_cost=Decimal(5))
    with serving(Service()) as service:
        ask(service, budget)

        with pytest.raises(BudgetExceededError, match="Enter its prices"):
            ask(service, budget)


def test_conversation_that_a_server_cut_silently_is_an_error_with_a_name():
    def cut(body: Body, answer: Body) -> Body:
        answer["usage"]["prompt_tokens"] = min(4_096, answer["usage"]["prompt_tokens"])
        return answer

    with serving(Service()) as service:
        service.bend = cut
        assert ask(service, content="What now? " * 1_000).text

        with pytest.raises(ContextCutError, match=r"read 4,096 tokens of about 2\d,\d\d\d") as error:
            ask(service, content="What now? " * 10_000)

    assert error.value.hopeless and not error.value.retryable


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 99_999}}


@pytest.mark.parametrize(
    ("told", "content"),
    [
        ({"prompt_tokens": 999}, "What now? " * 10_000),
        ({"prompt_tokens": 4_096, "prompt_tokens_details": {"cached_tokens": 21_000}}, "What now? " * 10_000),
        ({"prompt_tokens": 4_096}, [{"type": "text", "text": "?"}, PICTURE]),
    ],
    ids=["what is new to a cache", "what was cached beside it", "a picture"],
)
def test_a_count_of_something_else_is_no_cut(told: Body, content: Any):
    with serving(Service()) as service:
        service.bend = lambda body, answer: {**answer, "usage": {"completion_tokens": 5, **told}}

        assert ask(service, content=content).text
