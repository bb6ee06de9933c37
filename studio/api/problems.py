"""Errors of the API as problem details (RFC 9457), and parameters that an operation does not have."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator

PREFIX = "/api/"
TYPE = "application/problem+json"
DETAILS = {
    403: "This is not allowed.",
    404: "There is nothing at this address.",
    422: "It has errors, and nothing was stored. The members of this report name them.",
    500: "The studio failed.",
}
"""Where the view said none."""
PROBLEM = {
    "type": "object",
    "description": "What went wrong (RFC 9457). It may have members of its own, such as the current `version`.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "The status in words."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, and what to do."},
        "errors": {"description": "What is wrong, by field."},
    },
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": {},
}


class ProblemMiddleware:
    """Every error under ``/api/`` is a problem document, whoever answered; unknown query parameters are errors."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith(PREFIX) and response.status_code >= 400 and not response.streaming:
            return _problem_response(response)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        if not request.path.startswith(PREFIX) or not request.GET or request.resolver_match is None:
            return None
        known = _parameters().get((_place(_path_of(request.resolver_match.route)), request.method or ""))
        if known is None:
            return None
        errors = {name: [why] for name in request.GET if (why := _why_wrong(request.GET.getlist(name), name, known))}
        return JsonResponse({"errors": errors}, status=400) if errors else None


def _why_wrong(values: list[str], name: str, known: Mapping[str, list[str]]) -> str:
    if name not in known:
        return f"There is no such parameter here. There are: {', '.join(sorted(known)) or 'none'}."
    choices = known[name]
    wrong = next((value for value in values if choices and value and value not in choices), None)
    return f"“{wrong}” is not one of {', '.join(choices)}." if wrong is not None else ""


def _problem_response(response: HttpResponse) -> HttpResponse:
    status = response.status_code
    data = _data_of(response)
    members = dict(data) if isinstance(data, Mapping) else {"errors": data} if data else {}
    errors = members.get("errors")
    said = members.get("detail") or (_first(errors) if errors and status == HTTPStatus.BAD_REQUEST else "")
    detail = said or DETAILS.get(status, HTTPStatus(status).phrase)
    about = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    problem = JsonResponse(members | about, status=status, content_type=TYPE, json_dumps_params={"ensure_ascii": False})
    for name, value in response.headers.items():
        if name not in ("Content-Type", "Content-Length"):
            problem[name] = value
    problem.cookies = response.cookies
    return problem


def _data_of(response: HttpResponse) -> Any:
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    if not kind.endswith("json"):
        return json.loads(json.dumps(getattr(response, "data", None), default=str))
    return json.loads(response.content or "null")


def _first(errors: Any, field: str = "") -> str:
    """The first message, after its field."""
    if isinstance(errors, Mapping) and errors:
        name, inner = next(iter(errors.items()))
        return _first(inner, field if name == "non_field_errors" else ".".join(filter(None, [field, str(name)])))
    if isinstance(errors, list) and errors:
        return _first(next((each for each in errors if each), ""), field)
    return f"{field}: {errors}" if field else str(errors)


@cache
def _parameters() -> Mapping[tuple[str, str], Mapping[str, list[str]]]:
    """Query parameters of each operation by path and method, as the API's schema names them, with their choices."""
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]  # type: ignore[no-untyped-call]
    return {
        (_place(path), method.upper()): {
            each["name"]: [str(choice) for choice in each["schema"].get("enum", ())]
            for each in operation.get("parameters", ())
            if each["in"] == "query"
        }
        for path, operations in paths.items()
        for method, operation in operations.items()
    }


def _path_of(route: str) -> str:
    return str(EndpointEnumerator().get_path_from_regex(route))  # type: ignore[no-untyped-call]


def _place(path: str) -> str:
    """Without the names of what stands in braces."""
    return "{}".join(part.partition("}")[2] if n else part for n, part in enumerate(path.split("{")))


def describe_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Errors in the schema, for drf-spectacular."""
    result["components"]["schemas"]["Problem"] = PROBLEM
    answer = {
        "description": "What is wrong, and what to do.",
        "content": {TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            responses = operation["responses"]
            for status in [status for status in responses if status >= "400"]:
                responses[status] = answer | {
                    "description": responses[status].get("description") or answer["description"]
                }
            responses["4XX"] = answer
    return result
