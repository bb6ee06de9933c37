"""Form fields for model endpoints."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.conf import settings

from evaluation.models import ModelEndpoint


class EndpointChoice(forms.ModelChoiceField[ModelEndpoint]):
    def label_from_instance(self, row: ModelEndpoint) -> str:
        if row.scripted:
            return f"{row.name} – scripted"
        if row.input_price or row.output_price:
            return (
                f"{row.name} – ${row.input_price.normalize():f} in, ${row.output_price.normalize():f} out per million"
            )
        return f"{row.name} – no price given"


def default_endpoint(endpoints: Sequence[ModelEndpoint], part: str) -> int | None:
    """Key of the configured model for a part; without one, of a scripted model, which is free."""
    name = {
        "agent": "scripted-helpful",
        "user_model": settings.DEFAULT_USER_MODEL or "scripted-user",
        "judge": settings.DEFAULT_JUDGE or "scripted-judge",
    }[part]
    return next(
        (endpoint.pk for endpoint in endpoints if endpoint.name == name), endpoints[0].pk if endpoints else None
    )
