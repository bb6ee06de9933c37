"""Starting a pilot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import QuerySet

from evaluation.endpoints.parts import default_endpoint, endpoints_for
from evaluation.engine.budgets import KINDS, MAX_BUDGET
from evaluation.engine.plan import LIMITS
from evaluation.forms.choices import EndpointChoice, EndpointChoices, choice_of
from evaluation.models import ModelEndpoint, Pilot
from evaluation.models.agents import REACT
from evaluation.pilots.agents import KindParameter, kind_choices, kind_parameters
from evaluation.pilots.plans import bases_for, runnable_personas
from evaluation.pilots.start import PilotOptions
from evaluation.protocol.modes import TEXTS, ModeText, PilotMode
from evaluation.protocol.versions import ProtocolName
from evaluation.protocol.voice import STYLES
from studio.forms.fields import NumberField, WholeNumberField
from studio.forms.options import OptionsForm
from studio.forms.post_data import number_of
from studio.models import Benchmark, Persona, Task
from studio.models.tasks import APPROVED

TASKS_SHOWN = 100
"""With more tasks than this, only those of the selected persona are listed."""
LOAD_TASKS = {
    "hx-get": "",
    "hx-params": "persona",
    "hx-target": "#task-choice",
    "hx-select": "#task-choice",
    "hx-swap": "outerHTML",
}
CHOICE_TEXTS = {
    "own": "The agent writes it itself",
    "consolidated": "A model call brings it up to date after each session",
    "all": "All from the start",
    "search": "Found by searching, so that they take less room",
}
"""What values of an agent's parameters mean."""
AMOUNT: dict[str, Any] = {"min_value": 0, "max_value": MAX_BUDGET, "required": False}


class BudgetForm(forms.Form):
    """Blank or 0: no limit."""

    budget_tokens = WholeNumberField(label="Tokens", **AMOUNT)
    budget_calls = WholeNumberField(label="Model calls", **AMOUNT)
    budget_cost = NumberField(label="US dollars", **AMOUNT)
    session_budget_tokens = WholeNumberField(label="Tokens per session", **AMOUNT)
    session_budget_calls = WholeNumberField(label="Model calls per session", **AMOUNT)
    session_budget_cost = NumberField(label="US dollars per session", **AMOUNT)


class BenchmarkBudgetForm(forms.Form):
    """Blank or 0: no limit."""

    cost = NumberField(label="US dollars", **AMOUNT)
    tokens = WholeNumberField(label="Tokens", **AMOUNT)
    calls = WholeNumberField(label="Model calls", **AMOUNT)


