"""Judge prompts and the schema of their answers (PIBENCH.md, section 2).

Text from agents, tools and files is escaped between tags, so that it cannot close them and pose as instructions.
The ``compat`` trace is the exception, as in the public release.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import IN_TRUTH, PromptFile, PromptName, load_prompt


@dataclass(frozen=True)
class JudgePrompt:
    """A prompt, and what its answer is validated against."""

    purpose: PromptName
    system: str
    user: str
    count: int
    indexes: tuple[int, ...]
    """The index each decision must carry, in order."""
    evidence: str
    """The unescaped text that a quote must occur in."""
    reason_first: bool = False
    """Whether the reason is asked for before the decision."""

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]

    @property
    def schema(self) -> dict[str, Any]:
        return answer_schema(self.purpose, reason_first=self.reason_first)


def escape(text: str) -> str:
    """For text between tags. Quotation marks stay, because escaping them costs tokens and hinders verbatim quotes."""
    return html.escape(text, quote=False)


def escape_attribute(text: str) -> str:
    return html.escape(text, quote=True)


def answer_schema(purpose: PromptName, *, reason_first: bool = False) -> dict[str, Any]:
    kinds: dict[str, Any] = {
        "index": {"type": "integer"},
        "decision": {"type": "string", "enum": ["YES", "NO"]},
        "quote": {"type": "string"},
        "reason": {"type": "string"},
        "style": {"type": "string", "enum": ["Clarify", "Options", ""]},
    }
    order = tuple(kinds)
    if reason_first:
        order = ("index", "reason", "decision", "style", "quote")
        kinds["style"] |= {"description": "Empty with NO."}
        kinds["quote"] |= {"description": "Verbatim from the material with YES, empty with NO."}
    properties = {name: kinds[name] for name in order if name != "style" or purpose == "follow_up"}
    return closed_object(decisions={"type": "array", "items": closed_object(**properties)})


def closed_object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that has these and nothing else."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def satisfaction_prompt(
    reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent], version: str = "1"
) -> JudgePrompt:
    listing = "\n".join(
        f'<file path="{escape_attribute(path)}">\n{escape(text)}\n</file>' for path, text in files.items()
    )
    return _prompt(
        load_prompt("satisfaction", version),
        [intent.index for intent in intents],
        "\n".join((reply, *files.values())),
        reply=escape(reply),
        files=f"<files>\n{listing}\n</files>" if files else "",
        requirements=_requirements(intents),
    )


def follow_up_prompt(reply: str, intents: Sequence[OpenIntent], version: str = "1") -> JudgePrompt:
    return _prompt(
        load_prompt("follow_up", version),
        [intent.index for intent in intents],
        reply,
        reply=escape(reply),
        requirements=_requirements(intents),
    )


def checklist_prompt(
    intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]], *, escaped: bool, version: str = "1"
) -> JudgePrompt:
    """``criteria`` are pairs of index and text; ``escaped`` says whether texts in ``trace`` are escaped (strict).

    Version 1 shows the hidden intents in both scoring modes, as in the public release, because a criterion may refer
    to them. This is a known weakness (PIBENCH.md, section 4, point 5).
    """
    return _prompt(
        load_prompt("checklist", version),
        [index for index, _ in criteria],
        html.unescape(trace) if escaped else trace,
        requirements="\n".join(f"<requirement>{escape(text)}</requirement>" for text in intents),
        trace=trace,
        criteria=_criteria(criteria),
    )


OF_SESSION: Mapping[PromptName, str] = {
    "satisfaction": "It is asked of the whole session: YES if the work met it before the user said it, else NO.",
    "follow_up": "It is asked of every reply: YES if one of them aims at it, as above, before the user has said it.",
    "checklist": "It is asked of the whole session, as things stand in the end.",
}
"""What a question in truth is about, if it is not about one turn."""


def satisfaction_on_work(work: Mapping[str, str], intents: Sequence[OpenIntent], version: str) -> JudgePrompt:
    """``work``: rendered and escaped, by section."""
    indexes = [intent.index for intent in intents]
    file = load_prompt("satisfaction", version)
    return _on_work(file, indexes, "requirement", work, requirements=_requirements(intents))


def follow_up_on_words(said: str, reply: str, intents: Sequence[OpenIntent], version: str) -> JudgePrompt:
    """``said``: what the user said, rendered and escaped."""
    indexes = [intent.index for intent in intents]
    file = load_prompt("follow_up", version)
    shown = {"reply": escape(reply)}
    return _on_work(file, indexes, "requirement", shown, said=said, requirements=_requirements(intents))


def checklist_on_work(work: Mapping[str, str], criteria: Sequence[tuple[int, str]], version: str) -> JudgePrompt:
    indexes = [index for index, _ in criteria]
    return _on_work(load_prompt("checklist", version), indexes, "criterion", work, criteria=_criteria(criteria))


def in_truth(name: PromptName, record: str, turn: int | None, questions: Sequence[tuple[int, str]]) -> JudgePrompt:
    """``record``: all of a session, rendered and escaped. ``turn``: as of which it is asked; None: the whole session.
    ``questions``: index and text of intents or criteria."""
    asked = {"criteria": _criteria(questions)} if name == "checklist" else {}
    asked = asked or {"requirements": _requirements([OpenIntent(index, text) for index, text in questions])}
    file = load_prompt(name, IN_TRUTH[name])
    noun = "criterion" if name == "checklist" else "requirement"
    as_of = OF_SESSION[name] if turn is None else f"It is asked as of turn {turn}."
    return _on_work(file, [index for index, _ in questions], noun, {"record": record}, turn=as_of, **asked)


def _on_work(
    file: PromptFile, indexes: Sequence[int], noun: str, shown: Mapping[str, str], **material: str
) -> JudgePrompt:
    """``shown``: where quotes are from."""
    nouns = {"requirement": "requirements", "criterion": "criteria"}[noun]
    number = len(indexes)
    wording = {
        "example": str(indexes[0]),
        "more": ", ..." if number > 1 else "",
        "entries": f"One entry for each of the {number} {nouns}, with its index, in order."
        if number > 1
        else f"One entry, for the {noun}.",
    }
    evidence = html.unescape("\n".join(shown.values()))
    return replace(_prompt(file, indexes, evidence, **shown, **material, **wording), reason_first=True)


def _prompt(file: PromptFile, indexes: Sequence[int], evidence: str, **material: str) -> JudgePrompt:
    user = file.fill(count=str(len(indexes)), **material)
    name = cast(PromptName, file.name)
    return JudgePrompt(name, file.system, user, len(indexes), tuple(indexes), evidence)


def _requirements(intents: Sequence[OpenIntent]) -> str:
    return "\n".join(f'<requirement index="{item.index}">{escape(item.content)}</requirement>' for item in intents)


def _criteria(criteria: Sequence[tuple[int, str]]) -> str:
    return "\n".join(f'<criterion index="{index}">{escape(text)}</criterion>' for index, text in criteria)
