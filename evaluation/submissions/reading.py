"""Bundles of results (``evaluation.runner.bundle``), read as hostile input. Nothing here touches the database."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evaluation.engine.folder import Kept
from evaluation.engine.store import Checkpoint, Closing
from evaluation.grading.decided import Decided, Grader
from evaluation.grading.items import items_of
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import MAX_TURNS, Status
from evaluation.protocol.versions import CURRENT_LOOPS
from evaluation.runner.bundle import SESSION
from evaluation.runner.document import PlannedSession, RunDocument
from evaluation.runner.results import FILES, RUN
from studio.domain.archive import Limits, unpack, why_unsafe
from studio.domain.opening_message import text_of
from studio.domain.options import OptionsError
from studio.domain.pack import SUMS, DamagedPackError, read_sums
from studio.domain.storable import read_json, storable
from studio.domain.task import TaskSpec

DEEPEST = 50
"""Lists and objects in one another."""
LONGEST_NAME = 300
MOST_SESSIONS = 5_000
MOST_TOOL_CALLS = 1_000
"""Of one turn."""
MOST_KEYS = 1_000
"""Of a grader script."""
LARGEST = 2**31 - 1
MOST_MODEL_CALLS = 10**8
"""Of one purpose; those of all purposes are summed into a column."""
HAND_IN_LESS = (
    "Hand in less at once, such as one run, or ask whoever runs the studio to allow more with STUDIO_UPLOAD_MAX_BYTES "
    "and STUDIO_UPLOAD_MAX_UNPACKED_BYTES."
)
MAKE_AGAIN = "Make the bundle again with “pibench bundle”."
RUN_AGAIN = "It is not as pibench wrote it: make the bundle again from the results, or run them again."
_CLOSING = TypeAdapter(Closing)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Used(_Part):
    """By calls of one purpose."""

    calls: int = Field(ge=0, le=MOST_MODEL_CALLS)
    tokens: int = Field(ge=0, le=10**15)
    cost: Decimal = Field(ge=0, lt=10**7)
    unpriced: int = Field(ge=0, le=MOST_MODEL_CALLS)


class UsedLine(_Part):
    used: dict[
        Literal["agent", "satisfaction", "follow_up", "voice", "checklist_strict", "checklist_compat"],
        Used,
    ]


@dataclass(frozen=True)
class Bundle:
    sha256: str
    """Of its list of sums: the same results may be compressed otherwise."""
    run: RunDocument
    files: Mapping[str, bytes] = field(repr=False)

    def content(self, sha256: str) -> bytes | None:
        return self.files.get(f"{FILES}/{sha256}")


@dataclass(frozen=True)
class SubmittedSession:
    """As it was played; what was decided is of the task's own intents and items."""

    planned: PlannedSession
    turns: Sequence[Checkpoint] = ()
    """Each with what follows from the judge's decisions, whatever the file says."""
    ending: str = ""
    """Empty: it has not ended."""
    reason: str = ""
    closing: Closing | None = None
    decided: Mapping[ScoringMode, Sequence[Decided]] = field(default_factory=dict)
    """On the checklist, in the modes in which all of it was."""
    used: Mapping[str, Used] = field(default_factory=dict)


def refuse(place: str, problem: str, fix: str = RUN_AGAIN) -> NoReturn:
    raise OptionsError("bundle", f"{place}: {problem} {fix}")


def read_bundle(data: bytes, limits: Limits) -> Bundle:
    """Whole and unchanged, as far as its hashes tell. Raises OptionsError."""
    unpacked = unpack(data, replace(limits, advice=HAND_IN_LESS))
    if unpacked.errors:
        raise OptionsError("bundle", " ".join(map(str, unpacked.errors[:3])))
    files = unpacked.files
    for name in (SUMS, RUN):
        if name not in files:
            refuse(name, "this is missing.", MAKE_AGAIN)
    try:
        expected = read_sums(files[SUMS])
    except DamagedPackError as error:
        refuse(SUMS, str(error), MAKE_AGAIN)
    actual = {path: hashlib.sha256(content).hexdigest() for path, content in files.items() if path != SUMS}
    for path in sorted(expected.keys() | actual.keys()):
        if expected.get(path) != actual.get(path):
            how = "is missing" if path not in actual else "was added" if path not in expected else "was changed"
            refuse(path, f"it {how} since the bundle was made.", MAKE_AGAIN)
    for path, sha256 in actual.items():
        if path.startswith(f"{FILES}/") and path != f"{FILES}/{sha256}":
            refuse(path, f"its sha256 is {sha256}.", MAKE_AGAIN)
    return Bundle(hashlib.sha256(files[SUMS]).hexdigest(), _run(files[RUN]), files)