def budgets_of(data: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {
        scope: {kind: data.get(f"{prefix}_{kind}") or 0 for kind in KINDS}
        for scope, prefix in (("pilot", "budget"), ("session", "session_budget"))
    }


def budget_initial(budgets: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    prefixes = {"pilot": "budget", "session": "session_budget"}
    return {
        f"{prefixes[scope]}_{kind}": value
        for scope, limits in budgets.items()
        if scope in prefixes
        for kind, value in limits.items()
    }


def _parameter_field(parameter: KindParameter) -> forms.Field:
    words: dict[str, Any] = {
        "label": parameter.name.replace("_", " ").capitalize(),
        "help_text": parameter.sentence[:1].upper() + parameter.sentence[1:],
        "required": False,
    }
    if parameter.choices:
        first, *rest = ((each, CHOICE_TEXTS.get(each, each)) for each in parameter.choices)
        words["help_text"] = "" if parameter.choices[0] in CHOICE_TEXTS else words["help_text"]
        return forms.ChoiceField(choices=[("", first[1]), *rest], **words)
    if parameter.is_number:
        return WholeNumberField(min_value=1, max_value=999_999_999, **words)
    return forms.CharField(max_length=20_000, widget=forms.Textarea(attrs={"rows": 2}), **words)


class BaseChoice(forms.ModelChoiceField[Pilot]):
    def label_from_instance(self, obj: Pilot) -> str:
        return f"Pilot {obj.number}: {obj.agent_name}, {obj.mode_text.label.lower()}"


class PilotForm(OptionsForm, BudgetForm):
    """Defaults are the ``LIMITS`` of a pilot."""

    of = PilotOptions
    silent = ("agent", "kind", "persona")
    agent = EndpointChoices(to_field_name="name", label="Agents")
    user_model = EndpointChoice(
        to_field_name="name",
        label="User model",
        help_text="Plays the user and marks intents as met.",
    )
    judge = EndpointChoice(
        to_field_name="name",
        help_text="Judges the checklist. Choose a model other than the agent.",
    )
    kind = forms.ChoiceField(required=False, initial=REACT, widget=forms.Select(attrs={"data-reveals": "kind"}))
    user_style = forms.ChoiceField(
        choices=[("", "as the protocol has it"), *((style.value, style.value) for style in STYLES)], required=False
    )
    base = BaseChoice(
        queryset=Pilot.objects.none(),
        to_field_name="number",
        required=False,
        empty_label="Choose a pilot",
        help_text="Participants must be the same; runs, limits and protocol are those of this pilot.",
    )
    persona = forms.ChoiceField(required=False)
    tasks = forms.MultipleChoiceField(
        required=False,
        help_text="Select none to run the whole episode. Dependencies of selected tasks run first.",
    )
    turns = WholeNumberField(min_value=1, max_value=int(LIMITS["turns"]), required=False, label="Turns per session")
    tool_calls = WholeNumberField(min_value=0, required=False, label="Tool calls per turn")
    tokens = WholeNumberField(min_value=0, required=False, label="Agent tokens per session")
    cost = NumberField(min_value=0, required=False, label="Agent US dollars per session", help_text="0 means no limit.")

    def __init__(self, *args: Any, benchmark: Benchmark, pilots: QuerySet[Pilot], **options: Any) -> None:
        """``pilots``: those whose sessions may be taken over."""
        super().__init__(*args, **options)
        choice_of(self, "kind").choices = [(name, name) for name, _ in kind_choices()]
        self._parameters = kind_parameters()
        for kind, parameters in self._parameters.items():
            self.fields |= {f"{kind}_{parameter.name}": _parameter_field(parameter) for parameter in parameters}
        choice_of(self, "base").queryset = bases_for(benchmark, pilots)
        self.personas = runnable_personas(benchmark)
        tasks = [task for row in self.personas for task in row.tasks]
        choices = choice_of(self, "persona").choices = [
            (row.persona.user_id, f"{row.persona} · {len(row.tasks)} tasks") for row in self.personas
        ]
        if len(choices) != 1:
            choice_of(self, "persona").choices = [("", f"All personas · {len(tasks)} tasks"), *choices]
        if self.loads_tasks:
            choice_of(self, "persona").widget.attrs |= LOAD_TASKS
        choice_of(self, "tasks").choices = [(task.task_id, str(task)) for task in tasks]
        for name in ("agent", "user_model", "judge"):
            field = choice_of(self, name)
            field.queryset = endpoints_for(name, benchmark)
            if name != "agent":
                field.empty_label = None
            if not self.is_bound and name not in self.initial:
                usual = default_endpoint(name, benchmark, self._agent_to_begin_with())
                self.initial[name] = [usual.name] if name == "agent" and usual else usual
        for name in ("turns", "tool_calls", "tokens", "cost"):
            self.initial.setdefault(name, int(LIMITS[name]))

    def _agent_to_begin_with(self) -> ModelEndpoint | None:
        agents: QuerySet[ModelEndpoint] = choice_of(self, "agent").queryset
        return agents.filter(name__in=self.initial.get("agent") or []).first()

    def clean(self) -> dict[str, Any]:
        """A pilot chosen for another mode is not an error."""
        data = super().clean() or {}
        if data.get("mode") != PilotMode.CHANGED:
            data["base"] = None
        return data

    @property
    def kind_sentences(self) -> list[tuple[str, str]]:
        return kind_choices()

    @property
    def parameters(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields of each kind of agent that has any."""
        return [(kind, [self[f"{kind}_{each.name}"] for each in each_of]) for kind, each_of in self._parameters.items()]

    @property
    def params(self) -> dict[str, str]:
        """Those of the chosen kind that were given."""
        kind = self.cleaned_data.get("kind") or REACT
        given = {each.name: self.cleaned_data.get(f"{kind}_{each.name}") for each in self._parameters.get(kind, ())}
        return {name: str(value) for name, value in given.items() if value not in (None, "")}

    @property
    def modes(self) -> list[tuple[str, ModeText, bool]]:
        """Each with what it does and costs, and whether it is chosen."""
        return [(mode.value, TEXTS[mode], self["mode"].value() == mode.value) for mode in PilotMode]

    @property
    def groups(self) -> list[tuple[Persona, list[tuple[Task, bool, bool]]]]:
        """Per persona: each task, whether it is selected, and whether it is a draft. In a large benchmark only the
        selected persona, or those with a selected task."""
        chosen = set(self["tasks"].value() or ())
        user_id = self["persona"].value()
        return [
            (row.persona, [(task, task.task_id in chosen, task.state not in APPROVED) for task in row.tasks])
            for row in self.personas
            if not self.loads_tasks
            or row.persona.user_id == user_id
            or (not user_id and any(task.task_id in chosen for task in row.tasks))
        ]

    @property
    def loads_tasks(self) -> bool:
        return self.task_count > TASKS_SHOWN

    @property
    def task_count(self) -> int:
        return sum(len(row.tasks) for row in self.personas)

    @property
    def selected_task_count(self) -> int:
        user_id = self["persona"].value()
        return sum(len(row.tasks) for row in self.personas if row.persona.user_id == user_id) or self.task_count

    @property
    def rest(self) -> str:
        """What the fields say that are asked last, in a line."""
        names = ("user_model", "judge", "kind", "protocol", "mode", "turns", "tool_calls", "tokens", "cost")
        said = {name: self[name].value() for name in names}
        limits = [f"{said['turns'] or 0} turns", f"{said['tool_calls'] or 0} tool calls a turn"]
        limits += [f"{tokens:,} tokens"] if (tokens := number_of(str(said["tokens"]))) else []
        limits += [f"${said['cost']}"] if said["cost"] not in (None, "", "0", 0) else []
        budgets = [name for name in BudgetForm.base_fields if self[name].value() not in (None, "", "0", 0)]
        parts = (
            ", ".join(
                f"{seat} {said[name]}" for seat, name in (("user", "user_model"), ("judge", "judge")) if said[name]
            ),
            f"agents work as {said['kind'] or REACT}",
            f"{said['protocol'] or ProtocolName.PAPER} protocol",
            TEXTS[PilotMode(said["mode"])].label.lower() if said["mode"] in list(PilotMode) else "",
            f"at most {', '.join(limits)} a session",
            f"{len(budgets)} budgets" if len(budgets) > 1 else "a budget" if budgets else "no budget",
        )
        return " · ".join(filter(None, parts))

    @property
    def rest_is_open(self) -> bool:
        """Whether one of them is to be mended."""
        return bool(set(self.errors) - {"agent", "persona", "tasks", "runs", "accept_warnings", "__all__"})

    def options_of_each(self) -> list[PilotOptions]:
        """A pilot for each of the agents. Raises OptionsError."""
        return [self.of.read(self.given | {"agent": row.name}) for row in self.cleaned_data["agent"]]

    @property
    def given(self) -> dict[str, Any]:
        data = self.cleaned_data
        limits = {name: data[name] for name in ("turns", "tool_calls", "tokens", "cost") if data[name] is not None}
        return super().given | {"params": self.params, "limits": limits, "budgets": budgets_of(data)}


def initial_of(options: PilotOptions) -> dict[str, Any]:
    """With which the form offers the same again."""
    plain = options.model_dump(exclude={"params", "limits", "budgets", "accept_warnings"}, mode="json")
    params = {f"{options.kind}_{name}": value for name, value in options.params.items()}
    return plain | {"agent": [options.agent]} | params | options.limits | budget_initial(options.budgets)
