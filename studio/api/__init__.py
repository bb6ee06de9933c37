"""The authoring API: what the pages do, with the same permissions."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from studio.api import benchmarks, cast, comments, episodes, review, tasks
from studio.api.tokens import TokenScheme

__all__ = ["TokenScheme", "urlpatterns"]


@login_required
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "studio/api.html")


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
