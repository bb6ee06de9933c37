"""The API of results."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.api.filters import is_key
from evaluation.audits.blindness import open_pilots
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import ResultsError, choose_pilots, compute_results
from evaluation.results.document import figure_document, results_document
from evaluation.results.figures.catalogue import FIGURES, build_figure
from studio.access import ApiRequest, find_benchmark

PILOT = OpenApiParameter("pilot", int, many=True, description="Numbers of pilots; default: all by real models.")


FIGURE = OpenApiParameter("figure", str, enum=list(FIGURES), description="This figure alone, instead of all tables.")
SCORING = OpenApiParameter("scoring", str, enum=[mode.value for mode in ScoringMode], description="Of the figure.")


class ResultsView(APIView):
    @extend_schema(
        operation_id="api_results",
        parameters=[PILOT, FIGURE, SCORING],
        responses=OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py results --json`` gives it."),
    )
    def get(self, request: ApiRequest, slug: str) -> Response:
        """Proc and Comp per agent, persona and category, terminal statuses, and every session."""
        benchmark = find_benchmark(request.user, slug)
        given = request.query_params.getlist("pilot")
        if wrong := [text for text in given if not is_key(text)]:
            raise ValidationError({"pilot": [f"“{wrong[0]}” is not the number of a pilot."]})
        try:
            pilots = choose_pilots(
                benchmark, list(open_pilots(request.user).filter(benchmark=benchmark)), [int(text) for text in given]
            )
        except ResultsError as error:
            raise ValidationError({"pilot": [str(error)]}) from error
        results = compute_results(benchmark, pilots)
        if (name := request.query_params.get("figure")) is None:
            return Response(results_document(results))
        if name not in FIGURES:
            raise ValidationError({"figure": [f"There is no figure “{name}”; there are {', '.join(FIGURES)}."]})
        scoring = request.query_params.get("scoring", ScoringMode.STRICT.value)
        if scoring not in list(ScoringMode):
            raise ValidationError({"scoring": ["Choose compat or strict."]})
        mode = ScoringMode(scoring)
        return Response(figure_document(results, build_figure(results, name, mode), mode))
