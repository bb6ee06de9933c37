"""The form of a benchmark's licence, contributors and what its packs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from studio.domain.credits import LICENCES, OWN, PROSE, Credits
from studio.forms.options import OptionsForm

COLUMNS = ("path", "source", "licence")
"""Of a line about a file from elsewhere."""


class LinesField(forms.CharField):
    """A list, one entry per line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def clean(self, value: Any) -> list[str]:
        return [line.strip() for line in (super().clean(value) or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else "\n".join(value or ())


class OriginsField(LinesField):
    """Files from elsewhere: path, source and licence, one file per line."""

    def clean(self, value: Any) -> Any:
        rows = [[part.strip() for part in line.split("|")] for line in super().clean(value)]
        for number, row in enumerate(rows, start=1):
            if len(row) > len(COLUMNS) or not row[0]:
                raise forms.ValidationError(f"Line {number}: write path | source | licence.")
        return [dict(zip(COLUMNS, row, strict=False)) for row in rows]

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return "\n".join(" | ".join(each.get(name, "") for name in COLUMNS).rstrip(" |") for each in value or ())


class CreditsForm(OptionsForm):
    of = Credits
    licence = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Unknown"),
            *((key, f"{name} ({key})") for key, (name, _) in LICENCES.items()),
            (OWN, "A licence of our own"),
        ],
    )
    licence_text = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}))
    contributors = LinesField(required=False)
    file_origins = OriginsField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in PROSE:
            self.fields[name].widget = forms.Textarea(attrs={"rows": 3})

    @property
    def facts(self) -> Sequence[forms.BoundField]:
        return [bound for bound in self if bound.name not in PROSE]

    @property
    def prose(self) -> Sequence[forms.BoundField]:
        return [self[name] for name in PROSE]

    def clean(self) -> dict[str, Any]:
        for problem in self.of.problems(self.given):
            self.reject(problem)
        return self.cleaned_data
