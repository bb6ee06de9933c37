"""Benchmarks, members and imports, as pages ask for them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from studio.models import Benchmark, Role, User


class BenchmarkForm(forms.ModelForm):
    approvals_needed = forms.IntegerField(
        label="Approvals a task needs",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="How many people other than its authors must say yes.",
    )

    class Meta:
        model = Benchmark
        fields = ["name", "slug", "description", "taxonomy", "approvals_needed"]
        labels = {"slug": "Short name", "taxonomy": "Categories"}
        help_texts = {
            "slug": "Used in addresses and commands: letters, digits and hyphens.",
            "taxonomy": "What kinds of tasks there are; the paper's are A–R.",
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}


class MemberForm(forms.Form):
    """Someone by their sign-in name, with the roles they shall have."""

    username = forms.CharField(label="Name they sign in with", max_length=150)
    roles = forms.MultipleChoiceField(choices=Role.choices, widget=forms.CheckboxSelectMultiple)

    def clean_username(self) -> User:
        name = self.cleaned_data["username"].strip()
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise ValidationError(f"Nobody signs in as “{name}”. Whoever runs this studio can make the account.")
        return user


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        clean = super().clean
        return [clean(each, initial) for each in data] if isinstance(data, list | tuple) else [clean(data, initial)]


class ImportForm(forms.Form):
    archive = forms.FileField(
        label="A zip", required=False, help_text="Of one persona's folder, or of a data/ folder with several."
    )
    folder = SeveralFilesField(
        label="Or a folder",
        required=False,
        help_text="The same, as it lies on your disk.",
        widget=SeveralFiles(attrs={"webkitdirectory": ""}),
    )
    paths = forms.CharField(required=False, widget=forms.HiddenInput(attrs={"data-paths": ""}))
    published = forms.BooleanField(
        required=False,
        label="These tasks are published already: take them as approved elsewhere",
        help_text="Their history will say so.",
    )
