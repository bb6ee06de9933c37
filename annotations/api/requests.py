"""What requests to the API of audits have in common."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

from studio.access import ApiRequest
from studio.models import User

ANY = OpenApiTypes.OBJECT


def user_of(request: Any) -> User:
    user: User = request.user
    return user


def valid(serializer: type[serializers.Serializer[Any]], request: ApiRequest) -> dict[str, Any]:
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)
