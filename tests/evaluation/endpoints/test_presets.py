"""Each service of the zoo, connected as its preset says, holds what every seat of a pilot needs."""

from __future__ import annotations

import pytest

from evaluation.endpoints.services import BY_SLUG
from evaluation.endpoints.tryout import Tryout
from evaluation.llm import Endpoint, ModelClient, RetryPolicy
from tests.evaluation.conftest import LOCAL
from tests.evaluation.endpoints.exchange import exchanged
from tests.zoo.server import playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES

PRESETS = {name: name for name in ("anthropic", "deepseek", "gemini", "glm", "groq", "kimi", "litellm", "mistral",
                                   "ollama", "openrouter", "qwen", "sglang", "vllm")}  # fmt: skip
PRESETS |= {
    "llama.cpp": "llamacpp",
    "lm-studio": "lmstudio",
    "minimax-split": "minimax",
    "openai-responses": "openai",
    "xai-responses": "xai",
}


@pytest.mark.parametrize(("name", "slug"), PRESETS.items(), ids=PRESETS)
def test_service_holds_what_a_pilot_needs_when_connected_by_its_preset(
    name: str, slug: str, monkeypatch: pytest.MonkeyPatch
):
    service, preset = SERVICES[name](), BY_SLUG[slug]
    monkeypatch.setenv("ZOO_API_KEY", KEY)
    monkeypatch.setattr(service, "fault", exchanged)
    service.faults = ["exchange"] * 40
    with playing(service) as zoo:
        endpoint = Endpoint(
            name,
            zoo.url(),
            service.model,
            "ZOO_API_KEY" if service.hosted else "",
            api=preset.api,
            dialect=preset.dialect or service.dialect,  # which its host would tell
            params=preset.params,
            policy=LOCAL,
        )
        lines = list(Tryout(ModelClient(endpoint, retry_policy=RetryPolicy(attempts=1))).lines())

    assert [(line.name, line.word, line.detail) for line in lines if line.outcome in ("fails", "skipped")] == []
    assert (service.lost, service.foreign) == ([], [])


def test_a_router_may_not_pass_a_request_on_to_a_host_that_changes_it_or_was_not_named(monkeypatch: pytest.MonkeyPatch):
    service = SERVICES["openrouter"]()
    monkeypatch.setenv("ZOO_API_KEY", KEY)
    params = {"provider": {**BY_SLUG["openrouter"].params["provider"], "order": ["anthropic"]}}
    with playing(service) as zoo:
        endpoint = Endpoint("router", zoo.url(), service.model, "ZOO_API_KEY", params=params, policy=LOCAL)
        completion = ModelClient(endpoint).complete([{"role": "user", "content": "Please write a note."}])

    [entry] = service.log
    assert entry.body["provider"] == {"require_parameters": True, "allow_fallbacks": False, "order": ["anthropic"]}
    assert completion.answered_by.provider == "Anthropic"


def test_chat_completions_of_newer_openai_models_fail_with_what_to_set(monkeypatch: pytest.MonkeyPatch):
    service = SERVICES["openai-chat-5.6"]()
    monkeypatch.setenv("ZOO_API_KEY", KEY)
    monkeypatch.setattr(service, "fault", exchanged)
    service.faults = ["exchange"] * 40
    with playing(service) as zoo:
        endpoint = Endpoint("newer", zoo.url(), service.model, "ZOO_API_KEY", dialect="openai", policy=LOCAL)
        lines = {line.name: line for line in Tryout(ModelClient(endpoint)).lines()}

    assert (lines["tools"].outcome, lines["tools"].advice) == ("fails", "Set the model's API to Responses.")
    assert "Set the model's API to Responses" in lines["tools"].detail
