"""What the task editor shows, whoever opens it and after whatever was posted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings

from studio import access
from studio.access import SignedInRequest
from studio.activity.timeline import activity_of
from studio.domain.anchors import ROW_TEXTS, TEXT_FIELDS, FieldKey
from studio.domain.descriptions import RULE_LABELS, SOURCE_LABELS
from studio.domain.opening_message import opening_message
from studio.domain.persona import script_path
from studio.domain.signals import SIGNAL_EXAMPLES
from studio.domain.task import TaskSpec
from studio.drafts.authors import authors_of
from studio.findings import waivers
from studio.findings.queries import findings_of_task
from studio.forms.file_mentions import mentions_in
from studio.forms.tasks import TaskForm, read_task_form
from studio.models import Category, GraderScript, Persona, Task
from studio.personas import tools_and_skills
from studio.review import assignments
from studio.review.checklist import QUESTIONS
from studio.review.threads import threads_of
from studio.review.workflow import approvals_of
from studio.tasks import guidelines as guidance
from studio.tasks.checks import evidence_map
from studio.views.personas.script_editor import script_keys

FIELDS = [
    ("", "the task as a whole"),
    ("initial_request", "the request"),
    ("title", "the title"),
    ("description", "the description"),
    ("trigger", "the trigger"),
    ("intents", "the hidden intents"),
    ("checklist", "the checklist"),
    ("depends_on", "what it builds on"),
    ("assets", "the files"),
    ("files_read", "the files judges see"),
    ("tool_evidence", "what judges see of tools"),
    ("reference_workflow", "the reference workflow"),
    ("expected_artifacts", "the files it leaves behind"),
]
"""What a comment can be about, besides rows and selected text."""
SECTIONS = {
    "title": "about",
    "description": "about",
    "initial_request": "request",
    "trigger": "request",
    "intents": "intents",
    "checklist": "checklist",
    "depends_on": "needs",
    "group": "needs",
    "assets": "files",
    "files_read": "seen",
    "tool_evidence": "seen",
    "grader_script": "script",
    "tools": "reach",
    "skills": "reach",
    "reference_workflow": "workflow",
    "expected_artifacts": "workflow",
}
"""The part of the page that a field stands in; all others are among the details."""
SEVERITIES = ("error", "warning", "hint")
IN_FILES = ("task_id", "environment_id", "user_id", "metadata")
"""Fields only the exported files name; folded away until something is wrong there."""
MANY = 400
"""Boxes between items and intents from which on a page's rows are brief: what is not seen of a row before it is opened
is put in by a script then, and so are the buttons that move it. ``?whole`` in the address brings everything."""


def context(request: SignedInRequest, row: Task, base: TaskSpec, sheet: TaskForm) -> dict[str, Any]:
    persona = row.episode.persona
    benchmark = persona.benchmark
    can = access.actions_in(request.user, benchmark)
    spec, _ = read_task_form(sheet, base)
    newest = row.revisions.select_related("created_by").filter(number=row.version).first()
    authors = authors_of(newest) if newest else set()
    findings, allowed = waivers.split_waived(row, findings_of_task(row))
    categories = list(Category.objects.filter(taxonomy=benchmark.taxonomy_id)) if benchmark.taxonomy_id else []
    siblings = list(row.episode.tasks.order_by("position", "task_id").values("pk", "task_id", "title", "position"))
    here = next((place for place, other in enumerate(siblings) if other["pk"] == row.pk), 0)
    scripts = list(persona.grader_scripts.order_by("path"))
    named = script_path(persona.user_id, base.grader_script)
    script = next((one for one in scripts if one.path == named), None)
    return {
        "task": row,
        "task_pk": str(row.pk),
        "task_name": str(row),
        "outline": _outline(sheet, base, marked_sections(findings)),
        "triggers": Task._meta.get_field("trigger_kind").choices,
        "recovery_kinds": SOURCE_LABELS.items(),
        "rule_kinds": RULE_LABELS.items(),
        "scored": _scored(sheet),
        "persona": persona,
        "benchmark": benchmark,
        "spec": base,
        "sheet": sheet,
        "can": can,
        "on_version": row.version,
        "map": evidence_map(row, spec),
        "brief": len(sheet.intents) * len(sheet.checklist) > MANY and "whole" not in request.GET,
        "opened": frozenset(),
        "guide": guidance.guidelines(),
        "newest": newest,
        "findings": findings,
        "errors": sum(finding.severity == "error" for finding in findings),
        "waived": allowed,
        "aside": [one for one in allowed if one.finding.severity == "error"],
        "threads": threads_of(row, texts_shown(sheet)),
        "reviews": list(newest.reviews.select_related("reviewer")) if newest else [],
        "given": approvals_of(newest) if newest else 0,
        "review_questions": QUESTIONS,
        "own": request.user.pk in authors,
        "people": assignments.assignees_of(row, authors=authors),
        "fields": FIELDS,
        "session_names": session_names(siblings),
        "earlier": [other for other in siblings if other["pk"] != row.pk and other["position"]],
        "before": siblings[here - 1] if here else None,
        "after": siblings[here + 1] if here + 1 < len(siblings) else None,
        "unfold": bool(sheet.errors) or any(finding.field in IN_FILES for finding in findings),
        "unknown_category": sheet.values["category"] not in ("", *(one.code for one in categories)),
        "categories": categories,
        "groups": row.episode.groups.exclude(name="").values_list("name", flat=True),
        **tools_and_skills.cards_of(persona, sheet.values["tools"], sheet.values["skills"]),
        "scripts": scripts,
        "script": script,
        "grader_choices": _grader_choices(persona, scripts, sheet.values["grader_script"]),
        "script_keys": script_keys(script, base) if script else [],
        "named_in": mentions_in(sheet),
        "opening": opening_message(spec),
        "examples": examples(sheet.values["trigger"]),
        "limits": {"files": settings.UPLOAD_MAX_TASK_FILES, "file_bytes": settings.UPLOAD_MAX_FILE_BYTES},
        "activity": activity_of(row, size=8).object_list,
    }


def session_names(siblings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Number and title of an episode's sessions, by the ids that the format knows them by."""
    return {
        one["task_id"]: f"{one['position']:02d} {one['title'].strip() or one['task_id']}"
        for one in siblings
        if one["position"]
    }


