"""The cast of a persona: shown and entered in all simulated apps at once, with what tasks name and the apps lack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from studio.domain.app_data import SignsInBy, declared_apps, read_app
from studio.domain.cast import (
    CastEntry,
    CastMessage,
    CastPerson,
    enter_messages,
    enter_people,
    find_same,
    merged,
    read_cast,
)
from studio.domain.checks.named_people import NamedMessage, NamedPerson, Said, named_messages, named_people
from studio.domain.graders import read_script
from studio.domain.phrases import count_of
from studio.domain.storable import storable
from studio.domain.tool_names import tool_domain
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError
from studio.models import Blob, Persona, User
from studio.personas.app_data import save_apps

MAX_PEOPLE = 300


class CastError(Exception):
    """``flaws``: by position among the entries, the field and what is wrong. Nothing was saved."""

    def __init__(self, flaws: Sequence[tuple[int, str, str]]) -> None:
        super().__init__("; ".join(f"Person {place + 1}: {message}" for place, _, message in flaws))
        self.flaws = tuple(flaws)


@dataclass(frozen=True)
class Cast:
    people: tuple[CastPerson, ...]
    named: tuple[NamedPerson, ...]
    """Whom tasks name and the apps lack, in whole or in part."""
    messages: tuple[NamedMessage, ...]
    apps: Mapping[str, SignsInBy]
    """Those of the persona's assistant, and those with data."""
    data: Mapping[str, Mapping[str, Any]]
    titles: Mapping[str, str]
    """Of tasks, by id."""
    problem: str = ""
    """Why an app's data cannot be read; then there are no people."""

    @property
    def is_wanting(self) -> bool:
        return bool(self.named or self.messages)


def load_cast(persona: Persona) -> Cast:
    episode = load_episode(persona)
    spec = episode.persona
    used = {tool_domain(tool) for tool in spec.tools if "__" in tool} | spec.app_data.keys()
    apps = {app: declared.signs_in_by for app, declared in declared_apps().items() if app in used}
    files = {app: file.sha256 for app, file in spec.app_data.items() if app in apps}
    stored = Blob.objects.read([*files.values(), *(script.sha256 for script in spec.scripts)])
    for app, sha256 in files.items():
        if error := read_app(app, stored.get(sha256, b"")).error:
            return Cast((), (), (), apps, {}, {}, f"{declared_apps()[app].title}: {error}")
    data = {app: json.loads(stored[sha256]) for app, sha256 in files.items()}
    readings = {
        script.sha256: read_script(stored[script.sha256].decode("utf-8", "replace"))
        for script in spec.scripts
        if script.sha256 in stored
    }
    people = read_cast(data, apps)
    named = named_people(episode, readings, data, apps)
    messages = named_messages(episode, data, (*(row.person for row in named), *people)) if "gmail" in apps else ()
    titles = {task.task_id: task.title for task in (*episode.tasks, *episode.unplaced)}
    return Cast(people, named, messages, apps, data, titles)


def wanting_personas(personas: Sequence[Persona]) -> list[Persona]:
    """Those whose tasks name what their apps lack."""
    return [persona for persona in personas if load_cast(persona).is_wanting]


def entries_of(cast: Cast, people: Sequence[CastPerson]) -> list[CastEntry]:
    """People given without saying who they were: those the apps have already are completed."""
    found = [(person, find_same(cast.people, person)) for person in people]
    return [CastEntry(merged(before, person) if before else person, before) for person, before in found]


def enter_given(
    persona: Persona,
    people: Sequence[CastPerson],
    *,
    named: bool = False,
    by: User | None,
    base_version: int | None = None,
) -> int:
    """As ``enter_cast``: these people, and with ``named`` everything that tasks name and nobody gave."""
    cast = load_cast(persona)
    entries, messages = entries_of(cast, people), []
    if named:
        entries += [CastEntry(row.person, row.before) for row in cast.named if not row.is_among(people)]
        messages = [row.message for row in cast.messages]
    return enter_cast(persona, cast, entries, messages, by=by, base_version=base_version)


def cast_document(cast: Cast) -> dict[str, Any]:
    """As API and command give it."""
    return {
        "apps": list(cast.apps),
        "problem": cast.problem,
        "people": [asdict(person) for person in cast.people],
        "named": [
            {**asdict(row.person), "is_new": row.before is None, "invented": row.invented, "said": _said(row.said)}
            for row in cast.named
        ],
        "messages": [{**asdict(row.message), "said": _said((row.said,))} for row in cast.messages],
    }


def _said(said: Sequence[Said]) -> list[dict[str, str]]:
    return [asdict(each) for each in said]


def enter_cast(
    persona: Persona,
    cast: Cast,
    entries: Sequence[CastEntry],
    messages: Sequence[CastMessage] = (),
    *,
    by: User | None,
    base_version: int | None = None,
) -> int:
    """Put people and messages into the apps, as one version of the persona; returns how many people changed. Raises
    CastError, DraftError and StaleDraftError."""
    if cast.problem:
        raise DraftError("text", cast.problem)
    changed = [entry for entry in entries if entry.person != entry.before]
    if flaws := _flaws(cast, entries):
        raise CastError(flaws)
    if not changed and not messages:
        return 0
    data = enter_people(cast.data, changed, cast.apps)
    if messages:
        data = enter_messages(data, [CastMessage(**storable(asdict(message))) for message in messages])
    texts = {
        app: json.dumps(tables, ensure_ascii=False, indent=2)
        for app, tables in data.items()
        if tables != cast.data.get(app)
    }
    if texts:
        names = ", ".join(str(entry.person) for entry in changed[:3])
        note = f"Cast: {names}{' and others' if len(changed) > 3 else ''}." if changed else "Cast: messages."
        save_apps(persona, texts, note, by=by, base_version=base_version or persona.version)
    return len(changed)


def _flaws(cast: Cast, entries: Sequence[CastEntry]) -> list[tuple[int, str, str]]:
    flaws = [(place, *flaw) for place, entry in enumerate(entries) for flaw in entry.person.flaws()]
    if len(entries) > MAX_PEOPLE:
        flaws.append((MAX_PEOPLE, "first_name", f"{count_of(len(entries), 'person')}; at most {MAX_PEOPLE} at once."))
    befores = [entry.before for entry in entries]
    others = [(-1, person) for person in cast.people if person not in befores]
    seen: dict[tuple[str, str], CastPerson] = {}
    for place, person in [*others, *((place, entry.person) for place, entry in enumerate(entries))]:
        for name in ("email", "phone_number"):
            value = str(getattr(person, name))
            if value and (twin := seen.setdefault((name, value), person)) is not person:
                flaws.append((place, name, f"{twin} has this already; each person has their own."))
    return [flaw for flaw in flaws if flaw[0] >= 0]
