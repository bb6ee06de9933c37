"""The services that a model can be connected at with one choice, and what is known of each.

As the services documented themselves in November 2026; docs/services.md says what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from evaluation.llm.dialects import EFFORTS

CHAT, RESPONSES = "chat", "responses"


@dataclass(frozen=True)
class Service:
    """``efforts`` are those that some model of it takes; one model may take fewer."""

    slug: str
    name: str
    base_url: str
    key_env: str = ""
    """Empty: it needs no key."""
    key_from: str = ""
    """Where people get a key."""
    api: str = CHAT
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


OPENAI_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")

SERVICES = (
    Service(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "platform.openai.com → API keys",
        api=RESPONSES,
        efforts=OPENAI_EFFORTS,
        example="gpt-5.4",
        prices="openai",
        max_tools=128,
        note="GPT-5 models think between tool calls only in the Responses API, which is chosen here. They take a "
        "temperature only with effort none.",
    ),
    Service(
        "openrouter",
        "OpenRouter (Claude, Gemini and others)",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "openrouter.ai → Keys",
        efforts=("none", "minimal", "low", "medium", "high", "xhigh"),
        params={"provider": {"require_parameters": True, "allow_fallbacks": False}},
        example="anthropic/claude-opus-5",
        lists_prices=True,
        note="One model has several hosts, which differ in precision and speed. To compare results, name one: "
        '"provider": {"order": ["anthropic"]} in the parameters.',
    ),
    Service(
        "anthropic",
        "Anthropic (Claude without thinking)",
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        "platform.claude.com → API keys",
        efforts=(),
        example="claude-sonnet-5",
        prices="anthropic",
        note="Anthropic's OpenAI-compatible address loses Claude's thoughts between tool calls, enforces no JSON and "
        "caches nothing. To let Claude think, connect it through OpenRouter or a LiteLLM proxy.",
    ),
    Service(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "aistudio.google.com → Get API key",
        efforts=("none", "minimal", "low", "medium", "high"),
        example="gemini-3.1-pro-preview",
        prices="gemini",
    ),
    Service(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        "platform.deepseek.com → API keys",
        efforts=("none", "low", "high", "max"),
        example="deepseek-v4-pro",
        prices="deepseek",
        max_tools=128,
        note="Thinks unless effort is none. While it thinks, a temperature has no effect.",
    ),
    Service(
        "kimi",
        "Kimi (Moonshot AI)",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        "platform.kimi.ai → API keys (in China: platform.moonshot.cn, address https://api.moonshot.cn/v1)",
        efforts=("none", "low", "high", "max"),
        example="kimi-k3",
        prices="moonshot",
        note="Takes no temperature but 1. K2.7 and K3 always think.",
    ),
    Service(
        "qwen",
        "Qwen (Alibaba Cloud Model Studio)",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "Model Studio → API keys (in China: address https://dashscope.aliyuncs.com/compatible-mode/v1)",
        efforts=("none", "low", "medium", "high"),
        example="qwen3.8-max",
        prices="dashscope",
    ),
    Service(
        "glm",
        "GLM (Z.AI)",
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        "z.ai → API keys (in China: address https://open.bigmodel.cn/api/paas/v4)",
        efforts=("none", "low", "high", "max"),
        example="glm-5.3",
        prices="zai",
        note="Thinks by default; 5.3 always.",
    ),
    Service(
        "minimax",
        "MiniMax",
        "https://api.minimax.io/v1",
        "MINIMAX_API_KEY",
        "platform.minimax.io → API keys",
        efforts=("none",),
        params={"reasoning_split": True},
        example="MiniMax-M3",
        prices="minimax",
        note="Thinks by default; M2 always.",
    ),
    Service(
        "ark",
        "Doubao Seed (Volcengine Ark)",
        "https://ark.cn-beijing.volces.com/api/v3",
        "ARK_API_KEY",
        "console.volcengine.com/ark → API keys",
        efforts=("none", "minimal", "low", "medium", "high", "max"),
        params={"max_completion_tokens": 32768},
        example="doubao-seed-2-0-pro-260215",
        prices="volcengine",
        note="Seed 2.0 Pro takes no temperature (it stays 1) and cuts answers at 4,096 tokens without a limit, so "
        "one is set here. Prices rise above 32,000 tokens.",
    ),
    Service(
        "xai",
        "xAI (Grok)",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        "console.x.ai → API keys",
        api=RESPONSES,
        efforts=("none", "low", "medium", "high"),
        example="grok-4.7",
        prices="xai",
        note="Keeps its thoughts between tool calls only in the Responses API, which is chosen here.",
    ),
    Service(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        "console.mistral.ai → API keys",
        efforts=("none", "high"),
        example="mistral-large-latest",
        prices="mistral",
        note="Magistral models always think and take no effort.",
    ),
    Service(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        "console.groq.com → API keys",
        efforts=("none", "low", "medium", "high"),
        params={"reasoning_format": "parsed"},
        example="openai/gpt-oss-120b",
        prices="groq",
        max_tools=128,
    ),
    Service(
        "azure",
        "Azure OpenAI",
        "https://YOUR-RESOURCE.openai.azure.com/openai/v1",
        "AZURE_OPENAI_API_KEY",
        "Azure portal → your resource → Keys and Endpoint",
        api=RESPONSES,
        efforts=OPENAI_EFFORTS,
        example="gpt-5.4",
        prices="azure",
        max_tools=128,
        note="Put your resource's name into the address. The model is the name of your deployment. Answers that Azure "
        "filters are counted as filtered.",
    ),
    Service(
        "litellm",
        "LiteLLM proxy",
        "http://127.0.0.1:4000/v1",
        "LITELLM_API_KEY",
        "whoever runs the proxy",
        dialect="litellm",
        efforts=("none", "low", "medium", "high"),
        note="Claude thinks through it. Keep modify_params off: it changes requests silently.",
    ),
    Service(
        "vllm",
        "vLLM",
        "http://127.0.0.1:8000/v1",
        dialect="vllm",
        note="Start it with --enable-auto-tool-choice and --tool-call-parser, and for a thinking model with "
        "--reasoning-parser; --max-model-len is its context. --enable-prompt-tokens-details tells what came from its "
        "cache.",
    ),
    Service(
        "sglang",
        "SGLang",
        "http://127.0.0.1:30000/v1",
        dialect="sglang",
        note="Start it with --tool-call-parser, and for a thinking model with --reasoning-parser; never with "
        "--allow-auto-truncate, which cuts prompts silently; --context-length is its context. --enable-cache-report "
        "tells what came from its cache.",
    ),
    Service(
        "llamacpp",
        "llama.cpp server",
        "http://127.0.0.1:8080/v1",
        dialect="llamacpp",
        note="Start it with --jinja, and -c 65536 or more: a first prompt has up to 26,000 tokens.",
    ),
    Service(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434/v1",
        dialect="ollama",
        efforts=("none", "low", "medium", "high", "max"),
        note="Set OLLAMA_CONTEXT_LENGTH=65536 or more before you start it: its default may be 4,096 tokens; it cuts "
        "older messages silently.",
    ),
    Service(
        "lmstudio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        dialect="lmstudio",
        note="Load the model with a context of 65,536 tokens or more, and set its overflow policy to stop.",
    ),
    Service("other", "Another OpenAI-compatible address", ""),
)
BY_SLUG = {service.slug: service for service in SERVICES}
BY_HOST = {urlsplit(service.base_url).netloc: service.slug for service in SERVICES if service.base_url} | {
    "api.moonshot.cn": "kimi",
    "dashscope.aliyuncs.com": "qwen",
    "dashscope-us.aliyuncs.com": "qwen",
    "open.bigmodel.cn": "glm",
    "api.minimaxi.com": "minimax",
    "eu.api.openai.com": "openai",
    "us.api.openai.com": "openai",
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
