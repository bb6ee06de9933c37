"""URLs of the evaluation pages and API."""

from __future__ import annotations

from django.urls import include, path

from evaluation import api
from evaluation.views import (
    assistance,
    audits,
    benchmark_endpoints,
    endpoints,
    judgings,
    model_audits,
    pilots,
    rehearsal_actions,
    rehearsals,
    releases,
    results,
    results_views,
    sessions,
    trials,
    user_previews,
)

app_name = "evaluation"

urlpatterns = [
    path("pilots/", pilots.pilots, name="pilots"),
    path("benchmarks/<slug:slug>/pilots/", pilots.benchmark_pilots, name="benchmark_pilots"),
    path("benchmarks/<slug:slug>/pilots/new/", pilots.pilot_new, name="pilot_new"),
    path("pilots/<int:pk>/", pilots.pilot, name="pilot"),
    path("pilots/<int:pk>/cancel/", pilots.pilot_step, {"step": "cancel"}, name="pilot_cancel"),
    path("benchmarks/<slug:slug>/pilots/budget/", pilots.benchmark_budget, name="benchmark_budget"),
    path("benchmarks/<slug:slug>/pilots/estimate/", pilots.pilot_estimate, name="pilot_estimate"),
    path("pilots/<int:pk>/budget/", pilots.pilot_budget, name="pilot_budget"),
    path("pilots/<int:pk>/pause/", pilots.pilot_step, {"step": "pause"}, name="pilot_pause"),
    path("pilots/<int:pk>/resume/", pilots.pilot_step, {"step": "resume"}, name="pilot_resume"),
    path("pilots/<int:pk>/retry/", pilots.pilot_step, {"step": "retry"}, name="pilot_retry"),
    path("pilots/<int:pk>/report.json", pilots.pilot_json, name="pilot_json"),
    path("pilots/<int:pk>/rejudge/", judgings.rejudge, name="pilot_rejudge"),
    path("pilots/<int:pk>/scoring/", judgings.scoring, name="pilot_scoring"),
    path("pilots/<int:pk>/rounds/<int:number>/resume/", judgings.round_resume, name="pilot_round_resume"),
    path("sessions/<int:pk>/", sessions.session, name="session"),
    path("sessions/<int:pk>/turns/<int:number>/file/", sessions.session_file, name="session_file"),
    path("sessions/<int:pk>/turns/<int:number>/download/", sessions.session_download, name="session_download"),
    path("benchmarks/<slug:slug>/results/", results.results, name="results"),
    path("benchmarks/<slug:slug>/results/sessions/", results.result_sessions, name="result_sessions"),
    path("benchmarks/<slug:slug>/results/compare/", results.compare, name="results_compare"),
    path("benchmarks/<slug:slug>/results/charts/", results.charts, name="results_charts"),
    path("benchmarks/<slug:slug>/results/views/", results_views.save, name="results_view_save"),
    path("benchmarks/<slug:slug>/results/views/<int:number>/", results_views.view, name="results_view"),
    path("benchmarks/<slug:slug>/results/views/<int:number>/remove/", results_views.remove, name="results_view_remove"),
    path("benchmarks/<slug:slug>/results/views/<int:number>/freeze/", results_views.freeze, name="results_view_freeze"),
    path("pilots/<int:pk>/tags/", results_views.tags, name="pilot_tags"),
    path("b/<slug:slug>/p/<str:user_id>/tasks/<int:pk>/figures/", results.item_figures, name="item_figures"),
    path("releases/", releases.releases, name="releases"),
    path("benchmarks/<slug:slug>/releases/", releases.release_new, name="release_new"),
    path("benchmarks/<slug:slug>/releases/accept/", releases.release_accept, name="release_accept"),
    path("releases/<int:pk>/", releases.release, name="release"),
    path("releases/<int:pk>/download/", releases.release_download, name="release_download"),
    path("b/<slug:slug>/p/<str:user_id>/tasks/<int:pk>/rehearse/", rehearsals.rehearse, name="rehearse"),
    path("b/<slug:slug>/p/<str:user_id>/behaviour/", user_previews.user_preview, name="user_preview"),
    path("b/<slug:slug>/p/<str:user_id>/scripts/<int:pk>/try/", trials.script_try, name="script_try"),
    path("rehearsals/<int:pk>/", rehearsals.rehearsal, name="rehearsal"),
    path("rehearsals/<int:pk>/<str:action>/", rehearsal_actions.act, name="rehearsal_act"),
    path("b/<slug:slug>/p/<str:user_id>/tasks/<int:pk>/suggest/", assistance.request_proposal, name="request_proposal"),
    path("suggestions/<int:pk>/", assistance.proposal, name="proposal"),
    path("benchmarks/<slug:slug>/help/", assistance.assistance_settings, name="assistance_settings"),
    path("benchmarks/<slug:slug>/models/", benchmark_endpoints.endpoints, name="benchmark_endpoints"),
    path("benchmarks/<slug:slug>/models/new/", benchmark_endpoints.endpoint_new, name="benchmark_endpoint_new"),
    path("benchmarks/<slug:slug>/models/ask/", benchmark_endpoints.endpoint_ask, name="benchmark_endpoint_ask"),
    path("benchmarks/<slug:slug>/models/<int:pk>/", benchmark_endpoints.endpoint, name="benchmark_endpoint"),
    path(
        "benchmarks/<slug:slug>/models/<int:pk>/try/", benchmark_endpoints.endpoint_try, name="benchmark_endpoint_try"
    ),
    path(
        "benchmarks/<slug:slug>/models/<int:pk>/remove/",
        benchmark_endpoints.endpoint_remove,
        name="benchmark_endpoint_remove",
    ),
    path("settings/models/", endpoints.endpoints, name="endpoints"),
    path("settings/models/new/", endpoints.endpoint_new, name="endpoint_new"),
    path("settings/models/<int:pk>/", endpoints.endpoint, name="endpoint"),
    path("settings/models/<int:pk>/try/", endpoints.endpoint_try, name="endpoint_try"),
    path("api/", include(api.urlpatterns)),
    *audits.urlpatterns,
    *model_audits.urlpatterns,
]
