"""A session's rows as the engine's store: the only code that knows both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from itertools import chain
from typing import Any, cast

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from evaluation.call_records import CallRecord, CallRecorder
from evaluation.engine.grading import Played
from evaluation.engine.journal import MadeCall
from evaluation.engine.plan import SessionPlan
from evaluation.engine.store import Checkpoint, Closing, Replied, Standing
from evaluation.grading.decided import Decided
from evaluation.grading.session import SessionGrade
from evaluation.grading.work import Conversation
from evaluation.judging.judgings import close_judging, judge_of, open_judging
from evaluation.llm import Call
from evaluation.models import Judging, ModelCall, Session, SessionIntent, Snapshot, ToolCall, Turn, TurnWords, Verdict
from evaluation.models import MadeCall as MadeCallRow
from evaluation.models.calls import PART_BY_PURPOSE
from evaluation.models.connections import give_back_connection
from evaluation.models.leased import LeaseLostError
from evaluation.protocol.participants import AgentReply, Aside, Remark, Thought, Tokens, ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import (
    COVERED,
    Ending,
    IntentState,
    Progress,
    Status,
    TurnTaken,
    opening_progress,
    why_blocked,
)
from evaluation.store.evidence import load_conversation, tool_record_of
from evaluation.store.frozen import task_of
from evaluation.store.snapshots import apps_before, final_manifest, take_snapshot, turns_of_run
from evaluation.store.usage import tokens_by_mode
from evaluation.store.verdicts import known_of, verdict_rows
from evaluation.store.words import words_of
from evaluation.workspaces.app_states import AppHashes
from studio.domain.opening_message import EnvironmentEvent, text_of
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob


class RowStore:
    """For the holder of the session's lease. Raises LeaseLostError instead of storing anything once it is lost, and
    then stores only calls, which were paid for."""

    read = staticmethod(Blob.objects.read)
    keep = staticmethod(Blob.objects.store)

    def __init__(self, session: Session, record: CallRecord) -> None:
        self._session = session
        self._record = record
        self._judgings: dict[str, Judging] = {}
        self._snapshot: Snapshot | None = None
        """The latest of the session."""
        self._conversation: Conversation | None = None
        """As far as it is stored, once it is known."""
        self._unanswered: Turn | None = None
        """Of a rehearsal: the agent's part of a turn, while its user has not answered."""
        self._asking = ""
        """Whose model was asked last, or is asked next."""
        self.made = RowMadeCalls(session)

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        return self._record.answer(request_hash)

    def check(self, purpose: str, worst: Decimal | None) -> None:
        part = PART_BY_PURPOSE[purpose]
        if part != self._asking:
            self._session.write(**self._asks(part))
        self._record.check(worst)

    def call(self, call: Call, purpose: str, turn: int) -> None:
        judging = None if purpose == "agent" else self._judging(purpose.removeprefix("checklist_"))
        endpoint = judge_of(judging) if judging else self._session.endpoint("agent")
        assert endpoint is not None
        CallRecorder(self._record, endpoint, purpose, lambda: turn, judging).record(call)

    def turn(self, checkpoint: Checkpoint) -> None:
        session, taken = self._session, checkpoint.taken
        judging = self._judging("")
        asks = self._asks("agent") if checkpoint.after.ending is None else {}
        with transaction.atomic():
            self._session.write(
                turn_count=taken.number, covered=_covered(checkpoint.after), attempts=1, failing_since=None, **asks
            )
            self._insert(checkpoint)
            Verdict.objects.bulk_create(verdict_rows(judging, checkpoint.decided, self._record.answered))
        self._unanswered = None
        session.turn_count = taken.number
        if self._conversation is not None:
            self._conversation = self._conversation.and_then(checkpoint.played)

    def _asks(self, part: str) -> dict[str, Any]:
        """Changes of the session."""
        self._asking = part
        return {"asking": part, "asking_since": timezone.now()}

    def reply(self, progress: Progress, replied: Replied) -> None:
        """Of a rehearsal. It stands as the session's last turn, which ``turn_count`` does not count."""
        taken = TurnTaken(progress.turns + 1, progress.message, replied.reply, {}, {}, {})
        after = replace(progress, message="")
        with transaction.atomic():
            self._session.write(attempts=1, failing_since=None)
            self._unanswered = self._insert(Checkpoint(taken, after, (), replied.files, replied.apps, replied.seconds))

    def propose(self, decided: Sequence[Decided]) -> None:
        with transaction.atomic():
            self._session.lock()
            rows = verdict_rows(self._judging(""), decided, self._record.answered)
            Verdict.objects.bulk_create(rows, ignore_conflicts=True)

    def _insert(self, checkpoint: Checkpoint) -> Turn:
        session, taken = self._session, checkpoint.taken
        if self._unanswered is not None:
            self._unanswered.delete()
        self._snapshot = take_snapshot(session.run, checkpoint.files, self._snapshot, checkpoint.apps)
        if self._record.replayed:
            checkpoint = replace(checkpoint, seconds=max(checkpoint.seconds, self._seconds_of(taken)))
        turn = insert_turn(session, self._snapshot, checkpoint, self._record.shorten(taken.reply.state))
        self.made.forget(taken.number)
        return turn

    def _seconds_of(self, taken: TurnTaken) -> float:
        """That its calls took: some were answered before the worker was killed."""
        calls = ModelCall.objects.filter(session=self._session, purpose="agent", turn=taken.number).order_by()
        asked = calls.aggregate(all=Sum("milliseconds"))["all"] or 0
        return asked / 1000 + sum(call.seconds for call in taken.reply.tool_calls if call.name != "spawn")

    def end(self, progress: Progress, closing: Closing | None) -> None:
        session, now, covered = self._session, timezone.now(), _covered(progress)
        if progress.ending == "failed":
            if not session.release(state=Session.State.FAILED, reason=progress.reason, ended_at=now, covered=covered):
                raise LeaseLostError
            return
        changes: dict[str, Any] = {"ended_at": now, "covered": covered, "attempts": 1, "failing_since": None}
        if progress.ending == "blocked":
            changes["blocked"] = storable(progress.reason)
        with transaction.atomic():
            if closing is not None:
                left = take_snapshot(session.run, closing.files, self._snapshot, closing.apps)
                changes |= {"left": left, "closing": aside_to_json(closing.aside)}
            session.write(**changes)
            close_judging(self._judging(""))
        session.ended_at = now

    def verdicts(self, mode: ScoringMode, decided: Sequence[Decided]) -> None:
        with transaction.atomic():
            self._session.lock()
            Verdict.objects.bulk_create(verdict_rows(self._judging(mode), decided, self._record.answered))

    def finish(self, grades: Mapping[ScoringMode, SessionGrade]) -> None:
        changes: dict[str, Any] = tokens_by_mode(self._session)
        for mode, grade in grades.items():
            changes |= {f"comp_{mode}": grade.comp, f"graded_{mode}_at": timezone.now()}
            if mode == ScoringMode.STRICT:
                changes["ungraded"] = grade.ungraded
        with transaction.atomic():
            self._session.write(
                claimed_by="", lease_until=None, state=Session.State.FINISHED, attempts=0, failing_since=None, **changes
            )
            close_judging(*(self._judging(mode) for mode in grades))

    def standing(self, plan: SessionPlan) -> Standing:
        """After the last stored turn, or before the first one: the run's files with this task's staged over them."""
        session, task = self._session, plan.task
        rows = turns_of_run(session.run_id).filter(session__position__lte=session.position)
        last, replied = rows.first(), None
        apps = apps_before(session, plan.persona)
        if last is not None and last.session_id == session.pk and last.number > session.turn_count:
            self._unanswered, self._snapshot = last, last.snapshot
            replied = self._replied(last, apps)
            last = rows.exclude(pk=last.pk).first()
        conversation = self._conversation = load_conversation(session).until(session.turn_count)
        if last is not None and last.session_id == session.pk:
            self._snapshot = self._snapshot or last.snapshot
            progress, state, files = self._progress_after(last, task), last.agent_state, last.snapshot.manifest
        else:
            self._store_provided(task)
            self.keep([b""])  # an empty memory
            progress, state, files = opening_progress(task), {}, conversation.found
        return Standing(
            progress,
            replied.files if replied else files,
            apps,
            conversation,
            self._record.restore(state),
            self._said_earlier(),
            replied,
        )

    def _replied(self, turn: Turn, apps: AppHashes) -> Replied:
        reply = AgentReply(
            turn.reply,
            tuple(map(tool_record_of, turn.tool_calls.all())),
            Tokens(turn.agent_tokens),
            self._record.restore(turn.agent_state),
            turn.note,
            tuple(Aside(**each) for each in turn.aside),
            tuple(Thought(**each) for each in turn.thoughts),
            tuple(Remark(**each) for each in turn.remarks),
        )
        return Replied(reply, turn.snapshot.manifest, apps, turn.milliseconds / 1000)

    def _said_earlier(self) -> list[str]:
        session = self._session
        turns = Turn.objects.filter(
            session__run=session.run_id, session__position__lt=session.position, event__isnull=True
        )
        return list(turns.order_by("session__position", "number").values_list("user_message", flat=True))

    def played(self, plan: SessionPlan, mode: ScoringMode) -> Played:
        final = final_manifest(self._session) if mode == ScoringMode.COMPAT else None
        self._conversation = self._conversation or load_conversation(self._session)
        return Played(self._conversation, known_of(self._judging(mode)), final)

    def is_run_over(self) -> bool:
        """Whether all conversations of its run are."""
        return not Session.objects.filter(run=self._session.run_id, ended_at=None).exists()

    def _judging(self, scoring: str) -> Judging:
        """Of intents for all that is no scoring mode."""
        scoring = scoring if scoring in list(ScoringMode) else ""
        if scoring not in self._judgings:
            self._judgings[scoring] = open_judging(self._session, scoring)
        return self._judgings[scoring]

    def _progress_after(self, last: Turn, task: TaskSpec) -> Progress:
        resolved = {row.index: row for row in self._session.intents.all()}
        intents = tuple(
            IntentState(each.index, each.content, cast(Status, row.status), row.turn or None)
            if (row := resolved.get(each.index))
            else each
            for each in (IntentState(index, intent.content) for index, intent in enumerate(task.intents, start=1))
        )
        missing = tuple(self._session.turns.exclude(missing="").order_by("number").values_list("missing", flat=True))
        if last.next_message:
            return Progress(intents, last.number, last.next_message, missing=missing)
        blocked = why_blocked(missing)
        is_open = any(item.status == "open" for item in intents)
        ending: Ending = "blocked" if blocked else "turn_limit" if is_open else "resolved"
        return Progress(intents, last.number, "", ending, blocked, missing)

    def _store_provided(self, task: TaskSpec) -> None:
        rows = [
            SessionIntent(session=self._session, index=index, uid=intent.uid, status="provided", turn=0)
            for index, intent in enumerate(task.intents, start=1)
            if intent.initial_status == "provided"
        ]
        if rows:
            with transaction.atomic():
                self._session.lock()
                SessionIntent.objects.bulk_create(rows, ignore_conflicts=True)


