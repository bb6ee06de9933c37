"""Forms for benchmarks, their credits, members and imports, and what others changed since a page was opened."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BaseForm, BoundField
from django.http import QueryDict
from django.utils.text import slugify

from studio.domain.credits import LICENCES, OWN, PROSE, Credits
from studio.domain.plan import PAPER_PLAN, Plan
from studio.forms.fields import WholeNumberField, one_of_several
from studio.forms.options import OptionsForm
from studio.models import Benchmark, Role, User

PLAN: dict[str, tuple[str, str]] = {
    "sessions": ("Tasks", "In one episode."),
    "groups": ("Dependency groups", "Tasks that build on each other."),
    "group_least": ("Smallest group", "Minimum number of tasks."),
    "group_most": ("Largest group", "Maximum number of tasks."),
    "standalone": ("Standalone tasks", "Tasks in no group."),
    "signals": ("Started by an event", "Minimum number of tasks not started by the user."),
}
"""Label and help text of each number of the plan."""


class BenchmarkForm(forms.ModelForm[Benchmark]):
    approvals_needed = WholeNumberField(
        label="Approvals required",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="How many other people must approve each task.",
    )

    class Meta:
        model = Benchmark
        fields = [
            "name", "slug", "description", "taxonomy", "approvals_needed", "review_by_list",
            "validated_releases",
            *(f"plan_{name}" for name in PLAN),
        ]  # fmt: skip
        labels = {
            "slug": "Short name",
            "taxonomy": "Categories",
            "review_by_list": "Require the review checklist",
            "validated_releases": "Release validated tasks only",
        }
        help_texts = {
            "slug": "Used in URLs and commands: letters, digits and hyphens. Leave blank to generate from the name.",
            "review_by_list": (
                "Realistic, feasible, correct, well scoped: a task can only be approved with “Yes” to all four."
            ),
            "validated_releases": (
                "Each task can be solved with what it hides, and only by work. A release manager can accept a task "
                "that is not validated, with a reason."
            ),
            "taxonomy": "The set of task categories; the paper uses A–R.",
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False
        for name, (label, help_text) in PLAN.items():
            least, most = Plan.model_fields[name].metadata
            self.fields[f"plan_{name}"] = WholeNumberField(
                label=label,
                help_text=help_text,
                initial=getattr(PAPER_PLAN, name),
                min_value=least.ge,
                max_value=most.le,
            )

    @property
    def about(self) -> list[forms.BoundField]:
        return [field for field in self if not field.name.startswith("plan_")]

    @property
    def plan(self) -> list[forms.BoundField]:
        return [self[f"plan_{name}"] for name in PLAN]

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"] or self.instance.slug or slugify(self.cleaned_data.get("name", ""))[:80]
        if not slug:
            raise forms.ValidationError("Enter a short name: letters, digits and hyphens.")
        return slug

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        numbers = {name: values[f"plan_{name}"] for name in PLAN if f"plan_{name}" in values}
        if len(numbers) == len(PLAN) and (problem := Plan.model_construct(**numbers).problem()):
            self.add_error("plan_sessions", problem)
        return values


class MemberForm(forms.Form):
    username = forms.CharField(label="Username", max_length=150)
    roles = forms.MultipleChoiceField(choices=Role.choices, widget=forms.CheckboxSelectMultiple)

    def clean_username(self) -> User:
        name = self.cleaned_data["username"].strip()
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise ValidationError(f"There is no user “{name}”. An administrator can create the account.")
        return user


class MultipleFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class MultipleFilesField(forms.FileField):
    widget = MultipleFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        clean = super().clean
        return [clean(file, initial) for file in data] if isinstance(data, list | tuple) else [clean(data, initial)]


class ImportForm(forms.Form):
    archive = one_of_several(
        forms.FileField(
            label="A zip",
            required=False,
            help_text="Of one persona's folder, of a data/ folder with several, or a release.",
        )
    )
    folder = one_of_several(
        MultipleFilesField(
            label="Or a folder",
            required=False,
            help_text="The same, unzipped.",
            widget=MultipleFilesInput(attrs={"webkitdirectory": ""}),
        )
    )
    paths = forms.CharField(required=False, widget=forms.HiddenInput(attrs={"data-paths": ""}))
    published = forms.BooleanField(
        required=False,
        label="These tasks are already published: mark as already approved",
        help_text="Another owner has to confirm it. Only tasks that come from these files alone can be marked.",
    )

    def __init__(self, *args: Any, may_publish: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_publish:
            del self.fields["published"]


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


FIELD = "seen"


@dataclass(frozen=True)
class ChangedElsewhere:
    """What others saved since the page was opened."""

    fields: tuple[BoundField, ...]
    """With the values as they are now."""
    data: QueryDict
    """What was sent, with their values where the sender had changed nothing."""


def digests(forms: Iterable[BaseForm]) -> dict[str, str]:
    """Of what each field shows, by its name."""
    return {bound.html_name: hashlib.sha256(_text(bound).encode()).hexdigest()[:16] for bound in _fields(forms)}


def seen(forms: Iterable[BaseForm]) -> str:
    """For the hidden input of a page."""
    return json.dumps(digests(forms))


def changed_elsewhere(sent: QueryDict, posted: Iterable[BaseForm], now: Iterable[BaseForm]) -> ChangedElsewhere | None:
    """``posted``: the forms with what was sent; ``now``: with what is stored."""
    before, typed = _read(sent.get(FIELD, "")), digests(posted)
    now = list(now)
    current = digests(now)
    changed = [bound for bound in _fields(now) if before.get(bound.html_name) not in (None, current[bound.html_name])]
    if not changed:
        return None
    data = sent.copy()
    for bound in changed:
        if typed[bound.html_name] == before[bound.html_name]:
            data[bound.html_name] = _text(bound)
    return ChangedElsewhere(tuple(changed), data)


def _fields(forms: Iterable[BaseForm]) -> Iterable[BoundField]:
    return (bound for form in forms for bound in form)


def _text(bound: BoundField) -> str:
    value = bound.value()
    return "" if value is None or value is False else str(value).replace("\r\n", "\n").strip()


def _read(text: str) -> Mapping[str, str]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
