"""What the descriptions of tools cost with every request of an agent: `python -m tests.bench.tools [PERSONA FOLDER …]`.

A folder is a persona's as π-Bench publishes it (`tools.yaml`); without any, the tools of every simulated app count as
bound. Prints characters, tokens, and milliseconds to make the toolbox. Tokens are an estimate: the pieces that
tokenizers start from (words, numbers of up to three digits, punctuation), whatever the model.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from evaluation.tools import Outbox, Shell, Surroundings, Toolbox, Workspace, World, toolbox_for
from evaluation.tools.apps.catalog import APPS

PIECE = re.compile(r"[^\W\d]{1,12}|\d{1,3}|[^\w\s]{1,3}|\s{2,}")
SEARCHES = ("email", "task list", "song", "note")


def names_in(folder: Path) -> list[str]:
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for part in value.values():
                walk(part)
        elif isinstance(value, list):
            for part in value:
                walk(part)
        elif isinstance(value, str):
            found.append(value)

    walk(yaml.safe_load((folder / "tools.yaml").read_text()))
    return [name for name in dict.fromkeys(found) if "__" in name]


def toolbox(names: list[str], *, by_search: bool) -> Toolbox:
    workspace = Workspace(Path(tempfile.mkdtemp()))
    around = Surroundings(workspace, Outbox(), spawn=lambda arguments: "", shell=Shell(workspace))
    return toolbox_for(around, names, World(), by_search=by_search)


def cost(tools: Toolbox) -> tuple[int, int]:
    """Characters and tokens, as it is sent."""
    text = json.dumps(tools.schemas, ensure_ascii=False, separators=(",", ":"))
    return len(text), len(PIECE.findall(text))


def main() -> int:
    folders = [Path(folder) for folder in sys.argv[1:]]
    bound = {folder.name: names_in(folder) for folder in folders} or {
        "no app": [],
        **{name: sorted(app.apis) for name, app in APPS.items()},
        "every app": sorted(name for app in APPS.values() for name in app.apis),
    }
    print(f"{'':16}{'bound':>7}{'all':>22}{'by search, at first':>22}{'after four searches':>22}{'made in':>10}")
    for title, names in bound.items():
        started = time.process_time()
        everything = toolbox(names, by_search=False)
        took = (time.process_time() - started) * 1000
        few = toolbox(names, by_search=True)
        figures = [cost(everything), cost(few)]
        for query in SEARCHES:
            few.call("find_tools", json.dumps({"query": query}))
        figures.append(cost(few))
        columns = "".join(f"{characters:>10,} = {tokens:>6,} t" for characters, tokens in figures)
        print(f"{title:16}{len(names):>7}{columns}{took:>7.1f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
