"""What tools leave for the agent's own loop to act on: pictures to look at, words for the user."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Picture:
    path: str
    media_type: str
    content: bytes


@dataclass
class Outbox:
    """One for each agent; emptied as it is read."""

    pictures: list[Picture] = field(default_factory=list)
    """To be shown to the model before it goes on."""
    messages: list[str] = field(default_factory=list)
    """Sent to the user in this turn, in order."""
    question: str = ""
    """What the user is to answer now: the turn ends with it."""

    def take_pictures(self) -> list[Picture]:
        taken, self.pictures = self.pictures, []
        return taken

    def take_question(self) -> str:
        taken, self.question = self.question, ""
        return taken

    def deliver(self, answer: str) -> str:
        """The turn's reply: what was sent, then the answer."""
        taken, self.messages = self.messages, []
        return "\n\n".join(part for part in (*taken, answer) if part.strip())
