"""Forms made from options."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from enum import Enum
from types import NoneType
from typing import Any, ClassVar, get_args, get_origin

from django import forms
from django.db.models import Model, QuerySet
from pydantic.fields import FieldInfo

from studio.domain.options import Options, OptionsError
from studio.forms.fields import NumberField, WholeNumberField

LIMITS = {"ge": "min_value", "le": "max_value", "max_length": "max_length"}


class RuledForm(forms.Form):
    """Says what rules refuse."""

    def reject(self, error: OptionsError) -> None:
        """Beside the field that it names, else above the form."""
        self.add_error(error.field if error.field in self.fields else None, error.message)

    @contextmanager
    def rejecting(self) -> Iterator[None]:
        """What is refused within ends the block, and is said."""
        try:
            yield
        except OptionsError as error:
            self.reject(error)


class OptionsForm(RuledForm):
    """Has a field for each of the options. Those that offer rows, or look otherwise, are declared; what they do not
    say of themselves is as the options have it."""

    of: ClassVar[type[Options]]
    silent: ClassVar[Collection[str]] = ()
    """Of which the page itself tells what they mean."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, info in self.of.model_fields.items():
            if get_origin(info.annotation) is dict:
                continue  # a form has a field for each of its keys
            field = self.fields.setdefault(name, field_of(info))
            field.label = field.label or info.title
            if name not in self.silent:
                field.help_text = field.help_text or info.description or ""
        self.order_fields(self.of.model_fields)

    @property
    def given(self) -> dict[str, Any]:
        """As it would stand in JSON."""
        return {name: self._plain(name) for name in self.of.model_fields if name in self.cleaned_data}

    def options(self) -> Any:
        """Raises OptionsError."""
        return self.of.read(self.given)

    def _plain(self, name: str) -> Any:
        value, key = self.cleaned_data[name], getattr(self.fields[name], "to_field_name", None) or "pk"
        if isinstance(value, QuerySet):
            return [getattr(row, key) for row in value]
        return getattr(value, key) if isinstance(value, Model) else value


def field_of(info: FieldInfo) -> forms.Field:
    kind = next(each for each in (*get_args(info.annotation), info.annotation) if each is not NoneType)
    words: dict[str, Any] = {
        LIMITS[limit]: getattr(each, limit) for each in info.metadata for limit in LIMITS if hasattr(each, limit)
    }
    words |= {"required": info.is_required(), "initial": None if info.is_required() else info.default or None}
    if kind is bool:
        return forms.BooleanField(required=False)
    if kind is int:
        return WholeNumberField(**words)
    if kind is float:
        return NumberField(**words)
    if kind is dt.date:
        return forms.DateField(**words, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    if isinstance(kind, type) and issubclass(kind, Enum):
        choices = getattr(kind, "choices", None) or [(each.value, each.value) for each in kind]
        return forms.ChoiceField(**words, choices=choices)
    return forms.CharField(**words)
