"""The script that graded a session, compared with its task's current script.

A task's revision names its script but does not contain it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol, cast

from django.db.models.fields.json import KeyTextTransform

from evaluation.models import Pilot, Session
from studio.domain.persona import script_path
from studio.models import GraderScript, PersonaRevision

ScriptReference = tuple[int, str]
"""Key of a persona or of its revision, and the path by which a task names the script."""


class GradedSession(Protocol):
    """A session annotated with the path of its grader script."""

    grader: str


def hashes_at_revision(references: Iterable[ScriptReference]) -> dict[ScriptReference, str]:
    """sha256 of scripts at persona revisions, in one query; empty where there was none."""
    references = set(references)
    rows = PersonaRevision.objects.filter(pk__in={revision for revision, _ in references})
    stored: dict[int, tuple[str, Mapping[str, str]]] = {
        pk: (user_id, {script["path"]: script["sha256"] for script in scripts or ()})
        for pk, user_id, scripts in rows.values_list("pk", "spec__user_id", "spec__scripts")
    }
    hashes = {}
    for revision, path in references:
        user_id, scripts = stored.get(revision, ("", {}))
        hashes[revision, path] = scripts.get(script_path(user_id, path), "")
    return hashes


def current_hashes(personas: Mapping[int, str], references: Collection[ScriptReference]) -> dict[ScriptReference, str]:
    """sha256 of the current scripts. ``personas`` maps persona keys to user ids."""
    rows = GraderScript.objects.filter(persona__in={persona for persona, _ in references})
    stored = {(persona, path): sha256 for persona, path, sha256 in rows.values_list("persona", "path", "blob")}
    return {
        (persona, path): stored.get((persona, script_path(personas[persona], path)), "") for persona, path in references
    }


def graded_by_older_script(sessions: Collection[Session]) -> set[int]:
    """Keys of the sessions that another script graded than their task has now.

    They need ``run__persona_revision__persona`` selected and ``grader`` annotated.
    """
    path_of = {session.pk: cast(GradedSession, session).grader for session in sessions}
    scripted = [session for session in sessions if path_of[session.pk]]
    if not scripted:
        return set()
    revision_of = {session.pk: session.run.persona_revision for session in scripted}
    at_grading = hashes_at_revision((revision_of[session.pk].pk, path_of[session.pk]) for session in scripted)
    personas = {row.persona_id: row.persona.user_id for row in revision_of.values()}
    now = current_hashes(personas, {(revision_of[session.pk].persona_id, path_of[session.pk]) for session in scripted})
    return {
        session.pk
        for session in scripted
        if at_grading[revision_of[session.pk].pk, path_of[session.pk]]
        != now[revision_of[session.pk].persona_id, path_of[session.pk]]
    }


def is_graded_by_older_script(session: Session) -> bool:
    cast(GradedSession, session).grader = session.revision.spec["grader_script"]
    return bool(graded_by_older_script([session]))


def sessions_graded_by_older_scripts(pilot: Pilot) -> list[Session]:
    """Annotated with ``title``, the task's title at the time."""
    rows = (
        Session.objects.filter(run__pilot=pilot)
        .exclude(revision__task__grader_path="")
        .annotate(
            grader=KeyTextTransform("grader_script", "revision__spec"),
            title=KeyTextTransform("title", "revision__spec"),
        )
        .select_related("run__persona_revision__persona")
        .defer("run__persona_revision__spec", "run__persona_revision__episode")
        .order_by("run", "position")
    )
    older = graded_by_older_script(rows)
    return [row for row in rows if row.pk in older]
