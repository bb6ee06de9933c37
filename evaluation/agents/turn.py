"""A turn of the built-in agent as it goes on: what it cost, what was said in it, and whether more is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from evaluation.llm import Completion
from evaluation.protocol.participants import Aside, Remark, Thought, Tokens, ToolRecord
from studio.domain.opening_message import NOTICE_MARK

MOST_CONTINUED = 3
"""Times that a reply which was cut off is gone on with."""
GO_ON = f"{NOTICE_MARK}Your reply was cut off at its limit of length. Go on exactly where it stopped."
CUT_SILENT = f"{NOTICE_MARK}Your answer was cut off at its limit of length before it said anything. Be brief."
SAID_NOTHING = f"{NOTICE_MARK}Your last message was empty. Go on with your work, or answer the user in words."


@dataclass
class Turn:
    started: float
    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    spent: int = 0
    """Tokens, also those that are only estimated."""
    cost: Decimal = Decimal(0)
    records: list[ToolRecord] = field(default_factory=list)
    text: str = ""
    """The reply, as far as it has come."""
    remarks: list[Remark] = field(default_factory=list)
    """All that was said."""
    note: str = ""
    aside: list[Aside] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    _beside_calls: str = ""
    """Words of the last answer with tool calls."""
    _goes_on: bool = False
    """Whether the next words go on with the last."""
    _continued: int = 0
    _asked_again: bool = False

    def hear(self, completion: Completion, *, keeps_words: bool) -> None:
        """``keeps_words``: an empty answer leaves the words before it as the reply."""
        text = completion.text
        if self._goes_on and text.strip():
            text = _joined(self.remarks.pop().text, text)
        self._goes_on = False
        if text.strip():
            self.remarks.append(Remark(text, len(self.records)))
        if text.strip() or not keeps_words:
            self.text = text
        if completion.tool_calls:
            self._beside_calls = text.strip()

    def ask_again(self, completion: Completion, *, sent: bool) -> str:
        """What to tell the model after an answer without calls that is empty or cut off; empty if the answer stands.

        Words beside the last tool calls are an answer, for many models answer and call in one message; so are words
        ``sent`` by a tool.
        """
        if completion.ending == "cut" and completion.text.strip():
            self._continued += 1
            self._goes_on = self._continued <= MOST_CONTINUED
            return GO_ON if self._goes_on else ""
        if completion.ending not in ("empty", "cut") or self._asked_again or self._beside_calls or sent:
            return ""
        self._asked_again = True
        return SAID_NOTHING if completion.ending == "empty" else CUT_SILENT

    @property
    def beside(self) -> tuple[Remark, ...]:
        """What was said and is no part of the reply."""
        last = self.remarks[-1:]
        is_reply = bool(last) and self.text.startswith(last[0].text)
        return tuple(self.remarks[:-1] if is_reply else self.remarks)


def _joined(one: str, other: str) -> str:
    """Models that go on drop the space between two words."""
    return f"{one} {other}" if one[-1].isalnum() and other[0].isalnum() else one + other
