"""Tools that reach the user within a turn: ``ask_user`` ends it with a question, ``message`` sends words and files.
``Outbox`` holds what the agent's own loop acts on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from evaluation.tools.tool import Arguments, FilePath, ToolError
from evaluation.tools.workspace import Workspace


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


MAX_TEXT = 20_000
MAX_ATTACHMENTS = 20


class AskUser(Arguments):
    question: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="What you need to know")]
    options: Annotated[list[str], Field(max_length=20, description="Answers to choose from, if there are any")] = []


class SendMessage(Arguments):
    content: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="What to tell the user")]
    media: Annotated[
        list[FilePath], Field(max_length=MAX_ATTACHMENTS, description="Files of the workspace to attach")
    ] = []


def ask_user(outbox: Outbox, arguments: AskUser) -> str:
    if not arguments.question.strip():
        raise ToolError("The question is empty.")
    if outbox.question:
        raise ToolError("You have asked already; put everything into one question.")
    outbox.question = "\n".join((arguments.question, *(f"- {option}" for option in arguments.options)))
    return "The user reads your question now. The answer is the next message."


def send_message(outbox: Outbox, workspace: Workspace, arguments: SendMessage) -> str:
    sizes = {path: len(workspace.read(path)) for path in arguments.media}
    attached = [f"[attached: {path}, {size} bytes]" for path, size in sizes.items()]
    outbox.messages.append("\n".join((arguments.content, *attached)))
    return f"Sent{f' with {len(attached)} attached' if attached else ''}. The user reads it with your answer."
