"""Pilots and releases in the studio's search, and what was said and thought in sessions and in one's own rehearsals."""
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from django.urls import reverse

from evaluation.audits.blindness import closed_pilots, record_look
from evaluation.models import Pilot, Rehearsal, Turn
from evaluation.store.words import said_in, thought_in
from studio.access import AnyUser, benchmarks_allowing
from studio.models import User
from studio.search.sources import BENCHMARKS, PARTS, PERSON, QUERY, Place, SearchSource, register

Turns = Callable[[AnyUser, Collection[Place]], Iterator[tuple[Place, Turn]]]
PILOT = "('pilot ' || r.number || ' ' || a.name)"
RELEASE = "('release ' || b.name || ' ' || b.slug || ' ' || r.version)"


def register_sources() -> None:
    register(_turns("turn", "Sessions", "said", "turn-{item}"))
    register(_turns("thought", "Thoughts", "thought", "thoughts-{item}"))
    register(_rehearsed("rehearsal", "Rehearsals", "said", "turn-{item}"))
    register(_rehearsed("rehearsed_thought", "Thoughts in rehearsals", "thought", "thoughts-{item}"))
    register(
        SearchSource(
            "pilot",
            "Pilots",
            f"""SELECT r.id, r.benchmark_id, NULL::bigint, NULL::bigint, '', NULL::int, 0.5, r.created_at
                FROM evaluation_pilot r JOIN evaluation_modelendpoint a ON a.id = r.agent_id
                WHERE r.benchmark_id = ANY({BENCHMARKS}) AND {PILOT} ILIKE ALL({PARTS})""",
            """SELECT 'Pilot ' || r.number || ' · ' || a.name FROM evaluation_pilot r
               JOIN evaluation_modelendpoint a ON a.id = r.agent_id WHERE r.id = page.pk""",
            address=lambda pk: reverse("evaluation:pilot", args=[pk]),
            closed_to=closed_pilots,
        )
    )
    register(
        SearchSource(
            "release",
            "Releases",
            f"""SELECT r.id, r.benchmark_id, NULL::bigint, NULL::bigint, '', NULL::int, 0.5, r.created_at
                FROM evaluation_release r JOIN studio_benchmark b ON b.id = r.benchmark_id
                WHERE r.benchmark_id = ANY({BENCHMARKS}) AND {RELEASE} ILIKE ALL({PARTS})""",
            "SELECT 'Release ' || r.version FROM evaluation_release r WHERE r.id = page.pk",
            address=lambda pk: reverse("evaluation:release", args=[pk]),
        )
    )


def _turns(kind: str, label: str, vector: str, anchor: str) -> SearchSource:
    """Turns of pilots' sessions, by their sessions' keys and their numbers."""
    return SearchSource(
        kind,
        label,
        f"""SELECT s.id, r.benchmark_id, p.persona_id, v.task_id, '', t.number::int, ts_rank(w.{vector}, {QUERY}),
            t.created_at
            FROM evaluation_turnwords w JOIN evaluation_turn t ON t.id = w.turn_id
            JOIN evaluation_session s ON s.id = t.session_id JOIN evaluation_run u ON u.id = s.run_id
            JOIN evaluation_pilot r ON r.id = u.pilot_id JOIN studio_revision v ON v.id = s.revision_id
            JOIN studio_personarevision p ON p.id = u.persona_revision_id
            WHERE r.benchmark_id = ANY({BENCHMARKS}) AND w.{vector} @@ {QUERY}""",
        """SELECT 'Pilot ' || r.number || ' · ' || a.name || ' · ' ||
           coalesce(nullif(k.title, ''), k.task_id) || ', turn ' || page.item
           FROM evaluation_session s JOIN evaluation_run u ON u.id = s.run_id
           JOIN evaluation_pilot r ON r.id = u.pilot_id
           JOIN evaluation_modelendpoint a ON a.id = r.agent_id, studio_task k
           WHERE s.id = page.pk AND k.id = page.task_id""",
        address=lambda pk: reverse("evaluation:session", args=[pk]),
        anchor=anchor,
        closed_to=closed_pilots,
        holder="""(SELECT u.pilot_id FROM evaluation_session s JOIN evaluation_run u ON u.id = s.run_id
            WHERE s.id = every.pk)""",
        passages=_passages(_pilots_turns, vector),
    )


def _rehearsed(kind: str, label: str, vector: str, anchor: str) -> SearchSource:
    """Turns of the person's own rehearsals, by their keys and their numbers; thoughts once a rehearsal is over."""
    shown = "s.ended_at IS NOT NULL" if vector == "thought" else "true"
    return SearchSource(
        kind,
        label,
        f"""SELECT h.id, p.benchmark_id, p.id, k.id, '', t.number::int, ts_rank(w.{vector}, {QUERY}), t.created_at
            FROM evaluation_rehearsal h JOIN evaluation_session s ON s.id = h.session_id
            JOIN evaluation_turn t ON t.session_id = s.id JOIN evaluation_turnwords w ON w.turn_id = t.id
            JOIN studio_revision v ON v.id = s.revision_id JOIN studio_task k ON k.id = v.task_id
            JOIN studio_persona p ON p.id = k.persona_id
            WHERE h.person_id = {PERSON} AND p.benchmark_id = ANY({BENCHMARKS})
            AND {shown} AND w.{vector} @@ {QUERY}""",
        """SELECT 'Rehearsal · ' || coalesce(nullif(k.title, ''), k.task_id) || ', turn ' || page.item
           FROM studio_task k WHERE k.id = page.task_id""",
        address=lambda pk: reverse("evaluation:rehearsal", args=[pk]),
        anchor=anchor,
        closed_to=_closed_rehearsals,
        passages=_passages(_rehearsed_turns, vector),
    )


def _closed_rehearsals(user: User) -> list[int]:
    """Their own where they may no longer rehearse."""
    open_in = {"session__revision__task__persona__benchmark__in": benchmarks_allowing(user, "rehearse")}
    return list(Rehearsal.objects.filter(person=user).exclude(**open_in).values_list("pk", flat=True))


def _passages(turns: Turns, vector: str) -> Callable[[AnyUser, Collection[Place]], Mapping[Place, Sequence[str]]]:
    def read(user: AnyUser, places: Collection[Place]) -> Mapping[Place, Sequence[str]]:
        found = turns(user, places)
        if vector == "thought":
            return {place: thought_in(turn) for place, turn in found}
        return {place: said_in(turn, turn.tool_calls.all()) for place, turn in found}

    return read


def _rehearsed_turns(user: AnyUser, places: Collection[Place]) -> Iterator[tuple[Place, Turn]]:
    rehearsals = {pk for pk, _ in places}
    rows = Turn.objects.filter(session__rehearsal__in=rehearsals, number__in={item for _, item in places})
    for row in rows.select_related("session__rehearsal").prefetch_related("tool_calls"):
        if (place := (row.session.rehearsal.pk, row.number)) in places:
            yield place, row


def _pilots_turns(user: AnyUser, places: Collection[Place]) -> Iterator[tuple[Place, Turn]]:
    """The turns; that the person sees of them is recorded as if their sessions were opened."""
    record_look(user, Pilot.objects.filter(runs__sessions__in={session for session, _ in places}).distinct())
    rows = Turn.objects.filter(session__in={session for session, _ in places}, number__in={item for _, item in places})
    for row in rows.prefetch_related("tool_calls"):
        if (place := (row.session_id, row.number)) in places:
            yield place, row
