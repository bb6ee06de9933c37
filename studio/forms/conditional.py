"""Fields that are required under a condition which the form checks as a whole."""

from __future__ import annotations

from typing import TypeVar

from django import forms

F = TypeVar("F", bound=forms.Field)


def one_of_several(field: F) -> F:
    """Mark a field that may be empty only if another is filled, so that it is not labelled optional."""
    field.one_of_several = True  # type: ignore[attr-defined]  # read by the template tag
    return field
