"""The script that graded a session, compared with its task's current script.

A task's revision names its script but does not contain it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from django.db.models.fields.json import KeyTextTransform

from evaluation.models import Pilot, Session
from studio.domain.persona import script_path
from studio.models import GraderScript, PersonaRevision

ScriptReference = tuple[int, str]
"""Key of a persona or of its revision, and the path by which a task names the script."""


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


def is_graded_by_older_script(session: Session) -> bool:
    return bool(_older({session: session.revision.spec["grader_script"]}))


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
    older = _older({row: vars(row)["grader"] for row in rows})
    return [row for row in rows if row in older]


def _older(paths: Mapping[Session, str]) -> set[Session]:
    """Those that another script graded than their task has now. They need ``run__persona_revision__persona`` selected;
    ``paths``: by which their tasks name the scripts."""
    graded = {session: (session.run.persona_revision, path) for session, path in paths.items() if path}
    then = hashes_at_revision((row.pk, path) for row, path in graded.values())
    personas = {row.persona_id: row.persona.user_id for row, _ in graded.values()}
    now = current_hashes(personas, {(row.persona_id, path) for row, path in graded.values()})
    return {session for session, (row, path) in graded.items() if then[row.pk, path] != now[row.persona_id, path]}
