"""The API of a persona's cast."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access
from studio.access import ApiRequest
from studio.api.base import ConflictAPIError, valid_in
from studio.domain.cast import CastPerson
from studio.drafts.validate import DraftError, StaleDraftError
from studio.forms.cast import LONGEST
from studio.personas.cast import MAX_PEOPLE, CastError, cast_document, enter_given, load_cast

CAST = OpenApiResponse(
    OpenApiTypes.OBJECT,
    "``people`` of the apps; ``named`` and ``messages``: what tasks name and the apps lack, with the passages.",
)


def _text(help_text: str) -> serializers.CharField:
    return serializers.CharField(required=False, allow_blank=True, default="", max_length=LONGEST, help_text=help_text)


class CastPersonSerializer(serializers.Serializer[Any]):
    first_name = _text("What is left out stays as the apps have it.")
    last_name = _text("")
    email = _text("The username in all apps but the phone.")
    phone_number = _text("Digits; the username in the phone.")
    relationships = serializers.ListField(child=serializers.CharField(max_length=LONGEST), default=list, max_length=20)
    passwords = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST, allow_blank=True, trim_whitespace=False),
        default=dict,
        help_text="By app, of accounts that can be signed in to.",
    )


class CastEntrySerializer(serializers.Serializer[Any]):
    people = serializers.ListField(child=CastPersonSerializer(), default=list, max_length=MAX_PEOPLE)
    named = serializers.BooleanField(
        default=False, help_text="Also enter everything that tasks name and the apps lack."
    )
    base_version = serializers.IntegerField(required=False, default=None, allow_null=True, min_value=1)


class CastView(APIView):
    """The people of a persona's world, with their accounts in all simulated apps."""

    @extend_schema(responses={200: CAST})
    def get(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        return Response(cast_document(load_cast(access.find_persona(request.user, slug, user_id))))

    @extend_schema(request=CastEntrySerializer, responses={200: CAST})
    def post(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        """Enter people in every app at once, as one version of the persona."""
        persona = access.find_persona(request.user, slug, user_id)
        access.require(request.user, persona.benchmark, "edit")
        data = valid_in(request, CastEntrySerializer)
        people = [CastPerson(**{**row, "relationships": tuple(row["relationships"])}) for row in data["people"]]
        try:
            enter_given(persona, people, named=data["named"], by=request.user, base_version=data["base_version"])
        except StaleDraftError as error:
            raise ConflictAPIError(str(error)) from None
        except (CastError, DraftError) as error:
            raise ValidationError({"people": [str(error)]}) from None
        persona.refresh_from_db()
        return Response(cast_document(load_cast(persona)))


urlpatterns = [
    path("benchmarks/<slug:slug>/personas/<str:user_id>/cast/", CastView.as_view(), name="api_cast"),
]