def texts_shown(sheet: TaskForm) -> dict[FieldKey, str]:
    """The texts of the page in which words can be chosen."""
    texts: dict[FieldKey, str] = {(name, ""): sheet.values[name] for name in (*TEXT_FIELDS, "files_read")}
    texts["expected_artifacts", ""] = "\n".join(row["path"] for row in sheet.expected_artifacts)
    return texts | {(name, row["key"]): row[text] for name, text in ROW_TEXTS.items() for row in getattr(sheet, name)}


def examples(kind: str) -> list[str]:
    """Names of the signals of this kind that one can begin from."""
    return [name for name, _ in SIGNAL_EXAMPLES.get(kind, [])]


def marked_sections(findings: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """How many findings each part of the page has, and how much the worst of them weighs."""
    found: dict[str, dict[str, Any]] = {}
    for finding in findings:
        mark = found.setdefault(SECTIONS.get(finding.field, "more"), {"count": 0, "severity": finding.severity})
        mark["count"] += 1
        mark["severity"] = min(mark["severity"], finding.severity, key=SEVERITIES.index)
    return found


def _outline(
    sheet: TaskForm, base: TaskSpec, marks: Mapping[str, dict[str, Any]]
) -> list[tuple[str, str, Any, dict[str, Any] | None]]:
    """The parts of the page, with how much each holds and what the checks find there."""
    parts = [
        ("about", "Title", ""),
        ("request", "Request", ""),
        ("intents", "Intents", len(sheet.intents) or "–"),
        ("checklist", "Checklist", len(sheet.checklist) or "–"),
        ("needs", "Builds on", len(sheet.depends_on) or "–"),
        ("files", "Files", len(sheet.assets) or "–"),
        ("seen", "Judges see", len(base.files_read) + len(sheet.tool_evidence) or "–"),
        ("script", "Grader", "✓" if sheet.values["grader_script"] else "–"),
        ("reach", "Tools", len(sheet.values["tools"]) or "all"),
        ("workflow", "Reference", _reference(sheet)),
        ("more", "Details", ""),
    ]
    return [(anchor, name, count, marks.get(anchor)) for anchor, name, count in parts]


def _reference(sheet: TaskForm) -> str:
    """Whether there is a workflow, and how many files the session is to leave."""
    workflow = "✓" if sheet.values["reference_workflow"].strip() else ""
    return " ".join(filter(None, [workflow, str(len(sheet.expected_artifacts) or "")])) or "–"


def _grader_choices(persona: Persona, scripts: Iterable[GraderScript], named: str) -> list[tuple[str, str]]:
    """The persona's scripts by the path that a task names, each with its name; the one that is named as it is named."""
    own = script_path(persona.user_id, named)
    found = [(named if one.path == own else f"data/{persona.user_id}/{one.path}", one.path) for one in scripts]
    missing = [(named, f"{named} (script not found)")] if named and named not in dict(found) else []
    return [(value, name.removeprefix("scripts/")) for value, name in (*missing, *found)]


def _scored(sheet: TaskForm) -> dict[str, str]:
    """The numbers of the items that follow from each intent."""
    items: dict[str, list[str]] = {}
    for number, row in enumerate(sheet.checklist, 1):
        for key in row["follows_from"]:
            items.setdefault(key, []).append(str(number))
    return {key: ", ".join(numbers) for key, numbers in items.items()}
