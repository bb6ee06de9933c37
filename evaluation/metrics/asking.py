"""How well agents ask. The benchmark lets over-asking go unpunished; this lets it show."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

_QUESTION = re.compile(r"[?？]+(?=[\s\"'”’)\]*_]|$)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)


def count_questions(reply: str) -> int:
    """Sentences that end in a question mark, outside code and addresses."""
    return len(_QUESTION.findall(_CODE.sub(" ", reply)))


@dataclass(frozen=True)
class AskedSession:
    session: int
    agent: str
    questions: int
    """In all of the agent's replies."""
    hits: int
    """Intents that a question hit."""
    asking_turns: int
    """Replies with a question."""
    hitting_turns: int
    """Replies whose question hit an intent."""
    open_intents: int
    """Intents that were not completed without asking: there was something to ask."""


@dataclass(frozen=True)
class Asking:
    agent: str
    sessions: int
    questions: int
    hits: int
    asking_turns: int
    hitting_turns: int
    open_intents: int

    @property
    def precision(self) -> float | None:
        """The share of replies with a question that hit an intent."""
        return self.hitting_turns / self.asking_turns if self.asking_turns else None

    @property
    def recall(self) -> float | None:
        """The share of what was to ask that a question hit."""
        return self.hits / self.open_intents if self.open_intents else None

    @property
    def questions_a_session(self) -> float:
        return self.questions / self.sessions if self.sessions else 0.0


def asking_by_agent(sessions: Iterable[AskedSession]) -> list[Asking]:
    groups: dict[str, list[AskedSession]] = defaultdict(list)
    for session in sessions:
        groups[session.agent].append(session)
    return [
        Asking(
            agent,
            len(own),
            *(
                sum(getattr(session, name) for session in own)
                for name in ("questions", "hits", "asking_turns", "hitting_turns", "open_intents")
            ),
        )
        for agent, own in sorted(groups.items())
    ]
