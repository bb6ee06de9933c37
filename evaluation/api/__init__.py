"""The API of pilots, sessions, audits, releases, model endpoints and assistance."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from evaluation.api import assistance
from evaluation.api.audits import AuditViewSet, KnownAnswersView, KnownAnswerView
from evaluation.api.pilots import EndpointViewSet, PilotViewSet
from evaluation.api.releases import ReleaseExceptionsView, ReleaseExceptionView, ReleaseLimitsView, ReleaseViewSet
from evaluation.api.results import ResultsAPIView
from evaluation.api.sessions import SessionViewSet
from evaluation.api.submissions import SubmissionsView
from evaluation.api.validation import ProspectsView, ValidationView

router = SimpleRouter()
router.register("pilots", PilotViewSet, basename="api-pilot")
router.register("sessions", SessionViewSet, basename="api-session")
router.register("releases", ReleaseViewSet, basename="api-release")
router.register("audits", AuditViewSet, basename="api-audit")
router.register("endpoints", EndpointViewSet, basename="api-endpoint")

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include(router.urls)),
    path("benchmarks/<slug:slug>/results/", ResultsAPIView.as_view(), name="api-results"),
    path("benchmarks/<slug:slug>/known-answers/", KnownAnswersView.as_view(), name="api-known-answers"),
    path("known-answers/<int:pk>/", KnownAnswerView.as_view(), name="api-known-answer"),
    path("benchmarks/<slug:slug>/personas/<str:user_id>/can-be-done/", ProspectsView.as_view(), name="api-prospects"),
    path("benchmarks/<slug:slug>/release-exceptions/", ReleaseExceptionsView.as_view(), name="api-release-exceptions"),
    path(
        "benchmarks/<slug:slug>/release-exceptions/<int:pk>/",
        ReleaseExceptionView.as_view(),
        name="api-release-exception",
    ),
    path("benchmarks/<slug:slug>/release-limits/", ReleaseLimitsView.as_view(), name="api-release-limits"),
    path("benchmarks/<slug:slug>/validation/", ValidationView.as_view(), name="api-validation"),
    path("submissions/", SubmissionsView.as_view(), name="api-submissions"),
    *assistance.urlpatterns,
]
