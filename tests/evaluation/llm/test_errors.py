"""Every way an endpoint can misbehave, over HTTP."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

import pytest

from evaluation.llm import (
    ContextTooLongError,
    Endpoint,
    EndpointError,
    EndpointLimits,
    EndpointTimeoutError,
    EndpointUnreachableError,
    KeyRejectedError,
    ModelClient,
    QuotaExceededError,
    RateLimitError,
    RequestRejectedError,
    RetryPolicy,
    ServerError,
    Timing,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from evaluation.llm.failures import quote
from evaluation.protocol.participants import InfrastructureError
from evaluation.scripted.server import ScriptedServer
from tests.evaluation.conftest import LOCAL, Clock

HELLO = [{"role": "user", "content": "Write a plan."}]
KEY = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"  # looks like nothing that is hidden by its look
ClientFactory = Callable[..., ModelClient]


@pytest.mark.parametrize(
    ("fault", "kind", "requests"),
    [
        ("429", RateLimitError, 3),
        ("500", ServerError, 3),
        ("503", ServerError, 3),
        ("cut", TruncatedAnswerError, 3),
        ("hangup", TruncatedAnswerError, 3),
        ("malformed", UnreadableAnswerError, 3),
        ("html", UnreadableAnswerError, 3),
        ("no-choices", UnreadableAnswerError, 3),
        ("error-200", ServerError, 3),
        ("401", KeyRejectedError, 1),
        ("quota", QuotaExceededError, 1),
        ("context", ContextTooLongError, 1),
    ],
)
def test_each_fault_raises_its_error_and_is_retried_if_retryable(
    client_for: ClientFactory, scripted: ScriptedServer, fault: str, kind: type[EndpointError], requests: int
):
    with pytest.raises(kind) as failure:
        client_for(f"scripted-silent+{fault}").complete(HELLO)

    assert type(failure.value) is kind
    assert isinstance(failure.value, InfrastructureError)
    assert scripted.stats["requests"] == requests


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "hangup", "malformed", "html", "no-choices"])
def test_temporary_faults_are_retried(client_for: ClientFactory, scripted: ScriptedServer, fault: str):
    completion = client_for(f"scripted-silent+{fault}x2").complete(HELLO)

    assert completion.text == "Done."
    assert scripted.stats["requests"] == 3


@pytest.mark.parametrize("fault", ["stall", "trickle"])
def test_missing_or_endless_answer_times_out(client_for: ClientFactory, fault: str):
    client = client_for(
        f"scripted-silent+{fault}", limits=EndpointLimits(timeout_seconds=0.1), retry_policy=RetryPolicy(attempts=1)
    )

    with pytest.raises(EndpointTimeoutError, match=r"test did not answer within 0\.1 seconds"):
        client.complete(HELLO)


def test_unreachable_endpoint_is_named_by_address(clock: Clock):
    with ScriptedServer() as gone:
        url = gone.url
    client = ModelClient(
        Endpoint("far", url, "m", policy=LOCAL), retry_policy=RetryPolicy(attempts=2), timing=clock.timing
    )

    with pytest.raises(EndpointUnreachableError, match=f"far cannot be reached at {url}"):
        client.complete(HELLO)


def test_pauses_grow_with_full_jitter(client_for: ClientFactory, clock: Clock):
    with pytest.raises(ServerError):
        client_for("scripted-silent+500", retry_policy=RetryPolicy(attempts=5, base_seconds=2, max_pause=10)).complete(
            HELLO
        )

    assert clock.pauses == [1, 2, 4, 5]


def test_retry_after_is_honoured(client_for: ClientFactory, scenario: Callable[..., None], clock: Clock):
    scenario({"do": "429", "retry_after": 7, "times": 1})

    client_for("scripted-silent").complete(HELLO)

    assert clock.pauses == [7.25]


def test_retry_after_beyond_the_maximum_ends_retries(
    client_for: ClientFactory, scenario: Callable[..., None], clock: Clock, scripted: ScriptedServer
):
    scenario({"do": "429", "retry_after": 3600})

    with pytest.raises(RateLimitError) as failure:
        client_for("scripted-silent").complete(HELLO)

    assert failure.value.retry_after == 3600
    assert clock.pauses == []
    assert scripted.stats["requests"] == 1


def test_retries_end_after_the_maximum_time(client_for: ClientFactory, scenario: Callable[..., None], clock: Clock):
    scenario({"do": "429", "retry_after": 20})

    with pytest.raises(RateLimitError):
        client_for("scripted-silent", retry_policy=RetryPolicy(attempts=99, max_seconds=50)).complete(HELLO)

    assert clock.pauses == [20.25, 20.25]


def test_unknown_model_error_quotes_the_endpoint(client_for: ClientFactory):
    with pytest.raises(
        RequestRejectedError, match=r"test refused the request with status 404: There is no model gpt-0\."
    ):
        client_for("gpt-0").complete(HELLO)


@pytest.mark.parametrize("fault", ["401", "500", "cut", "hangup", "stall", "malformed", "context", "quota"])
def test_no_error_contains_the_key(
    scripted: ScriptedServer,
    clock: Clock,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setenv("MODELS_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    model = f"scripted-silent+{fault}"
    endpoint = Endpoint("test", scripted.url, model, "MODELS_API_KEY", limits=EndpointLimits(0.1), policy=LOCAL)
    calls: list[object] = []

    class Recorder:
        def lookup(self, request_hash: str) -> None:
            return None

        def check(self, worst: object = None) -> None:
            pass

        def record(self, call: object) -> None:
            calls.append(call)

    client = ModelClient(endpoint, recorder=Recorder(), retry_policy=RetryPolicy(attempts=1), timing=clock.timing)

    with pytest.raises(EndpointError) as failure:
        client.complete(HELLO)

    trace = "".join(traceback.TracebackException.from_exception(failure.value, capture_locals=False).format(chain=True))
    assert KEY not in trace + repr(failure.value) + repr(client.endpoint) + repr(calls) + caplog.text
    assert failure.value.__context__ is None or KEY not in repr(vars(failure.value.__context__))


def test_key_that_a_service_says_back_is_hidden_whatever_it_looks_like():
    assert quote(f"Incorrect API key provided: {KEY}. Find yours in the settings.", KEY) == (
        ": Incorrect API key provided: [key]. Find yours in the settings."
    )


def test_key_is_sent_to_the_endpoint_and_nowhere_else(
    client_for: ClientFactory, monkeypatch: pytest.MonkeyPatch, scripted: ScriptedServer
):
    monkeypatch.setenv("MODELS_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-service")
    client_for("scripted-silent", key_env="MODELS_API_KEY").complete(HELLO)
    headers = scripted.last_headers
    client_for("scripted-silent").complete(HELLO)
    none = scripted.last_headers

    assert headers["authorization"] == f"Bearer {KEY}"
    assert "another-service" not in repr(headers) + repr(none)


def test_real_time_is_the_default():
    timing = Timing()

    assert timing.now() <= timing.now()
    assert 0 <= timing.chance() < 1
