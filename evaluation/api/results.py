"""The API of results."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.api.base import is_key
from evaluation.audits.blindness import open_pilots, record_look
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import ResultsError, compute_results
from evaluation.results.document import figure_document, results_document
from evaluation.results.figures.catalogue import FIGURES, build_figure
from evaluation.results.selection import chosen_pilots
from studio.access import ApiRequest, find_benchmark

PILOT = OpenApiParameter("pilot", int, many=True, description="Numbers of pilots; default: all by real models.")


VIEW = OpenApiParameter("view", int, description="Number of a saved view: its pilots.")
TAG = OpenApiParameter("tag", str, description="Only pilots with this tag.")
MODEL = OpenApiParameter("model", str, description="Only pilots of this model or agent.")
SINCE = OpenApiParameter("since", OpenApiTypes.DATE, description="Only pilots started on this day or later.")
UNTIL = OpenApiParameter("until", OpenApiTypes.DATE, description="Only pilots started on this day or earlier.")
FIGURE = OpenApiParameter("figure", str, enum=list(FIGURES), description="This figure alone, instead of all tables.")
SCORING = OpenApiParameter("scoring", str, enum=[mode.value for mode in ScoringMode], description="Of the figure.")


class ResultsAPIView(APIView):
    @extend_schema(
        operation_id="api_results",
        parameters=[PILOT, VIEW, TAG, MODEL, SINCE, UNTIL, FIGURE, SCORING],
        responses=OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py results --json`` gives it."),
    )
    def get(self, request: ApiRequest, slug: str) -> Response:
        """Proc and Comp per agent, persona and category, terminal statuses, and every session."""
        benchmark = find_benchmark(request.user, slug)
        given = request.query_params.getlist("pilot")
        if wrong := [text for text in given if not is_key(text)]:
            raise ValidationError({"pilot": [f"“{wrong[0]}” is not the number of a pilot."]})
        view = request.query_params.get("view")
        if view is not None and not is_key(view):
            raise ValidationError({"view": [f"“{view}” is not the number of a saved view."]})
        try:
            pilots = chosen_pilots(
                benchmark,
                list(open_pilots(request.user).filter(benchmark=benchmark)),
                [int(text) for text in given],
                {name: request.query_params.get(name) for name in ("tag", "model", "since", "until")} | {"view": view},
            )
        except ResultsError as error:
            raise ValidationError({"pilot": [str(error)]}) from error
        record_look(request.user, pilots)
        results = compute_results(benchmark, pilots)
        if (name := request.query_params.get("figure")) is None:
            return Response(results_document(results))
        if name not in FIGURES:
            raise ValidationError({"figure": [f"There is no figure “{name}”; there are {', '.join(FIGURES)}."]})
        scoring = request.query_params.get("scoring", ScoringMode.STRICT.value)
        if scoring not in list(ScoringMode):
            raise ValidationError({"scoring": ["Choose compat or strict."]})
        mode = ScoringMode(scoring)
        try:
            figure = build_figure(results, name, mode)
        except ResultsError as error:
            raise ValidationError({"scoring": [str(error)]}) from error
        return Response(figure_document(results, figure, mode))
