"""Calls of simulated apps as an agent might make them for a task: signing in, looking, and what its graders look for.

They are really made, in a world, and each takes what the answers before it gave. Where a grader compares an argument
with values, these are given; else texts that it looks for, or a value that the tool takes. Pure: the same world answers
the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.protocol.history import name_for_graders
from evaluation.tools.apps.catalog import APPS, api_of
from evaluation.tools.apps.world import CallResult, World
from studio.domain.graders import ScriptReading
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name

MAX_TOOLS, MAX_VALUES, MAX_LOOKS, MAX_DEPTH, MAX_TITLES = 40, 12, 8, 2, 3
TITLES = ("name", "title", "subject")
"""Given what is written like one, where no grader says which."""
TOKEN = "access_token"
_ORDER = (
    re.compile(r"show|search|get|list"),
    re.compile(r"create|add|write|post|save|record|upload|signup|like|rate|download|draft"),
    re.compile(r"send|reply|forward|place|pay|play|move|assign|complete"),
    re.compile(r"update|edit|mark|label|set|change"),
    re.compile(r"delete|remove|clear|cancel|unlabel|archive|unlike|unfollow"),
)
"""Of the words with which tools' names begin: what is there is looked at first, and taken away last."""
_WRITTEN = re.compile(r"(?:body|content|description|message|text|comment|note)s?$")
_RECIPIENT = re.compile(r"recipient|email_address|phone_number")
SAMPLES: tuple[Any, ...] = ("2026-04-14", "09:30", "2026-04-14T09:30:00", "someone@example.com", "4155550199", "one")


@dataclass(frozen=True)
class Wanted:
    """What a task's graders look for in calls of apps."""

    tools: tuple[str, ...] = ()
    exact: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """By argument: the values that it is compared with."""
    texts: tuple[str, ...] = ()
    """Looked for in what is written."""
    named: frozenset[str] = frozenset()
    """Arguments that are looked at."""


