"""Rows of pilots as an engine leaves them, without any model."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence

from django.utils import timezone

from evaluation.judging.judgings import open_judging
from evaluation.models import Judging, Pilot, Session, SessionIntent, Snapshot, ToolCall, Turn, Verdict
from evaluation.store.words import words_of
from studio.models import Benchmark, Blob, Membership, User
from tests.evaluation.builders import benchmark_of, pilot_of, rubric, task


def person(benchmark: Benchmark | None = None, *roles: str, **fields: object) -> User:
    user = User.objects.create_user(f"person-{uuid.uuid4().hex[:8]}", password="a long password", **fields)
    if benchmark is not None:
        Membership.objects.bulk_create(Membership(benchmark=benchmark, user=user, role=role) for role in roles)
    return user


def pilot_row(benchmark: Benchmark | None = None, **options: object) -> Pilot:
    """A pilot whose sessions wait; of one task with two intents and two criteria by default."""
    if benchmark is None:
        benchmark = benchmark_of(task("a", checklist=(rubric("The fee is named."), rubric("It is signed."))))
    return pilot_of(benchmark, **options)


def finish(pilot: Pilot) -> Session:
    """Its first session as finished, without turns."""
    session = Session.objects.filter(run__pilot=pilot).order_by("pk")[0]
    now = timezone.now()
    Session.objects.filter(pk=session.pk).update(
        state="finished", ended_at=now, graded_strict_at=now, graded_compat_at=now, comp_strict=0.5, comp_compat=0.5
    )
    session.refresh_from_db()
    return session


def turn(
    session: Session,
    number: int,
    *,
    message: str = "Please go on.",
    reply: str = "Done.",
    files: Mapping[str, bytes] | None = None,
    calls: Sequence[Mapping[str, object]] = (),
    thoughts: Sequence[str] = (),
) -> Turn:
    files = files or {}
    Blob.objects.store(list(files.values()))
    manifest = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    digest = hashlib.sha256(json.dumps(manifest).encode()).hexdigest()
    snapshot, _ = Snapshot.objects.get_or_create(run=session.run, sha256=digest, defaults={"manifest": manifest})
    row = Turn.objects.create(
        session=session,
        number=number,
        user_message=message,
        reply=reply,
        thoughts=[{"text": text, "tokens": None} for text in thoughts],
        snapshot=snapshot,
        agent_tokens=7,
    )
    made = [
        ToolCall.objects.create(turn=row, position=position, **call) for position, call in enumerate(calls, start=1)
    ]
    words_of(row, made).save()
    Session.objects.filter(pk=session.pk).update(turn_count=number)
    return row


def verdict(session: Session, kind: str = "checklist", **fields: object) -> Verdict:
    """Of the session's own judging, in the mode ``scoring``; of the ``judging`` if one is given."""
    scoring = fields.pop("scoring", "strict" if kind == "checklist" else "")
    judging = fields.pop("judging", None) or open_judging(session, str(scoring))
    row = a_verdict(judging, kind, **fields)  # type: ignore[arg-type]  # fields are of mixed types
    row.save(force_insert=True)
    return row


def a_verdict(judging: Judging, kind: str = "checklist", **fields: object) -> Verdict:
    """Not saved."""
    values: dict[str, object] = {
        "turn": 1,
        "index": 1,
        "uid": uuid.uuid4(),
        "label": "The fee is named.",
        "grader": "rubric" if kind == "checklist" else "judge",
        "met": True,
        "supported": True,
    }
    return Verdict(judging=judging, kind=kind, **(values | fields))


def resolve_intent(session: Session, index: int, status: str, turn: int) -> SessionIntent:
    row = an_intent(session, index, status, turn)
    row.save(force_insert=True)
    return row


def an_intent(session: Session, index: int, status: str, turn: int) -> SessionIntent:
    """Not saved."""
    return SessionIntent(session=session, index=index, uid=uuid.uuid4(), status=status, turn=turn)
