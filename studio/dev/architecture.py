"""Diagrams of the packages and their imports in docs/architecture.md.

``python -m studio.dev.architecture`` writes them; ``--figures`` prints counts instead.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = CHECKOUT / "docs" / "architecture.md"
APPS = ("evaluation", "annotations", "studio")
"""From the top down."""
INTERFACE = frozenset({"views", "api", "forms", "templatetags", "management", "web"})
"""Packages in which every subject has a module; drawn as one box."""
GLUE = frozenset({"settings", "urls", "celery", "wsgi", "asgi", "apps", "admin", "migrations", "local", "dev"})
"""Left out, since they start or wire the rest."""

Graph = dict[str, set[str]]
"""Package → the packages it imports."""


def rooms_of(app: str, imports: grimp.ImportGraph) -> Graph:
    rooms: Graph = {}
    for module in sorted(imports.modules):
        if (room := _room(module, app)) is None:
            continue
        used = rooms.setdefault(room, set())
        for other in imports.find_modules_directly_imported_by(module):
            if (target := _room(other, app)) not in (None, room):
                used.add(str(target))
    return rooms


def draw(app: str, imports: grimp.ImportGraph) -> str:
    """A Mermaid flowchart without transitive arrows; packages in a circle share a box."""
    merged = merge_rooms(rooms_of(app, imports))
    lines = ["```mermaid", "flowchart TB"]
    for room in sorted(merged):
        package = (CHECKOUT / app / room).is_dir()
        lines.append(f'  {_id(room)}["{room}{"/" if package else ""}"]')
    for room, used in sorted(reduce_arrows(merged).items()):
        lines += [f"  {_id(room)} --> {_id(other)}" for other in sorted(used)]
    return "\n".join([*lines, "```"])


def draw_apps(imports: grimp.ImportGraph) -> str:
    lines = ["```mermaid", "flowchart TB", *(f"  {app}" for app in APPS)]
    for app in APPS:
        for other in APPS:
            if app != other and any(
                _of(target, other)
                for module in imports.modules
                if _of(module, app)
                for target in imports.find_modules_directly_imported_by(module)
            ):
                lines.append(f"  {app} --> {other}")
    return "\n".join([*lines, "```"])


def pictures() -> Mapping[str, str]:
    imports = grimp.build_graph(*reversed(APPS), exclude_type_checking_imports=True, cache_dir=None)
    return {"apps": draw_apps(imports), **{app: draw(app, imports) for app in APPS}}


def render(page: str, drawn: Mapping[str, str]) -> str:
    for name, picture in drawn.items():
        placeholder = re.compile(rf"(?<=<!-- drawn: {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        if len(placeholder.findall(page)) != 1:
            raise LookupError(f"{PAGE.name} needs exactly one placeholder for the diagram {name!r}.")
        page = placeholder.sub(lambda _: f"{picture}\n", page)  # noqa: B023 (called before the loop goes on)
    return page


def figures() -> str:
    """For each app its top-level files, packages, arrows between packages, and circles."""
    imports = grimp.build_graph(*reversed(APPS), exclude_type_checking_imports=True, cache_dir=None)
    lines = []
    for app in APPS:
        rooms = rooms_of(app, imports)
        files = len([path for path in (CHECKOUT / app).glob("*.py") if path.name != "__init__.py"])
        arrows = sum(map(len, rooms.values()))
        circles = [" + ".join(sorted(part)) for part in circles_of(rooms)]
        lines.append(
            f"{app}: {files} files at the top, {len(rooms)} rooms, {arrows} arrows, circles: {circles or 'none'}"
        )
    return "\n".join(lines)


def _of(module: str, app: str) -> bool:
    return module == app or module.startswith(f"{app}.")


def _room(module: str, app: str) -> str | None:
    parts = module.split(".")
    if parts[0] != app or len(parts) < 2 or parts[1] in GLUE:
        return None
    return parts[1]


def _id(room: str) -> str:
    return re.sub(r"\W+", "_", room) + "_"  # “end” and “class” are reserved in Mermaid


def merge_rooms(rooms: Graph) -> Graph:
    names = {room: "views, api, forms, …" if room in INTERFACE else room for room in rooms}
    for circle in circles_of(_renamed(rooms, names)):
        label = " + ".join(sorted(circle))
        names = {room: label if name in circle else name for room, name in names.items()}
    return _renamed(rooms, names)


def _renamed(rooms: Graph, names: Mapping[str, str]) -> Graph:
    merged: Graph = {}
    for room, used in rooms.items():
        merged.setdefault(names[room], set()).update(names[other] for other in used if other in names)
    return {room: used - {room} for room, used in merged.items()}


def circles_of(rooms: Graph) -> list[set[str]]:
    """Sets of packages that import one another, directly or indirectly."""
    reach = {room: _reach(rooms, room) for room in rooms}
    circles: list[set[str]] = []
    for room in rooms:
        circle = {other for other in reach[room] if room in reach.get(other, ())} | {room}
        if len(circle) > 1 and circle not in circles:
            circles.append(circle)
    return circles


def _reach(rooms: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    pending = list(rooms.get(start, ()))
    while pending:
        room = pending.pop()
        if room not in seen:
            seen.add(room)
            pending += rooms.get(room, ())
    return seen


def reduce_arrows(rooms: Graph) -> Graph:
    """The transitive reduction of ``rooms``, which has no circles."""
    reach = {room: _reach(rooms, room) for room in rooms}
    return {
        room: {other for other in used if not any(other in reach[third] for third in used if third != other)}
        for room, used in rooms.items()
    }


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", action="store_true", help="print counts and write nothing")
    options = parser.parse_args(None if arguments is None else list(arguments))
    if options.figures:
        print(figures())
    else:
        PAGE.write_text(render(PAGE.read_text(), pictures()))


if __name__ == "__main__":
    main()
