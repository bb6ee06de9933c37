"""Tools by name. Calling one always returns a result, whatever the model wrote."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated, Any, Protocol

from pydantic import Field, ValidationError

from evaluation.protocol.participants import ToolRecord
from evaluation.tools.apps import World, bound_tools
from evaluation.tools.general import Surroundings, general_tools
from evaluation.tools.journal import Journal, NoJournal, Run
from evaluation.tools.tool import Arguments, Tool, ToolError, ToolOutcome, truncate
from evaluation.tools.workspace import Workspace
from studio.domain.storable import read_json
from studio.domain.tool_names import bare_tool_name, tool_domain

NAME = "find_tools"
MAX_FOUND = 5
_EMPTY = frozenset("the and with for from this that its one".split())
_WORD = re.compile(r"[a-z0-9]+")


class FindTools(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=500, description="App and action, e.g. gmail send email")]


class Finder:
    """Tools that are offered once they were found."""

    def __init__(self, tools: Sequence[Tool], found: Iterable[str] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.found = [name for name in found if name in self._tools]
        """In the order in which they were."""
        self.hidden = frozenset(self._tools)
        self._words = {tool.name: (_stems(tool.name), _stems(tool.description)) for tool in tools}

    def tool(self) -> Tool:
        apps = ", ".join(dict.fromkeys(tool_domain(name) for name in self._tools))
        about = f"Find tools of apps by what they do, to call them then. There are {len(self._tools)}, of: {apps}."
        return Tool(NAME, about, FindTools, self.find)

    def find(self, arguments: FindTools) -> str:
        asked = _stems(arguments.query)
        ranks = {name: 3 * len(asked & own) + len(asked & about) for name, (own, about) in self._words.items()}
        best = sorted((name for name, rank in ranks.items() if rank), key=lambda name: -ranks[name])[:MAX_FOUND]
        if not best:
            return f"[no tool fits {arguments.query!r}; name an app and an action]"
        self.reveal(best)
        return "\n".join(f"{name}: {self._tools[name].description}" for name in best)

    def reveal(self, names: Iterable[str]) -> None:
        self.found += [name for name in names if name in self._tools and name not in self.found]


def _stems(text: str) -> frozenset[str]:
    """Words without the ends that grammar gives them."""
    words = (word for word in _WORD.findall(text.lower()) if len(word) > 2 and word not in _EMPTY)
    return frozenset(re.sub(r"(?:ing|es|ed|s)$", "", word) if len(word) > 4 else word for word in words)


UNSURE = (
    "Error: this call was interrupted. Whether it did anything is unknown: look at how things are before you make it "
    "again."
)
MAX_ARGUMENTS = 4_000_000
"""Characters of a call's arguments."""
NEAREST = 3
"""Tools that are named for one that does not exist."""


class MoreTools(Protocol):
    """Where tools come from that are neither general nor of apps."""

    def tools(self, names: Iterable[str]) -> list[Tool]: ...


class Toolbox:
    def __init__(self, tools: Iterable[Tool], journal: Journal | None = None, finder: Finder | None = None) -> None:
        """``finder`` hides tools until they are found."""
        self._journal = journal or NoJournal()
        self._tools = {tool.name: tool for tool in tools}
        self._finder = finder
        hidden = finder.hidden if finder else frozenset()
        self._late: list[dict[str, Any]] = []
        """Of those found, as far as they were asked for."""
        self._shown = [tool.schema for tool in self._tools.values() if tool.name not in hidden]

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """What the model is offered now."""
        for name in self.found[len(self._late) :]:
            self._late.append(self._tools[name].schema)
        return [*self._shown, *self._late]

    @property
    def tools(self) -> Sequence[Tool]:
        return tuple(self._tools.values())

    @property
    def found(self) -> Sequence[str]:
        return self._finder.found if self._finder else ()

    def call(self, name: str, arguments: str) -> ToolRecord:
        """An impossible call returns an error to the model; it never raises."""
        tool = self._tools.get(name)
        outside = tool is not None and tool.outside
        unsure = _unsure(name, arguments) if tool is not None and outside and not tool.repeatable else None
        return self._journal.perform(
            name, arguments, lambda key: self._make(name, arguments, key), outside=outside, unsure=unsure
        )

    def _make(self, name: str, arguments: str, key: str) -> ToolRecord:
        started = time.monotonic()
        parsed: Mapping[str, Any] = {}
        ok = False
        try:
            parsed = _parse(arguments)
            outcome, ok = self._run(name, parsed, key), True
        except ToolError as error:
            outcome = ToolOutcome(error.result or f"Error: {error}", error.changes)
        seconds = time.monotonic() - started
        return ToolRecord(name, parsed, truncate(outcome.text), ok, seconds, outcome.changes, key, outcome.effects)

    def _run(self, name: str, parsed: Mapping[str, Any], key: str) -> ToolOutcome:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(
                f"There is no tool {name[:100]!r}. The nearest: {', '.join(self._nearest(name)) or 'none'}."
            )
        if self._finder:
            self._finder.reveal([name])
        try:
            arguments = tool.arguments.model_validate(parsed)
        except ValidationError as error:
            raise ToolError(_describe(name, error)) from None
        outcome = tool.act(arguments, key) if tool.act else tool.run(arguments)
        return ToolOutcome(outcome) if isinstance(outcome, str) else outcome

    def _nearest(self, name: str) -> list[str]:
        by_name = {bare_tool_name(known): known for known in self._tools}
        return [by_name[near] for near in get_close_matches(bare_tool_name(name[:100]), by_name, NEAREST, cutoff=0)]


def toolbox_for(
    around: Workspace | Surroundings,
    names: Iterable[str],
    world: World | None = None,
    journal: Journal | None = None,
    *,
    by_search: bool = False,
    found: Iterable[str] = (),
    more: MoreTools | None = None,
) -> Toolbox:
    """The general tools, all or those among ``names``, and the tools of apps that these bind, in ``world``; and those
    that ``more`` has among them.

    ``by_search``: those of apps are offered once they are found; ``found`` were so earlier.
    """
    names = list(names)
    around = Surroundings(around) if isinstance(around, Workspace) else around
    if world is not None:
        around = replace(around, clock=world.clock)
    general, apps = general_tools(around, names), bound_tools(names, world)
    if more is not None:
        apps += more.tools(names)
    if not by_search or not apps:
        return Toolbox([*general, *apps], journal)
    finder = Finder(apps, found)
    return Toolbox([*general, finder.tool(), *apps], journal, finder)


def _unsure(name: str, arguments: str) -> Run:
    """Of a call that was begun before a worker stopped, and whose effect cannot be repeated."""

    def tell(key: str) -> ToolRecord:
        try:
            parsed = _parse(arguments)
        except ToolError:
            parsed = {}
        return ToolRecord(name, parsed, UNSURE, False, 0, (), key)

    return tell


def _parse(arguments: str) -> Mapping[str, Any]:
    if len(arguments) > MAX_ARGUMENTS:
        raise ToolError(f"The arguments are longer than {MAX_ARGUMENTS} characters.")
    if not arguments.strip():
        return {}
    try:
        parsed = read_json(arguments)
    except ValueError as error:
        raise ToolError(f"The arguments are not JSON ({error}). Write one JSON object.") from None
    if not isinstance(parsed, dict):
        raise ToolError("The arguments are not a JSON object.")
    return parsed


def _describe(name: str, error: ValidationError) -> str:
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}" for problem in error.errors()[:5]
    )
    return f"{name} cannot be called like this: {problems}."
