"""The API on pilots, sessions, releases, models and their help: the same rules as the pages, the same people."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from evaluation.api import assistance
from evaluation.api.pilots import EndpointViewSet, PilotViewSet
from evaluation.api.releases import ReleaseViewSet
from evaluation.api.sessions import SessionViewSet

router = SimpleRouter()
router.register("pilots", PilotViewSet, basename="api-pilot")
router.register("sessions", SessionViewSet, basename="api-session")
router.register("releases", ReleaseViewSet, basename="api-release")
router.register("endpoints", EndpointViewSet, basename="api-endpoint")

urlpatterns: list[URLPattern | URLResolver] = [path("", include(router.urls)), *assistance.urlpatterns]