@dataclass(frozen=True)
class PlausibleCall:
    name: str
    """Without a prefix."""
    arguments: Mapping[str, Any]
    answer: CallResult
    wanted: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that have a value a grader compares them with."""

    @property
    def status(self) -> int:
        return 200 if self.answer.ok else int(self.answer.response["status"])

    def for_graders(self) -> dict[str, Any]:
        failed = {} if self.answer.ok else {"ok": False}
        changes = [change._asdict() for change in self.answer.changes]
        return {
            "tool_name": name_for_graders(self.name),
            "call": dict(self.arguments),
            "result": self.answer.document(),
            **failed,
            "changes": changes,
        }


def wanted_of_script(reading: ScriptReading) -> Wanted:
    return Wanted(reading.tool_names, reading.exact, reading.texts, frozenset(reading.arguments))


def wanted_of(task: TaskSpec, reading: ScriptReading | None) -> Wanted:
    """Of its script and its exact checks."""
    script = wanted_of_script(reading) if reading else Wanted()
    rules = [item.rule for item in task.checklist if item.rule and item.rule.kind == "tool_called"]
    exact = {name: list(values) for name, values in script.exact.items()}
    for rule in rules:
        for name, value in {**rule.arguments, **rule.containing}.items():
            exact.setdefault(name, []).append(value)
    tools = dict.fromkeys((*script.tools, *(rule.tool for rule in rules)))
    return Wanted(tuple(tools), exact, script.texts, script.named | exact.keys())


def plausible_calls(wanted: Wanted, sign_ins: Sequence[tuple[str, str, str]], world: World) -> list[PlausibleCall]:
    """Make them; ``sign_ins`` are apps with usernames and passwords. Raises AppDataError for data that no app can
    read."""
    return list(_Agent(wanted, world).work(sign_ins))


class _Agent:
    def __init__(self, wanted: Wanted, world: World) -> None:
        self.wanted = wanted
        self.world = world
        self.tokens: dict[str, str] = {}
        self.ids: dict[str, Any] = {}
        """The latest of each name that an answer gave."""
        self.made: dict[str, Any] = {}
        """Those of records that calls made, which later calls are about."""
        titles = [text for text in wanted.texts if text[:1].isupper() and "\n" not in text][:MAX_TITLES]
        self.exact = {**(dict.fromkeys(TITLES, titles) if titles else {}), **wanted.exact}
        words = [str(value) for values in wanted.exact.values() for value in values]
        self.words = (*words, *wanted.texts, *SAMPLES)

    def work(self, sign_ins: Sequence[tuple[str, str, str]]) -> Iterator[PlausibleCall]:
        tools = [name for name in dict.fromkeys(map(bare_tool_name, self.wanted.tools)) if api_of(name)]
        for app, username, password in dict.fromkeys(sign_ins):
            login = self._call(f"{app}__login", {"username": username, "password": password}, {})
            self.tokens.setdefault(app, (login.answer.response or {}).get(TOKEN, "") if login.answer.ok else "")
            yield login
        for tool in sorted(tools[:MAX_TOOLS], key=lambda tool: (_rank(tool), _ids_needed(tool))):
            if not tool.endswith(("__login", "__logout")):
                yield from self._use(tool)

    def _use(self, tool: str, depth: int = 0) -> Iterator[PlausibleCall]:
        properties, required = _parameters(tool)
        for name in required:
            if name.endswith("_id") and name not in self.exact and depth < MAX_DEPTH:
                yield from self._find(tool.partition("__")[0], name, depth)
        values = [self.exact[name] for name in properties if self.exact.get(name)]
        for number in range(min(MAX_VALUES, max(map(len, values), default=1))):
            yield self._call(tool, *self._arguments(tool, properties, required, number))

    def _call(self, tool: str, arguments: dict[str, Any], wanted: dict[str, Any]) -> PlausibleCall:
        answer = self.world.call(tool, arguments)
        if answer.ok:
            self.ids |= (ids := _ids_in(answer.response))
            self.made |= {} if _rank(tool) == 0 else ids
        return PlausibleCall(tool, arguments, answer, wanted)

    def _find(self, app: str, wanted: str, depth: int) -> Iterator[PlausibleCall]:
        """Look through lists of the app until one tells of such a number; else make such a record."""
        looks = [name for name in APPS[app].apis if _rank(name) == 0 and not set(_parameters(name)[1]) - {TOKEN}]
        for name in looks[:MAX_LOOKS]:
            if self._known_id(wanted) is not None:
                return
            yield self._call(name, self._token(app), {})
        maker = f"{app}__create_{wanted.removesuffix('_id')}"
        if self._known_id(wanted) is None and maker in APPS[app].apis:
            yield from self._use(maker, depth + 1)

    def _arguments(
        self, tool: str, properties: Mapping[str, Any], required: Sequence[str], number: int
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        wanted: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        for name, schema in properties.items():
            if name == TOKEN:
                arguments |= self._token(tool.partition("__")[0])
            elif values := self.exact.get(name):
                value = values[number % len(values)]
                wanted[name] = arguments[name] = [value] if _kind(schema) == "array" and value != [value] else value
            elif name in required or self._is_given(name):
                arguments[name] = self._value(name, schema, looks=_rank(tool) == 0)
        return {name: value for name, value in arguments.items() if value is not None}, wanted

    def _is_given(self, name: str) -> bool:
        """Whether it is, although it can be left out."""
        return name in self.wanted.named or name in self.made or bool(_WRITTEN.search(name) or _RECIPIENT.search(name))

    def _token(self, app: str) -> dict[str, str]:
        return {TOKEN: self.tokens.get(app) or "none"}

    def _value(self, name: str, schema: Mapping[str, Any], *, looks: bool) -> Any:
        schema = next((part for part in schema.get("anyOf", ()) if part.get("type") != "null"), schema)
        if name.endswith("_id"):
            return self._known_id(name)
        if "enum" in schema:
            return schema["enum"][0]
        match _kind(schema):
            case "array":
                return [self._value(name.removesuffix("s"), schema.get("items", {}), looks=looks)]
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return True
        texts = self.wanted.texts
        if pattern := schema.get("pattern"):
            return next((text for text in self.words if re.search(pattern, text)), SAMPLES[-1])
        longest = schema.get("maxLength", 4_000)
        if _WRITTEN.search(name):
            lines = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
            return "\n".join((" ".join(texts), *lines))[:longest] or "As asked."
        return (texts[0] if looks and texts else " ".join(texts))[:longest] or "As asked."

    def _known_id(self, name: str) -> Any:
        for known in (self.made, self.ids):
            if name in known:
                return known[name]
        return next(
            (value for key, value in reversed(self.ids.items()) if key.endswith(name) or name.endswith(key)), None
        )


def _rank(tool: str) -> int:
    verb = tool.partition("__")[2].partition("_")[0]
    return next((at for at, words in enumerate(_ORDER) if words.fullmatch(verb)), 2)


def _ids_needed(tool: str) -> int:
    return sum(name.endswith("_id") for name in _parameters(tool)[0])


def _parameters(tool: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Schemas by name, and the names that are required."""
    api = api_of(tool)
    schema = api.arguments.model_json_schema() if api else {}
    return schema.get("properties", {}), schema.get("required", ())


def _kind(schema: Mapping[str, Any]) -> str:
    kinds = [schema.get("type"), *(part.get("type") for part in schema.get("anyOf", ()))]
    return str(next((kind for kind in kinds if kind and kind != "null"), "string"))


def _ids_in(value: Any) -> dict[str, Any]:
    """Later ones replace earlier ones, and those of the first record of a list stand last."""
    found: dict[str, Any] = {}
    if isinstance(value, Mapping):
        for name, part in value.items():
            found |= _ids_in(part) if isinstance(part, Mapping | list) else {}
            if str(name).endswith("_id") and isinstance(part, int | str):
                found[str(name)] = part
    elif isinstance(value, list):
        for part in reversed(value):
            found |= _ids_in(part)
    return found