def _run(content: bytes) -> RunDocument:
    try:
        run = RunDocument.model_validate(_document(RUN, content))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        refuse(RUN, f"{'.'.join(map(str, first['loc']))}: {first['msg']}.")
    named = [run.pack.name, run.pack.version, run.agent.kind]
    named += [text for _, model in run.models for text in (model.name, model.model, model.effort)]
    named += [text for row in run.sessions for text in (row.persona, row.task, row.folder)]
    if max(map(len, named)) > LONGEST_NAME or len(run.sessions) > MOST_SESSIONS:
        refuse(RUN, f"it has more than {MOST_SESSIONS:,} sessions, or a name of more than {LONGEST_NAME} characters.")
    if run.agent_loop > CURRENT_LOOPS[run.protocol]:
        refuse(RUN, f"agent_loop: this studio knows loops up to {CURRENT_LOOPS[run.protocol]}.", "Update the studio.")
    for key in (lambda row: (row.persona, row.task, row.run), lambda row: (row.persona, row.run, row.position)):
        if (most := Counter(map(key, run.sessions)).most_common(1)[0])[1] > 1:
            refuse(RUN, f"sessions: {most[0]} stands there twice.")
    return run


def read_sessions(bundle: Bundle, tasks: Mapping[tuple[str, str], TaskSpec]) -> Iterator[SubmittedSession]:
    """One after the other. ``tasks``: by persona and id, as released. Raises OptionsError."""
    known = {f"{planned.folder}/{SESSION}" for planned in bundle.run.sessions} | {SUMS, RUN}
    for path in bundle.files:
        if path not in known and not path.startswith(f"{FILES}/"):
            refuse(path, "this belongs to no session.", MAKE_AGAIN)
    for at, planned in enumerate(bundle.run.sessions):
        task = tasks.get((planned.persona, planned.task))
        if task is None:
            refuse(RUN, f"sessions.{at}: the release has no task “{planned.task}” of “{planned.persona}”.")
        name = f"{planned.folder}/{SESSION}"
        content = bundle.files.get(name)
        yield SubmittedSession(planned) if content is None else _Reader(bundle, planned, task).read(name, content)


