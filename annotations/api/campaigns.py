"""The API of audits. It shows to each person what the pages show: nothing sealed before the judgment."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from annotations.api.judging import ANY, PacketActions
from annotations.auditors import own_record, record_json, records_in
from annotations.campaigns import close_campaign, reopen_campaign
from annotations.figures import campaign_figures
from annotations.judgments import MAX_COMMENT_LENGTH, open_results
from annotations.models import AuditCampaign
from annotations.seals import may_see_results, sees_results
from annotations.visibility import find_assigned_campaign, find_campaign, shares_of, visible_campaigns
from studio.access import ApiRequest, find_benchmark
from studio.api.base import KEY, OBJECTS, ConflictAPIError, valid_in
from studio.models import ApiToken, User

BENCHMARK = OpenApiParameter("benchmark", str, description="Slug; limits to this benchmark.")


class CampaignSerializer(serializers.ModelSerializer[AuditCampaign]):
    benchmark: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    people = serializers.IntegerField(source="overlap", read_only=True)
    days_left = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="Until `due`; negative once it is overdue."
    )

    class Meta:
        model = AuditCampaign
        fields = [
            "id", "benchmark", "name", "state", "unit", "people", "due", "days_left", "instructions", "seed",
            "scripted", "created_at", "closed_at",
        ]  # fmt: skip
        read_only_fields = fields


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_COMMENT_LENGTH)


@extend_schema_view(list=extend_schema(parameters=[BENCHMARK]))
class CampaignViewSet(PacketActions, mixins.ListModelMixin, viewsets.GenericViewSet[AuditCampaign]):
    """Audits: people judge again what a judge decided, without seeing its answer."""

    token_scope = ApiToken.Scope.FULL  # what ends or decides an audit; judging in it is `write`
    serializer_class = CampaignSerializer
    queryset = AuditCampaign.objects.none()
    lookup_value_regex = KEY

    def get_queryset(self) -> Any:
        found = visible_campaigns(self.request.user)
        slug = self.request.query_params.get("benchmark", "")
        return found.filter(benchmark__slug=slug) if slug else found

    @extend_schema(
        operation_id="audits_mine", responses=OpenApiResponse(ANY, "Your pace, agreement and control items.")
    )
    @action(detail=False)
    def mine(self, request: ApiRequest) -> Response:
        """How you judge; of audits whose results are open to you."""
        return Response(record_json(own_record(request.user)))

    @extend_schema(
        operation_id="audits_people",
        parameters=[OpenApiParameter("benchmark", str, required=True, description="Slug.")],
        responses=OpenApiResponse(OBJECTS, "One object per person, by name."),
    )
    @action(detail=False)
    def people(self, request: ApiRequest) -> Response:
        """How people judge, for those who plan audits."""
        benchmark = find_benchmark(request.user, request.query_params.get("benchmark", ""), "plan_audit")
        return Response([record_json(row) for row in records_in(benchmark, request.user)])

    @extend_schema(responses=OpenApiResponse(ANY, "The audit, its progress, and what is left for you."))
    def retrieve(self, request: ApiRequest, pk: str) -> Response:
        return Response(_campaign_json(find_campaign(request.user, pk), request.user))

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def close(self, request: ApiRequest, pk: str) -> Response:
        row = find_campaign(request.user, pk, "plan_audit")
        close_campaign(row, by=request.user)
        row.refresh_from_db()
        return Response(CampaignSerializer(row).data)

    @extend_schema(request=ReasonSerializer, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def reopen(self, request: ApiRequest, pk: str) -> Response:
        """Judge on in a closed audit. Its history tells that the results were open in the meantime."""
        row = find_campaign(request.user, pk, "plan_audit")
        reopen_campaign(row, by=request.user, **valid_in(request, ReasonSerializer))
        row.refresh_from_db()
        return Response(CampaignSerializer(row).data)

    @extend_schema(responses=OpenApiResponse(ANY, "As ``manage.py audit_report --json`` gives it."))
    @action(detail=True)
    def results(self, request: ApiRequest, pk: str) -> Response:
        """Every figure; 409 while you judge blind."""
        row = find_campaign(request.user, pk)
        return Response(_figures_json(row, request.user))

    @extend_schema(request=None, responses=OpenApiResponse(ANY, "Your answers are final from now on."))
    @results.mapping.post
    def open_results(self, request: ApiRequest, pk: str) -> Response:
        """Finish judging, and see the results."""
        row = find_assigned_campaign(request.user, pk)
        open_results(row, request.user)
        return Response(_figures_json(row, request.user))


def _figures_json(row: AuditCampaign, user: User) -> dict[str, Any]:
    """Also what was just opened is shut while another audit asks about the same."""
    if not sees_results(user, row):
        raise ConflictAPIError("The results open to you once you have finished judging and open them.")
    return campaign_figures(row)


def _campaign_json(row: AuditCampaign, user: User) -> dict[str, Any]:
    share = shares_of([row], user)[row.pk]
    progress = {"packets": share.packets, "resolved": share.resolved, "done": share.done, "left": len(share.pending)}
    return {**CampaignSerializer(row).data, "progress": progress, "results_open": may_see_results(user, row)}
