"""The profile form: a PersonaSpec as strings on a page, and back; and forms for new personas and tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.utils.text import slugify

from studio.domain.persona import PersonaSpec
from studio.forms.fields import one_of_several
from studio.forms.post_data import MAPPING, Posted, mapping_rows, preserve, read_mapping, read_picks

ONE_LINE = ("name", "occupation")
AREAS = ("role_text", "routines", "working_style")


@dataclass
class PersonaForm:
    values: dict[str, str]
    preferences: list[dict[str, Any]]
    attributes: list[dict[str, Any]]
    tools: list[str]
    errors: dict[str, str] = field(default_factory=dict)


def persona_form(spec: PersonaSpec) -> PersonaForm:
    values = {name: getattr(spec, name) for name in (*ONE_LINE, *AREAS)}
    values["long_term_goals"] = _goals(spec)
    values["tools_more"] = ""
    return PersonaForm(values, mapping_rows(spec.preferences), mapping_rows(spec.attributes, "a"), list(spec.tools))


def posted_persona_form(posted: Posted) -> PersonaForm:
    names = (*ONE_LINE, *AREAS, "long_term_goals", "tools_more")
    return PersonaForm(
        {name: posted.text(name) for name in names},
        posted.rows("preferences", MAPPING),
        posted.rows("attributes", MAPPING),
        list(dict.fromkeys(posted.values("tools"))),
    )


def read_persona_form(form: PersonaForm, base: PersonaSpec) -> tuple[PersonaSpec, dict[str, str]]:
    """The persona as far as the form can be read, and errors by input. Files, skills and id stay."""
    errors: dict[str, str] = {}

    def add_error(field: str, message: str) -> None:
        errors.setdefault(field, message)

    values = form.values
    fields: dict[str, Any] = {
        name: preserve(getattr(base, name), values[name], one_line=name == "name") for name in ONE_LINE
    }
    fields |= {name: preserve(getattr(base, name), values[name]) for name in AREAS}
    goals = values["long_term_goals"]
    fields["long_term_goals"] = (
        base.long_term_goals if goals == _goals(base) else tuple(line for line in goals.split("\n") if line.strip())
    )
    typed = [name.strip() for name in values["tools_more"].split("\n") if name.strip()]
    fields["tools"] = tuple(dict.fromkeys(read_picks(base.tools, [*form.tools, *typed])))
    fields["preferences"] = read_mapping(form.preferences, base.preferences, add_error, "preferences")
    fields["attributes"] = read_mapping(form.attributes, base.attributes, add_error, "attributes", keys="a")
    return base.model_copy(update=fields), errors


class NewPersonaForm(forms.Form):
    name = one_of_several(forms.CharField(max_length=200, required=False, label="Name"))
    occupation = forms.CharField(max_length=1000, required=False)
    role_text = forms.CharField(
        label="Who they are",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        strip=False,
        help_text="What they do, for whom, under what pressure; what they know and what they leave to others.",
    )
    user_id = forms.RegexField(
        r"^[\w][\w .-]*$",
        label="Short name",
        max_length=100,
        required=False,
        help_text="Used as the export folder name; can't be changed later. Leave blank to generate from the name.",
        error_messages={"invalid": "Use letters, digits, spaces, dots, - and _, starting with a letter or digit."},
    )

    def clean_user_id(self) -> str:
        short: str = self.cleaned_data["user_id"] or slugify(self.cleaned_data.get("name", "")).replace("-", "_")[:100]
        if not short:
            raise forms.ValidationError("Enter a name, or a short name in Latin letters or digits.")
        return short


class NewTaskForm(forms.Form):
    title = one_of_several(
        forms.CharField(
            max_length=300,
            required=False,
            widget=forms.TextInput(attrs={"autofocus": True}),
            help_text="Leave blank to keep the template's title.",
        )
    )
    initial_request = forms.CharField(
        label="Request",
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        strip=False,
        help_text="The first message, as this person would write it. Leave blank to keep the template's request.",
    )
    task_id = forms.RegexField(
        r"^[\w][\w .-]*$",
        label="Id",
        max_length=150,
        help_text="Used as its folder name in exports: letters, digits, - and _.",
        error_messages={"invalid": "Use letters, digits, spaces, dots, - and _, starting with a letter or digit."},
    )


def _goals(spec: PersonaSpec) -> str:
    return "\n".join(goal if isinstance(goal, str) else str(goal) for goal in spec.long_term_goals)
