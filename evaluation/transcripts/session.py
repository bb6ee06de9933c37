"""A session as its page shows it: conversation, tool calls, files, and outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Literal

from django.db.models import Q
from django.template.defaultfilters import pluralize
from django.utils.safestring import SafeString

from evaluation.grading.credit import default_rules
from evaluation.grading.work import file_text
from evaluation.judging.judged import load_judged, recorded_statuses
from evaluation.judging.judgings import rules_of, scoring_choice
from evaluation.models import MadeCall, Session, ToolCall, Turn, Verdict
from evaluation.protocol.answers import parts_of
from evaluation.protocol.versions import ProtocolName
from evaluation.store.usage import OF_USE, Use, use_of
from evaluation.transcripts.files import FileRow, changed_files, manifest_before, manifests_before, read_small_files
from evaluation.transcripts.outcomes import IntentOutcome, ItemOutcome, intent_outcomes, item_outcomes
from evaluation.transcripts.passages import find_quote, highlight, highlight_markdown
from evaluation.workspaces.manifests import Manifest
from studio.domain.app_changes import RecordChange, net_changes
from studio.domain.opening_message import EnvironmentEvent
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

LocationKind = Literal["reply", "message", "call", "file"]


@dataclass(frozen=True)
class EvidenceLocation:
    """A text of a session: a message, a reply, a tool call, or a file after a turn."""

    kind: LocationKind
    turn: int
    name: str = ""
    """A call's key, or a file's path."""


@dataclass
class LocatedEvidence:
    by_location: dict[EvidenceLocation, dict[str, str]] = field(default_factory=dict)
    """Quotes in each text, by the verdict's primary key."""
    by_key: dict[str, EvidenceLocation] = field(default_factory=dict)

    def at(self, location: EvidenceLocation) -> dict[str, str]:
        return self.by_location.get(location, {})


def locate_evidence(
    verdicts: Iterable[Verdict], turns: Sequence[Turn], files: Mapping[int, Mapping[str, str]], *, on_work: bool
) -> LocatedEvidence:
    """Find each quote in what its judge saw, likeliest text first; of one that joins passages of several texts the
    first that is found. ``files`` are texts by turn and path; ``on_work``: judges saw the whole session."""
    by_number = {turn.number: turn for turn in turns}
    located = LocatedEvidence()
    for verdict in verdicts:
        if not verdict.quote.strip() or verdict.turn not in by_number:
            continue
        texts = list(_searched_texts(verdict, by_number, files, on_work=on_work))
        for quote in (verdict.quote, *parts_of(verdict.quote)):
            found = next((location for location, text in texts if find_quote(text, quote) is not None), None)
            if found:
                key = str(verdict.pk)
                located.by_location.setdefault(found, {})[key] = verdict.quote
                located.by_key[key] = found
                break
    return located


