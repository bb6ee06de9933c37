"""Judging a pilot again, and choosing what scores it."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from evaluation.forms.choices import EndpointChoice, choice_of
from evaluation.grading.credit import SAMPLE_RULES, TURN_RULES
from evaluation.judging.judgings import Rules, rules_from, rules_of, rules_to_json, scoring_choice
from evaluation.models import JudgingRound, ModelEndpoint, Pilot, Session
from evaluation.models.judgings import Purpose
from evaluation.pilots.rejudging import RejudgingOptions, known_versions
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import PROTOCOLS, ProtocolName
from studio.forms.options import OptionsForm, RuledForm

SESSIONS_SHOWN = 200


class RejudgingForm(OptionsForm):
    """Every field left as it is means: as the pilot ran."""

    of = RejudgingOptions
    judge = EndpointChoice(to_field_name="name", required=False, empty_label="As the pilot ran")
    protocol = forms.ChoiceField(
        choices=[("", "As the pilot ran"), *((name, f"{name}: {text}") for name, text in PROTOCOLS.items())],
        required=False,
    )
    prompt = forms.ChoiceField(required=False)
    sessions = forms.TypedMultipleChoiceField(
        coerce=int, required=False, help_text="Select none to judge all finished sessions."
    )

    def __init__(self, *args: Any, pilot: Pilot, **options: Any) -> None:
        super().__init__(*args, **options)
        judge, prompt, sessions = (choice_of(self, name) for name in ("judge", "prompt", "sessions"))
        judge.queryset = ModelEndpoint.objects.usable_in(pilot.benchmark)
        versions = [version for name in ProtocolName for version in known_versions(name)]
        prompt.choices = [
            ("", "As the pilot ran"),
            *((each, f"Version {each}") for each in sorted(set(versions), key=int)),
        ]
        rows: Any = (
            Session.objects.of(pilot).named().filter(state=Session.State.FINISHED, graded_strict_at__isnull=False)
        )
        sessions.choices = [
            (row.pk, f"{row.persona_name or row.persona_user} · {row.task_id} · run {row.run_number}")
            for row in rows[:SESSIONS_SHOWN]
        ]


class ScoringForm(RuledForm):
    turn_labels: ClassVar[dict[str, str]] = {name: rule.label for name, rule in TURN_RULES.items()}
    round = forms.ModelChoiceField(queryset=JudgingRound.objects.none(), empty_label=None, label="Round that scores")
    compat = forms.ChoiceField(label="compat: which turn counts for an item", choices=[])
    strict = forms.ChoiceField(label="strict: which turn counts for an item", choices=[])
    samples = forms.ChoiceField(label="With several samples", choices=[])

    def __init__(self, *args: Any, pilot: Pilot, **options: Any) -> None:
        super().__init__(*args, **options)
        choice_of(self, "round").queryset = JudgingRound.objects.filter(pilot=pilot).exclude(purpose=Purpose.AUDIT)
        turns = [(name, rule.label) for name, rule in TURN_RULES.items()]
        samples = [(name, rule.label) for name, rule in SAMPLE_RULES.items()]
        for name, choices in (("compat", turns), ("strict", turns), ("samples", samples)):
            choice_of(self, name).choices = choices
        if ScoringMode.COMPAT not in pilot.terms.modes:
            self.fields["compat"].required = False
        choice = scoring_choice(pilot)
        self._before = rules_of(choice)
        rules = rules_to_json(self._before)
        self.initial = {
            "round": choice.round_id,
            "samples": rules["strict"]["samples"],
            "compat": rules["compat"]["turns"],
            "strict": rules["strict"]["turns"],
            **self.initial,
        }

    @property
    def rules(self) -> Rules:
        return rules_from({name: self.cleaned_data[name] for name in ("compat", "strict", "samples")}, self._before)
