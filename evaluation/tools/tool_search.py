"""``find_tools``: tools offered by search, for a persona whose tools' descriptions would fill the model's context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from evaluation.tools.tool import Arguments, Tool
from studio.domain.tool_names import tool_domain

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
