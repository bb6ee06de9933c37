"""What a person can do about a session that stopped for a reason of our own."""

from __future__ import annotations

ADVICE = {
    "MissingKeyError": "Set the variable on every machine with a worker, restart the workers, then retry.",
    "KeyRejectedError": "Check the key with the provider, set it anew on every machine with a worker, then retry.",
    "QuotaExceededError": "Add credit to the account at the provider, then retry.",
    "RateLimitError": "Wait, or lower the endpoint’s concurrent requests in Settings, then retry.",
    "EndpointUnreachableError": "Check that the service runs and that workers can reach its address, then retry.",
    "EndpointAddressError": "An administrator can allow the address with STUDIO_MODEL_NETWORKS. Then retry.",
    "EndpointTimeoutError": "The service is too slow or overloaded. Retry later; a new pilot takes a longer timeout "
    "from the endpoint’s settings.",
    "ServerError": "The service itself fails. Retry once it works again.",
    "TruncatedAnswerError": "The connection breaks. Check proxies between the workers and the service, then retry.",
    "UnreadableAnswerError": "What answers does not speak the OpenAI API. Check the endpoint’s address.",
    "RequestRejectedError": "Correct the endpoint’s model name or parameters, then start a new pilot.",
    "ContextTooLongError": "The conversation is too long for this model. Choose one that reads more for this part.",
    "ContextCutError": "Give the model a longer context at its server (Ollama: OLLAMA_CONTEXT_LENGTH), then retry.",
    "ContentFilteredError": "Choose a model whose service lets such tasks through, or change the task.",
    "UnusableJsonError": "The model does not answer in the form asked for. Choose another for it in a new pilot.",
    "MissingContentError": "A file of the benchmark is not stored. Restore it, or upload it to the task again.",
    "BudgetSpentError": "Raise the budget, then retry.",
    "SandboxUnavailableError": "Make the sandbox work on the workers (docs/operations.md), then retry.",
    "WorkerLostError": "Look for the cause in the workers’ logs, often too little memory, then retry.",
}
DEFECT = "This looks like a defect of the studio. Report it with the worker’s log; retrying may help."


def advice_for(kind: str) -> str:
    """``kind`` is the exception's class name; empty for sessions stored before kinds were."""
    return ADVICE.get(kind, DEFECT if kind else "Fix the cause, then retry.")