def call_text(call: ToolCall) -> str:
    """Its values, and what judges see: its arguments as JSON, and what it changed."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return "\n".join([*map(str, _leaves(call.arguments)), call.result, f"arguments: {arguments}", *call.changes])


def _searched_texts(
    verdict: Verdict, turns: Mapping[int, Turn], files: Mapping[int, Mapping[str, str]], *, on_work: bool
) -> Iterable[tuple[EvidenceLocation, str]]:
    number = verdict.turn
    yield EvidenceLocation("reply", number), turns[number].reply
    if verdict.kind == Verdict.Kind.FOLLOW_UP:
        return
    for path, text in files.get(number, {}).items():
        yield EvidenceLocation("file", number, path), text
    if verdict.kind == Verdict.Kind.SATISFACTION and not on_work:
        return
    for earlier in range(number, 0, -1):
        if earlier in turns:
            if on_work and earlier < number:
                yield EvidenceLocation("reply", earlier), turns[earlier].reply
                for path, text in files.get(earlier, {}).items():
                    yield EvidenceLocation("file", earlier, path), text
            for call in turns[earlier].tool_calls.all():
                yield EvidenceLocation("call", earlier, str(call.pk)), call_text(call)
            yield EvidenceLocation("message", earlier), turns[earlier].user_message


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


SUMMARY_ARGUMENTS = ("path", "file_path", "name", "title", "subject", "query", "pattern", "to", "url", "command")
"""Arguments that summarize a call, best first."""
MAX_SUMMARY = 90


@dataclass(frozen=True)
class CallView:
    call: ToolCall
    summary: str
    arguments: tuple[tuple[str, SafeString], ...]
    result: SafeString
    changes: tuple[SafeString, ...]
    evidence: bool
    elsewhere: tuple[str, ...]
    """Keys of the quotes that go over several of its parts."""


@dataclass(frozen=True)
class StepView:
    """A call, or what the agent said between calls."""

    call: CallView | None = None
    remark: SafeString | None = None


@dataclass(frozen=True)
class EventView:
    kind: str
    sentence: str
    data: SafeString
    note: SafeString


@dataclass(frozen=True)
class EvidenceFile:
    path: str
    html: SafeString


@dataclass(frozen=True)
class TurnView:
    turn: Turn
    message: SafeString
    event: EventView | None
    """In place of ``message``, if nobody said it."""
    reply: SafeString
    calls: tuple[CallView, ...]
    changes: tuple[FileRow, ...]
    app_changes: tuple[RecordChange, ...]
    files: tuple[EvidenceFile, ...]
    intents: tuple[IntentOutcome, ...]
    items: tuple[ItemOutcome, ...]
    """First met in this turn; ``intents`` were resolved in it."""
    is_settled: bool = False
    """Whether every intent had its status before, so that no judge of intents looked at it."""
    cost: Use = field(default_factory=Use)

    @property
    def steps(self) -> list[StepView]:
        """In their order."""
        calls = [(at + 1, StepView(call=call)) for at, call in enumerate(self.calls)]
        remarks = [
            (each["calls"], StepView(remark=highlight_markdown(each["text"], {})[0])) for each in self.turn.remarks
        ]
        return [step for _, step in sorted((*calls, *remarks), key=lambda step: step[0])]

    @property
    def summary(self) -> str:
        calls, intents, items = len(self.calls), len(self.intents), len(self.items)
        return (
            f"Turn {self.turn.number}: {calls} tool call{pluralize(calls)}, "
            f"{intents} intent{pluralize(intents)} resolved, {items} item{pluralize(items)} first met"
        )


@dataclass(frozen=True)
class SessionTranscript:
    task: TaskSpec
    turns: list[TurnView]
    intents: list[IntentOutcome]
    items: list[ItemOutcome]
    befores: Mapping[int, Manifest]
    evidence: LocatedEvidence = field(default_factory=LocatedEvidence)
    closing_cost: Use = field(default_factory=Use)
    """Of what the agent did after the last turn."""
    app_changes: tuple[RecordChange, ...] = ()
    """From its beginning to its end."""

    @property
    def covered(self) -> int:
        return sum(intent.status in ("completed", "inferred") for intent in self.intents)


def calls_under_way(session: Session) -> list[MadeCall]:
    """Of the turn that its agent works on now, in their order."""
    if session.state != Session.State.RUNNING:
        return []
    return list(session.made_calls.filter(turn__gt=session.turn_count).order_by("pk"))


def neighbours(session: Session) -> tuple[Session | None, Session | None]:
    """Before and after it in its run."""
    rows = Session.objects.filter(run=session.run_id).only("pk", "position")
    before = rows.filter(position__lt=session.position).order_by("-position").first()
    return before, rows.filter(position__gt=session.position).order_by("position").first()


def load_transcript(session: Session, found: Sequence[Verdict] = ()) -> SessionTranscript:
    """``found``: what rules say of a session that is not graded yet; not stored."""
    task = TaskSpec.model_validate(session.revision.spec)
    persona = PersonaSpec.model_validate(session.run.persona_revision.spec)
    turns = _turns_of(session)
    verdicts = list(Verdict.objects.of_session(session))
    if (pilot := session.run.pilot) is not None:
        choice = scoring_choice(pilot)
        statuses, rules = load_judged(choice.round, [session])[session.pk].statuses, rules_of(choice)
        said = pilot.said_in_request(session.run.persona_revision.persona.user_id, task.task_id)
    else:
        statuses, rules = recorded_statuses([session.pk])[session.pk], default_rules(session.run.terms.protocol)
        said = []
    intents = intent_outcomes(task, statuses, verdicts, said)
    items = item_outcomes(task, session, [*verdicts, *found], rules)
    before = manifests_before(session, turns, manifest_before(session, task, persona))
    on_work = session.run.terms.protocol == ProtocolName.PAPER
    files = _texts(task, turns, before, on_work=on_work)
    evidence = locate_evidence(verdicts, turns, files, on_work=on_work)
    costs = costs_by_turn(session)
    return SessionTranscript(
        task=task,
        turns=[
            replace(
                _turn(turn, before[turn.number], evidence, files.get(turn.number, {}), intents, items),
                cost=costs.get(turn.number, Use()),
            )
            for turn in turns
        ],
        intents=intents,
        items=items,
        befores=before,
        evidence=evidence,
        closing_cost=costs.get(len(turns) + 1, Use()),
        app_changes=tuple(net_changes(effect for turn in turns for effect in _effects(turn))),
    )


def _turns_of(session: Session) -> list[Turn]:
    rows = session.turns.select_related("snapshot").prefetch_related("tool_calls", "notes__author")
    return list(rows.order_by("number"))


def costs_by_turn(session: Session) -> dict[int, Use]:
    """As the session ran: agent, user and judge, without what judging it again took. What the agent did after the
    last turn stands under the next number."""
    sent = session.model_calls.filter(Q(judging=None) | Q(judging__round__number=1), attempts__gt=0)
    return {row["turn"]: use_of(row) for row in sent.order_by().values("turn").annotate(**OF_USE)}


def _effects(turn: Turn) -> Iterable[Mapping[str, Any]]:
    return (effect for call in turn.tool_calls.all() for effect in call.effects)


def _texts(
    task: TaskSpec, turns: Sequence[Turn], before: Mapping[int, Manifest], *, on_work: bool
) -> dict[int, dict[str, str]]:
    """Of files that the task names; where judges see the work, also of those that a turn made, and in its first turn of
    all that were there ``before``."""
    rule_paths = {rule.path for item in task.checklist if (rule := item.rule) and rule.path}
    paths = [path.strip().removeprefix("./") for path in (*task.files_read, *sorted(rule_paths))]
    shown_files = {}
    for turn in turns:
        manifest, earlier = turn.snapshot.manifest, before[turn.number]
        new = turn is turns[0]
        written = [path for path, sha in manifest.items() if on_work and (new or earlier.get(path) != sha)]
        shown_files[turn.number] = {path: manifest[path] for path in (*paths, *written) if path in manifest}
    contents = read_small_files(sha for files in shown_files.values() for sha in files.values())
    return {
        number: {path: file_text(path, contents[sha]) for path, sha in files.items() if sha in contents}
        for number, files in shown_files.items()
    }


def _turn(
    turn: Turn,
    before: Manifest,
    evidence: LocatedEvidence,
    files: Mapping[str, str],
    intents: Sequence[IntentOutcome],
    items: Sequence[ItemOutcome],
) -> TurnView:
    number = turn.number
    quotes = evidence.at(EvidenceLocation("message", number))
    quoted = {path: evidence.at(EvidenceLocation("file", number, path)) for path in files}
    return TurnView(
        turn=turn,
        message=highlight(turn.user_message, quotes)[0],
        event=event_view(turn.incoming, quotes) if isinstance(turn.incoming, EnvironmentEvent) else None,
        reply=highlight_markdown(turn.reply, evidence.at(EvidenceLocation("reply", number)))[0],
        calls=tuple(
            call_view(call, evidence.at(EvidenceLocation("call", number, str(call.pk))))
            for call in turn.tool_calls.all()
        ),
        changes=tuple(changed_files(before, turn.snapshot.manifest)),
        files=tuple(EvidenceFile(path, highlight(files[path], found)[0]) for path, found in quoted.items() if found),
        app_changes=tuple(net_changes(_effects(turn))),
        intents=tuple(intent for intent in intents if intent.turn == number),
        items=tuple(item for item in items if number in {outcome.turn for outcome in item.scored}),
        is_settled=bool(intents) and all(intent.turn is not None and intent.turn < number for intent in intents),
    )


def event_view(event: EnvironmentEvent, quotes: Mapping[str, str]) -> EventView:
    data, located = highlight(event.data, quotes)
    rest = {key: quote for key, quote in quotes.items() if key not in located}
    return EventView(event.kind, event.sentence, data, highlight(event.note, rest)[0])


def call_view(call: ToolCall, quotes: Mapping[str, str]) -> CallView:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    remaining = dict(quotes)
    rendered = []
    for name, value in arguments.items():
        text, located = highlight(_as_text(value), remaining)
        remaining = {key: quote for key, quote in remaining.items() if key not in located}
        rendered.append((name, text))
    result, located = _result(call.result, remaining)
    changes = [highlight(change, remaining) for change in call.changes]
    found = located.union(*(keys for _, keys in changes))
    elsewhere = tuple(key for key in remaining if key not in found)
    shown = tuple(change for change, _ in changes)
    return CallView(call, _summary(arguments), tuple(rendered), result, shown, bool(quotes), elsewhere)


def _result(text: str, quotes: Mapping[str, str]) -> tuple[SafeString, set[str]]:
    """Indented JSON, unless a quote occurs only in the original text; and the keys of the quotes found."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, (dict, list)):
        rendered, located = highlight(json.dumps(value, ensure_ascii=False, indent=2), quotes)
        if len(located) == len(quotes):
            return rendered, located
    return highlight(text, quotes)


def _summary(arguments: Mapping[str, Any]) -> str:
    values = [arguments[name] for name in SUMMARY_ARGUMENTS if name in arguments]
    value = (values or list(arguments.values()) or [""])[0]
    line = " ".join(_as_text(value).split())
    return line if len(line) <= MAX_SUMMARY else line[: MAX_SUMMARY - 1] + "…"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


@dataclass(frozen=True)
class Sides:
    """One of them is None where one session has more turns, intents or items than the other."""

    turns: Sequence[tuple[TurnView | None, TurnView | None]]
    intents: Sequence[tuple[IntentOutcome | None, IntentOutcome | None]]
    items: Sequence[tuple[ItemOutcome | None, ItemOutcome | None]]
    edited: bool
    """Whether the task was edited between the two."""


def side_by_side(first: tuple[Session, SessionTranscript], second: tuple[Session, SessionTranscript]) -> Sides:
    (session, left), (other, right) = first, second
    return Sides(
        list(zip_longest(left.turns, right.turns)),
        list(zip_longest(left.intents, right.intents)),
        list(zip_longest(left.items, right.items)),
        session.revision.sha256 != other.revision.sha256,
    )
