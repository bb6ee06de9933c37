"""What the simulated apps of a persona hold when its episode begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.domain.app_data import AppCard, app_names, declared_tables, path_of, read_app
from studio.domain.app_tables.declared import DeclaredTable
from studio.domain.base import Spec
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.tool_catalog import tool_summaries
from studio.domain.tool_names import tool_domain, tool_label
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError, StaleDraftError
from studio.models import Blob, Persona, User
from studio.models.transactions import atomic_with_retry
from studio.personas.files import Change, FileKind, apply_change, stored_file, text_of, with_files

MAX_TEXT = 5_000_000
"""Characters of an app's data."""


@dataclass(frozen=True)
class PersonaApp:
    card: AppCard
    tools: tuple[str, ...]
    """Names that the persona binds."""
    text: str | None
    """Its data as JSON; None if there is none."""
    abilities: tuple[tuple[str, str], ...] = ()
    """What an assistant can do with these tools: a name, and in plain words."""
    tables: tuple[DeclaredTable, ...] = ()
    """Those that can be edited."""


def persona_apps(persona: Persona) -> list[PersonaApp]:
    """Every app there is, those first that the persona uses."""
    spec = load_episode(persona, with_tasks=False).persona
    stored = Blob.objects.read([file.sha256 for file in spec.app_data.values()])
    contents = {app: stored.get(file.sha256, b"") for app, file in spec.app_data.items()}
    found = [_app(name, contents.get(name), spec.tools) for name in app_names()]
    return sorted(found, key=lambda app: not app.tools and app.text is None)


class AppText(Spec):
    """An app's data as JSON; empty if it has none."""

    text: str = ""


class AppData(FileKind[AppText]):
    """Named by their apps."""

    empty = AppText()

    def find(self, spec: PersonaSpec, name: str) -> AppText | None:
        text = text_of(spec.app_data.get(name))
        return None if text is None else AppText(text=text)

    def put(self, episode: EpisodeSpec, name: str, text: AppText) -> Change:
        return put_apps(episode.persona, {name: text.text}, f"Data of {read_app(name, None).title} changed.")

    def drop(self, episode: EpisodeSpec, name: str) -> Change:
        return self.put(episode, name, self.empty)


APP_DATA = AppData()


def put_apps(spec: PersonaSpec, texts: Mapping[str, str], note: str) -> Change:
    """Replace the data of these apps; empty text removes it. Raises DraftError."""
    for app, text in texts.items():
        validate_length(text)
        card = read_app(app, text.strip().encode()) if text.strip() else None
        if card and card.error:
            raise DraftError("text", card.error)
    new = [stored_file(path_of(app), text.strip().encode()) for app, text in texts.items() if text.strip()]
    gone = [path_of(app) for app, text in texts.items() if not text.strip()]
    return Change(spec.model_copy(update={"files": with_files(spec.files, new, gone)}), note)


@atomic_with_retry
def save_apps(
    persona: Persona, texts: Mapping[str, str], note: str, *, by: User | None, base_version: int | None = None
) -> None:
    """Replace the data of these apps in one version. Raises DraftError, and StaleDraftError if the persona has changed
    since."""
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona.pk)
    if base_version not in (None, row.version):
        raise StaleDraftError(row.version)
    episode = load_episode(row)
    apply_change(row, episode, put_apps(episode.persona, texts, note), by=by)


def validate_length(text: str) -> None:
    """Raises DraftError if an app's data is too long."""
    if len(text) > MAX_TEXT:
        raise DraftError("text", f"This has {len(text):,} characters; an app's data has at most {MAX_TEXT:,}.")


def _app(name: str, content: bytes | None, tools: Sequence[str]) -> PersonaApp:
    bound = tuple(tool for tool in tools if "__" in tool and tool_domain(tool) == name)
    text = None if content is None else content.decode("utf-8", "replace")
    summaries = tool_summaries(bound)
    abilities = tuple((tool_label(tool), summaries[tool]) for tool in bound if tool in summaries)
    return PersonaApp(read_app(name, content), bound, text, abilities, declared_tables(name))
