"""Help from a model, where it belongs in the editor. Read once for a page, however many rows it has."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

from django import template
from django.utils.safestring import SafeString

from evaluation.assistance.assistant import helper_of
from evaluation.assistance.kinds import BY_RULE, LANGUAGES, ROW_FIELDS
from evaluation.assistance.presentation import SuggestionView, suggestions, view_of
from evaluation.assistance.provenance import Origin, origins
from evaluation.assistance.task_material import REFERENCE_OF, WORKFLOW
from evaluation.models import Suggestion
from studio.forms.tasks import uid_of_row
from studio.models import Task
from studio.templatetags.studio_rows import findings_at
from studio.web.components import render_component

register = template.Library()
OPEN = (Suggestion.State.ASKED, Suggestion.State.READY, Suggestion.State.FAILED)
BUTTONS = {"reword": "Propose a rewording", "split": "Propose a split", "rule": "Propose a rule"}


class Assistance:
    """What a task's page shows of it."""

    languages = LANGUAGES

    def __init__(self, task: Task, can: Collection[str]) -> None:
        self._task = task
        self.may_choose = "manage" in can
        """This person chooses who helps."""
        helper = helper_of(task.episode.persona.benchmark) if "edit" in can else None
        self.endpoint = helper.endpoint if helper else None
        """Who helps those who may edit; None: nobody does."""

    @cached_property
    def open(self) -> dict[str, list[SuggestionView]]:
        """Suggestions that wait for somebody, by place."""
        rows = suggestions().filter(task=self._task, state__in=OPEN).order_by("pk")
        found: dict[str, list[SuggestionView]] = {}
        for row in rows:
            found.setdefault(_place(row), []).append(view_of(row))
        return found

    @cached_property
    def origins(self) -> dict[tuple[str, str], Origin]:
        return origins(self._task)


@register.simple_tag(takes_context=True)
def assistance(context: template.Context) -> Assistance:
    request, task = context["request"], context["task"]
    known: dict[int, Assistance] = request.__dict__.setdefault("_assistance", {})
    if task.pk not in known:
        known[task.pk] = Assistance(task, context.get("can") or ())
    return known[task.pk]


@register.simple_tag(takes_context=True)
def suggestions_at(context: template.Context, place: str, key: str = "") -> list[SuggestionView]:
    """Those that wait at a field, or at one of its rows."""
    return assistance(context).open.get(f"{place}.{uid_of_row(key)}" if key else place, [])


@register.simple_tag(takes_context=True)
def origin(context: template.Context, field: str, key: str = "") -> Origin | None:
    """Where the words of a field or row come from, if a model proposed them."""
    return assistance(context).origins.get((field, uid_of_row(key) if key else ""))


@register.simple_tag(takes_context=True)
def assist_row(context: template.Context, field: str, key: str, number: int | None) -> SafeString:
    """Help with one row, ``number`` of its list; None: of the blank one. Most rows have none, of many on a page."""
    helped = assistance(context).endpoint is not None
    named = number and (origin(context, field, key) or help_called_for(context, field, number))
    if named or (helped and suggestions_at(context, field, key)):
        page = context.template.engine.get_template("evaluation/parts/assist_row.html")  # type: ignore[union-attr]
        with context.push(list=field, key=key, number=number):
            return page.render(context)
    if not helped:
        return SafeString("")
    return render_component("evaluation/parts/assist_place_empty.html", place=field, key=key)


@register.simple_tag(takes_context=True)
def help_called_for(context: template.Context, field: str, number: int | None = None) -> list[tuple[str, str]]:
    """Kinds of help, with the words on their buttons, that findings of a field or row call for."""
    if not assistance(context).endpoint:
        return []
    in_row = field in ROW_FIELDS
    kinds: dict[str, None] = {}
    for one in findings_at(context, field, number) if in_row else context.get("findings") or ():
        kind = BY_RULE.get(one.rule)
        about = "initial_request" if kind == "reword" else one.field
        if kind and about == field:
            kinds[kind] = None
    return [(kind, BUTTONS[kind]) for kind in kinds]


@register.simple_tag(takes_context=True)
def help_for(context: template.Context, finding: Any) -> dict[str, str] | None:
    """The help one finding calls for: what its button says and asks; None if there is none."""
    rule = finding["rule"] if isinstance(finding, dict) else finding.rule
    kind = BY_RULE.get(rule)
    if not kind or not assistance(context).endpoint:
        return None
    if kind == "reword":
        return {"words": BUTTONS[kind], "ask": "reword:initial_request", "place": "assist-initial_request"}
    field, key = _row_of(context, finding)
    if not key:
        return None
    return {"words": BUTTONS[kind], "ask": f"{kind}:{field}:{key}", "place": f"assist-{field}-{key}"}


@register.simple_tag(takes_context=True)
def assist_finding(context: template.Context, finding: Any) -> SafeString:
    """The button that asks for the help that a finding calls for."""
    wanted = help_for(context, finding) if "edit" in (context.get("can") or ()) else None
    if not wanted:
        return SafeString("")
    page = context.template.engine.get_template("evaluation/parts/assist_button.html")  # type: ignore[union-attr]
    with context.push(
        ask=wanted["ask"], words=wanted["words"], target=wanted["place"], helper=assistance(context).endpoint
    ):
        return page.render(context)


@register.simple_tag(takes_context=True)
def references(context: template.Context) -> list[str]:
    """What checklist items can be drawn from: references first, then files, those the task expects before others."""
    spec = context["spec"]
    expected = {*spec.expected_paths, *spec.files_read}
    paths = sorted((file.path for file in spec.assets), key=lambda path: (path not in expected, path))
    attached = [f"{REFERENCE_OF}{file.path}" for file in spec.references]
    return [*attached, *paths, *([WORKFLOW] if spec.reference_workflow.strip() else [])]


def _row_of(context: template.Context, finding: Any) -> tuple[str, str]:
    """Field and key of the row a finding is about, on the page as it was drawn or as it was sent."""
    if isinstance(finding, dict):
        field, _, key = str(finding.get("input", "")).rpartition(".")[0].partition(".")
        return (field, key) if field in ROW_FIELDS else ("", "")
    rows = getattr(context.get("sheet"), finding.field, ()) if finding.field in ROW_FIELDS else ()
    if not finding.item or finding.item > len(rows):
        return "", ""
    return finding.field, str(rows[finding.item - 1]["key"])


def _place(row: Suggestion) -> str:
    if row.kind in ("split", "rule"):
        return f"{row.field}.{row.item}"
    return "task" if row.kind == "translate" else row.field
