"""The services, by name."""

from __future__ import annotations

from tests.zoo.service import Service
from tests.zoo.services.anthropic import Anthropic
from tests.zoo.services.azure import Azure
from tests.zoo.services.deepseek import DeepSeek
from tests.zoo.services.gemini import Gemini
from tests.zoo.services.glm import Glm
from tests.zoo.services.groq import Groq
from tests.zoo.services.kimi import Kimi
from tests.zoo.services.litellm_proxy import LiteLlm, LiteLlmGemini
from tests.zoo.services.llama_cpp import LlamaCpp
from tests.zoo.services.lm_studio import LmStudio
from tests.zoo.services.minimax import MiniMax, SplittingMiniMax
from tests.zoo.services.mistral import Mistral
from tests.zoo.services.ollama import Ollama
from tests.zoo.services.openai_chat import NewerOpenAIChat, OpenAIChat
from tests.zoo.services.openai_responses import OpenAIResponses
from tests.zoo.services.openrouter import OpenRouter
from tests.zoo.services.plain import Plain
from tests.zoo.services.qwen import Qwen, StreamingQwen
from tests.zoo.services.sglang import SgLang
from tests.zoo.services.vllm import BareVllm, Vllm
from tests.zoo.services.xai import Xai, XaiResponses

SERVICES: dict[str, type[Service]] = {
    service.name: service
    for service in (
        OpenAIResponses,
        OpenAIChat,
        NewerOpenAIChat,
        DeepSeek,
        Kimi,
        Qwen,
        StreamingQwen,
        Glm,
        MiniMax,
        SplittingMiniMax,
        Gemini,
        Anthropic,
        Xai,
        XaiResponses,
        Mistral,
        Groq,
        Azure,
        OpenRouter,
        LiteLlm,
        LiteLlmGemini,
        Vllm,
        BareVllm,
        SgLang,
        LlamaCpp,
        Ollama,
        LmStudio,
        Plain,
    )
}
