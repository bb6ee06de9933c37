"""Editors of a persona's profile, skills and grader scripts; each save makes a version of the persona."""

from __future__ import annotations

from typing import Generic, TypeVar

from studio.domain.base import Spec
from studio.domain.persona import PersonaSpec
from studio.drafts.autosave import EditorKey
from studio.drafts.editor import DraftEditor
from studio.models import GraderScript, Persona, User
from studio.personas.save import save_persona
from studio.personas.scripts import save_script
from studio.personas.skills import save_skill
from studio.personas.versions import (
    PersonaPartVersions,
    PersonaVersions,
    ScriptText,
    ScriptVersions,
    SkillText,
    SkillVersions,
)

S = TypeVar("S", bound=Spec)


class PersonaPartEditor(DraftEditor[S], Generic[S]):
    def __init__(self, versions: PersonaPartVersions[S], page: str, user: User) -> None:
        self.persona, self.versions, self.user = versions.persona, versions, user
        self.key = EditorKey(persona=self.persona, name=page)

    def lock(self) -> None:
        rows = Persona.objects.select_related("benchmark")
        self.persona.refresh_from_db(from_queryset=rows.select_for_update(no_key=True, of=("self",)))

    def newest(self) -> int:
        self.persona.refresh_from_db(fields=["version"])
        return self.persona.version


class ProfileEditor(PersonaPartEditor[PersonaSpec]):
    def __init__(self, persona: Persona, user: User) -> None:
        super().__init__(PersonaVersions(persona), "profile", user)

    def store(self, spec: PersonaSpec, *, note: str) -> int:
        save_persona(self.persona.pk, spec, by=self.user, note=note)
        return self.newest()


class SkillEditor(PersonaPartEditor[SkillText]):
    def __init__(self, persona: Persona, name: str, user: User) -> None:
        super().__init__(SkillVersions(persona, name), f"skill:{name}", user)
        self.name = name

    def store(self, spec: SkillText, *, note: str) -> int:
        save_skill(self.persona.pk, spec.name, spec.text, old_name=self.name, by=self.user)
        return self.newest()


class ScriptEditor(PersonaPartEditor[ScriptText]):
    def __init__(self, persona: Persona, script: GraderScript, user: User) -> None:
        super().__init__(ScriptVersions(persona, script.path), f"script:{script.pk}", user)
        self.script = script

    def store(self, spec: ScriptText, *, note: str) -> int:
        save_script(self.script.pk, spec.source, by=self.user, note=note)
        return self.newest()