class _Reader:
    def __init__(self, bundle: Bundle, planned: PlannedSession, task: TaskSpec) -> None:
        self._bundle = bundle
        self._planned = planned
        self._task = task
        self._kept = Kept()
        self._used: Mapping[str, Used] = {}
        self._over = {at for at, intent in enumerate(task.intents, 1) if intent.initial_status == "provided"}
        """Intents with a terminal status."""
        self._turns: list[Checkpoint] = []
        self._closing: Closing | None = None

    def read(self, name: str, content: bytes) -> SubmittedSession:
        for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=1):
            self._line(f"{name}, line {number}", line)
        kept = self._kept
        ending = str((kept.end or {}).get("ending") or "")
        if ending not in ("", "resolved", "turn_limit", "blocked", "failed"):
            refuse(name, f"it ended as {ending[:40]!r}, which is no ending.")
        if ending in ("resolved", "turn_limit", "blocked") and not self._turns:
            refuse(name, "it ended without a turn.")
        return SubmittedSession(
            self._planned,
            self._turns,
            ending,
            str((kept.end or {}).get("reason") or ""),
            self._closing,
            {mode: self._checklist(name, mode) for mode in self._bundle.run.terms.modes if mode in kept.grades},
            self._used,
        )

    def _line(self, place: str, line: bytes) -> None:
        document = _document(place, line)
        try:
            if "used" in document:
                self._used = {str(purpose): row for purpose, row in UsedLine.model_validate(document).used.items()}
                return
            self._kept.add(document)
            if "turn" in document:
                self._turn(place, self._kept.turns[-1])
            elif (closing := (document.get("end") or {}).get("closing")) is not None:
                self._closing = _CLOSING.validate_python(closing)
                self._files(place, self._closing.files)
        except (ValidationError, LookupError, TypeError, AttributeError) as error:
            refuse(place, f"it is no line of a session ({str(error).splitlines()[0][:200]}).")

    def _turn(self, place: str, checkpoint: Checkpoint) -> None:
        taken, reply = checkpoint.taken, checkpoint.taken.reply
        for message in (taken.message, checkpoint.after.message):
            text_of(message)  # LookupError: an event of a kind that is none
        if taken.number != len(self._turns) + 1 or taken.number > MAX_TURNS:
            refuse(place, f"turn {taken.number} cannot follow turn {len(self._turns)}.")
        if not 0 <= checkpoint.seconds <= 10**6 or not 0 <= reply.tokens.total <= LARGEST:
            refuse(place, "its seconds or tokens are no such numbers.")
        if len(reply.tool_calls) > MOST_TOOL_CALLS or any(not 0 <= call.seconds <= 10**6 for call in reply.tool_calls):
            refuse(place, "its tool calls are too many, or took no such time.")
        self._files(place, checkpoint.files)
        calls = tuple(replace(call, name=call.name[:200], key="") for call in reply.tool_calls)
        decided = [self._on_intent(place, taken.number, each) for each in checkpoint.decided]
        if len({each.place for each in decided}) < len(decided):
            refuse(place, "something is decided twice.")
        clean = replace(
            taken,
            reply=replace(reply, tool_calls=calls, state={}),
            resolved=self._resolved(taken.resolved, decided),
            style=taken.style[:8],
            missing=taken.missing[:100],
        )
        self._turns.append(replace(checkpoint, taken=clean, decided=decided, apps={}))

    def _resolved(self, told: Mapping[int, Status], decided: Sequence[Decided]) -> dict[int, Status]:
        """What the judge found met or asked for; what the user told is nobody's decision, and covers nothing."""
        found = [each.index for each in decided if each.met and each.kind == "satisfaction"]
        asked_for = [each.index for each in decided if each.met and each.kind == "follow_up"]
        known = range(1, len(self._task.intents) + 1)
        resolved: dict[int, Status] = dict.fromkeys((index for index in told if index in known), "provided")
        resolved |= dict.fromkeys(asked_for, "inferred")
        resolved |= dict.fromkeys(found, "completed")
        new = {index: status for index, status in resolved.items() if index not in self._over}
        self._over |= new.keys()
        return new

    def _on_intent(self, place: str, turn: int, each: Decided) -> Decided:
        if each.kind not in ("satisfaction", "follow_up") or not 1 <= each.index <= len(self._task.intents):
            refuse(place, f"the task has no intent {each.index}, or “{each.kind[:40]}” is no question about it.")
        uid = self._task.intents[each.index - 1].uid
        return replace(each, turn=turn, grader="judge", uid=uid, label="", style=each.style[:10], call="")

    def _checklist(self, name: str, mode: ScoringMode) -> list[Decided]:
        """Every item is decided, or said to be ungraded, so that leaving one out gains nothing."""
        given = sorted(self._kept.decided[mode].values(), key=lambda each: each.place)
        decided = [self._on_item(name, each) for each in given]
        labels = {each.index: each.label.removeprefix("[tools] ") for each in decided if not each.uid}
        items = items_of(self._task, [label for _, label in sorted(labels.items())] or None)
        lacking = {item.index for item in items} - {each.index for each in decided}
        if lacking and self._turns:
            refuse(name, f"criterion {min(lacking)} of the task is not decided in {mode}.")
        return decided

    def _on_item(self, name: str, each: Decided) -> Decided:
        own = self._task.scored_items
        most = len(own) + (MOST_KEYS if self._task.grader_script else 0)
        if each.kind != "checklist" or not 1 <= each.index <= most or not 1 <= each.turn <= len(self._turns):
            refuse(name, f"criterion {each.index} of turn {each.turn} is decided, which is not there.")
        item = own[each.index - 1] if each.index <= len(own) else None
        grader: Grader = "rule" if item is None or item.grader == "rule" else "rubric"
        label = "" if item else f"[tools] {each.label.removeprefix('[tools] ')}"[:1000]
        uid = item.uid if item else ""
        return replace(each, grader=grader, uid=uid, label=label, style=each.style[:10], call="")

    def _files(self, place: str, manifest: Mapping[str, str]) -> None:
        for path, sha256 in manifest.items():
            if why := why_unsafe(path):
                refuse(place, f"its file {path[:200]!r} cannot be kept. {why}")
            if self._bundle.content(sha256) is None:
                refuse(place, f"the content of its file “{path[:200]}” is not in the bundle.", MAKE_AGAIN)


def _document(place: str, content: bytes) -> dict[str, Any]:
    try:
        document = read_json(content)
    except ValueError as error:
        refuse(place, f"it is not JSON ({error}).")
    if not isinstance(document, dict):
        refuse(place, "it is no JSON object.")
    if _depth(document) > DEEPEST:
        refuse(place, f"it is nested more than {DEEPEST} deep.")
    clean: dict[str, Any] = storable(document)
    return clean


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level:
        depth += 1
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))]
        level = [item for values in inner for item in values if isinstance(item, (dict, list))]
    return depth
