"""Accounts of simulated apps that tasks name: who signs in where, and with which password."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from studio.domain.caching import cached
from studio.domain.checks.rule import authored_texts
from studio.domain.episode import EpisodeSpec
from studio.domain.graders import ScriptReading
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name, tool_domain

LONGEST = 40_000
EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
PHONE_NUMBER = re.compile(r"(?<![\w+.:-])\+?\d[\d -]{5,17}\d(?![\w:])")
_MADE = r"(?=\S{0,60}(?:[\d!#$%&*+?@^~\[\]{}()=|<>/\\]|[a-z][A-Z]))"
"""More than a word of a sentence is."""
_PASSWORD = re.compile(
    r"\b[Pp]ass(?:word|code)\b(?P<between>"
    r"[^\n.!?\"'“‘`]{0,60}?(?<!\w)[\"'“‘`](?P<quoted>\S{3,60}?)[\"'”’`](?=[\s.,;:!?)]|$)"
    rf"|\s*(?:is)?\s*[:=]\s*(?P<plain>[^\s,;]{{4,60}})"
    rf"|[^\n.!?]{{0,90}}?(?:\bis|[:=])\s+(?P<made>{_MADE}\S{{4,60}}))"
)
_TO_BE_MADE = re.compile(
    r"\b(?:sign(?:ing)?[ -](?:me |him |her |them |us )?up|regist(?:er|ration)|create|open (?:an?|my|the) account|change"
    r"|reset|set (?:an?|the|my))\b",
    re.IGNORECASE,
)
"""Of accounts and passwords that are not there yet."""
_LOGIN = "login"


@dataclass(frozen=True)
class SignIn:
    """What a task says of an account. ``app`` and ``username`` are empty where it does not say them."""

    app: str
    username: str
    password: str
    """Empty where only the account is named."""
    field: str
    item: int | None = None
    """1-based."""
    passage: str = ""


class Said(NamedTuple):
    """A password in a text, with the app and the account it is said to be for."""

    app: str
    username: str
    password: str


def sign_ins(
    episode: EpisodeSpec, readings: Mapping[str, ScriptReading] | None = None
) -> dict[str, tuple[SignIn, ...]]:
    """By task id, of the placed tasks and the others. ``readings`` of grader scripts by sha256.

    An account that a task leaves unsaid (“my Todoist password is …”) is the one that the episode names most often.
    """
    apps = tuple(sorted({tool_domain(tool) for tool in episode.persona.tools if "__" in tool}))
    named = {
        task.task_id: tuple(_of_task(task, episode, apps, readings or {}))
        for task in (*episode.tasks, *episode.unplaced)
    }
    counted = Counter(each.username for found in named.values() for each in found if "@" in each.username)
    usual = counted.most_common(1)[0][0] if counted else ""
    return {
        task_id: tuple(dict.fromkeys(_completed(each, usual) for each in found if each.app))
        for task_id, found in named.items()
    }


def accounts_in(text: str) -> dict[str, str] | None:
    """Username → password of the accounts in an app's data; None if it cannot be read."""
    try:
        rows = json.loads(text).get("accounts", [])
        return {str(row["username"]): str(row.get("password") or "") for row in rows if row.get("username")}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def why_refused(sign_in: SignIn, accounts: Mapping[str, str]) -> str:
    """Why the app would answer 401, as what follows “the app’s data”; empty if it would not."""
    if not sign_in.username:
        known = sign_in.password in accounts.values()
        return "" if known else "has no account with this password"
    if sign_in.username not in accounts:
        return f"has no account {sign_in.username}"
    if not accounts[sign_in.username]:
        return f"has no password for {sign_in.username}, so nobody can sign in"
    if sign_in.password and accounts[sign_in.username] != sign_in.password:
        return f"has another password for {sign_in.username}"
    return ""


@cached
def said_passwords(text: str, apps: tuple[str, ...]) -> tuple[Said, ...]:
    found: list[Said] = []
    end = 0
    for match in _PASSWORD.finditer(text, 0, LONGEST):
        sentence = max(text.rfind(mark, 0, match.start()) for mark in (". ", "! ", "? ", "\n"))
        if _TO_BE_MADE.search(text, max(sentence, end), match.start()):
            continue
        password = match["quoted"] or (match["plain"] or match["made"]).strip("\"'“”‘’`").rstrip(".,;")
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[max(end, line) : match.start()]
        between = match["between"].replace(password, "", 1)
        app = _app_in(f"{before} {between}", apps) or _app_in(text[line : match.start()], apps)
        pattern = PHONE_NUMBER if app == "phone" else EMAIL
        users = pattern.findall(f"{before} {between}") or pattern.findall(text[line : match.start()])
        username = "".join(users[-1:])
        found.append(Said(app, re.sub(r"[ -]", "", username) if app == "phone" else username, password))
        end = match.end()
    return tuple(found)


def _of_task(
    task: TaskSpec, episode: EpisodeSpec, apps: tuple[str, ...], readings: Mapping[str, ScriptReading]
) -> Iterator[SignIn]:
    script = episode.persona.script(task.grader_script) if task.grader_script else None
    reading = readings.get(script.sha256) if script else None
    payload = json.dumps(task.trigger.payload, ensure_ascii=False) if task.trigger.payload else ""
    for field, item, text in (*authored_texts(task), ("trigger", None, payload)):
        for said in said_passwords(text, apps) if "ass" in text else ():
            app = said.app or _only_app(task, apps, reading)
            passage = said.password if field != "trigger" else ""
            yield SignIn(app, said.username, said.password, field, item, passage)
    for position, row in enumerate(task.checklist, 1):
        if row.rule and row.rule.kind == "tool_called":
            yield from _of_call(row.rule.tool, row.rule.arguments, apps, "checklist", position)
    if reading:
        exact = {name: values[0] for name, values in reading.exact.items() if values}
        for tool in reading.tool_names:
            yield from _of_call(tool, exact, apps, "grader_script", None)


def _of_call(
    tool: str, arguments: Mapping[str, Any], apps: Collection[str], field: str, item: int | None
) -> Iterator[SignIn]:
    app, _, api = bare_tool_name(tool).partition("__")
    if api == _LOGIN and app in apps and arguments.get("username"):
        yield SignIn(app, str(arguments["username"]), str(arguments.get("password") or ""), field, item)


def _only_app(task: TaskSpec, apps: Collection[str], reading: ScriptReading | None) -> str:
    """The app of a task whose judges or script look at one app alone."""
    tools: Iterable[str] = (
        *(evidence.tool for evidence in task.tool_evidence),
        *(item.rule.tool for item in task.checklist if item.rule),
        *(reading.tool_names if reading else ()),
        *task.tools,
    )
    used = {tool_domain(tool) for tool in tools} & set(apps)
    return used.pop() if len(used) == 1 else ""


def _app_in(text: str, apps: tuple[str, ...]) -> str:
    """The one mentioned last, other than in an address."""
    places = {
        app: match.end()
        for app in apps
        for match in re.finditer(rf"(?<![\w@.]){re.escape(app).replace('_', '[ _-]?')}\b", text, re.IGNORECASE)
    }
    return max(places, key=places.__getitem__, default="")


def _completed(sign_in: SignIn, usual: str) -> SignIn:
    if sign_in.username or sign_in.app == "phone":
        return sign_in
    return SignIn(sign_in.app, usual, sign_in.password, sign_in.field, sign_in.item, sign_in.passage)
