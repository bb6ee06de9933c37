"""The template context of the task editor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db.models import F, Q

from studio import access
from studio.access import SignedInRequest
from studio.activity.timeline import activity_of
from studio.domain.anchors import ROW_TEXTS, TEXT_FIELDS, FieldKey
from studio.domain.base import About, fields_of
from studio.domain.descriptions import RULE_LABELS, SOURCE_LABELS
from studio.domain.opening_message import opening_message
from studio.domain.persona import script_path
from studio.domain.rule_values import record_apps
from studio.domain.signals import SIGNAL_EXAMPLES
from studio.domain.task import TaskSpec
from studio.drafts.authors import authors_of
from studio.files.tokens import FileTokens
from studio.findings import waivers
from studio.findings.queries import findings_of_task
from studio.forms.file_mentions import mentions_in
from studio.forms.tasks import TaskForm, read_task_form
from studio.models import Category, GraderScript, Persona, Task
from studio.personas import tools_and_skills
from studio.review import assignments
from studio.review.checklist import QUESTIONS
from studio.review.outdated import changed_labels
from studio.review.threads import threads_of
from studio.review.workflow import approvals_of
from studio.tasks.checks import evidence_map
from studio.tasks.guidelines import guidelines
from studio.views.pages import frame
from studio.views.personas.scripts import script_keys

ABOUT = fields_of(TaskSpec)
COMMENTED = (
    *("initial_request", "title", "description", "trigger", "intents", "checklist", "depends_on", "assets"),
    *("files_read", "tool_evidence", "reference_workflow", "expected_artifacts"),
)
FIELDS = [("", "the task as a whole"), *((name, ABOUT[name].page or ABOUT[name].label) for name in COMMENTED)]
"""What a comment can be about, besides rows and selected text."""
SEVERITIES = ("error", "warning", "hint")
EXPORT_FIELDS = tuple(name for name, about in ABOUT.items() if about.exported_only)
"""Fields used only in exports; collapsed until one has an error."""
BRIEF_ROWS_FROM = 400
"""Intents times items above which rows are brief: a script adds the inputs and buttons of a row when it is opened.
``?whole`` in the URL sends all rows in full."""


def context(request: SignedInRequest, row: Task, base: TaskSpec, form: TaskForm) -> dict[str, Any]:
    persona = row.persona
    benchmark = persona.benchmark
    spec, _ = read_task_form(form, base)
    newest = row.revisions.select_related("created_by").filter(number=row.version).first()
    authors = authors_of(newest) if newest else set()
    people = assignments.assignees_of(row, authors=authors)
    findings, waived = waivers.split_waived(row, findings_of_task(row))
    categories = list(Category.objects.filter(taxonomy=benchmark.taxonomy_id)) if benchmark.taxonomy_id else []
    items = F("n_rubric") + F("n_rule")
    siblings = list(
        row.persona.tasks.annotate(items=items, scored=Q(items__gt=0) | ~Q(grader_path=""))
        .order_by("position", "task_id")
        .values("pk", "task_id", "title", "position", "state", "scored", "items", "group")
    )
    choices = _dependency_choices(siblings, row)
    index = next((index for index, other in enumerate(siblings) if other["pk"] == row.pk), 0)
    scripts = list(persona.grader_scripts.order_by("path"))
    path = script_path(persona.user_id, base.grader_script)
    script = next((script for script in scripts if script.path == path), None)
    picked = tools_and_skills.cards_of(persona, form.values["tools"], form.values["skills"])
    return {
        **frame(request, row),
        "task_pk": str(row.pk),
        "task_name": str(row),
        "outline": _outline(form, base, marks := marked_sections(findings)),
        "folded": set() if form.errors else _unused(form) - marks.keys(),
        "triggers": Task._meta.get_field("trigger_kind").choices,
        "recovery_kinds": SOURCE_LABELS.items(),
        "rule_kinds": RULE_LABELS.items(),
        "record_apps": record_apps(picked["tools"]),
        "scored": _scored(form),
        "spec": base,
        "form": form,
        "on_version": row.version,
        "map": evidence_map(row, spec),
        "brief": len(form.intents) * len(form.checklist) > BRIEF_ROWS_FROM and "whole" not in request.GET,
        "opened": frozenset(),
        "guidelines": guidelines(),
        "newest": newest,
        "findings": findings,
        "errors": sum(finding.severity == "error" for finding in findings),
        "waived": waived,
        "waived_errors": [waiver for waiver in waived if waiver.finding.severity == "error"],
        "threads": (threads := threads_of(row, quotable_texts(form))),
        "open_comments": sum(thread.open for thread in threads),
        "reviews": list(newest.reviews.select_related("reviewer")) if newest else [],
        "approvals": approvals_of(newest, row.content) if newest else 0,
        "outdated": changed_labels(row),
        "review_questions": QUESTIONS,
        "is_author": request.user.pk in authors,
        "people": people,
        "obstacle": assignments.approval_obstacle(
            row, request.user, people=people, authors=authors, reviews=access.may(request.user, benchmark, "review")
        ),
        "fields": FIELDS,
        "task_names": task_names((other["task_id"], other["title"], other["position"]) for other in siblings),
        "earlier": [other for other in siblings if other["pk"] != row.pk and other["position"]],
        "dependency_choices": choices,
        "scored_before": choices[-1][1] if choices and choices[-1][1][0]["scored"] and row.position else [],
        "dependency_ids": {other["task_id"] for _, others in choices for other in others},
        "before": siblings[index - 1] if index else None,
        "after": siblings[index + 1] if index + 1 < len(siblings) else None,
        "details_open": bool(form.errors) or any(finding.field in EXPORT_FIELDS for finding in findings),
        "unknown_category": form.values["category"] not in ("", *(category.code for category in categories)),
        "categories": categories,
        "groups": sorted({other["group"] for other in siblings} - {""}),
        **picked,
        "scripts": scripts,
        "script": script,
        "grader_choices": _grader_choices(persona, scripts, form.values["grader_script"]),
        "script_keys": script_keys(script, base) if script else [],
        "mentions": mentions_in(form),
        "opening": opening_message(spec),
        "examples": examples(form.values["trigger"]),
        "limits": {"files": settings.UPLOAD_MAX_TASK_FILES, "file_bytes": settings.UPLOAD_MAX_FILE_BYTES},
        "activity": activity_of(row, size=8).object_list,
    }


def _dependency_choices(siblings: Iterable[Mapping[str, Any]], row: Task) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Tasks that run before this one, in groups with what to know before choosing; in the order of the episode."""
    before = [other for other in siblings if other["position"] and other["position"] < (row.position or math.inf)]
    before = [other for other in before if other["pk"] != row.pk]
    groups = {
        "Can be built on: nothing scores them on their own": [other for other in before if not other["scored"]],
        "Have their own checklist; move it here first": [other for other in before if other["scored"]],
    }
    return [(label, others) for label, others in groups.items() if others]


