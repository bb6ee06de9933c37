"""What people enter to start pilots, cut releases and connect models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings

from evaluation import visibility
from evaluation.endpoints import problem_of
from evaluation.models import Helper, ModelEndpoint, Rehearsal
from evaluation.pilots.start import LIMITS, MAX_RUNS
from studio.models import Benchmark, Persona, Task, TaskState

APPROVED = (TaskState.APPROVED, TaskState.RELEASED)
TASKS_SHOWN = 100
"""Up to so many, the tasks of all personas stand in the form; beyond, those of one."""
ASK_FOR_TASKS = {
    "hx-get": "",
    "hx-params": "persona",
    "hx-target": "#task-choice",
    "hx-select": "#task-choice",
    "hx-swap": "outerHTML",
}


class EndpointChoice(forms.ModelChoiceField[ModelEndpoint]):
    """A model by its name, with its price, scripted ones marked."""

    def label_from_instance(self, row: ModelEndpoint) -> str:
        if row.scripted:
            return f"{row.name} – scripted"
        if row.input_price or row.output_price:
            return (
                f"{row.name} – ${row.input_price.normalize():f} in, ${row.output_price.normalize():f} out per million"
            )
        return f"{row.name} – no price given"


class PilotForm(forms.Form):
    """``LIMITS`` of the rules are its defaults; refusals of the rules come back to the field they name."""

    persona = forms.ChoiceField(required=False, label="Episode")
    tasks = forms.MultipleChoiceField(
        required=False,
        label="Tasks",
        help_text="Select none to run the whole episode. Dependencies of selected tasks run first.",
    )
    agent = EndpointChoice(queryset=ModelEndpoint.objects.none(), help_text="The assistant being tested.")
    user_model = EndpointChoice(
        queryset=ModelEndpoint.objects.none(), label="User model", help_text="Plays the user and marks intents as met."
    )
    judge = EndpointChoice(
        queryset=ModelEndpoint.objects.none(), help_text="Judges the checklist. Choose a model other than the agent."
    )
    runs = forms.IntegerField(
        min_value=1,
        max_value=MAX_RUNS,
        initial=1,
        help_text="Runs per episode; the paper uses 3 and reports mean and deviation.",
    )
    turns = forms.IntegerField(min_value=1, max_value=int(LIMITS["turns"]), required=False, label="Turns per session")
    tool_calls = forms.IntegerField(min_value=0, required=False, label="Tool calls per turn")
    tokens = forms.IntegerField(min_value=0, required=False, label="Agent tokens per session")
    cost = forms.FloatField(min_value=0, required=False, label="US dollars per session", help_text="0 means no limit.")

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        self.personas = visibility.runnable_personas(benchmark)
        placed = [task for one in self.personas for task in one.tasks]
        choices = self._choice("persona").choices = [
            (one.persona.user_id, f"{one.persona} · {len(one.tasks)} tasks") for one in self.personas
        ]
        if len(choices) != 1:
            self._choice("persona").choices = [("", f"All personas · {len(placed)} tasks"), *choices]
        if self.asks:
            self._choice("persona").widget.attrs |= ASK_FOR_TASKS
        self._choice("tasks").choices = [(task.task_id, str(task)) for task in placed]
        rows = list(visibility.endpoints())
        for name in ("agent", "user_model", "judge"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = ModelEndpoint.objects.order_by("scripted", "name")
            field.empty_label = None
            if not self.is_bound and name not in self.initial:
                self.initial[name] = _usual(rows, name)
        for name in ("turns", "tool_calls", "tokens", "cost"):
            self.initial.setdefault(name, int(LIMITS[name]))

    def _choice(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field

    @property
    def groups(self) -> list[tuple[Persona, list[tuple[Task, bool, bool]]]]:
        """By persona: each task, whether it is chosen, and whether it is a draft. Of a large benchmark only the
        persona asked for, and those of whom something is chosen."""
        chosen = set(self["tasks"].value() or ())
        asked = self["persona"].value()
        return [
            (one.persona, [(task, task.task_id in chosen, task.state not in APPROVED) for task in one.tasks])
            for one in self.personas
            if not self.asks
            or one.persona.user_id == asked
            or (not asked and any(task.task_id in chosen for task in one.tasks))
        ]

    @property
    def asks(self) -> bool:
        """Too many tasks to show all: they come once a persona is chosen."""
        return self.tasks_in_all > TASKS_SHOWN

    @property
    def tasks_in_all(self) -> int:
        return sum(len(one.tasks) for one in self.personas)

    @property
    def tasks_asked_for(self) -> int:
        """Of the persona asked for, or of all."""
        asked = self["persona"].value()
        return sum(len(one.tasks) for one in self.personas if one.persona.user_id == asked) or self.tasks_in_all

    @property
    def chosen(self) -> dict[str, Any]:
        """As ``start_pilot`` takes it."""
        data = self.cleaned_data
        limits = {name: data[name] for name in ("turns", "tool_calls", "tokens", "cost") if data[name] is not None}
        names = ("persona", "tasks", "agent", "user_model", "judge", "runs")
        return {name: data[name] for name in names} | {"limits": limits}

    def refuse(self, field: str, message: str) -> None:
        self.add_error(field if field in self.fields else None, message)


class ReleaseForm(forms.Form):
    version = forms.CharField(max_length=40, label="Version", help_text="Such as 1.0. It never changes afterwards.")
    accept = forms.CharField(
        required=False,
        label="Reason for the exceptions",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Recorded in the release under your name.",
    )


class EndpointForm(forms.ModelForm[ModelEndpoint]):
    class Meta:
        model = ModelEndpoint
        fields = [
            "name",
            "base_url",
            "model",
            "key_env",
            "params",
            "input_price",
            "output_price",
            "timeout_seconds",
            "max_concurrency",
        ]
        labels = {
            "base_url": "Address",
            "key_env": "API key variable",
            "params": "Parameters",
            "input_price": "US dollars per million input tokens",
            "output_price": "US dollars per million output tokens",
            "timeout_seconds": "Timeout in seconds",
            "max_concurrency": "Concurrent requests",
        }
        help_texts = {
            "name": "Display name, such as “qwen-plus”.",
            "base_url": "Base URL of an OpenAI-compatible service, such as https://example.com/v1.",
            "model": "The model's name at the service.",
            "key_env": "The environment variable that holds the key on every machine with a worker. "
            "The key itself is never stored. Leave blank if the service needs none.",
            "params": 'Sent with every call, as JSON: {"temperature": 0.2}.',
        }

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            row = ModelEndpoint(**{name: data[name] for name in self.Meta.fields})
            if not isinstance(row.params, dict):
                self.add_error("params", 'Enter the parameters as one JSON object, such as {"temperature": 0.2}.')
            elif problem := problem_of(row):
                self.add_error("params" if "parameters" in problem else "base_url", problem)
        return data

    def save(self, commit: bool = True) -> ModelEndpoint:
        self.instance.scripted = self.instance.base_url == "scripted:" or self.instance.scripted
        return super().save(commit)


def _usual(rows: Sequence[ModelEndpoint], part: str) -> int | None:
    """The configured model for a part, else a scripted one, so that a first try costs nothing."""
    wanted = {
        "agent": "scripted-helpful",
        "user_model": settings.DEFAULT_USER_MODEL or "scripted-user",
        "judge": settings.DEFAULT_JUDGE or "scripted-judge",
    }[part]
    return next((row.pk for row in rows if row.name == wanted), rows[0].pk if rows else None)


class HelperForm(forms.ModelForm[Helper]):
    """Which model helps the authors of a benchmark, and how much it may use."""

    class Meta:
        model = Helper
        fields = ["endpoint", "period", "most_tokens", "most_cost"]
        labels = {
            "endpoint": "Assistant model",
            "period": "Budget period",
            "most_tokens": "Tokens",
            "most_cost": "US dollars",
        }
        help_texts = {
            "endpoint": "It proposes when an author asks, and sees the task it is asked about: request, hidden "
            "intents, checklist, files that are text, the profile, and a reference where items are drawn from one.",
            "most_tokens": "0 means no limit.",
            "most_cost": "0 means no limit. Counted at the model's prices.",
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["endpoint"] = EndpointChoice(
            queryset=visibility.endpoints(),
            required=False,
            label="Assistant model",
            empty_label="None (AI help off)",
            help_text=self.Meta.help_texts["endpoint"],
        )


class RehearsalForm(forms.Form):
    """A seat, and who plays the rest."""

    seat = forms.ChoiceField(choices=Rehearsal.Seat.choices, widget=forms.RadioSelect, initial=Rehearsal.Seat.AGENT)
    agent = EndpointChoice(
        queryset=ModelEndpoint.objects.none(),
        label="Answering model",
        help_text="Plays the assistant when you play the user.",
    )
    judge = EndpointChoice(
        queryset=ModelEndpoint.objects.none(),
        required=False,
        label="Who marks intents as met",
        empty_label="I do, manually",
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        rows = list(visibility.endpoints())
        for name, part in (("agent", "agent"), ("judge", "user_model")):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = visibility.endpoints()
            if not self.is_bound:
                self.initial.setdefault(name, _usual(rows, part))
        agent = self.fields["agent"]
        assert isinstance(agent, forms.ModelChoiceField)
        agent.empty_label = None

    @property
    def chosen(self) -> dict[str, Any]:
        """As ``start_rehearsal`` takes it."""
        return {name: self.cleaned_data[name] for name in ("seat", "agent", "judge")}
