"""Opening an audit of a pilot's judge. It is here because the audit pages know nothing of pilots."""

from __future__ import annotations

import secrets
from itertools import groupby
from typing import Any, cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotations.campaigns import MAX_INSTRUCTIONS, CampaignError
from annotations.exports import outline_of
from annotations.models import AuditCampaign
from annotations.planning import decisions_needed
from annotations.visibility import benchmarks_to_audit
from evaluation.audits.blindness import closed_pilots
from evaluation.audits.campaigns import (
    DEFAULT_PEOPLE,
    DEFAULT_SESSIONS,
    DEFAULT_SIZE,
    MAX_CONTROLS,
    MAX_PEOPLE,
    MAX_SIZE,
    AuditOptions,
    auditable_pilots,
    open_audit,
    plan_audit,
)
from evaluation.audits.rounds import auditable_rounds
from evaluation.models import Pilot
from studio.access import ALLOWED, SignedInRequest, benchmarks_for, find_benchmark, require, why_not
from studio.domain.phrases import count_of
from studio.forms.numbers import NumberField, WholeNumberField
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
        return (
            f"Pilot {pilot.number} · {pilot.agent_name}, judged by {pilot.judge_name} · {decisions} decisions{scripted}"
        )


class PilotsChoice(PilotLabel, forms.ModelMultipleChoiceField[Pilot]):
    pass


def choice_field(form: forms.Form, name: str) -> forms.ModelChoiceField[Any]:
    return cast("forms.ModelChoiceField[Any]", form.fields[name])


def choices_in(form: forms.Form, name: str) -> QuerySet[Any]:
    rows = choice_field(form, name).queryset
    assert rows is not None
    return rows.all()


