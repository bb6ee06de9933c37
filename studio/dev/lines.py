"""`make check` refuses more lines of code in a room than ``lines.toml`` says; `make lines` prints today's numbers.

A room is a folder two levels deep, or the modules right in an app. Blank lines, comments and docstrings are free, so
that nobody saves on explanation; so are migrations, which Django writes.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from studio.local.paths import CHECKOUT
from studio.local.schema import APPS

ALLOWED = Path(__file__).with_name("lines.toml")


def count_code(source: str) -> int:
    """Lines with code. A text that is a statement of its own is a docstring, also below a field."""
    free = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in free
        for number, line in enumerate(source.split("\n"), 1)
    )


def count_rooms(checkout: Path) -> Counter[str]:
    rooms: Counter[str] = Counter()
    for app in APPS:
        for path in (checkout / app).rglob("*.py"):
            room = "/".join(path.relative_to(checkout).parent.parts[:2])
            if not room.endswith("/migrations"):
                rooms[room] += count_code(path.read_text(encoding="utf-8"))
    return rooms


def over_the_limit(rooms: Mapping[str, int], allowed: Mapping[str, int]) -> list[str]:
    return [
        f"{room} has {lines:,} lines of code and may have {allowed.get(room, 0):,}: make do with fewer, or raise the "
        f"number in {ALLOWED.relative_to(CHECKOUT)} and say why in the commit."
        for room, lines in sorted(rooms.items())
        if lines > allowed.get(room, 0)
    ]


def main() -> int:
    rooms = count_rooms(CHECKOUT)
    if "--print" in sys.argv:
        print("".join(f'"{room}" = {lines}\n' for room, lines in sorted(rooms.items())), end="")
        return 0
    problems = over_the_limit(rooms, tomllib.loads(ALLOWED.read_text(encoding="utf-8")))
    print("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
