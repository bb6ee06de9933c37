"""The scripted agents: each maps a conversation to its next message.

helpful  reads the files, writes a deliverable, remembers preferences, and covers common unstated wishes
asks     reads the files and asks targeted questions before it works
passive  answers the literal request, in one sentence
silent   says almost nothing
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from evaluation.scripted.conversation import Conversation
from evaluation.scripted.text import sentences, stems, words

MEMORY = "MEMORY.md"
MAX_READ = 4
"""Files read before work begins."""

GUESSES = (
    ("summary", "A short summary stands first, with the conclusion and a clear recommendation."),
    ("facts", "Key facts are listed with dates, names, amounts and their source."),
    ("figures", "Figures are compared in a table, with growth, percentages and totals."),
    ("risks", "Risks, key challenges and gaps in the evidence are named, each with a way to mitigate it."),
    ("options", "Alternative options are compared by cost, benefit and effort."),
    ("steps", "Next steps follow with an owner, a deadline and a priority."),
    ("audience", "Language and tone suit the audience: professional, concise, in plain words."),
    ("format", "The format uses headings, numbered sections and bullet points, with a title and a date."),
    ("check", "A final check covers consistency, compliance, privacy and open questions."),
)
"""Common wishes that most requests leave unstated."""

_NAMED_FILE = re.compile(r"[\w./-]+\.(?:md|txt|csv|json|ya?ml|html|tsv|xml|py)\b", re.IGNORECASE)
_MAKES = re.compile(
    r"\b(draft|write|prepare|create|generate|make|plan|compile|design|summari[sz]e|organi[sz]e)\b", re.I
)


@dataclass(frozen=True)
class ScriptedMessage:
    text: str = ""
    tool_calls: Sequence[tuple[str, dict[str, Any]]] = field(default_factory=tuple)


Temperament = Callable[[Conversation], ScriptedMessage]


def silent(conversation: Conversation) -> ScriptedMessage:
    return ScriptedMessage("Done.")


def passive(conversation: Conversation) -> ScriptedMessage:
    return ScriptedMessage(
        f"I have done it as you asked: {_topic(conversation.messages[0] if conversation.messages else '', 4)}."
    )


def helpful(conversation: Conversation) -> ScriptedMessage:
    if not conversation.messages:
        return ScriptedMessage("How can I help?")
    if calls := _read_files(conversation):
        return ScriptedMessage(tool_calls=calls)
    if calls := _work(conversation):
        return ScriptedMessage(tool_calls=calls)
    return ScriptedMessage(_report(conversation))


def asks(conversation: Conversation) -> ScriptedMessage:
    if not conversation.messages:
        return ScriptedMessage("What would you like me to do?")
    if calls := _read_files(conversation):
        return ScriptedMessage(tool_calls=calls)
    if conversation.turn > 1 and (calls := _work(conversation)):
        return ScriptedMessage(tool_calls=calls)
    return ScriptedMessage(_questions(conversation))


TEMPERAMENTS: dict[str, Temperament] = {"helpful": helpful, "asks": asks, "passive": passive, "silent": silent}


def _read_files(conversation: Conversation) -> list[tuple[str, dict[str, Any]]]:
    if conversation.turn > 1:
        return []
    if conversation.step == 0 and "list_dir" in conversation.tools:
        return [("list_dir", {"path": "."})]
    listing = conversation.last("list_dir")
    if conversation.step == 1 and listing and "read_file" in conversation.tools:
        files = [line.strip() for line in listing.result.splitlines() if _NAMED_FILE.fullmatch(line.strip())]
        named = [name for name in files if PurePosixPath(name).name in conversation.messages[0]]
        chosen = named or [name for name in files if name != MEMORY and stems(name) & stems(conversation.messages[0])]
        return [("read_file", {"path": name}) for name in chosen[:MAX_READ]]
    return []


def _work(conversation: Conversation) -> list[tuple[str, dict[str, Any]]]:
    has_written = any(call.name == "write_file" for call in _calls_since_user(conversation))
    if "write_file" not in conversation.tools or has_written:
        return []
    calls: list[tuple[str, dict[str, Any]]] = []
    if _MAKES.search(conversation.messages[0]):
        calls.append(
            ("write_file", {"path": _file_name(conversation.messages[0]), "content": _deliverable(conversation)})
        )
    if conversation.turn > 1:
        memory = "\n".join(
            dict.fromkeys(
                (
                    *conversation.memory.splitlines(),
                    *(f"- {_collapse_whitespace(text)}" for text in conversation.messages[1:]),
                )
            )
        )
        calls.append(("write_file", {"path": MEMORY, "content": memory.strip() + "\n"}))
    return calls


def _calls_since_user(conversation: Conversation) -> Sequence[Any]:
    return conversation.calls[len(conversation.calls) - conversation.calls_this_turn :]


def _report(conversation: Conversation) -> str:
    topic = _topic(conversation.messages[0], 6)
    paragraphs = [f"I have worked on this: {topic}."]
    written = [
        path
        for call in conversation.calls
        if call.name == "write_file" and (path := call.arguments.get("path")) != MEMORY
    ]
    if written:
        paragraphs.append(f"The result is in {written[-1]}.")
    if conversation.turn > 1:
        paragraphs.append(f"I have taken this in: {_collapse_whitespace(conversation.messages[-1])}")
    if preferences := [
        line[2:]
        for line in conversation.memory.splitlines()
        if line.startswith("- ") and _applies(line, conversation.messages[0])
    ]:
        paragraphs.append("As you told me before:\n" + "\n".join(f"- {line}" for line in preferences[:6]))
    if facts := _facts(conversation):
        paragraphs.append("From the files:\n" + "\n".join(f"- {fact}" for fact in facts))
    if conversation.turn == 1:
        paragraphs.append(
            "I have also seen to this:\n" + "\n".join(f"- {text}" for _, text in _guesses(conversation.messages[0]))
        )
    return "\n\n".join(paragraphs)


def _deliverable(conversation: Conversation) -> str:
    lines = [f"# {_topic(conversation.messages[0], 6).capitalize()}", "", "## Request", ""]
    lines += [_collapse_whitespace(sentence) for sentence in sentences(conversation.messages[0])[:12]]
    if len(conversation.messages) > 1:
        lines += [
            "",
            "## What was added",
            "",
            *(f"- {_collapse_whitespace(text)}" for text in conversation.messages[1:]),
        ]
    if facts := _facts(conversation):
        lines += ["", "## From the files", "", *(f"- {fact}" for fact in facts)]
    lines += ["", "## Also covered", "", *(f"- {text}" for _, text in _guesses(conversation.messages[0]))]
    return "\n".join(lines) + "\n"


def _questions(conversation: Conversation) -> str:
    topic = _terms(conversation.messages[0], 8)
    subject = " and ".join(topic[:2]) or "this"
    pool = [
        f"Which format and structure should {subject} have: headings, a table, or numbered sections?",
        f"Who is the audience, and which tone and language should {subject} use?",
        f"Should I start with a summary and the conclusion, or with the background of {subject}?",
        f"Which facts, figures, dates and sources about {subject} should I cite as evidence?",
        f"Should I list risks, challenges and ways to mitigate them for {subject}?",
        f"What deadline, priority and next steps apply to {subject}, and who is the owner?",
        f"Which cost, budget or price limits apply to {subject}?",
        f"Should I save {subject} as a file, send it by email, or add it to a list or calendar?",
        f"Should I compare {' and '.join(topic[2:4]) or 'alternatives'} with other options before I recommend one?",
        f"Do you have preferences about {' or '.join(topic[4:7]) or 'style'} that I should follow from now on?",
    ]
    start = sum(map(ord, conversation.messages[0])) + 2 * (conversation.turn - 1)
    chosen = [pool[(start + offset) % len(pool)] for offset in range(2)]
    acknowledgment = (
        f"Thank you, noted: {_collapse_whitespace(conversation.messages[-1])}\n\n" if conversation.turn > 1 else ""
    )
    return (
        acknowledgment
        + "Before I go on:\n"
        + "\n".join(f"{number}. {text}" for number, text in enumerate(chosen, start=1))
    )


def _guesses(request: str) -> Sequence[tuple[str, str]]:
    """The four GUESSES closest to the request; ties are broken by the request."""
    terms = stems(request)
    ranked = sorted(
        range(len(GUESSES)),
        key=lambda index: (-len(terms & stems(GUESSES[index][1])), (index * 5 + len(request)) % len(GUESSES)),
    )
    return [GUESSES[index] for index in ranked[:4]]


def _facts(conversation: Conversation) -> list[str]:
    terms = stems(conversation.messages[0])
    facts = [
        _collapse_whitespace(sentence)
        for call in conversation.calls
        if call.name == "read_file"
        for sentence in sentences(call.result)
        if len(sentence) > 20
    ]
    return sorted(dict.fromkeys(facts), key=lambda sentence: -len(terms & stems(sentence)))[:6]


def _applies(line: str, request: str) -> bool:
    """A general preference applies to every request."""
    return bool(re.search(r"\b(always|any|every|all|never|from now on|whenever|each)\b", line, re.I)) or (
        len(stems(line) & stems(request)) >= 2
    )


def _terms(text: str, count: int) -> list[str]:
    counts: dict[str, int] = {}
    for word in words(text):
        if len(word) > 3 and not word[0].isdigit():
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=lambda word: (-counts[word], -len(word), word))[:count]


def _topic(text: str, count: int) -> str:
    return ", ".join(_terms(text, count)) or "your request"


def _file_name(request: str) -> str:
    name = "_".join(re.sub(r"[^a-z0-9]", "", term) for term in _terms(request, 2)).strip("_")
    return f"{name or 'result'}.md"


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
