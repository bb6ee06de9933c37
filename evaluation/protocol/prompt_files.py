"""Prompts of judges and of the simulated user, one file per version (``evaluation/prompts``)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from evaluation.protocol.versions import ProtocolName

PromptName = Literal["satisfaction", "follow_up", "checklist"]
VoicePromptName = Literal["voice", "voice_check", "next_intent"]
"""Of the simulated user."""
NAMES: tuple[PromptName, ...] = get_args(PromptName)
VOICE_NAMES: tuple[VoicePromptName, ...] = get_args(VoicePromptName)
_ON_WORK: Mapping[PromptName, tuple[str, ...]] = {
    "satisfaction": ("2", "3", "4", "6", "7"),
    "follow_up": ("2", "3", "5"),
    "checklist": ("3", "4", "5", "7", "8", "9"),
}
"""Versions that show the session's work, as the paper protocol does."""
IN_TRUTH: Mapping[PromptName, str] = {"satisfaction": "5", "follow_up": "4", "checklist": "6"}
"""Those that show models the whole record, which audits ask what is so in truth. No judge uses them."""
_RELEASE: Mapping[PromptName | VoicePromptName, str] = {
    "satisfaction": "1",
    "follow_up": "1",
    "checklist": "1",
    "voice": "1",
    "voice_check": "1",
}
CURRENT: Mapping[ProtocolName, Mapping[PromptName | VoicePromptName, str]] = {
    ProtocolName.RELEASE: _RELEASE,
    ProtocolName.PAPER: {
        **_RELEASE,
        "satisfaction": "7",
        "follow_up": "5",
        "checklist": "9",
        "voice": "7",
        "voice_check": "8",
        "next_intent": "5",
    },
}
"""The versions that new pilots use. Results of different versions are not comparable."""

FOLDER = Path(__file__).resolve().parents[1] / "prompts"
_FORM = re.compile(r"# System\n\n(?P<system>.+)\n\n# User\n\n(?P<user>.+)\n", re.DOTALL)
_FIELD = re.compile(r"\{\{(\w+)\}\}")


class UnknownPromptError(LookupError):
    """There is no such version."""


@dataclass(frozen=True)
class PromptFile:
    name: PromptName | VoicePromptName
    version: str
    sha256: str
    """Of the file."""
    system: str
    user: str
    """With ``{{name}}`` where material goes."""

    def fill(self, **material: str) -> str:
        """The user message. Material is not searched for names again; a paragraph that becomes empty is left out."""
        paragraphs = (_FIELD.sub(lambda match: material[match[1]], text) for text in self.user.split("\n\n"))
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)

    def messages(self, **material: str) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.fill(**material)}]

    @property
    def identity(self) -> dict[str, str]:
        """As judgings and releases name it."""
        return {"version": self.version, "sha256": self.sha256}


@cache
def load_prompt(name: PromptName | VoicePromptName, version: str) -> PromptFile:
    """Raises UnknownPromptError."""
    if version not in prompt_versions(name):
        raise UnknownPromptError(f"The {name} prompt has no version {version}.")
    content = (FOLDER / name / f"{version}.md").read_bytes()
    form = _FORM.fullmatch(content.decode())
    if form is None:
        raise ValueError(f"The prompt {name}/{version}.md lacks one of its two sections.")
    return PromptFile(name, version, hashlib.sha256(content).hexdigest(), form["system"], form["user"])


@cache
def prompt_versions(name: PromptName | VoicePromptName) -> tuple[str, ...]:
    """Oldest first."""
    numbers = (path.stem for path in (FOLDER / name).glob("*.md") if path.stem.isdecimal())
    return tuple(sorted(numbers, key=int))


def versions_under(protocol: ProtocolName, name: PromptName) -> list[str]:
    """Oldest first: those that show what judges see under the protocol."""
    if protocol == ProtocolName.PAPER:
        return list(_ON_WORK[name])
    others = (*_ON_WORK[name], IN_TRUTH[name])
    return [version for version in prompt_versions(name) if version not in others]


def current_prompts(
    protocol: ProtocolName, names: Iterable[PromptName | VoicePromptName] = NAMES
) -> dict[str, dict[str, str]]:
    """Identities by name: those that new pilots use."""
    return {name: load_prompt(name, CURRENT[protocol][name]).identity for name in names}
