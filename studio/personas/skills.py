"""Skills of a persona."""

from __future__ import annotations

from studio.domain.base import Spec
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.phrases import quoted_titles
from studio.domain.skills import SKILL_FILE
from studio.drafts.validate import DraftError
from studio.personas.files import Change, FileKind, stored_file, text_of, with_files


class SkillText(Spec):
    """A skill's name and SKILL.md."""

    name: str = ""
    text: str = ""


class Skills(FileKind[SkillText]):
    """A skill's other files stay when its SKILL.md is written or it is renamed."""

    empty = SkillText()

    def find(self, spec: PersonaSpec, name: str) -> SkillText | None:
        skill = next((skill for skill in spec.skills if skill.name == name), None)
        if skill is None:
            return None
        return SkillText(name=name, text=text_of(next((f for f in skill.files if f.path == SKILL_FILE), None)) or "")

    def put(self, episode: EpisodeSpec, name: str, text: SkillText) -> Change:
        skills = {skill.name: skill for skill in episode.persona.skills}
        if name and name not in skills:
            raise DraftError("name", f"The skill “{name}” no longer exists; someone deleted or renamed it.")
        if not text.name.strip():
            raise DraftError("name", "Enter a name for the skill; it is used as its folder name.")
        if any(other.casefold() == text.name.casefold() for other in skills if other != name):
            raise DraftError("name", f"A skill “{text.name}” already exists. Choose another name.")
        if name and text.name != name:
            _validate_unused(episode, name, "renamed")
        if not text.text.strip():
            raise DraftError("text", "Write what the assistant should do when it uses this skill.")
        if "\0" in text.text:
            raise DraftError("text", "This contains the character U+0000. Remove it.")
        main = stored_file(SKILL_FILE, text.text.encode("utf-8", "replace"))
        files = with_files(skills.pop(name).files if name else (), [main])
        skills[text.name] = Skill(name=text.name, files=files)
        renamed = f"Renamed the skill “{name}” to “{text.name}”."
        return _change(episode, skills, f"Wrote the skill “{text.name}”." if name in ("", text.name) else renamed)

    def drop(self, episode: EpisodeSpec, name: str) -> Change:
        _validate_unused(episode, name, "deleted")
        skills = {skill.name: skill for skill in episode.persona.skills if skill.name != name}
        return _change(episode, skills, f"Deleted the skill “{name}”.")


SKILLS = Skills()


def tasks_with_skill(episode: EpisodeSpec, name: str) -> list[str]:
    return [task.title.strip() or task.task_id for task in (*episode.tasks, *episode.unplaced) if name in task.skills]


def _validate_unused(episode: EpisodeSpec, name: str, participle: str) -> None:
    if tasks := tasks_with_skill(episode, name):
        names = quoted_titles(tasks, 8)
        raise DraftError("name", f"“{name}” cannot be {participle} while {names} use it. Remove it from them first.")


def _change(episode: EpisodeSpec, skills: dict[str, Skill], note: str) -> Change:
    ordered = tuple(skills[name] for name in sorted(skills))
    return Change(episode.persona.model_copy(update={"skills": ordered}), note)
