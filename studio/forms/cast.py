"""The cast as a form: the people of the apps, those that tasks name, and new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from studio.domain.app_data import declared_apps
from studio.domain.cast import CastMessage, CastPerson
from studio.domain.checks.named_people import NamedMessage, NamedPerson, Said
from studio.forms.post_data import Posted

PEOPLE, MESSAGES = "people", "messages"
LABELS = {
    "first_name": "First name",
    "last_name": "Last name",
    "email": "Email address",
    "phone_number": "Phone number",
    "relationships": "Relationship",
}
MESSAGE_LABELS = {"sender": "From", "recipient": "To", "subject": "Subject", "body": "Text"}
LONGEST = 200


@dataclass(frozen=True)
class CastInput:
    name: str
    label: str
    value: str
    error: str = ""
    long: bool = False


@dataclass(frozen=True)
class CastRow:
    key: str
    """``p`` and the position in the cast, ``n`` and the position among the named, or something else for a new one."""
    title: str
    inputs: tuple[CastInput, ...]
    passwords: tuple[CastInput, ...] = ()
    said: tuple[Said, ...] = ()
    invented: bool = False
    made: bool = True

    @property
    def is_named(self) -> bool:
        return self.key[0] == "n" and self.key[1:].isdecimal()

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(each.task for each in self.said))

    @property
    def signs_in(self) -> bool:
        return any(each.value or each.error for each in self.passwords)


def person_rows(
    people: Sequence[CastPerson], named: Sequence[NamedPerson], apps: Sequence[str]
) -> tuple[list[CastRow], list[CastRow]]:
    """The rows of the cast, completed by what tasks say of it, and those of people who are not in it."""
    completed = {id(row.before): row for row in named if row.before}
    known = []
    for place, person in enumerate(people):
        said = next((row for row in completed.values() if row.before == person), None)
        known.append(_person_row(f"p{place}", said.person if said else person, apps, said))
    new = [_person_row(f"n{place}", row.person, apps, row) for place, row in enumerate(named) if not row.before]
    return known, new


def message_rows(named: Sequence[NamedMessage]) -> list[CastRow]:
    return [
        CastRow(
            f"n{place}",
            row.message.subject,
            tuple(
                CastInput(f"{MESSAGES}.n{place}.{name}", label, str(getattr(row.message, name)), long=name == "body")
                for name, label in MESSAGE_LABELS.items()
            ),
            said=(row.said,),
        )
        for place, row in enumerate(named)
    ]


def typed_rows(rows: Sequence[CastRow], data: QueryDict, flaws: Mapping[tuple[str, str], str]) -> list[CastRow]:
    """As typed, with what is wrong by key and field."""
    posted = Posted(data)

    def typed(each: CastInput, key: str) -> CastInput:
        field = each.name.rpartition(".")[2]
        return replace(each, value=posted.text(each.name), error=flaws.get((key, field), ""))

    return [
        replace(
            row,
            inputs=tuple(typed(each, row.key) for each in row.inputs),
            passwords=tuple(typed(each, row.key) for each in row.passwords),
            made=_is_made(row.key, posted),
        )
        for row in rows
    ]


def new_rows(data: QueryDict, apps: Sequence[str]) -> list[CastRow]:
    """Empty ones under the keys that were posted for new people."""
    keys = Posted(data).keys(PEOPLE)
    return [_person_row(key, CastPerson(), apps) for key in keys if key[:1] not in "pn" or not key[1:].isdecimal()]


def posted_people(data: QueryDict, apps: Sequence[str]) -> list[tuple[str, CastPerson]]:
    """By key, without those that are not to be made and those left empty."""
    posted = Posted(data)
    rows = posted.rows(PEOPLE, [*LABELS, *map(_password, apps)])
    found = [(str(row["key"]), {name: str(text).strip()[:LONGEST] for name, text in row.items()}) for row in rows]
    return [
        (key, _person(row, apps))
        for key, row in found
        if _is_made(key, posted) and any(text for name, text in row.items() if name != "key")
    ]


def posted_messages(data: QueryDict) -> list[CastMessage]:
    posted = Posted(data)
    rows = posted.rows(MESSAGES, MESSAGE_LABELS)
    return [
        CastMessage(**{name: str(row[name]).strip() for name in MESSAGE_LABELS})
        for row in rows
        if posted.text(f"{MESSAGES}.{row['key']}.make")
    ]


def _is_made(key: str, posted: Posted) -> bool:
    named = key[:1] == "n" and key[1:].isdecimal()
    return not named or any(posted.text(f"{kind}.{key}.make") for kind in (PEOPLE, MESSAGES))


def _person(row: Mapping[str, str], apps: Sequence[str]) -> CastPerson:
    return CastPerson(
        row["first_name"],
        row["last_name"],
        row["email"],
        row["phone_number"],
        tuple(part.strip() for part in row["relationships"].split(",") if part.strip()),
        {app: text for app in apps if (text := row[_password(app)])},
    )


def _person_row(key: str, person: CastPerson, apps: Sequence[str], named: NamedPerson | None = None) -> CastRow:
    values = {**vars(person), "relationships": ", ".join(person.relationships)}
    return CastRow(
        key,
        str(person) or "Someone new",
        tuple(CastInput(f"{PEOPLE}.{key}.{name}", label, str(values[name])) for name, label in LABELS.items()),
        tuple(
            CastInput(f"{PEOPLE}.{key}.{_password(app)}", declared_apps()[app].title, person.passwords.get(app, ""))
            for app in apps
        ),
        named.said if named else (),
        named is not None and named.invented,
    )


def _password(app: str) -> str:
    return f"password_{app}"
