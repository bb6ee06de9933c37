"""The API of judgings: a pilot's rounds, judging again, and what scores."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from pydantic import Field
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from evaluation.api.base import pilot_and_options
from evaluation.audits.blindness import find_pilot
from evaluation.models import JudgingRound, Pilot
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging, start_rejudging
from evaluation.results.comparison import round_report
from evaluation.results.scores import SAMPLE_CHOICES, TURN_CHOICES, choose_scoring, rules_named
from studio.access import ApiRequest
from studio.api.base import OBJECTS
from studio.domain.options import Options, OptionsError
from studio.models import ApiToken

ROUND = OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py rejudge --json`` gives it.")


def _names(choices: list[tuple[str, str]]) -> str:
    return ", ".join(f"`{name}`: {label}" for name, label in choices)


class Rejudging(RejudgingOptions):
    estimate: bool = False
    """Only say what it would cost."""


class ScoringChoice(Options):
    """Credit rules that are not given stay."""

    round: int = Field(ge=1)
    compat: str = Field(default="", description=_names(TURN_CHOICES))
    strict: str = Field(default="", description=_names(TURN_CHOICES))
    samples: str = Field(default="", description=_names(SAMPLE_CHOICES))


class JudgingActions(viewsets.GenericViewSet[Pilot]):
    """Actions of a pilot that concern its judgings."""

    token_scope = ApiToken.Scope.FULL  # judging may cost money

    @extend_schema(responses=OpenApiResponse(OBJECTS, "One object per round, oldest first."))
    @action(detail=True)
    def judgings(self, request: ApiRequest, pk: str) -> Response:
        """Its rounds of judgings side by side: judge, prompts, cost, and what flipped."""
        pilot = find_pilot(request.user, pk)
        return Response([round_report(row) for row in pilot.rounds.select_related("pilot")])

    @extend_schema(request=Rejudging, responses={200: OpenApiTypes.OBJECT, 201: ROUND})
    @action(detail=True, methods=["post"])
    def rejudge(self, request: ApiRequest, pk: str) -> Response:
        """Judge its stored sessions again, without running the agent."""
        pilot, options = pilot_and_options(request, pk, Rejudging)
        plan = plan_rejudging(pilot, options)
        if options.estimate:
            return Response({"pilot": pilot.pk, "estimate": vars(plan.estimate)})
        started = start_rejudging(plan, by=request.user)
        return Response(round_report(started), status=status.HTTP_201_CREATED)

    @extend_schema(request=ScoringChoice, responses=ROUND)
    @action(detail=True, methods=["post"])
    def scoring(self, request: ApiRequest, pk: str) -> Response:
        """Choose the round that scores it, and the credit rules."""
        pilot, wanted = pilot_and_options(request, pk, ScoringChoice)
        chosen = JudgingRound.objects.filter(pilot=pilot, number=wanted.round).first()
        if chosen is None:
            raise OptionsError("round", "This pilot has no such round.")
        names = {name: value for name, value in wanted.model_dump(exclude={"round"}).items() if value}
        choice = choose_scoring(pilot, chosen, rules_named(pilot, names), by=request.user)
        return Response(round_report(choice.round))
