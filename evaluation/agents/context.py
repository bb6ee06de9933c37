"""A budget for the context: what came before the present step is summarised when a conversation outgrows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.agents.messages import is_opening, words_of, write_record
from evaluation.llm import Completion
from evaluation.protocol.participants import Aside, Tokens

CHARACTERS = 4
"""Of a token, roughly; only for what no endpoint has counted yet."""
RECENT_STEPS = 2
"""Latest answers of the present turn that stay as they are, with the results of their tools."""
PICTURE = 4_000
"""Characters that a picture stands for."""
WORTH = 4
"""A summary is made if it replaces at least this part of the budget."""
Messages = list[dict[str, Any]]

_SYSTEM = """\
You shorten the record of a conversation between a user and an assistant, so that the assistant can go on from it.
Keep all it needs: what the user wants and said, what was found and where (file, tool), what was decided, what was made
and with which result, what is still open. Add nothing and judge nothing. Write plain text in the third person."""
_HEADING = "\n\nThe conversation so far was shortened. What the user said in it, word for word:\n"


class ContextBudget:
    """``tokens``: of the whole prompt; 0 is no limit."""

    def __init__(self, tokens: int, state: Mapping[str, Any]) -> None:
        self.tokens = tokens
        self._said: list[str] = list(state.get("said", ()))
        self._summary: str = state.get("summary", "")
        self._counted, self._messages = state.get("counted", (0, 0))
        """Tokens of the latest prompt with its answer, and how many messages they were."""

    def state(self) -> dict[str, Any]:
        counted = {"counted": [self._counted, self._messages]}
        return counted | ({"said": self._said, "summary": self._summary} if self._summary else {})

    def count(self, tokens: Tokens, messages: int) -> None:
        self._counted, self._messages = tokens.total, messages

    def shorten(self, messages: Messages, ask: Callable[[Messages], Completion]) -> Aside | None:
        """Replace older messages by a summary, in the system message, if there are too many."""
        before = self._size(messages)
        if not self.tokens or before <= self.tokens:
            return None
        head = messages[:1] if messages[0]["role"] == "system" and not is_opening(messages[0]) else []
        opening, steps = _present(messages)
        old = [*messages[len(head) : opening], *messages[opening + 1 : steps]]
        record = write_record(old)
        if len(record) < self.tokens * CHARACTERS // WORTH:
            return None
        earlier = f"EARLIER, ALREADY SHORTENED: {self._summary}\n" if self._summary else ""
        completion = ask([{"role": "system", "content": _SYSTEM}, {"role": "user", "content": earlier + record}])
        if not completion.text.strip():
            return None
        self._said += [str(message["content"]) for message in messages[len(head) : opening] if is_opening(message)]
        self._summary = completion.text.strip()
        briefing = str(head[0]["content"]).split(_HEADING)[0] if head else ""
        messages[:] = [self._head(briefing), messages[opening], *messages[steps:]]
        self._counted = self._messages = 0
        return Aside(
            f"{len(old)} messages summarised: about {before:,} tokens, now {self._size(messages):,}", self._summary
        )

    def _head(self, briefing: str) -> dict[str, Any]:
        said = "\n".join(f"- {text}" for text in self._said) or "- (nothing but the message below)"
        return {"role": "system", "content": f"{briefing}{_HEADING}{said}\n\nSummary of the rest:\n{self._summary}"}

    def _size(self, messages: Messages) -> int:
        """As its endpoint counted, or by its characters if that is more: not every endpoint counts."""
        sizes = [_characters(message) // CHARACTERS for message in messages]
        return max(sum(sizes), int(self._counted) + sum(sizes[self._messages :]))


def _present(messages: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Where the present turn opens, and where its recent steps begin."""
    opening = max(index for index, message in enumerate(messages) if is_opening(message))
    answers = [index for index in range(opening + 1, len(messages)) if messages[index]["role"] == "assistant"]
    recent = answers[-RECENT_STEPS:]
    return opening, recent[0] if recent else opening + 1


def _characters(message: Mapping[str, Any]) -> int:
    calls = message.get("tool_calls") or ()
    content = message.get("content")
    pictures = sum("text" not in part for part in content) if isinstance(content, list) else 0
    return len(words_of(message)) + PICTURE * pictures + sum(len(call["function"]["arguments"]) for call in calls)
