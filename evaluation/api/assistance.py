"""The API of assistance: request proposals, read them, accept or dismiss them.

Paths still say "suggestions" and "take", which are part of the published API.
"""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.response import Response

from evaluation.api.proposal_serializers import (
    AcceptSerializer,
    NewProposalSerializer,
    ProposalSerializer,
    RowsSerializer,
)
from evaluation.assistance import decisions, requests
from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.presentation import proposals_with_details
from evaluation.assistance.task_material import build_request
from evaluation.models import Proposal
from studio.access import ApiRequest
from studio.api.base import TASK, ConflictAPIError, TaskView
from studio.domain.task import TaskSpec
from studio.models import ApiToken, Task

STATE = OpenApiParameter("state", str, enum=Proposal.State.values, description="Limits to these.")
PROPOSAL = f"{TASK}suggestions/<int:suggestion>/"


class ProposalAPIView(TaskView):
    """Only for users who may edit the task."""

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(ConflictAPIError(str(exc)) if isinstance(exc, AssistanceError) else exc)

    def editable(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Task:
        return self.task(request, slug, user_id, pk, "edit")

    def proposal(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Proposal:
        task = self.editable(request, slug, user_id, pk)
        row: Proposal = get_object_or_404(proposals_with_details(), task=task, pk=suggestion)
        return row


class ProposalList(ProposalAPIView, generics.GenericAPIView[Proposal]):
    token_scope = ApiToken.Scope.FULL  # a proposal may cost money
    serializer_class = ProposalSerializer
    queryset = Proposal.objects.none()

    @extend_schema(responses=ProposalSerializer(many=True), parameters=[STATE])
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Proposals for the task, newest first."""
        rows = proposals_with_details().filter(task=self.editable(request, slug, user_id, pk)).order_by("-pk")
        if state := request.query_params.get("state"):
            rows = rows.filter(state=state)
        return self.get_paginated_response(ProposalSerializer(self.paginate_queryset(rows) or [], many=True).data)

    @extend_schema(request=NewProposalSerializer, responses={201: ProposalSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Request a proposal for the newest version. Poll until the state is no longer “asked”."""
        task = self.editable(request, slug, user_id, pk)
        data = NewProposalSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        values = data.validated_data
        proposal_request = build_request(
            TaskSpec.model_validate(task.revisions.get(number=task.version).spec),
            values["kind"],
            values["field"],
            uid=str(values["item"] or ""),
            language=values["language"],
            reference=values["reference"],
            pasted=values["pasted"],
        )
        user: Any = request.user
        row = requests.request_proposal(task, by=user, request=proposal_request, fresh=values["fresh"])
        return Response(
            ProposalSerializer(proposals_with_details().get(pk=row.pk)).data, status=status.HTTP_201_CREATED
        )


class ProposalDetail(ProposalAPIView):
    @extend_schema(responses=ProposalSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Its state and rows."""
        return Response(ProposalSerializer(self.proposal(request, slug, user_id, pk, suggestion)).data)


class AcceptProposal(ProposalAPIView):
    @extend_schema(request=AcceptSerializer, responses={200: ProposalSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Accept rows and save them as a new version. 409 with ``current`` and ``proposed`` if the text has changed
        since the request."""
        row = self.proposal(request, slug, user_id, pk, suggestion)
        data = AcceptSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        user: Any = request.user
        try:
            decisions.accept_proposal(row.pk, by=user, **data.validated_data)
        except decisions.ProposalOutdatedError as error:
            body = {"detail": str(error), "row": error.row, "current": error.current, "proposed": error.proposed}
            return Response(body, status=status.HTTP_409_CONFLICT)
        return Response(ProposalSerializer(proposals_with_details().get(pk=row.pk)).data)


class DismissProposal(ProposalAPIView):
    @extend_schema(request=RowsSerializer, responses={200: ProposalSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Dismiss rows, or all of them. The task does not change."""
        row = self.proposal(request, slug, user_id, pk, suggestion)
        data = RowsSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        user: Any = request.user
        decisions.dismiss_proposal(row.pk, by=user, rows=data.validated_data["rows"])
        return Response(ProposalSerializer(proposals_with_details().get(pk=row.pk)).data)


urlpatterns = [
    path(f"{TASK}suggestions/", ProposalList.as_view(), name="api_proposals"),
    path(PROPOSAL, ProposalDetail.as_view(), name="api_proposal"),
    path(f"{PROPOSAL}take/", AcceptProposal.as_view(), name="api_proposal_accept"),
    path(f"{PROPOSAL}dismiss/", DismissProposal.as_view(), name="api_proposal_dismiss"),
]
