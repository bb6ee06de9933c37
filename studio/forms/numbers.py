"""Fields for numbers, which say what may be entered."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator


class WholeNumberField(forms.IntegerField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        _use_plain_words(self, "Enter a whole number")


class NumberField(forms.FloatField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        _use_plain_words(self, "Enter a number")


def _use_plain_words(field: forms.IntegerField, invitation: str) -> None:
    sentence = f"{invitation}{_bounds(field.min_value, field.max_value)}."
    field.error_messages["invalid"] = sentence
    for validator in field.validators:
        if isinstance(validator, MinValueValidator | MaxValueValidator):
            validator.message = sentence


def _bounds(least: object, most: object) -> str:
    if least is not None and most is not None:
        return f" between {least:,} and {most:,}"
    if least is not None:
        return f" of {least:,} or more"
    return "" if most is None else f" of at most {most:,}"
