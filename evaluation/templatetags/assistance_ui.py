"""Assistance in the task editor, loaded once per page."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

from django import template
from django.utils.safestring import SafeString

from evaluation.assistance.assistant import assistant_model_of
from evaluation.assistance.kinds import KIND_BY_RULE, LANGUAGES, REFERENCE_OF, ROW_FIELDS
from evaluation.assistance.presentation import ProposalView, build_view, proposals_with_details
from evaluation.assistance.provenance import ProposalOrigin, load_origins
from evaluation.assistance.task_material import WORKFLOW
from evaluation.models import OpinionRequest, Proposal
from studio.forms.tasks import uid_of_row
from studio.models import Task
from studio.templatetags.studio_rows import findings_at
from studio.web.components import render_component

register = template.Library()
OPEN = (Proposal.State.REQUESTED, Proposal.State.READY, Proposal.State.FAILED)
BUTTONS = {"reword": "Propose a rewording", "split": "Propose a split", "rule": "Propose a rule"}


class Assistance:
    languages = LANGUAGES

    def __init__(self, task: Task, can: Collection[str]) -> None:
        self._task = task
        self.may_enable = "manage" in can
        assistant = assistant_model_of(task.persona.benchmark) if "edit" in can else None
        self.endpoint = assistant.endpoint if assistant else None
        """None if AI help is off or the user may not edit."""

    @cached_property
    def undecided(self) -> dict[str, list[ProposalView]]:
        if self.endpoint is None:
            return {}
        rows = proposals_with_details().filter(task=self._task, state__in=OPEN).order_by("pk")
        by_slot: dict[str, list[ProposalView]] = {}
        for row in rows:
            by_slot.setdefault(_slot_of(row), []).append(build_view(row))
        return by_slot

    @cached_property
    def opinion_request(self) -> OpinionRequest | None:
        """What became of asking for a second opinion on the saved version; None if the model is not asked for any."""
        if self.endpoint is None or self.endpoint.scripted:
            return None
        return OpinionRequest.objects.filter(task=self._task).first()

    @cached_property
    def origins(self) -> dict[tuple[str, str], ProposalOrigin]:
        return load_origins(self._task)


@register.simple_tag(takes_context=True)
def assistance(context: template.Context) -> Assistance:
    request, task = context["request"], context["task"]
    cache: dict[int, Assistance] = request.__dict__.setdefault("_assistance", {})
    if task.pk not in cache:
        cache[task.pk] = Assistance(task, context.get("can") or ())
    return cache[task.pk]


@register.simple_tag(takes_context=True)
def proposals_at(context: template.Context, slot: str, key: str = "") -> list[ProposalView]:
    return assistance(context).undecided.get(f"{slot}.{uid_of_row(key)}" if key else slot, [])


@register.simple_tag(takes_context=True)
def origin(context: template.Context, field: str, key: str = "") -> ProposalOrigin | None:
    return assistance(context).origins.get((field, uid_of_row(key) if key else ""))


@register.simple_tag(takes_context=True)
def assistance_row(context: template.Context, field: str, key: str, number: int | None) -> SafeString:
    """``number`` is None for the blank row. Most rows need only an empty slot, so its template is minimal."""
    enabled = assistance(context).endpoint is not None
    has_content = number and (origin(context, field, key) or assistance_for_field(context, field, number))
    if has_content or (enabled and proposals_at(context, field, key)):
        page = _load_template(context, "evaluation/assistance/row.html")
        with context.push(list=field, key=key, number=number):
            return page.render(context)
    if not enabled:
        return SafeString("")
    return render_component("evaluation/assistance/empty_slot.html", slot=field, key=key)


@register.simple_tag(takes_context=True)
def assistance_for_field(context: template.Context, field: str, number: int | None = None) -> list[tuple[str, str]]:
    """Kinds of assistance that resolve findings of a field or row, with their button labels."""
    if not assistance(context).endpoint:
        return []
    in_row = field in ROW_FIELDS
    kinds: dict[str, None] = {}
    for finding in findings_at(context, field, number) if in_row else context.get("findings") or ():
        kind = KIND_BY_RULE.get(finding.rule)
        target = "initial_request" if kind == "reword" else finding.field
        if kind and target == field:
            kinds[kind] = None
    return [(kind, BUTTONS[kind]) for kind in kinds]


def _button_for(context: template.Context, finding: Any) -> dict[str, str] | None:
    """Context of the request button; None if no kind of assistance resolves the finding."""
    rule = finding["rule"] if isinstance(finding, dict) else finding.rule
    kind = KIND_BY_RULE.get(rule)
    if not kind or not assistance(context).endpoint:
        return None
    if kind == "reword":
        return {"label": BUTTONS[kind], "ask": "reword:initial_request", "target": "assist-initial_request"}
    field, key = _row_of(context, finding)
    if not key:
        return None
    return {"label": BUTTONS[kind], "ask": f"{kind}:{field}:{key}", "target": f"assist-{field}-{key}"}


@register.simple_tag(takes_context=True)
def assistance_button(context: template.Context, finding: Any) -> SafeString:
    button = _button_for(context, finding) if "edit" in (context.get("can") or ()) else None
    if not button:
        return SafeString("")
    page = _load_template(context, "evaluation/assistance/request_button.html")
    with context.push(**button, endpoint=assistance(context).endpoint):
        return page.render(context)


@register.simple_tag(takes_context=True)
def references(context: template.Context) -> list[str]:
    """Good results of the task. Its files are no results: they are there before the work."""
    spec = context["spec"]
    attached = [f"{REFERENCE_OF}{file.path}" for file in spec.references]
    return [*attached, *([WORKFLOW] if spec.reference_workflow.strip() else [])]


def _row_of(context: template.Context, finding: Any) -> tuple[str, str]:
    """Field and key of the finding's row. A finding sent by the page is a dict."""
    if isinstance(finding, dict):
        field, _, key = str(finding.get("input", "")).rpartition(".")[0].partition(".")
        return (field, key) if field in ROW_FIELDS else ("", "")
    rows = getattr(context.get("form"), finding.field, ()) if finding.field in ROW_FIELDS else ()
    if not finding.item or finding.item > len(rows):
        return "", ""
    return finding.field, str(rows[finding.item - 1]["key"])


def _slot_of(row: Proposal) -> str:
    if row.kind in ("split", "rule"):
        return f"{row.field}.{row.item}"
    return "task" if row.kind == "translate" else row.field


def _load_template(context: template.Context, name: str) -> template.Template:
    assert context.template is not None  # set while rendering
    return context.template.engine.get_template(name)
