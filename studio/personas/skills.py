"""Skills of a persona. Each change makes a version of the persona."""

from __future__ import annotations

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import Skill
from studio.domain.phrases import quoted_titles
from studio.domain.skills import SKILL_FILE
from studio.drafts.load import load_episodes
from studio.drafts.validate import DraftError
from studio.models import Blob, Persona, PersonaRevision, User
from studio.models.transactions import atomic_with_retry
from studio.personas.save import save_persona


@atomic_with_retry
def save_skill(persona_id: int, name: str, text: str, *, old_name: str = "", by: User) -> PersonaRevision:
    """Write the SKILL.md of the skill ``old_name`` and rename it to ``name``; without ``old_name``, create a skill. Its
    other files stay. Raises DraftError (field ``name`` or ``text``)."""
    row, episode = _locked(persona_id)
    skills = {skill.name: skill for skill in episode.persona.skills}
    if old_name and old_name not in skills:
        raise DraftError("name", f"The skill “{old_name}” no longer exists; someone deleted or renamed it.")
    if not name.strip():
        raise DraftError("name", "Enter a name for the skill; it is used as its folder name.")
    if any(other.casefold() == name.casefold() for other in skills if other != old_name):
        raise DraftError("name", f"A skill “{name}” already exists. Choose another name.")
    if old_name and name != old_name:
        _validate_unused(episode, old_name, "renamed")
    if not text.strip():
        raise DraftError("text", "Write what the assistant should do when it uses this skill.")
    if "\0" in text:
        raise DraftError("text", "This contains the character U+0000. Remove it.")
    content = text.encode("utf-8", "replace")
    main = FileRef(path=SKILL_FILE, sha256=Blob.objects.store([content])[0], size=len(content))
    others = [file for file in skills[old_name].files if file.path != SKILL_FILE] if old_name else []
    skills.pop(old_name, None)
    skills[name] = Skill(name=name, files=tuple(sorted((main, *others), key=lambda file: file.path)))
    note = f"Wrote the skill “{name}”." if old_name in ("", name) else f"Renamed the skill “{old_name}” to “{name}”."
    return _save(row, episode, skills, by=by, note=note)


@atomic_with_retry
def delete_skill(persona_id: int, name: str, *, by: User) -> PersonaRevision:
    row, episode = _locked(persona_id)
    _validate_unused(episode, name, "deleted")
    skills = {skill.name: skill for skill in episode.persona.skills if skill.name != name}
    return _save(row, episode, skills, by=by, note=f"Deleted the skill “{name}”.")


def tasks_with_skill(episode: EpisodeSpec, name: str) -> list[str]:
    return [task.title.strip() or task.task_id for task in (*episode.tasks, *episode.unplaced) if name in task.skills]


def _locked(persona_id: int) -> tuple[Persona, EpisodeSpec]:
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona_id)
    return row, load_episodes([row])[row.pk]


def _validate_unused(episode: EpisodeSpec, name: str, participle: str) -> None:
    if tasks := tasks_with_skill(episode, name):
        names = quoted_titles(tasks, 8)
        raise DraftError("name", f"“{name}” cannot be {participle} while {names} use it. Remove it from them first.")


def _save(row: Persona, episode: EpisodeSpec, skills: dict[str, Skill], *, by: User, note: str) -> PersonaRevision:
    ordered = tuple(skills[name] for name in sorted(skills))
    return save_persona(row.pk, episode.persona.model_copy(update={"skills": ordered}), by=by, note=note[:300])
