"""A rehearsal as its page shows it: the transcript of its session, and what its person has to do now."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath

from evaluation.grading.evidence import GraderScriptSource, evidence_of
from evaluation.grading.session import Checklist, decide_checklist
from evaluation.models import Judging, Rehearsal, Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import MAX_TURNS
from evaluation.rehearsals.decisions import IntentDecision, proposals
from evaluation.store.evidence import found_files, load_conversation
from evaluation.store.verdicts import verdict_rows
from evaluation.transcripts.files import FileRow, file_rows, sizes_of
from evaluation.transcripts.outcomes import IntentOutcome, ItemOutcome
from evaluation.transcripts.session import SessionTranscript, TurnView, load_transcript
from evaluation.workspaces.manifests import Manifest
from studio.domain.opening_message import opening_message
from studio.models import Blob


@dataclass(frozen=True)
class RehearsalTranscript:
    session: SessionTranscript
    turns: tuple[TurnView, ...]
    current: TurnView | None
    """What there is of the turn whose user has not answered."""
    message: str
    """What the user said last."""
    manifest: Manifest
    """The workspace now."""
    files: tuple[FileRow, ...]
    proposed: dict[int, IntentDecision]
    """For the current turn, by intent."""
    items: tuple[ItemOutcome, ...]
    """That are decided: by rules so far, by all graders once the rehearsal is over."""
    counts: tuple[tuple[str, int], ...]
    """Intents by status, in the order of the statuses."""
    ending: str
    """Why it is over, unless every intent was resolved."""
    unjudged: bool
    """Whether it was ended before the user answered the last turn."""
    ungraded: bool
    """Whether grading did not come to an end."""
    script: str
    """The task's grader script."""

    @property
    def open(self) -> list[IntentOutcome]:
        return [intent for intent in self.session.intents if intent.status == "open"]

    @property
    def proc(self) -> float | None:
        """For this task alone; a pilot also counts the tasks it depends on."""
        return self.session.covered / len(self.session.intents) if self.session.intents else None

    @property
    def items_met(self) -> int:
        return sum(item.strict.status in ("met", "unsupported") for item in self.items)


def load_rehearsal(row: Rehearsal) -> RehearsalTranscript:
    session, over = row.session, row.state == Rehearsal.State.FINISHED
    shown = load_transcript(session, [] if over else _by_rule(session))
    turns, number = tuple(shown.turns[: session.turn_count]), session.turn_count + 1
    current = next(iter(shown.turns[session.turn_count :]), None)
    before = turns[-1].turn.snapshot.manifest if turns else found_files(session)
    now = shown.turns[-1].turn.snapshot.manifest if shown.turns else before
    count = Counter(intent.status for intent in shown.intents)
    ending = _ending(session, count["open"]) if over else ""
    return RehearsalTranscript(
        session=shown,
        turns=turns,
        current=current,
        message=turns[-1].turn.next_message if turns else opening_message(shown.task),
        manifest=now,
        files=tuple(file_rows(before, now, sizes_of(now))),
        proposed=proposals((each for intent in shown.intents for each in intent.decisions), number),
        items=tuple(item for item in shown.items if item.strict.verdict or (over and session.graded_strict_at)),
        counts=tuple((status, count[status]) for status in ("completed", "inferred", "provided", "open")),
        ending=ending,
        unjudged=bool(over and turns and count["open"] and not turns[-1].turn.next_message),
        ungraded=over and session.state == Session.State.ERROR,
        script=PurePosixPath(shown.task.grader_script).name,
    )


def _ending(session: Session, still_open: int) -> str:
    if session.state == Session.State.FAILED:
        return f"The assistant failed: {session.reason}"
    if session.blocked:
        return session.blocked
    if session.turn_count >= MAX_TURNS:
        return f"It ended after {MAX_TURNS} turns, the limit for every session."
    return "You ended it." if still_open else ""


def _by_rule(session: Session) -> list[Verdict]:
    """What rules of the checklist say after the finished turns; not saved."""
    conversation = load_conversation(session).until(session.turn_count)
    task = conversation.task.model_copy(update={"grader_script": ""})
    evidence = evidence_of(conversation, ScoringMode.STRICT, Blob.objects.read)
    checklist = Checklist(task, GraderScriptSource(), evidence, ScoringMode.STRICT, session.run.terms.protocol)
    decided = [each for found in decide_checklist(checklist, None, {}) for each in found]
    return verdict_rows(Judging(session=session, scoring=ScoringMode.STRICT), decided, {})
