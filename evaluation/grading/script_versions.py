"""By which script a session was graded, and whether it is still the one that grades its task: a task's revision names
its script, and does not hold it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol, cast

from django.db.models.fields.json import KeyTextTransform

from evaluation.models import Pilot, Session
from studio.domain.persona import script_path
from studio.models import GraderScript, PersonaRevision

ScriptReference = tuple[int, str]
"""A persona or a revision of one, and the path by which a task names a script."""


class GradedSession(Protocol):
    """A session with the path of its grader script, as a query annotates it."""

    grader: str


def hashes_at_revision(named: Iterable[ScriptReference]) -> dict[ScriptReference, str]:
    """sha256 of the scripts in revisions of personas; empty where there was none. One query."""
    named = set(named)
    rows = PersonaRevision.objects.filter(pk__in={revision for revision, _ in named})
    held: dict[int, tuple[str, Mapping[str, str]]] = {
        pk: (user_id, {one["path"]: one["sha256"] for one in scripts or ()})
        for pk, user_id, scripts in rows.values_list("pk", "spec__user_id", "spec__scripts")
    }
    found = {}
    for revision, path in named:
        user_id, scripts = held.get(revision, ("", {}))
        found[revision, path] = scripts.get(script_path(user_id, path), "")
    return found


def current_hashes(personas: Mapping[int, str], named: Collection[ScriptReference]) -> dict[ScriptReference, str]:
    """The same of ``personas`` as they are now, by their key with their user id."""
    rows = GraderScript.objects.filter(persona__in={persona for persona, _ in named})
    stored = {(persona, path): sha256 for persona, path, sha256 in rows.values_list("persona", "path", "blob")}
    return {(persona, path): stored.get((persona, script_path(personas[persona], path)), "") for persona, path in named}


def graded_by_older_script(sessions: Collection[Session]) -> set[int]:
    """Which of these sessions, by key, another script graded than the one their task has now. They come with their
    ``run__persona_revision__persona`` and ``grader``, as ``with_grader`` gives it."""
    grader = {session.pk: cast(GradedSession, session).grader for session in sessions}
    named = [session for session in sessions if grader[session.pk]]
    if not named:
        return set()
    of = {session.pk: session.run.persona_revision for session in named}
    then = hashes_at_revision((of[session.pk].pk, grader[session.pk]) for session in named)
    personas = {row.persona_id: row.persona.user_id for row in of.values()}
    now = current_hashes(personas, {(of[session.pk].persona_id, grader[session.pk]) for session in named})
    return {
        session.pk
        for session in named
        if then[of[session.pk].pk, grader[session.pk]] != now[of[session.pk].persona_id, grader[session.pk]]
    }


def is_graded_by_older_script(session: Session) -> bool:
    cast(GradedSession, session).grader = session.revision.spec["grader_script"]
    return bool(graded_by_older_script([session]))


def sessions_graded_by_older_scripts(pilot: Pilot) -> list[Session]:
    """A pilot's sessions that an older script graded, with the task's ``title`` as it was."""
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
