"""The models that a service lists at ``/models``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.llm.endpoint import SCRIPTED, Endpoint
from evaluation.llm.errors import EndpointError, UnreadableAnswerError

SECONDS = 20.0


def list_models(endpoint: Endpoint) -> list[Mapping[str, Any]]:
    """As the service tells them; the endpoint's own model plays no part. Raises EndpointError."""
    import httpx2
    import openai

    from evaluation.llm import transport
    from evaluation.llm.addresses import GuardedBackend

    key, address = endpoint.key(), endpoint.address()
    http = openai.DefaultHttpxClient(follow_redirects=False)
    if endpoint.base_url != SCRIPTED:
        http._transport._pool._network_backend = GuardedBackend()  # type: ignore[attr-defined]
    failure: EndpointError
    with openai.OpenAI(
        base_url=address, api_key=key or "none", max_retries=0, timeout=SECONDS, http_client=http
    ) as client:
        try:
            answer = client.get("/models", cast_to=httpx2.Response)
            entries = answer.json()["data"]
            return [entry for entry in entries if isinstance(entry, Mapping)]
        except openai.APIStatusError as error:
            failure = transport._by_status(endpoint, error.response, bytearray(error.response.content))
        except openai.APIConnectionError as error:
            cause = error.__cause__
            failure = (
                transport._no_connection(endpoint, cause)
                if isinstance(cause, httpx2.RequestError)
                else transport._timed_out(endpoint)
            )
        except (ValueError, KeyError, TypeError):
            failure = UnreadableAnswerError(f"{endpoint.name} has no list of models at this address.")
    raise failure  # outside the handlers: their exceptions carry the request with its key
