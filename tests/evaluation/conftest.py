"""Fixtures of the evaluation tests: the scripted model over HTTP, and a client that never really waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evaluation.llm import Endpoint, EndpointLimits, Lane, ModelClient, Policy, RetryPolicy, Timing
from evaluation.llm.slots import LocalSlots
from evaluation.scripted.scenario import read_scenario
from evaluation.scripted.server import ScriptedServer
from tests.evaluation.stub_model import StubModel, serving

LOCAL = Policy(networks=("127.0.0.0/8",))
"""Where stub models are."""


class Clock:
    """Time passes only in pauses; chance is always one half."""

    def __init__(self) -> None:
        self.time = 0.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    @property
    def timing(self) -> Timing:
        return Timing(now=lambda: self.time, sleep=self.sleep, chance=lambda: 0.5)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def _scripted() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def scripted(_scripted: ScriptedServer) -> ScriptedServer:
    """The scripted model without a scenario, its counts at zero."""
    _scripted.scenario = read_scenario({"rules": []})
    _scripted.reset()
    return _scripted


@pytest.fixture
def scenario(scripted: ScriptedServer) -> Callable[..., None]:
    """A function that sets the scripted model's rules."""

    def set_rules(*rules: dict[str, Any]) -> None:
        scripted.scenario = read_scenario({"rules": list(rules)})

    return set_rules


@pytest.fixture
def client_for(scripted: ScriptedServer, clock: Clock) -> Callable[..., ModelClient]:
    """A client of the scripted server; keywords go to the endpoint, or to the client if it has them."""

    lane = Lane(LocalSlots(now=lambda: clock.time))

    def make(model: str, **options: Any) -> ModelClient:
        own = ("recorder", "budget", "retry_policy", "lane")
        client_options = {name: options.pop(name) for name in own if name in options}
        client_options.setdefault("retry_policy", RetryPolicy(attempts=3))
        options.setdefault("limits", EndpointLimits(timeout_seconds=10))
        options.setdefault("policy", LOCAL)
        client_options.setdefault("lane", lane)
        return ModelClient(
            Endpoint(options.pop("name", "test"), scripted.url, model, **options), timing=clock.timing, **client_options
        )

    return make


@pytest.fixture
def stub() -> Iterator[StubModel]:
    """Stands for a real model: it does not say that it is scripted."""
    with serving(StubModel()) as model:
        yield model