def file_tokens(task: Task) -> FileTokens:
    return FileTokens(task.persona.benchmark_id)


def task_names(tasks: Iterable[tuple[str, str, int | None]]) -> dict[str, str]:
    """Position and title of an episode's placed tasks, by task id."""
    return {task_id: f"{position:02d} {title.strip() or task_id}" for task_id, title, position in tasks if position}


def quotable_texts(form: TaskForm) -> dict[FieldKey, str]:
    texts: dict[FieldKey, str] = {(name, ""): form.values[name] for name in (*TEXT_FIELDS, "files_read")}
    texts["expected_artifacts", ""] = "\n".join(row["path"] for row in form.expected_artifacts)
    return texts | {(name, row["key"]): row[text] for name, text in ROW_TEXTS.items() for row in getattr(form, name)}


def examples(kind: str) -> list[str]:
    return [name for name, _ in SIGNAL_EXAMPLES.get(kind, [])]


def marked_sections(findings: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Number of findings and the worst severity, by section."""
    marks: dict[str, dict[str, Any]] = {}
    for finding in findings:
        mark = marks.setdefault(ABOUT.get(finding.field, About()).section, {"count": 0, "severity": finding.severity})
        mark["count"] += 1
        mark["severity"] = min(mark["severity"], finding.severity, key=SEVERITIES.index)
    return marks


def counts(form: TaskForm, spec: TaskSpec) -> dict[str, str]:
    """How much each part of the page holds, as its outline says."""
    return {anchor: str(count) for anchor, _, count, _ in _outline(form, spec, {})}


def _outline(
    form: TaskForm, base: TaskSpec, marks: Mapping[str, dict[str, Any]]
) -> list[tuple[str, str, Any, dict[str, Any] | None]]:
    sections = [
        ("about", "Title", ""),
        ("request", "Request", ""),
        ("intents", "Intents", len(form.intents) or "–"),
        ("checklist", "Checklist", len(form.checklist) or "–"),
        ("needs", "Builds on", len(form.depends_on) or "–"),
        ("files", "Files", len(form.assets) or "–"),
        ("seen", "Judges see", len(base.files_read) + len(form.tool_evidence) or "–"),
        ("script", "Grader", "✓" if form.values["grader_script"] else "–"),
        ("reach", "Tools", len(form.values["tools"]) or "all"),
        ("workflow", "Reference", _reference(form)),
        ("more", "Details", ""),
    ]
    return [(anchor, name, count, marks.get(anchor)) for anchor, name, count in sections]


def _unused(form: TaskForm) -> set[str]:
    """Parts of the page that most tasks leave as they are, of those this one does."""
    used = {"seen": form.values["files_read"].strip() or form.tool_evidence, "workflow": _reference(form) != "–"}
    return {"more"} | {anchor for anchor, filled in used.items() if not filled}


def _reference(form: TaskForm) -> str:
    workflow = "✓" if form.values["reference_workflow"].strip() else ""
    return " ".join(filter(None, [workflow, str(len(form.expected_artifacts) or "")])) or "–"


def _grader_choices(persona: Persona, scripts: Iterable[GraderScript], named: str) -> list[tuple[str, str]]:
    own = script_path(persona.user_id, named)
    options = [
        (named if script.path == own else f"data/{persona.user_id}/{script.path}", script.path) for script in scripts
    ]
    missing = [(named, f"{named} (script not found)")] if named and named not in dict(options) else []
    return [(value, name.removeprefix("scripts/")) for value, name in (*missing, *options)]


def _scored(form: TaskForm) -> dict[str, str]:
    """The numbers of the items that follow from each intent, by intent key."""
    items: dict[str, list[str]] = {}
    for number, row in enumerate(form.checklist, 1):
        for key in row["follows_from"]:
            items.setdefault(key, []).append(str(number))
    return {key: ", ".join(numbers) for key, numbers in items.items()}
