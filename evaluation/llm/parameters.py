"""What may be sent with every call to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

RESERVED = frozenset({"model", "messages", "input", "tools", "response_format", "n", "store"})
"""Request fields that an endpoint's parameters may not set."""
HOTTEST = 2
MOST_TOKENS = 10_000_000
"""Of an answer."""
LENGTHS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
Tokens = Annotated[int | None, Field(ge=1, le=MOST_TOKENS)]
Penalty = Annotated[float | None, Field(ge=-2, le=2)]


class Parameters(BaseModel):
    """Those whose bounds are the same everywhere. Others are the service's own. None: not sent, whatever is usual."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    temperature: float | None = Field(None, ge=0, le=HOTTEST)
    top_p: float | None = Field(None, ge=0, le=1)
    max_tokens: Tokens = None
    max_completion_tokens: Tokens = None
    max_output_tokens: Tokens = None
    presence_penalty: Penalty = None
    frequency_penalty: Penalty = None
    seed: int | None = None
    stream: bool | None = None
    parallel_tool_calls: bool | None = None


WANTED = {"float_type": "must be a number", "int_type": "must be a whole number", "bool_type": "must be true or false"}


def problem_of_parameters(params: Mapping[str, Any]) -> str:
    """What is wrong with them, to go on after “The parameters of …”; empty if nothing is."""
    if taken := RESERVED & params.keys():
        return f"may not set {', '.join(sorted(taken))}."
    try:
        Parameters.model_validate(dict(params))
    except ValidationError as error:
        first = error.errors()[0]
        bounds = first.get("ctx", {})
        wanted = WANTED.get(first["type"]) or (
            f"must be at least {bounds['ge']:,}" if "ge" in bounds else f"may be at most {bounds['le']:,}"
        )
        return f"are not valid: {first['loc'][0]} {wanted}."
    return ""
