"""The authoring API: what the pages do, with the same permissions."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularAPIView

from studio.api import benchmarks, cast, comments, episodes, review, tasks


def about(request: HttpRequest) -> HttpResponse:
    return render(request, "studio/api.html")


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its registration has no types
    """How the schema tells of tokens."""

    target_class = "studio.access.tokens.TokenAuthentication"
    name = "tokenAuth"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "A token from your settings, with the prefix `Token`.",
        }


urlpatterns = [
    path("", about, name="api"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    *benchmarks.urlpatterns,
    *tasks.urlpatterns,
    *episodes.urlpatterns,
    *cast.urlpatterns,
    *comments.urlpatterns,
    *review.urlpatterns,
]
