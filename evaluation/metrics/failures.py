"""Failure patterns of the paper's appendix F.4, found by rule, each with its evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

GOOD_COMP = 0.75
"""From here on the visible request counts as done."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WRITES = frozenset(
    "write create edit add send post update append replace patch save upload move copy rename set insert reply "
    "schedule put make delete remove".split()
)
_READS = frozenset("read show list get search view find fetch open check query retrieve cat look".split())


@dataclass(frozen=True)
class IntentRecord:
    index: int
    content: str
    is_persistent: bool
    status: str
    """A terminal status, or ``open``."""
    turn: int


@dataclass(frozen=True)
class ToolUse:
    name: str
    turn: int
    position: int
    """Of its last call."""


@dataclass(frozen=True)
class SessionStory:
    """What the rules look at."""

    key: int
    agent: str
    builds_on: tuple[str, ...]
    """Tasks before it."""
    comp: float | None
    intents: Sequence[IntentRecord]
    unmet: Sequence[str]
    """Criteria that were not met."""
    questions: Mapping[int, int]
    """Questions by turn."""
    tools: Sequence[ToolUse]


@dataclass(frozen=True)
class PatternEvidence:
    text: str
    turn: int | None = None


@dataclass(frozen=True)
class Pattern:
    label: str
    rule: str
    """When it applies, in a sentence."""
    find: Callable[[SessionStory], list[PatternEvidence]]
    """Empty if it does not apply."""
    could_show: Callable[[SessionStory], bool] = lambda story: True
    """Whether the session could show it at all."""


@dataclass(frozen=True)
class Match:
    session: int
    agent: str
    pattern: str
    evidence: tuple[PatternEvidence, ...]


def find_patterns(stories: Iterable[SessionStory]) -> list[Match]:
    return [
        Match(story.key, story.agent, name, tuple(evidence))
        for story in stories
        for name, pattern in PATTERNS.items()
        if (evidence := pattern.find(story))
    ]


def ignored_context(story: SessionStory) -> list[PatternEvidence]:
    if not story.builds_on:
        return []
    return [_said(intent) for intent in story.intents if intent.status == "provided" and intent.is_persistent]


def missed_hidden(story: SessionStory) -> list[PatternEvidence]:
    provided = [intent for intent in story.intents if intent.status == "provided"]
    if story.comp is None or story.comp < GOOD_COMP or 2 * len(provided) < len(story.intents) or not provided:
        return []
    done = PatternEvidence(f"{100 * story.comp:.0f} % of the checklist was met")
    return [done, *map(_said, provided)]


def no_targeted_question(story: SessionStory) -> list[PatternEvidence]:
    provided = [intent for intent in story.intents if intent.status == "provided"]
    if not provided or any(intent.status == "inferred" for intent in story.intents):
        return []
    asked = [PatternEvidence(_asked(number), turn) for turn, number in sorted(story.questions.items()) if number]
    return [*(asked or [PatternEvidence("no question was asked")]), *map(_said, provided)]


def unverified_artifact(story: SessionStory) -> list[PatternEvidence]:
    writes = [use for use in story.tools if is_write(use.name)]
    if not writes or not story.unmet:
        return []
    last = max(writes, key=lambda use: (use.turn, use.position))
    reads = [use for use in story.tools if is_read(use.name)]
    if any((use.turn, use.position) > (last.turn, last.position) for use in reads):
        return []
    return [
        PatternEvidence(f"{last.name} was the last to change anything, and nothing was read after it", last.turn),
        *[PatternEvidence(f"not met: {criterion}") for criterion in story.unmet],
    ]


def is_write(tool: str) -> bool:
    return _first_verb(tool) == "write"


def is_read(tool: str) -> bool:
    return _first_verb(tool) == "read"


def _first_verb(tool: str) -> str:
    """Of the name's last part: ``mcp_appworld_gmail__send_email`` sends."""
    for word in _WORDS.findall(tool.rsplit("__", 1)[-1]):
        if word.lower() in _WRITES:
            return "write"
        if word.lower() in _READS:
            return "read"
    return ""


def _said(intent: IntentRecord) -> PatternEvidence:
    return PatternEvidence(f"the user had to say intent {intent.index}: {intent.content}", intent.turn or None)


def _asked(number: int) -> str:
    return "a question hit no intent" if number == 1 else f"{number} questions hit no intent"


PATTERNS: Mapping[str, Pattern] = {
    "ignored_context": Pattern(
        "Ignored earlier context",
        "The task builds on earlier sessions, and the user had to say an intent that lasts across sessions.",
        ignored_context,
        lambda story: bool(story.builds_on) and any(intent.is_persistent for intent in story.intents),
    ),
    "missed_hidden": Pattern(
        "Did the visible, missed the hidden",
        "Three quarters of the checklist or more were met, yet the user had to say half of the intents or more.",
        missed_hidden,
    ),
    "no_targeted_question": Pattern(
        "No targeted question",
        "The user had to say an intent, and no question in the session hit any.",
        no_targeted_question,
    ),
    "unverified_artifact": Pattern(
        "Tool used, artifact not verified",
        "A tool changed something, nothing was read afterwards, and a criterion was not met.",
        unverified_artifact,
    ),
}
