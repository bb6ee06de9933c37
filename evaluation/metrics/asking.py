"""How well agents ask. The benchmark lets over-asking go unpunished; this lets it show."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass

_QUESTION = re.compile(r"[?？]+(?=[\s\"'”’)\]*_]|$)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)


def count_questions(reply: str) -> int:
    """Sentences that end in a question mark, outside code and addresses."""
    return len(_QUESTION.findall(_CODE.sub(" ", reply)))


@dataclass(frozen=True)
class Asking:
    """In a session, or in all of an agent."""

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
    sessions: int = 1

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
        return self.questions / self.sessions


def asking_by_agent(sessions: Iterable[Asking]) -> list[Asking]:
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for session in sessions:
        totals[session.agent].update({name: value for name, value in asdict(session).items() if name != "agent"})
    return [Asking(agent, **counts) for agent, counts in sorted(totals.items())]