def insert_turn(
    session: Session, snapshot: Snapshot, checkpoint: Checkpoint, agent_state: Mapping[str, Any] | None = None
) -> Turn:
    """With its tool calls and what became of intents."""
    turn = new_turn(session, snapshot, checkpoint, agent_state)
    insert_turns([(turn, checkpoint)])
    return turn


def insert_turns(turns: Sequence[tuple[Turn, Checkpoint]]) -> None:
    """Likewise, of many at once."""
    Turn.objects.bulk_create(turn for turn, _ in turns)
    calls = [
        [call_row(call, turn=turn, position=position) for position, call in enumerate(at.taken.reply.tool_calls, 1)]
        for turn, at in turns
    ]
    ToolCall.objects.bulk_create(chain.from_iterable(calls))
    TurnWords.objects.bulk_create(words_of(turn, own) for (turn, _), own in zip(turns, calls, strict=True))
    SessionIntent.objects.bulk_create(
        SessionIntent(
            session_id=turn.session_id,
            index=index,
            uid=task_of(turn.session.revision_id).intents[index - 1].uid,
            status=status,
            turn=turn.number,
        )
        for turn, at in turns
        for index, status in at.taken.resolved.items()
    )


def new_turn(
    session: Session, snapshot: Snapshot, checkpoint: Checkpoint, agent_state: Mapping[str, Any] | None = None
) -> Turn:
    """Not saved."""
    taken, reply = checkpoint.taken, checkpoint.taken.reply
    return Turn(
        session=session,
        number=taken.number,
        user_message=text_of(taken.message),
        event=taken.message.to_json() if isinstance(taken.message, EnvironmentEvent) else None,
        reply=reply.text,
        empty=not reply.text.strip(),
        note=reply.note,
        agent_state=agent_state or {},
        next_message=text_of(checkpoint.after.message),
        next_style=taken.style if checkpoint.after.message else "",
        missing=storable(taken.missing),
        aside=aside_to_json(reply.aside),
        thoughts=[asdict(thought) for thought in reply.thoughts],
        remarks=[asdict(remark) for remark in reply.remarks],
        snapshot=snapshot,
        agent_tokens=reply.tokens.total,
        milliseconds=int(checkpoint.seconds * 1000),
    )


