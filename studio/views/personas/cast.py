"""The cast of a persona: the people of its simulated apps, and those that tasks name."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect

from studio.access import SignedInRequest
from studio.domain.cast import CastEntry, CastPerson
from studio.domain.phrases import count_of
from studio.drafts.validate import DraftError, StaleDraftError
from studio.forms.cast import (
    message_rows,
    new_rows,
    person_rows,
    posted_messages,
    posted_people,
    typed_rows,
)
from studio.forms.post_data import apply_row_operation, number_of
from studio.models import Persona
from studio.personas.cast import Cast, CastError, enter_cast, load_cast
from studio.views.pages import persona_page, place_of, show


@persona_page("view", "GET", "POST", post="edit")
def cast(request: SignedInRequest, persona: Persona) -> HttpResponse:
    found = load_cast(persona)
    if request.method == "GET":
        return _page(request, persona, found)
    if (changed := apply_row_operation(request.POST)) is not None:
        return _page(request, persona, found, typed=changed)
    posted = posted_people(request.POST, list(found.apps))
    keys = [key for key, _ in posted]
    entries = [CastEntry(person, _before(found, key)) for key, person in posted]
    made = posted_messages(request.POST)
    version = number_of(request.POST.get("base_version"))
    try:
        people = enter_cast(
            persona, found, [_forgetting(entry) for entry in entries], made, by=request.user, base_version=version
        )
    except CastError as error:
        flaws = {(keys[place], field): message for place, field, message in error.flaws if place < len(keys)}
        return _page(request, persona, found, typed=request.POST, flaws=flaws, problem="" if flaws else str(error))
    except (DraftError, StaleDraftError) as error:
        return _page(request, persona, found, typed=request.POST, problem=str(error))
    parts = [count_of(people, "person", "people")] if people else []
    parts += [count_of(len(made), "message")] if made else []
    messages.success(request, f"Saved {' and '.join(parts)} in the apps." if parts else "Nothing was changed.")
    return redirect("studio:cast", *place_of(persona))


def _before(found: Cast, key: str) -> CastPerson | None:
    place = number_of(key[1:]) if key[:1] == "p" and key[1:].isdecimal() else len(found.people)
    return found.people[place] if place < len(found.people) else None


def _forgetting(entry: CastEntry) -> CastEntry:
    """A password that was taken out is one no longer."""
    if entry.before is None:
        return entry
    gone = dict.fromkeys(entry.before.passwords.keys() - entry.person.passwords.keys(), "")
    return replace(entry, person=replace(entry.person, passwords={**entry.person.passwords, **gone}))


def _page(
    request: SignedInRequest,
    persona: Persona,
    found: Cast,
    *,
    typed: QueryDict | None = None,
    flaws: dict[tuple[str, str], str] | None = None,
    problem: str = "",
) -> HttpResponse:
    apps = list(found.apps)
    known, named = person_rows(found.people, found.named, apps)
    new, mail = [], message_rows(found.messages)
    if typed is not None:
        new = new_rows(typed, apps)
        known, named, new, mail = (typed_rows(rows, typed, flaws or {}) for rows in (known, named, new, mail))
    context = {
        "cast": found,
        "known": known,
        "named": named,
        "new": new,
        "mail": mail,
        "problem": problem,
        "wrong": len(flaws or ()),
        "base_version": persona.version if typed is None else typed.get("base_version", ""),
    }
    return show(request, persona, "studio/personas/cast.html", context, status=422 if flaws or problem else 200)
