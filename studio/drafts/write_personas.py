"""Bulk writing of persona specs."""

from __future__ import annotations

from collections.abc import Sequence

from studio.domain.persona import PersonaSpec
from studio.drafts.sync import sync
from studio.models import (
    GraderScript,
    Persona,
    PersonaFile,
    Skill,
    SkillFile,
    ToolBinding,
)

PERSONA_FIELDS = [
    "user_id",
    "name",
    "role_text",
    "occupation",
    "routines",
    "working_style",
    "attributes",
    "preferences",
    "long_term_goals",
    "profile_source",
    "tools_source",
    "version",
    "updated_at",
]


def set_persona_fields(row: Persona, spec: PersonaSpec) -> None:
    for name in PERSONA_FIELDS:
        if name not in ("version", "updated_at"):
            setattr(row, name, getattr(spec, name))
    row.long_term_goals = list(spec.long_term_goals)


def write_persona_rows(pairs: Sequence[tuple[Persona, PersonaSpec]]) -> None:
    keys = [row.pk for row, _ in pairs]
    sync(
        ToolBinding.objects.filter(persona__in=keys),
        [
            ToolBinding(persona=row, position=position, name=name)
            for row, spec in pairs
            for position, name in enumerate(spec.tools, 1)
        ],
        key=lambda tool: (tool.persona_id, tool.name),
        fields=["position"],
    )
    skills = sync(
        Skill.objects.filter(persona__in=keys),
        [Skill(persona=row, name=skill.name) for row, spec in pairs for skill in spec.skills],
        key=lambda skill: (skill.persona_id, skill.name),
        fields=[],
    )
    sync(
        SkillFile.objects.filter(skill__persona__in=keys),
        [
            SkillFile(skill=skills[(row.pk, skill.name)], path=file.path, blob_id=file.sha256)
            for row, spec in pairs
            for skill in spec.skills
            for file in skill.files
        ],
        key=lambda file: (file.skill_id, file.path),
        fields=["blob_id"],
    )
    _write_scripts(pairs)
    sync(
        PersonaFile.objects.filter(persona__in=keys),
        [PersonaFile(persona=row, path=file.path, blob_id=file.sha256) for row, spec in pairs for file in spec.files],
        key=lambda file: (file.persona_id, file.path),
        fields=["blob_id"],
    )


def _write_scripts(pairs: Sequence[tuple[Persona, PersonaSpec]]) -> None:
    """A script's keys are dropped when its content changes."""
    stored = list(GraderScript.objects.filter(persona__in=[row.pk for row, _ in pairs]))
    known = {(script.persona_id, script.path, script.blob_id): script for script in stored}
    wanted = []
    for row, spec in pairs:
        for file in spec.scripts:
            same = known.get((row.pk, file.path, file.sha256))
            wanted.append(
                GraderScript(
                    persona=row,
                    path=file.path,
                    blob_id=file.sha256,
                    keys=same.keys if same else None,
                    problem=same.problem if same else "",
                )
            )
    sync(
        stored,
        wanted,
        key=lambda script: (script.persona_id, script.path),
        fields=["blob_id", "keys", "problem"],
    )