class RowMadeCalls:
    """``evaluation.engine.journal.MadeCalls``"""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept = True
        """Whether there may be any to forget."""

    def all(self) -> Iterable[MadeCall]:
        for row in MadeCallRow.objects.filter(session=self._session):
            record = None if row.record is None else record_of(row.record)
            yield MadeCall(row.turn, row.key, row.name, row.outside, record, row.output)

    def put(self, call: MadeCall) -> None:
        self._kept = True
        if call.outside and call.record is None:
            self._session.require()
        row = MadeCallRow(
            session=self._session,
            turn=call.turn,
            key=call.key,
            name=storable(call.name)[:200],
            outside=call.outside,
            record=None if call.record is None else storable(asdict(call.record)),
            output="" if call.record else storable(call.output),
        )
        MadeCallRow.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=["session", "key"], update_fields=["record", "output"]
        )
        give_back_connection()

    def drop(self, key: str) -> None:
        MadeCallRow.objects.filter(session=self._session, key=key).delete()

    def forget(self, turn: int) -> None:
        """Those up to the turn, which is stored; not what was done outside."""
        if self._kept:
            MadeCallRow.objects.filter(session=self._session, turn__lte=turn, outside=False).delete()
            self._kept = False


def record_of(row: Mapping[str, Any]) -> ToolRecord:
    return ToolRecord(**{**row, "changes": tuple(row["changes"]), "effects": tuple(row.get("effects", ()))})


def aside_to_json(aside: Iterable[Aside]) -> list[dict[str, str]]:
    return [asdict(each) for each in aside]


def call_row(call: ToolRecord, **place: Any) -> ToolCall:
    """Not saved. ``place``: its turn and position."""
    return ToolCall(
        **place,
        name=call.name,
        arguments=dict(call.arguments),
        result=call.result,
        ok=call.ok,
        key=call.key,
        milliseconds=int(call.seconds * 1000),
        changes=list(call.changes),
        effects=list(call.effects),
    )


def _covered(progress: Progress) -> int:
    return sum(item.status in COVERED for item in progress.intents)
