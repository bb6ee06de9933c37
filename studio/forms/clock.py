"""When a persona's sessions take place, as its author picks it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms

from studio.domain.app_data import DAYS, DEFAULT_START, MOST_DAYS, EpisodeTimes

FORMATS = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]


def _moment(label: str, help_text: str = "") -> forms.DateTimeField:
    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "any"})
    return forms.DateTimeField(required=False, label=label, help_text=help_text, widget=widget, input_formats=FORMATS)


class ClockForm(forms.Form):
    def __init__(self, data: Any, *, times: EpisodeTimes, tasks: Sequence[tuple[str, str]]) -> None:
        """``tasks``: ids and titles, in order."""
        super().__init__(data, initial={"now": _said(times.now), "days": times.days})
        self._tasks = dict(tasks) | {name: f"{name} (no task now)" for name in times.tasks if name not in dict(tasks)}
        usual = f"{DEFAULT_START:%A}, {DEFAULT_START.day} {DEFAULT_START:%B %Y, %H:%M}"
        self.fields["now"] = _moment("First session", f"Leave blank for {usual}.")
        self.fields["days"] = forms.FloatField(
            required=False,
            min_value=0,
            max_value=MOST_DAYS,
            label="Days between sessions",
            help_text=f"Leave blank for {DAYS:g}.",
        )
        for place, (name, title) in enumerate(self._tasks.items()):
            self.fields[f"task-{place}"] = _moment(title)
            self.initial[f"task-{place}"] = _said(times.tasks.get(name))

    @property
    def of_tasks(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith("task-")]

    @property
    def has_task_times(self) -> bool:
        return any(field.value() or field.errors for field in self.of_tasks)

    def to_json(self) -> str:
        """Of a valid form; empty if nothing is set."""
        said: dict[str, Any] = {}
        if now := _said(self.cleaned_data["now"]):
            said["now"] = now
        if (days := self.cleaned_data["days"]) is not None:
            said["days"] = days
        own = {name: self.cleaned_data[f"task-{place}"] for place, name in enumerate(self._tasks)}
        if tasks := {name: _said(moment) for name, moment in own.items() if moment}:
            said["tasks"] = tasks
        return json.dumps(said) if said else ""


def _said(moment: datetime | None) -> str:
    """With seconds only where there are some."""
    return moment.strftime(FORMATS[moment.second > 0]) if moment else ""
