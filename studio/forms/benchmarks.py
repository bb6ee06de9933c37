"""Forms for benchmarks, members and imports."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from studio.domain.plan import PAPER_PLAN, Plan, plan_problem
from studio.forms.conditional import one_of_several
from studio.forms.numbers import WholeNumberField
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
        if len(numbers) == len(PLAN) and (problem := plan_problem(**numbers)):
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
