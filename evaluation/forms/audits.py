"""Opening an audit of what judges decided in pilots."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django import forms
from django.db.models import QuerySet

from annotations.campaigns import MAX_INSTRUCTIONS
from annotations.models import AuditCampaign
from evaluation.audits.blindness import closed_pilots
from evaluation.audits.campaigns import auditable_pilots
from evaluation.audits.opening import DEFAULT_PEOPLE, AuditOptions
from evaluation.audits.rounds import auditable_rounds
from evaluation.forms.choices import choice_of
from evaluation.models import Pilot
from studio.access import ALLOWED
from studio.domain.phrases import count_of
from studio.forms.options import OptionsForm
from studio.models import Benchmark, Membership, User

USUAL_SECOND = 25
"""Percent: with the usual 60 decisions 15, in which a rate of 3 % is known to about ± 12 points."""
EXAMPLE = """A deadline counts only with its date.
- “by Friday, 6 June”: yes
- “soon”: no"""


class PilotLabel:
    """Of fields that choose pilots."""

    def label_from_instance(self, pilot: Pilot) -> str:
        scripted = ", scripted: practice only" if pilot.scripted else ""
        decisions = pilot.decisions  # type: ignore[attr-defined]  # annotated by auditable_pilots
        judged = f"criteria judged by {pilot.judge_name}"
        return f"Pilot {pilot.number} · {pilot.agent_name}, {judged} · {decisions} decisions{scripted}"


class PilotsChoice(PilotLabel, forms.ModelMultipleChoiceField[Pilot]):
    pass


class OpenAuditForm(OptionsForm):
    of = AuditOptions
    silent = ("pilots",)
    pilots = PilotsChoice(
        Pilot.objects.none(),
        label="Pilots",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose the pilots whose judge to audit.",
            "invalid_choice": "This pilot has nothing to audit.",
        },
    )
    unit = forms.ChoiceField(
        choices=[
            (AuditCampaign.Unit.SESSION, "A whole session: every intent's status and every checklist item"),
            (AuditCampaign.Unit.DECISION, "A single decision, with what its judge saw"),
        ],
        initial=AuditCampaign.Unit.SESSION,
        required=False,
        widget=forms.RadioSelect,
    )
    strata = forms.ChoiceField(choices=[("", "As usual"), *AuditCampaign.Strata.choices], required=False)
    auditors = forms.ModelMultipleChoiceField(
        User.objects.none(),
        to_field_name="username",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Leave all unchecked to include every auditor of the benchmark.",
    )
    instructions = forms.CharField(
        required=False,
        max_length=MAX_INSTRUCTIONS,
        widget=forms.Textarea(attrs={"rows": 6, "placeholder": EXAMPLE}),
    )

    def __init__(self, benchmark: Benchmark, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["round"]  # each pilot has its own
        self.fields["second"].initial = USUAL_SECOND
        self.fields["second"].help_text += " “See what it comes to” tells how well the second rate will be known."
        auditors = Membership.objects.filter(benchmark=benchmark, role__in=ALLOWED["audit"]).values("user")
        pilots = auditable_pilots(benchmark).exclude(pk__in=closed_pilots(user))
        choice_of(self, "pilots").queryset = pilots
        self._offer_rounds(pilots)
        people = choice_of(self, "auditors").queryset = User.objects.filter(pk__in=auditors)
        number = people.count()
        self.fields["people"].initial = min(DEFAULT_PEOPLE, max(1, number))
        if number < DEFAULT_PEOPLE:
            self.fields["people"].help_text = (
                f"{DEFAULT_PEOPLE} is usual, so that there is a majority; {benchmark} has "
                f"{count_of(number, 'auditor')} so far."
            )

    def _offer_rounds(self, pilots: QuerySet[Pilot]) -> None:
        """One field for each pilot that was judged again."""
        self._rounds: dict[int, str] = {}
        found = auditable_rounds(Pilot.objects.filter(pk__in=pilots.values("pk"))).select_related("pilot")
        for pilot, rows in groupby(sorted(found, key=lambda row: row.pilot.number), key=lambda row: row.pilot):
            choices = [(row.number, f"Round {row.number}: {row.get_purpose_display().lower()}") for row in rows]
            if len(choices) > 1:
                name = self._rounds[pilot.pk] = f"round_{pilot.pk}"
                self.fields[name] = forms.TypedChoiceField(
                    label=f"Which judging of pilot {pilot.number}",
                    choices=[("", "The round that scores"), *choices],
                    required=False,
                    coerce=int,
                    empty_value=None,
                    help_text="It was judged again. The plan keeps your choice, whichever scores later.",
                )
        self.order_fields(["pilots", *self._rounds.values()])

    @property
    def given(self) -> dict[str, Any]:
        chosen = super().given
        rounds = {pilot: self.cleaned_data.get(name) for pilot, name in self._rounds.items()}
        wanted = {pilot: number for pilot, number in rounds.items() if number and pilot in chosen["pilots"]}
        return chosen | {"rounds": wanted}
