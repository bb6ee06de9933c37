"""The people of a persona's world: each is entered once, and has an account in every app and stands among the contacts.

A cast is not stored: it is read from what the apps hold, and what is entered is written there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from studio.domain.app_data import SignsInBy
from studio.domain.storable import storable

AppTables = Mapping[str, Mapping[str, Any]]
"""App → table → records."""
PHONE = "phone"
MAIL = "gmail"
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_NUMBER = re.compile(r"\+?[0-9]{3,15}")


@dataclass(frozen=True)
class CastPerson:
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    phone_number: str = ""
    relationships: tuple[str, ...] = ()
    """To those whose contact this is, such as coworker."""
    passwords: Mapping[str, str] = field(default_factory=dict)
    """By app, of accounts that can be signed in to; other people's have none."""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    def __str__(self) -> str:
        return self.name or self.email or self.phone_number

    def is_same(self, other: CastPerson) -> bool:
        """One address or number in common; or one name, and no address or number that differs."""
        if self.email and self.email == other.email:
            return True
        if self.phone_number and self.phone_number == other.phone_number:
            return True
        differ = (self.email and other.email) or (self.phone_number and other.phone_number)
        return bool(self.name) and self.name.casefold() == other.name.casefold() and not differ

    def citations(self, titles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """What a request can say of them, with what it is. ``titles`` of apps."""
        for value, what in ((self.email, "email address"), (self.phone_number, "phone number")):
            if value:
                yield value, f"{what} of {self}"
        for app, password in self.passwords.items():
            username = (
                f"My phone number is {self.phone_number}" if app == PHONE else f"My {titles[app]} email is {self.email}"
            )
            yield f"{username} and password is '{password}'.", f"{titles[app]} sign-in"

    def flaws(self) -> Iterator[tuple[str, str]]:
        """Fields that no app would take, with the reason."""
        texts = (self.name, self.email, self.phone_number, *self.relationships, *self.passwords.values())
        if any(storable(text) != text for text in texts):
            yield "first_name", "This holds a character that no text has."
        if not str(self):
            yield "first_name", "Give a name, an email address or a phone number."
        if self.email and not _EMAIL.fullmatch(self.email):
            yield "email", "Write an address such as ada@example.com."
        if self.phone_number and not _NUMBER.fullmatch(self.phone_number):
            yield "phone_number", "Write digits only, such as 4155550100."
        if any(self.passwords.values()) and not (self.email or self.phone_number):
            yield "email", "A password needs an account: give an email address or a phone number."


@dataclass(frozen=True)
class CastMessage:
    """An email between two of the people that stands in the mailboxes when the episode begins."""

    sender: str
    recipient: str
    subject: str = ""
    body: str = ""


@dataclass(frozen=True)
class CastEntry:
    """A person as they are to be, and as they were; None: they are new."""

    person: CastPerson
    before: CastPerson | None = None


def read_cast(data: AppTables, signs_in_by: Mapping[str, SignsInBy]) -> tuple[CastPerson, ...]:
    """Those who can be signed in as first."""
    people: list[CastPerson] = []
    for app, kind in signs_in_by.items():
        for row in _rows(data, app, "accounts"):
            password = {app: str(row["password"])} if row.get("password") else {}
            known = {"email": "", "phone_number": "", **row, kind: row.get("username")}
            _add(people, _person(known, passwords=password))
    for row in _rows(data, PHONE, "contacts"):
        _add(people, _person(row, relationships=tuple(map(str, row.get("relationships") or ()))))
    return tuple(sorted(people, key=lambda person: not person.passwords))


def merged(old: CastPerson, new: CastPerson) -> CastPerson:
    """What ``new`` says, and ``old`` where it says nothing."""
    given = {name: value for name, value in vars(new).items() if value and name != "passwords"}
    return replace(old, **given, passwords={**old.passwords, **new.passwords})


def find_same(people: Iterable[CastPerson], person: CastPerson) -> CastPerson | None:
    return next((each for each in people if each.is_same(person)), None)


def enter_people(
    data: AppTables, entries: Sequence[CastEntry], signs_in_by: Mapping[str, SignsInBy]
) -> dict[str, dict[str, Any]]:
    """The apps' data with these people in each of the apps in ``signs_in_by``: an account, and like all of the cast a
    contact of everybody who can be signed in as. Where an address changes, it changes wherever it stands."""
    result = {app: dict(tables) for app, tables in data.items()}
    for entry in entries:
        for app, kind in signs_in_by.items():
            _enter_account(result, app, kind, entry)
    if PHONE in signs_in_by:
        people = [entry.person for entry in entries]
        people += [person for person in read_cast(result, signs_in_by) if not find_same(people, person)]
        for owner in sorted(_owners(result)):
            for person in people:
                _enter_contact(result[PHONE], owner, person)
    return result


def enter_messages(data: AppTables, messages: Sequence[CastMessage]) -> dict[str, dict[str, Any]]:
    result = {app: dict(tables) for app, tables in data.items()}
    mail = result.setdefault(MAIL, {})
    mail["emails"] = [
        *_rows(data, MAIL, "emails"),
        *(
            {"sender": each.sender, "recipients": [each.recipient], "subject": each.subject, "body": each.body}
            for each in messages
        ),
    ]
    return result


def _enter_account(result: dict[str, dict[str, Any]], app: str, kind: SignsInBy, entry: CastEntry) -> None:
    person, username = entry.person, str(getattr(entry.person, kind))
    if not username:
        return
    before = str(getattr(entry.before, kind)) if entry.before else ""
    tables = result.get(app, {})
    if before and before != username:
        tables = _renamed(tables, before, username)
    rows = [dict(row) for row in tables.get("accounts", [])]
    row = next((row for row in rows if row.get("username") == username), None)
    if row is None:
        rows.append(row := {"username": username})
    row |= {
        name: value
        for name in ("first_name", "last_name", "email", "phone_number")
        if name != kind and (value := getattr(person, name))
    }
    if app in person.passwords:
        row["password"] = person.passwords[app]
    result[app] = {**tables, "accounts": rows}


def _enter_contact(phone: dict[str, Any], owner: str, person: CastPerson) -> None:
    if person.phone_number == owner:
        return
    rows = [dict(row) for row in phone.get("contacts", [])]
    row = next((row for row in rows if row.get("owner") == owner and _person(row).is_same(person)), None)
    if row is None:
        rows.append(row := {"owner": owner, "first_name": str(person)})
    row |= {
        name: value for name in ("first_name", "last_name", "phone_number", "email") if (value := getattr(person, name))
    }
    if person.relationships:
        row["relationships"] = list(person.relationships)
    phone["contacts"] = rows


def _owners(data: AppTables) -> set[str]:
    return {str(row.get("username")) for row in _rows(data, PHONE, "accounts") if row.get("password")}


def _person(row: Mapping[str, Any], **more: Any) -> CastPerson:
    first, last, email, number = (
        str(row.get(name) or "") for name in ("first_name", "last_name", "email", "phone_number")
    )
    return CastPerson(first, last, email, number, **more)


def _add(people: list[CastPerson], person: CastPerson) -> None:
    for place, known in enumerate(people):
        if known.is_same(person):
            people[place] = merged(known, person)
            return
    people.append(person)


def _rows(data: AppTables, app: str, table: str) -> list[dict[str, Any]]:
    rows = data.get(app, {}).get(table, [])
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _renamed(part, old, new) for name, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, old, new) for part in value]
    return new if value == old else value
