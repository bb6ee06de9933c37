"""What the simulated apps of a persona hold when its episode begins. Saving it makes a version of the persona."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.domain.app_data import AppCard, app_names, declared_tables, path_of, read_app
from studio.domain.app_tables.declared import DeclaredTable
from studio.domain.base import FileRef
from studio.domain.tool_catalog import tool_summaries
from studio.domain.tool_names import tool_domain, tool_label
from studio.drafts.load import load_episodes
from studio.drafts.validate import DraftError
from studio.models import Blob, Persona, User
from studio.personas.save import save_persona

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
    spec = load_episodes([persona], with_tasks=False)[persona.pk].persona
    stored = Blob.objects.read([file.sha256 for file in spec.app_data.values()])
    contents = {app: stored.get(file.sha256, b"") for app, file in spec.app_data.items()}
    found = [_app(name, contents.get(name), spec.tools) for name in app_names()]
    return sorted(found, key=lambda app: not app.tools and app.text is None)


def save_app_data(persona: Persona, app: str, text: str, *, by: User, base_version: int | None = None) -> None:
    """Replace an app's data; empty text removes it. Raises DraftError and StaleDraftError."""
    note = f"Data of {read_app(app, None).title} changed."
    save_apps(persona, {app: text}, note, by=by, base_version=base_version)


def save_apps(
    persona: Persona, texts: Mapping[str, str], note: str, *, by: User | None, base_version: int | None = None
) -> None:
    """Replace the data of these apps in one version. Raises DraftError and StaleDraftError."""
    for app, text in texts.items():
        validate_length(text)
        card = read_app(app, text.strip().encode()) if text.strip() else None
        if card and card.error:
            raise DraftError("text", card.error)
    contents = {path_of(app): text.strip().encode() for app, text in texts.items()}
    spec = load_episodes([persona], with_tasks=False)[persona.pk].persona
    kept = [content for content in contents.values() if content]
    stored = dict(zip(kept, Blob.objects.store(kept), strict=True))
    files = [file for file in spec.files if file.path not in contents]
    files += [
        FileRef(path=path, sha256=stored[content], size=len(content)) for path, content in contents.items() if content
    ]
    files.sort(key=lambda file: file.path)
    save_persona(
        persona.pk, spec.model_copy(update={"files": tuple(files)}), by=by, note=note, base_version=base_version
    )


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
