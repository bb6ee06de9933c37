"""Versions of the parts of a persona that have pages of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

from studio.domain.base import Spec
from studio.domain.persona import PersonaSpec
from studio.domain.skills import SKILL_FILE
from studio.drafts.load import load_episode
from studio.models import Blob, Persona

S = TypeVar("S", bound=Spec)


class ScriptText(Spec):
    """A grader script in its editor."""

    source: str = ""


class SkillText(Spec):
    """A skill's name and SKILL.md."""

    name: str = ""
    text: str = ""


@dataclass
class PersonaPartVersions(ABC, Generic[S]):
    """The versions of a persona, reduced to one part."""

    persona: Persona

    @property
    def newest(self) -> int:
        return self.persona.version

    @abstractmethod
    def of(self, spec: PersonaSpec) -> S: ...

    def at(self, number: int) -> S:
        row = self.persona.revisions.filter(number=number).first() if number != self.newest else None
        return self.of(
            PersonaSpec.model_validate(row.spec) if row else load_episode(self.persona, with_tasks=False).persona
        )

    def author_of(self, number: int) -> int | None:
        return self.persona.revisions.filter(number=number).values_list("created_by_id", flat=True).first()


class PersonaVersions(PersonaPartVersions[PersonaSpec]):
    def of(self, spec: PersonaSpec) -> PersonaSpec:
        return spec


@dataclass
class ScriptVersions(PersonaPartVersions[ScriptText]):
    path: str

    def of(self, spec: PersonaSpec) -> ScriptText:
        file = next((file for file in spec.scripts if file.path == self.path), None)
        return ScriptText(source=text_of(file.sha256).rstrip("\n") if file else "")


@dataclass
class SkillVersions(PersonaPartVersions[SkillText]):
    name: str
    """Empty for a new skill."""

    def of(self, spec: PersonaSpec) -> SkillText:
        skill = next((skill for skill in spec.skills if skill.name == self.name), None)
        file = next((file for file in skill.files if file.path == SKILL_FILE), None) if skill else None
        return SkillText(name=skill.name if skill else "", text=text_of(file.sha256) if file else "")


def text_of(sha256: str) -> str:
    text = Blob.objects.read([sha256]).get(sha256, b"").decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
