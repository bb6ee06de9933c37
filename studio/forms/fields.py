"""Fields that say what may be entered, or that one of several is required."""

from __future__ import annotations

from typing import Any, TypeVar

from django import forms

CODES = ("invalid", "min_value", "max_value", "max_digits", "max_decimal_places", "max_whole_digits")


NOT_OFFERED = "Choose one of those offered here: what was sent is not, or no longer, among them."
OWN_SENTENCES: dict[type[forms.Field], dict[str, str]] = {
    forms.ChoiceField: {"invalid_choice": NOT_OFFERED},
    forms.MultipleChoiceField: {"invalid_choice": NOT_OFFERED},
    forms.ModelChoiceField: {"invalid_choice": NOT_OFFERED},
    forms.ModelMultipleChoiceField: {"invalid_choice": NOT_OFFERED, "invalid_pk_value": NOT_OFFERED},
    forms.DateTimeField: {"invalid": "Write day and time, such as 2026-03-31 09:30."},
    forms.DateField: {"invalid": "Write a day, such as 2026-03-31."},
    forms.JSONField: {"invalid": "This is not valid JSON. Names and texts stand in double quotes."},
    forms.SlugField: {"invalid": "Use letters without accents, digits, - and _."},
}
"""Instead of Django's, which speak of values."""


def use_own_sentences() -> None:
    for kind, sentences in OWN_SENTENCES.items():
        kind.default_error_messages = {**kind.default_error_messages, **sentences}


class WholeNumberField(forms.IntegerField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        _say_always(self, f"Enter a whole number{_bounds(self.min_value, self.max_value)}.")


class NumberField(forms.FloatField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        _say_always(self, f"Enter a number{_bounds(self.min_value, self.max_value)}.")


class AmountField(forms.DecimalField):
    """Of money: not negative, and as large as its digits allow."""

    def __init__(self, *, max_digits: int, decimal_places: int, **options: Any) -> None:
        super().__init__(**{"min_value": 0} | options, max_digits=max_digits, decimal_places=decimal_places)
        most = 10 ** (max_digits - decimal_places) - 1
        bounds = _bounds(self.min_value, most)
        _say_always(self, f"Enter an amount{bounds}, with at most {decimal_places} decimal places.")


def _say_always(field: forms.IntegerField, sentence: str) -> None:
    """Also for what the model's own validators refuse."""
    field.error_messages |= dict.fromkeys(CODES, sentence)


def _bounds(least: object, most: object) -> str:
    if least is not None and most is not None:
        return f" between {least:,} and {most:,}"
    if least is not None:
        return f" of {least:,} or more"
    return "" if most is None else f" of at most {most:,}"


F = TypeVar("F", bound=forms.Field)


def one_of_several(field: F) -> F:
    """Mark a field that may be empty only if another is filled, so that it is not labelled optional."""
    field.one_of_several = True  # type: ignore[attr-defined]  # read by the template tag
    return field
