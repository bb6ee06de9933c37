"""Can this be done? Signs in as each task of an episode says, makes plausible calls in what its apps hold, and looks
for what its texts name there, on the web and in earlier tasks.

Pure: nothing is stored, and no script is run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any, Literal

from evaluation.protocol.participants import InfrastructureError
from evaluation.tools import AppDataError, World
from evaluation.tools.apps.catalog import APPS
from evaluation.tools.plausible_calls import PlausibleCall, plausible_calls, wanted_of
from evaluation.workspaces.app_states import Moment, initial_apps, load_apps
from evaluation.workspaces.manifests import MissingContentError, Read
from evaluation.workspaces.told_earlier import ToldEarlier, is_name, sentence_of, told_earlier
from studio.domain.app_data import declared_apps
from studio.domain.checks.research import research_without_pages
from studio.domain.checks.sign_ins import SignIn, accounts_in, sign_ins
from studio.domain.checks.sources import opening_text
from studio.domain.episode import EpisodeSpec
from studio.domain.graders import ScriptReading, read_script
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import sentences
from studio.domain.tool_names import bare_tool_name, tool_domain

NAMES = ("title", "name", "subject", "label", "first_name")
"""Columns that hold what people call a record."""
_MAKES = re.compile(
    r"\b(?:creat\w+|mak\w+|made|new|writ\w+|draft\w*|sav\w+|generat\w+|produc\w+|prepar\w+|renam\w+|set up|sign up"
    r"|register\w*|record\w*|log\w*|send\w*|post\w*)\b",
    re.IGNORECASE,
)
_FINDS = re.compile(
    r"\b(?:select\w*|choos\w+|chosen|pick\w*|find|found|open|look\w*|search\w*|play|from|existing|current\w*|move|delete"
    r"|remove|update|reply|forward|buy|order)\b",
    re.IGNORECASE,
)
_SEARCHES = re.compile(
    r"\b(?:search\w*|look\w* (?:up|for)|brows\w+|shop\w*|shortlist\w*|recommend\w*|find)\b", re.IGNORECASE
)
_SAYS_NOT = re.compile(r"\b(?:not|n[’']t|never|no|without|avoid\w*|exclud\w*|other than|instead of)\b", re.IGNORECASE)
_NAME = r"[\"“'‘`](?P<name>[^\"”“`\n]{2,80}?)[\"”'’`](?!\w)"


def missing_records(task: TaskSpec, apps: Collection[str], world: World) -> Iterator[str]:
    """What ``world`` lacks, as sentences. ``apps`` are those that the task uses. A sentence that is about making
    something names nothing that is missing; a criterion does so only of what no tool adds, as the rest may be made."""
    texts = (("The request", opening_text(task)), *(("A hidden intent", intent.content) for intent in task.intents))
    for where, text in texts:
        for span in sentences(text):
            if not _FINDS.search(span.text) or _MAKES.search(span.text):
                continue
            for app in sorted(apps & APPS.keys()):
                yield from _missing_in(where, span.text, app, world)
    for item in task.checklist:
        if item.grader == "rubric" and not _SAYS_NOT.search(item.criterion):
            for app in sorted(apps & APPS.keys()):
                yield from _missing_for(item.criterion, app, world)


def empty_catalogues(task: TaskSpec, apps: Collection[str], world: World) -> Iterator[str]:
    """Apps that the request lets the assistant search, by their name or as the only one that the task uses, and whose
    catalogue, which no tool adds to, is empty. ``apps`` are those that the task uses."""
    said = [span.text for span in sentences(opening_text(task)) if _SEARCHES.search(span.text)]
    for app in sorted(apps & APPS.keys()):
        title, tables = APPS[app].title, [world.state(app).shown[name] for name in _catalogue(app)]
        if tables and not any(map(len, tables)):
            told = said if apps == {app} else [text for text in said if title.casefold() in text.casefold()]
            if told:
                yield f"The request asks to search {title}, which has no {' or '.join(_catalogue(app))}."


@cache
def _catalogue(app: str) -> tuple[str, ...]:
    """Tables that are searched and that nothing is added to."""
    apis = {name.partition("__")[2] for name in APPS[app].apis}
    return tuple(
        name
        for name, table in APPS[app].shown.items()
        if f"search_{name}" in apis and not {f"create_{table.noun}", f"add_{table.noun}"} & apis
    )


def _missing_for(criterion: str, app: str, world: World) -> Iterator[str]:
    for table, noun in _nouns(app):
        if table in _catalogue(app):
            for match in _naming(noun).finditer(criterion):
                if is_name(match["name"]) and not _is_there(match["name"], world.state(app).shown[table]):
                    yield f"A criterion names the {noun} “{match['name']}”, which {APPS[app].title} does not have."


def _missing_in(where: str, text: str, app: str, world: World) -> Iterator[str]:
    title, state = APPS[app].title, world.state(app)
    for table, noun in _nouns(app):
        records = list(state.shown[table])
        for match in _naming(noun).finditer(text):
            if not _is_there(match["name"], records):
                yield f"{where} names the {noun} “{match['name']}”, which {title} does not have."
        if not records and _owning(noun).search(text):
            yield f"{where} speaks of {noun}s that are there, and {title} has none."


@cache
def _nouns(app: str) -> tuple[tuple[str, str], ...]:
    shown = APPS[app].shown
    return tuple((name, table.noun) for name, table in shown.items() if table.columns[0] in NAMES)


@cache
def _naming(noun: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(noun)}s?\b[^\"“'‘`.!?\n]{{0,40}}{_NAME}", re.IGNORECASE)


@cache
def _owning(noun: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\bto )\bmy (?:[\w-]+ ){{0,3}}{re.escape(noun)}s\b", re.IGNORECASE)


def _is_there(name: str, records: Iterable[Any]) -> bool:
    return any(_is_called(record, name) for record in records)


def _is_called(record: Any, name: str) -> bool:
    texts = (value.casefold() for value in vars(record).values() if isinstance(value, str) and value)
    return any(text in name.casefold() or name.casefold() in text for text in texts)


Remedy = Literal["apps", "web"]
"""Where to add what is missing."""


@dataclass(frozen=True)
class Obstacle:
    sentence: str
    remedy: Remedy = "apps"


@dataclass(frozen=True)
class Prospect:
    task: TaskSpec
    obstacles: tuple[Obstacle, ...] = ()
    """Why it cannot be done."""
    calls: tuple[PlausibleCall, ...] = ()
    told_earlier: tuple[ToldEarlier, ...] = ()
    """No obstacle where these run before."""

    @property
    def told(self) -> str:
        """What has to run before it, as a sentence; empty for nothing."""
        return sentence_of(self.told_earlier) if self.told_earlier else ""

    def document(self) -> dict[str, Any]:
        return {
            "task": self.task.task_id,
            "title": self.task.title,
            "can_be_done": not self.obstacles,
            "obstacles": [obstacle.sentence for obstacle in self.obstacles],
            "told_earlier": {told.name: [task.task_id for task in told.tasks] for told in self.told_earlier},
            "calls": [
                {"tool": call.name, "arguments": dict(call.arguments), "status": call.status} for call in self.calls
            ],
        }


def prospects(episode: EpisodeSpec, read: Read, tasks: Collection[str] | None = None) -> list[Prospect]:
    """Of the placed tasks, or those named among them, in order. A task begins with what the apps hold at the episode's
    start; what does not go there is tried once more with what the calls of earlier tasks leave, as far as their graders
    tell."""
    persona = episode.persona
    scripts = {script.sha256 for task in episode.tasks if (script := persona.script(task.grader_script or "/"))}
    hashes = initial_apps(persona)
    pages = [file.sha256 for file in persona.web_pages]
    stored = read([*hashes.values(), *scripts, *pages]) if hashes or scripts or pages else {}
    web = {sha256: stored[sha256].decode("utf-8", "replace") for sha256 in pages if sha256 in stored}
    readings = {sha256: read_script(stored[sha256].decode("utf-8", "replace")) for sha256 in scripts & stored.keys()}
    accounts = {app: accounts_in(stored.get(sha256, b"").decode("utf-8", "replace")) for app, sha256 in hashes.items()}
    named = sign_ins(episode, readings)
    found = []
    left: World | None = None
    for task in episode.tasks:
        script = persona.script(task.grader_script) if task.grader_script else None
        outlook = _Outlook(task, episode, readings.get(script.sha256) if script else None)
        simulated = [each for each in named[task.task_id] if each.app in declared_apps()]
        told = told_earlier(task, episode, outlook.apps(simulated), _kept(stored, read))
        try:
            world = load_apps(hashes, persona, Moment(task.task_id), _kept(stored, read)).open()
            prospect = outlook.prospect(simulated, accounts, world)
            if left is None:
                left = world
            else:
                later = outlook.prospect(simulated, accounts, left)
                prospect = later if prospect.obstacles and not later.obstacles else prospect
        except (AppDataError, MissingContentError, InfrastructureError) as error:
            prospect = Prospect(task, (Obstacle(f"What the apps hold cannot be read: {error}"),))
        if tasks is None or task.task_id in tasks:
            unreached = _unreached(task, persona, web)
            found.append(replace(prospect, obstacles=(*prospect.obstacles, *unreached), told_earlier=told))
    return found


def _unreached(task: TaskSpec, persona: PersonaSpec, pages: Mapping[str, str]) -> Iterator[Obstacle]:
    if words := research_without_pages(task, persona, pages):
        yield Obstacle(f"The request asks for research (“{words}”), and agents find no web page for it.", "web")


def _kept(stored: Mapping[str, bytes], read: Read) -> Read:
    """Reads only what is not there yet: the clock."""

    def find(hashes: Sequence[str]) -> Mapping[str, bytes]:
        missing = [sha256 for sha256 in hashes if sha256 not in stored]
        return {**stored, **(read(missing) if missing else {})}

    return find


@dataclass(frozen=True)
class _Outlook:
    task: TaskSpec
    episode: EpisodeSpec
    reading: ScriptReading | None

    def apps(self, named: Sequence[SignIn]) -> set[str]:
        """Those that the task uses, as far as it says."""
        told = {each.app for each in named if each.password}
        return {*told, *map(tool_domain, wanted_of(self.task, self.reading).tools)}

    def prospect(
        self, named: Sequence[SignIn], accounts: Mapping[str, Mapping[str, str] | None], world: World
    ) -> Prospect:
        tools = tuple(map(bare_tool_name, self.task.tools or self.episode.persona.tools))
        wanted = wanted_of(self.task, self.reading)
        sign_in = [(each.app, each.username, each.password) for each in named if each.password]
        told = {app for app, _, _ in sign_in}
        sign_in += [
            (app, username, password)
            for app, known in accounts.items()
            if app not in told
            for username, password in (known or {}).items()
            if password
        ]
        used = self.apps(named)
        lacking = [*missing_records(self.task, used, world), *empty_catalogues(self.task, used, world)]
        calls = plausible_calls(wanted, sign_in, world) if sign_in or wanted.tools else []
        obstacles = [
            *_refused(calls, told),
            *self._closed(tools, {app for app, *_ in sign_in}),
            *_without_records(calls),
            *lacking,
        ]
        return Prospect(self.task, tuple(map(Obstacle, dict.fromkeys(obstacles))), tuple(calls))

    def _closed(self, tools: Collection[str], open_apps: Collection[str]) -> Iterator[str]:
        """Apps that exact checks need and nobody can sign in to; those of a script if that holds for all of them,
        because it may accept one or the other."""
        checked = dict.fromkeys(
            tool_domain(item.rule.tool) for item in self.task.checklist if item.rule and item.rule.kind == "tool_called"
        )
        scripted = dict.fromkeys(map(tool_domain, self.reading.tool_names if self.reading else ()))
        reasons = {app: _why_closed(app, tools, open_apps) for app in (*checked, *scripted) if app in declared_apps()}
        yield from (reason for app, reason in reasons.items() if reason and app in checked)
        if all(reasons.values()):
            yield from reasons.values()


def _why_closed(app: str, tools: Collection[str], open_apps: Collection[str]) -> str:
    title = declared_apps()[app].title
    if f"{app}__signup" in tools:
        return ""
    if any(tool_domain(tool) == app for tool in tools) and f"{app}__login" not in tools:
        return f"The assistant has tools of {title}, but not {app}__login, which gives the token they need."
    return "" if app in open_apps else f"Nobody can sign in to {title}: its data has no account with a password."


def _refused(calls: Sequence[PlausibleCall], told: Collection[str]) -> Iterator[str]:
    for call in calls:
        app, _, api = call.name.partition("__")
        if api == "login" and app in told and not call.answer.ok:
            title, username = declared_apps()[app].title, call.arguments["username"] or "somebody"
            yield f"Signing in to {title} as {username} answers {call.status}: {call.answer.response['message']}"


def _without_records(calls: Sequence[PlausibleCall]) -> Iterator[str]:
    """Records that a grader names by number and no call finds."""
    for name, made in groupby(calls, key=lambda call: call.name):
        tried = [call for call in made if any(key.endswith("_id") for key in call.wanted)]
        if tried and all(call.status == 404 for call in tried):
            title, why = declared_apps()[name.partition("__")[0]].title, tried[0].answer.response["message"]
            yield f"Its graders look for {name} of a record that {title} does not have. {why}"
