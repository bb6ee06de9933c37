"""Gold items whose known answers are typed before an audit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotations.forms import QuestionsForm
from annotations.gold import questions_of, type_answers
from annotations.models import AuditCampaign, GoldItem
from annotations.packets import PacketContent
from annotations.reports import KINDS
from evaluation.audits.known import draw_gold_item, find_gold_item, gold_items, pilots_to_draw_from
from evaluation.forms.audits import PilotLabel
from evaluation.forms.choices import choice_of
from evaluation.models import Pilot
from studio.access import SignedInRequest, find_benchmark
from studio.forms.options import RuledForm
from studio.models import Benchmark, User


class PilotChoice(PilotLabel, forms.ModelChoiceField[Pilot]):
    pass


class DrawForm(RuledForm):
    pilot = PilotChoice(Pilot.objects.none(), empty_label=None)
    unit = forms.ChoiceField(
        label="What to ask",
        choices=AuditCampaign.Unit.choices,
        initial=AuditCampaign.Unit.SESSION,
        widget=forms.RadioSelect,
    )

    def __init__(self, benchmark: Benchmark, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice_of(self, "pilot").queryset = pilots_to_draw_from(benchmark, user)


class KnownAnswersForm(QuestionsForm):
    def __init__(self, item: GoldItem, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {"answers": item.known}
        self.questions = questions_of(item)

    def rows(self) -> Iterator[dict[str, Any]]:
        for row in super().rows():
            yield row | {"chosen": row["chosen"] or "", "choices": [*row["choices"], ("", "Leave open", "")]}


@require_http_methods(["GET", "POST"])
def gold(request: SignedInRequest, slug: str) -> HttpResponse:
    """The items, and drawing another."""
    benchmark = find_benchmark(request.user, slug, "plan_audit")
    form = DrawForm(benchmark, request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.rejecting():
            item = draw_gold_item(form.cleaned_data["pilot"], form.cleaned_data["unit"], by=request.user)
            return redirect("evaluation:gold_item", item.pk)
    return render(
        request,
        "evaluation/audits/gold.html",
        {
            "benchmark": benchmark,
            "form": form,
            "items": [(KINDS[row.content["kind"]], row) for row in gold_items(benchmark, request.user)],
        },
    )


@require_http_methods(["GET", "POST"])
def gold_item(request: SignedInRequest, pk: int) -> HttpResponse:
    """Its record as auditors will see it, and the answers."""
    item = find_gold_item(request.user, pk)
    if request.method == "POST" and "remove" in request.POST:
        item.delete()
        messages.success(request, "The item was removed. Audits that asked it keep it.")
        return redirect("evaluation:gold", item.benchmark.slug)
    form = KnownAnswersForm(item, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.rejecting():
            type_answers(item, form.answers(), by=request.user)
            messages.success(request, "The known answers are saved. Later audits may ask this.")
            return redirect("evaluation:gold", item.benchmark.slug)
    content = PacketContent.model_validate(item.content)
    return render(
        request,
        "evaluation/audits/gold_item.html",
        {"item": item, "benchmark": item.benchmark, "content": content, "form": form},
    )


urlpatterns = [
    path("audits/known/<slug:slug>/", gold, name="gold"),
    path("audits/known/item/<int:pk>/", gold_item, name="gold_item"),
]
