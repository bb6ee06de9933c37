from __future__ import annotations

import re

import pytest

from evaluation.endpoints.prices import list_price
from evaluation.endpoints.services import BY_SLUG, PAPER_SEAT, SERVICES, service_at
from evaluation.llm.endpoint import KEY_VARIABLE
from evaluation.llm.parameters import RESERVED
from evaluation.llm.policy import url_problem

KNOWN = [service for service in SERVICES if service.base_url]


@pytest.mark.parametrize("service", KNOWN, ids=lambda service: service.slug)
def test_service_can_be_stored_as_it_is_and_is_found_again_by_its_address(service):
    assert not url_problem(service.base_url)
    assert not service.key_env or re.fullmatch(KEY_VARIABLE, service.key_env)
    assert not RESERVED & service.params.keys()
    assert service_at(service.base_url) is service
    assert service_at(service.base_url + "/") is service


@pytest.mark.parametrize("service", [each for each in KNOWN if each.prices], ids=lambda service: service.slug)
def test_example_of_each_priced_service_has_a_price(service):
    assert list_price(service.base_url, service.example) is not None


def test_local_services_are_told_apart_by_port():
    assert service_at("http://127.0.0.1:11434/v1") is BY_SLUG["ollama"]
    assert service_at("http://127.0.0.1:9/v1") is None


def test_azure_is_known_by_any_resource_and_qwen_by_its_chinese_address():
    assert service_at("https://bakers.openai.azure.com/openai/v1") is BY_SLUG["azure"]
    assert service_at("https://dashscope.aliyuncs.com/compatible-mode/v1") is BY_SLUG["qwen"]


def test_user_and_judge_of_the_paper_are_offered():
    service = BY_SLUG[PAPER_SEAT["service"]]

    assert (service.api, PAPER_SEAT["effort"], PAPER_SEAT["params"]) == ("responses", "none", {"temperature": 0})
    assert list_price(service.base_url, PAPER_SEAT["model"]) is not None


@pytest.mark.parametrize(
    ("slug", "params"),
    [
        ("openrouter", {"provider": {"require_parameters": True, "allow_fallbacks": False}}),
        ("minimax", {"reasoning_split": True}),
        ("ark", {"max_completion_tokens": 32768}),
        ("groq", {"reasoning_format": "parsed"}),
    ],
)
def test_a_service_that_hides_thoughts_cuts_answers_or_changes_hosts_unasked_is_told_not_to(
    slug: str, params: dict[str, object]
):
    """As docs/services.md says of each."""
    assert BY_SLUG[slug].params == params
    assert {service.slug for service in SERVICES if service.params} == {"openrouter", "minimax", "ark", "groq"}