class OpenAuditForm(forms.Form):
    pilot = PilotsChoice(
        Pilot.objects.none(),
        label="Pilots",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose the pilots whose judge to audit.",
            "invalid_choice": "This pilot has nothing to audit.",
        },
    )
    unit = forms.ChoiceField(
        label="What people judge at a time",
        choices=[
            (AuditCampaign.Unit.SESSION, "A whole session: every intent's status and every checklist item"),
            (AuditCampaign.Unit.DECISION, "A single decision, with what its judge saw"),
        ],
        initial=AuditCampaign.Unit.SESSION,
        required=False,
        widget=forms.RadioSelect,
        help_text="Whole sessions say how often scores are right in truth: people see everything that happened. Single "
        "decisions say how often the judge is right given what it was shown, as the paper’s Table 6 does. A release "
        "wants both.",
    )
    strata = forms.ChoiceField(
        label="How they are drawn",
        choices=[("", "As usual"), *AuditCampaign.Strata.choices],
        required=False,
        help_text="As usual: as many sessions from each pilot; decisions by kind, answer, persona and pilot.",
    )
    name = forms.CharField(required=False, max_length=200, help_text="Leave blank for “Audit of pilot …”.")
    size = WholeNumberField(
        label="How many",
        required=False,
        min_value=1,
        max_value=MAX_SIZE,
        help_text=(
            f"Leave blank for {DEFAULT_SESSIONS} sessions or {DEFAULT_SIZE} decisions. With 60 decisions, a rate of "
            f"3 % is known to about ± 5 points."
        ),
    )
    half_width = NumberField(
        label="Or as many as give this precision",
        required=False,
        min_value=0.5,
        max_value=40,
        help_text="Points to either side of the rate of disagreement, if it is about 3 %: "
        + ", ".join(f"± {points} takes {decisions_needed(points / 100)} decisions" for points in (5, 3, 2))
        + ". Whole sessions count each of their questions.",
    )
    overlap = WholeNumberField(
        label="People for each",
        min_value=1,
        max_value=MAX_PEOPLE,
        help_text="The majority counts. With two or more, you also see how well people agree with each other.",
    )
    second = NumberField(
        label="Ask single decisions again, in truth",
        required=False,
        initial=USUAL_SECOND,
        min_value=0,
        max_value=100,
        help_text="In percent. After all first answers the whole session opens, and the same is asked again; the first "
        "answers then stay. “See what it comes to” tells how well the second rate will be known.",
    )
    gold = NumberField(
        label="Items with a known answer",
        required=False,
        min_value=0,
        max_value=MAX_CONTROLS,
        help_text="In percent, on top: first those whose answers were typed under Known answers, then what earlier "
        "audits here decided beyond doubt. In no score.",
    )
    planted = NumberField(
        label="Planted wrong verdicts",
        required=False,
        min_value=0,
        max_value=MAX_CONTROLS,
        help_text="In percent: items of other tasks, which these sessions cannot meet. They tell who looks and who "
        "says yes to everything. Nobody sees which they are before the audit is closed. In no score.",
    )
    auditors = forms.ModelMultipleChoiceField(
        User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Leave all unchecked to include every auditor of the benchmark.",
    )
    due = forms.DateField(
        label="By when",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="Auditors see it with the days that are left. Nothing stops on that day.",
    )
    instructions = forms.CharField(
        label="Instructions of your own",
        required=False,
        max_length=MAX_INSTRUCTIONS,
        widget=forms.Textarea(attrs={"rows": 6, "placeholder": EXAMPLE}),
        help_text="What counts here, with examples. Auditors read them before the first question and can look at them "
        "at each. They cannot be changed once the audit is open. Markdown works: **bold**, - lists, > quotes.",
    )
    own_tasks = forms.BooleanField(
        label="People may judge tasks they wrote, edited or approved",
        required=False,
        help_text="Better not: they know what they meant.",
    )
    seed = WholeNumberField(min_value=0, max_value=2**31 - 1, help_text="The same seed draws the same sample again.")

    def __init__(self, benchmark: Benchmark, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        auditors = Membership.objects.filter(benchmark=benchmark, role__in=ALLOWED["audit"]).values("user")
        pilots = auditable_pilots(benchmark).exclude(pk__in=closed_pilots(user))
        choice_field(self, "pilot").queryset = pilots
        self._offer_rounds(pilots)
        people = choice_field(self, "auditors").queryset = User.objects.filter(pk__in=auditors)
        number = people.count()
        self.fields["overlap"].initial = min(DEFAULT_PEOPLE, max(1, number))
        if number < DEFAULT_PEOPLE:
            self.fields["overlap"].help_text = (
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
        self.order_fields(["pilot", *self._rounds.values()])

    def options(self) -> AuditOptions:
        """Only if the form is valid."""
        data = dict(self.cleaned_data)
        chosen = {row.pk for row in data.pop("pilot")}
        rounds = {pilot: data.pop(name) for pilot, name in self._rounds.items()}
        data["round"] = {pilot: number for pilot, number in rounds.items() if number and pilot in chosen}
        data |= {name: data[name] or 0 for name in ("second", "gold", "planted")}
        return AuditOptions(**{**data, "unit": data["unit"] or AuditCampaign.Unit.DECISION})


@login_required
@require_http_methods(["GET", "POST"])
def audit_new(request: SignedInRequest) -> HttpResponse:
    """For the benchmark in ``?benchmark=``, or the person's only one."""
    allowed = list(benchmarks_to_audit(request.user))
    if slug := request.GET.get("benchmark", ""):
        benchmark = find_benchmark(request.user, slug)
        require(request.user, benchmark, "plan_audit")
    elif len(allowed) > 1:
        return render(request, "annotations/choose.html", {"benchmarks": allowed})
    elif allowed:
        benchmark = allowed[0]
    elif benchmarks_for(request.user).exists():
        raise PermissionDenied(why_not("plan_audit"))
    else:
        raise Http404
    initial = {"seed": secrets.randbelow(1_000_000), "pilot": request.GET.getlist("pilot")}
    form = OpenAuditForm(benchmark, request.user, request.POST or None, initial=initial)
    pilots = choices_in(form, "pilot")
    if not initial["pilot"] and len(pilots[:2]) == 1:
        form.initial["pilot"] = [pilots[0].pk]
    outline = None
    if request.method == "POST" and form.is_valid():
        try:
            if "outline" in request.POST:
                outline = outline_of(plan_audit(form.cleaned_data["pilot"], form.options()))
            else:
                return redirect(open_audit(form.cleaned_data["pilot"], form.options(), by=request.user))
        except CampaignError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
    context = {
        "form": form,
        "outline": outline,
        "unit": form["unit"].value(),
        "benchmark": benchmark,
        "has_decisions": pilots.exists(),
        "has_auditors": choices_in(form, "auditors").exists(),
    }
    request.room = "audits"
    return render(request, "annotations/open.html", context)


urlpatterns = [path("audits/new/", audit_new, name="audit_new")]
