"""People and messages that tasks name and the persona's apps lack, as entries of the cast for a person to confirm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from studio.domain.app_data import SignsInBy
from studio.domain.cast import MAIL, PHONE, AppTables, CastMessage, CastPerson, find_same, merged, read_cast
from studio.domain.checks.records import message_subjects, people_to_reach
from studio.domain.checks.rule import authored_texts
from studio.domain.checks.sign_ins import EMAIL, PHONE_NUMBER, sign_ins, why_refused
from studio.domain.episode import EpisodeSpec
from studio.domain.graders import ScriptReading
from studio.domain.task import TaskSpec

LONGEST = 40_000
LONGEST_NUMBER = 15
INVENTED = "example.com"
"""Whose addresses are nobody's."""
_CALLED = re.compile(r"\b(?:text|sms|phone|call|number|whatsapp|message|ring)\w*\b[^.!?\n]{0,60}$", re.IGNORECASE)
_THREAD = re.compile(
    r"\b(?:already|existing|earlier|previous|current|open|our|the)\b(?: an?| the)? (?P<what>(?!same|review)[a-z][\w-]+)"
    r"(?: e-?mail)? thread\b",
    re.IGNORECASE,
)
_IS_THERE = re.compile(r"\b(?:already|existing|earlier|previous)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Said:
    task: str
    passage: str


@dataclass(frozen=True)
class NamedPerson:
    person: CastPerson
    before: CastPerson | None
    """As the apps have them; None if they do not."""
    said: tuple[Said, ...]
    invented: bool = False
    """Whether the address is, because nothing says one."""

    def is_among(self, people: Iterable[CastPerson]) -> bool:
        said = replace(self.person, email="") if self.invented else self.person
        return find_same(people, said) is not None


@dataclass(frozen=True)
class NamedMessage:
    message: CastMessage
    said: Said


def named_people(
    episode: EpisodeSpec,
    readings: Mapping[str, ScriptReading],
    data: AppTables,
    signs_in_by: Mapping[str, SignsInBy],
) -> tuple[NamedPerson, ...]:
    """Who signs in comes first. ``signs_in_by`` names the apps that the persona's assistant has; ``readings`` are of
    grader scripts, by sha256."""
    cast = read_cast(data, signs_in_by)
    found: list[NamedPerson] = []
    for person, said in (*_who_sign_in(episode, readings, data), *_who_are_reached(episode, readings, signs_in_by)):
        before = find_same(cast, person)
        if before and merged(before, person) == before:
            continue
        same = next((row for row in found if row.person.is_same(person)), None)
        if same is None:
            found.append(NamedPerson(merged(before, person) if before else person, before, (said,)))
        else:
            said_of = tuple(dict.fromkeys((*same.said, said)))
            found[found.index(same)] = replace(same, person=merged(same.person, person), said=said_of)
    return tuple(_with_address(row) if MAIL in signs_in_by else row for row in found)


def named_messages(episode: EpisodeSpec, data: AppTables, people: tuple[CastPerson, ...]) -> tuple[NamedMessage, ...]:
    """Emails and threads that a request takes for granted. ``people`` are those of the cast, named ones included."""
    me = next((person.email for person in people if MAIL in person.passwords and person.email), "")
    held = str(data.get(MAIL, {}).get("emails", "")).casefold()
    found: dict[str, NamedMessage] = {}
    for task in (*episode.tasks, *episode.unplaced) if me else ():
        request = task.initial_request
        others = [email for email in dict.fromkeys(EMAIL.findall(request[:LONGEST])) if email != me]
        others += [each.email for each in people if each.email and each.name and each.name in request]
        for subject, passage in _messages(request):
            if others and subject.casefold() not in held:
                message = CastMessage(others[0], me, subject)
                found.setdefault(subject.casefold(), NamedMessage(message, Said(task.task_id, passage)))
    return tuple(found.values())


def _messages(request: str) -> Iterator[tuple[str, str]]:
    """Subject and passage."""
    for span in message_subjects(request):
        yield span.text, span.text
    for match in _THREAD.finditer(request, 0, LONGEST):
        if _IS_THERE.search(match[0]):
            yield match["what"].capitalize(), match[0]


def _who_sign_in(
    episode: EpisodeSpec, readings: Mapping[str, ScriptReading], data: AppTables
) -> Iterator[tuple[CastPerson, Said]]:
    """The number that a task signs in to the phone with is that of who signs in elsewhere."""
    named = sign_ins(episode, readings)
    usual = next((each.username for found in named.values() for each in found if "@" in each.username), "")
    for task_id, found in named.items():
        for each in found:
            accounts = {
                str(row.get("username")): str(row.get("password") or "")
                for row in data.get(each.app, {}).get("accounts", [])
            }
            if not each.username or not why_refused(each, accounts):
                continue
            is_phone = each.app == PHONE
            email, number = (usual, each.username) if is_phone else (each.username, "")
            password = {each.app: each.password} if each.password else {}
            yield CastPerson(email=email, phone_number=number, passwords=password), Said(task_id, each.passage)


def _who_are_reached(
    episode: EpisodeSpec, readings: Mapping[str, ScriptReading], apps: Mapping[str, SignsInBy]
) -> Iterator[tuple[CastPerson, Said]]:
    mine = {each.username for found in sign_ins(episode, readings).values() for each in found}
    for task in (*episode.tasks, *episode.unplaced):
        for text in _texts(task, episode, readings):
            if MAIL in apps:
                for email in EMAIL.findall(text):
                    if email not in mine:
                        yield CastPerson(email=email), Said(task.task_id, email)
            if PHONE in apps:
                for match in PHONE_NUMBER.finditer(text):
                    number = re.sub(r"[ -]", "", match[0])
                    if (
                        len(number) <= LONGEST_NUMBER
                        and number not in mine
                        and _CALLED.search(text, max(0, match.start() - 90), match.start())
                    ):
                        yield CastPerson(phone_number=number), Said(task.task_id, match[0])
        for span in people_to_reach(task.initial_request) if {MAIL, PHONE} & apps.keys() else ():
            first, _, last = span.text.partition(" ")
            yield CastPerson(first, last), Said(task.task_id, span.text)


def _texts(task: TaskSpec, episode: EpisodeSpec, readings: Mapping[str, ScriptReading]) -> Iterator[str]:
    for field, _, text in authored_texts(task):
        if field in ("initial_request", "intents", "checklist"):
            yield text[:LONGEST]
    script = episode.persona.script(task.grader_script) if task.grader_script else None
    reading = readings.get(script.sha256) if script else None
    if reading:
        yield "\n".join(text for text in reading.texts if EMAIL.fullmatch(text))
        yield "\n".join(f"phone {value}" for value in reading.exact.get("phone_number", ()))


def _with_address(row: NamedPerson) -> NamedPerson:
    """Nobody can be written to without one."""
    person = row.person
    if person.email or person.phone_number or not person.name:
        return row
    local = re.sub(r"[^a-z]+", ".", person.name.casefold()).strip(".") or "someone"
    return replace(row, person=replace(person, email=f"{local}@{INVENTED}"), invented=True)
